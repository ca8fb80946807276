"""An estimator by the conventions of scikit-learn: parameters, X and y as a corpus, its scores.

Prediction needs nothing of scikit-learn, and importing it takes longer than everything else.
`clone`, `cross_val_score` and `GridSearchCV` ask for the methods of `Parameters` and no more.
"""

import inspect
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import FitError
from neurowhere.learn import Peaks, score_studies
from neurowhere.model.reading import as_texts
from neurowhere.space import Partition, VoxelGrid, make_targets, place_peaks
from neurowhere.space.density import Targets


class Parameters:
    """Arguments of `__init__` that can be read, set and shown, as of scikit-learn's estimators.

    >>> class Model(Parameters):
    ...     def __init__(self, rank=2, seed=0):
    ...         self.rank, self.seed = rank, seed
    >>> Model(seed=3), Model().set_params(rank=5).get_params()
    (Model(seed=3), {'rank': 5, 'seed': 0})
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__)
        return {name: p.default for name, p in signature.parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the value of each parameter, as it was given to the constructor.

        Parameters
        ----------
        deep : bool
            Ignored; no parameter is an estimator.

        Returns
        -------
        dict of str to value
        """
        return {name: vars(self)[name] for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Set some parameters.

        Parameters
        ----------
        **parameters
            Values by name.

        Returns
        -------
        Self
        """
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise FitError(f"expected a parameter among {', '.join(known)}, got {name!r}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know of this; only scikit-learn calls it."""
        from sklearn.base import BaseEstimator

        tags = BaseEstimator().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.target_tags.required = True
        tags.no_validation = True  # texts and lists of peaks are no arrays
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return hasattr(self, "predictor_")

    def __repr__(self) -> str:
        values = self.get_params()
        changed = [
            f"{name}={values[name]!r}"
            for name, default in self._defaults().items()
            if not (values[name] is default or _is_equal(values[name], default))
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def check_fitted(estimator: Parameters) -> None:
    """Raise an error if `fit` was not called."""
    if not estimator.__sklearn_is_fitted__():
        name = type(estimator).__name__
        raise _not_fitted_error()(f"this {name} is not fitted yet; call fit, or load a model")


@cache
def _not_fitted_error() -> type[FitError]:
    """Return an error that is ours and scikit-learn's; imported only where it is raised."""
    from sklearn.exceptions import NotFittedError as TheirError

    class NotFittedError(FitError, TheirError):  # type: ignore[misc]
        """The estimator was asked before it was fitted."""

    return NotFittedError


def _is_equal(value: Any, default: Any) -> bool:
    """Whether a plain value is the default; arrays and the like never are."""
    return type(value) is type(default) and bool(value == default)


def as_corpus(X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> Corpus:
    """Make a corpus of texts, and of their peaks if there are any."""
    if isinstance(X, Corpus):
        return X
    texts = list(as_texts(X))
    if y is None:
        y = [np.empty((0, 3))] * len(texts)
    if len(texts) != len(y):
        raise FitError(f"expected peaks for each text, got {len(texts)} texts and {len(y)} peaks")
    return Corpus.from_documents(
        Document(str(i), {"body": text}, np.asarray(peaks, dtype=np.float64).reshape(-1, 3), "MNI")
        for i, (text, peaks) in enumerate(zip(texts, y, strict=True))
    )


def targets_of(
    corpus: Corpus, partition: Partition, brain: VoxelGrid, *, bandwidth: float, n_jobs: int
) -> Targets:
    """Return the densities of the studies of a corpus, which a model learns to predict."""
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    rows, n_studies = corpus.peak_rows, len(corpus)
    return make_targets(
        partition, brain, xyz_mm, rows, n_studies, bandwidth=bandwidth, n_jobs=n_jobs
    )


def score_corpus(
    corpus: Corpus,
    predictions: Iterable[NDArray[np.floating]],
    mean_map: NDArray[np.floating],
    partition: Partition,
    brain: VoxelGrid,
) -> pd.DataFrame:
    """Score predictions, and the mean map, by the likelihood of the peaks of each study.

    Parameters
    ----------
    corpus : Corpus
    predictions : iterable of arrays of shape (n, m)
        Probability of each region, for consecutive chunks of the studies.
    mean_map : array of shape (m,)
    partition : Partition
    brain : VoxelGrid

    Returns
    -------
    DataFrame
        One row per study; see `Encoder.score_documents`.
    """
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    study, region = place_peaks(partition, brain, xyz_mm, corpus.peak_rows)
    peaks = Peaks(study, region, len(corpus))
    relative_volume = brain.total_volume_mm3 / partition.volumes_mm3  # V/v_k
    nats = score_studies(predictions, peaks, relative_volume)
    same = np.broadcast_to(mean_map, (len(corpus), len(mean_map)))
    mean_nats = score_studies([same], peaks, relative_volume)
    scored = np.bincount(study, minlength=len(corpus))
    return pd.DataFrame(
        {
            "id": corpus.documents["id"],
            "log_likelihood": nats - np.log(brain.total_volume_mm3),
            "nats_above_uniform": nats,
            "mean_map": mean_nats - np.log(brain.total_volume_mm3),
            "peaks": scored,
            "peaks_outside": corpus.n_peaks - scored,
        }
    )
