"""Maps of terms: of one, of many one after another, and their means in the regions of an atlas."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import FitError, VocabularyError
from neurowhere.model.alone import term_features
from neurowhere.model.decoding import NO_TERMS
from neurowhere.model.parameters import check_fitted
from neurowhere.model.text_model import TextModel
from neurowhere.space import Atlas, Partition, default_atlas
from neurowhere.space.geometry import gazetteer_of
from neurowhere.text.clinical.places import Side, without_side
from neurowhere.text.features import LATERAL

Floats = NDArray[np.floating]

CHUNK = 256  # terms whose features are made at a time
N_NAMED = 5  # unknown terms in an error


@dataclass(frozen=True, eq=False, repr=False)
class TermMap:
    """The map that a model associates with a term.

    Attributes
    ----------
    name : str
        What was asked for.
    term : str
        The term of the vocabulary that it stands for.
    side : "left", "right" or None
        Side that was asked for.
    method : "learned" or "restricted"
        Whether the map of that side was learned from texts, or is the map of the term, restricted
        to the hemisphere. A term without a side is always learned.
    effect : array of shape (m,)
        What the term adds to each region.
    unit : "probability" or "log probability"
        Of the effect.
    partition : Partition
        Regions of the model.
    """

    name: str
    term: str
    side: Side | None
    method: Literal["learned", "restricted"]
    effect: NDArray[np.float32]
    unit: str
    partition: Partition

    @cached_property
    def img(self) -> Any:
        """Effect as an image: a density in mm⁻³, or a difference of log densities.

        A restricted map is zero on the other side.
        """
        return self.to_img()

    @property
    def values(self) -> Floats:
        """Effect in each region as the image has it: per mm³, or a difference of logs."""
        is_log = self.unit == "log probability"
        return self.effect if is_log else self.effect / self.partition.volumes_mm3

    def to_img(self, *, resolution_mm: float | None = None, like: Any = None) -> Any:
        """Make the image on another grid.

        Parameters
        ----------
        resolution_mm, like
            Grid of the image, as in `Partition.to_img`.

        Returns
        -------
        NIfTI image
        """
        image = self.partition.to_img(self.values, resolution_mm=resolution_mm, like=like)
        if self.method == "restricted":
            image.dataobj[_other_side(image, self.side)] = 0
        return image

    @property
    def title(self) -> str:
        """Name, and how its map came about."""
        if self.method == "learned":
            return f"{self.name} (learned)"
        return f"{self.name} (map of {self.term}, restricted to the {self.side} hemisphere)"

    def __repr__(self) -> str:
        return f"TermMap: {self.title}"


def map_of_term(model: TextModel, name: str) -> TermMap:
    """Return what a model associates with a term, which may begin with a side.

    Parameters
    ----------
    model : Encoder
    name : str

    Returns
    -------
    TermMap
        See `Encoder.term_map`.
    """
    return next(iter_term_maps(model, [name]))


def iter_term_maps(model: TextModel, names: Iterable[str] | None = None) -> Iterator[TermMap]:
    """Yield the maps of many terms, in the order of their names.

    One map is held at a time, so that memory does not grow with their number.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional
        Terms, each with or without a side; by default all terms of the model. A name that comes
        twice counts once. One that the model does not know is an error before the first map.

    Yields
    ------
    TermMap
        As from `Encoder.term_map`.

    Examples
    --------
    >>> from neurowhere import load_model
    >>> for found in iter_term_maps(load_model(), ["pain", "left amygdala"]):
    ...     print(found)
    TermMap: pain (learned)
    TermMap: left amygdala (map of amygdala, restricted to the left hemisphere)
    """
    wanted = find_terms(model, names)
    return _iter_maps(model, wanted)


class WantedTerm(NamedTuple):
    """A term that a name stands for."""

    name: str
    term: str
    side: Side | None
    column: int  # of the features
    is_learned: bool  # on this side


def find_terms(model: TextModel, names: Iterable[str] | None = None) -> list[WantedTerm]:
    """Find the terms that names stand for, or all of a model.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional

    Returns
    -------
    list of WantedTerm
    """
    check_fitted(model)
    if model.text == "none":
        raise FitError(NO_TERMS)
    columns = {name: column for column, name in enumerate(model.extractor_.terms)}
    found, problems = [], []
    for name in columns if names is None else dict.fromkeys(names):
        try:
            found.append(_find_term(model, name, columns))
        except VocabularyError as error:
            problems.append((name, error))
    if len(problems) > 1:
        raise VocabularyError(_describe([name for name, _ in problems]))
    if problems:
        raise problems[0][1]
    if not found:
        raise VocabularyError("expected at least one term, got none")
    return found


def _describe(unknown: Sequence[str]) -> str:
    some = ", ".join(map(repr, unknown[:N_NAMED])) + ", ..." * (len(unknown) > N_NAMED)
    return f"{len(unknown):,} names are not among the terms of the model or their synonyms: {some}"


def _find_term(model: TextModel, name: str, columns: dict[str, int]) -> WantedTerm:
    if name in columns and name not in model.vocabulary_:  # a term on a side, as it was learned
        term, side = without_side(name)
        return WantedTerm(name, term, side, columns[name], True)
    term, side = (name, None) if name in model.vocabulary_ else without_side(name)
    index = model.vocabulary_.index(term)
    term = model.extractor_.terms[index]
    sided = columns.get(f"{side} {term}")
    is_learned = sided is not None or side not in LATERAL
    return WantedTerm(name, term, side, index if sided is None else sided, is_learned)


def _iter_maps(model: TextModel, wanted: Sequence[WantedTerm]) -> Iterator[TermMap]:
    for chunk in slices(len(wanted), CHUNK):
        some = wanted[chunk]
        features = term_features(model, np.array([each.column for each in some]))
        for row, each in enumerate(some):
            yield TermMap(
                name=each.name,
                term=each.term,
                side=each.side,
                method="learned" if each.is_learned else "restricted",
                effect=model.predictor_.added(features[row]).sum(axis=0),
                unit=model.predictor_.unit,
                partition=model.partition_,
            )


def parcellate_terms(
    model: TextModel, names: Iterable[str] | None = None, *, atlas: Atlas | None = None
) -> pd.DataFrame:
    """Return the mean of the map of each term in each region of an atlas.

    With f the map, and v_jk the volume that region j of the atlas shares with region k of the
    model, the mean is Σ_k v_jk f_k / Σ_k v_jk.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional
        As in `iter_term_maps`.
    atlas : Atlas, optional
        By default the model's own if it predicts the regions of one, or AAL3.

    Returns
    -------
    DataFrame of shape (n_terms, n_regions)
        Indexed by term; NaN for regions outside of the model's brain.

    Examples
    --------
    >>> from neurowhere import load_model
    >>> table = parcellate_terms(load_model(), ["hand movement", "reading"])
    >>> table[["Precentral_L", "Calcarine_L"]].idxmax()
    Precentral_L    hand movement
    Calcarine_L           reading
    dtype: ...
    """
    means = RegionMeans(model, atlas)
    rows = {each.name: means.of(each) for each in iter_term_maps(model, names)}
    index = pd.Index(list(rows), name="term")
    return pd.DataFrame(list(rows.values()), index=index, columns=list(means.atlas.names))


class RegionMeans:
    """Means of maps in the regions of an atlas.

    Parameters
    ----------
    model : Encoder
    atlas : Atlas, optional
        As in `parcellate_terms`.
    """

    def __init__(self, model: TextModel, atlas: Atlas | None = None) -> None:
        own = model.partition_
        if atlas is None:
            atlas = own if isinstance(own, Atlas) else default_atlas()
        self.atlas = atlas
        self._shared = gazetteer_of(atlas, own).shared_mm3  # (n_regions, m)
        self._total = np.asarray(self._shared.sum(axis=1)).ravel()
        self._x_mm = own.centers_mm[:, 0]

    def of(self, term: TermMap) -> NDArray[np.float32]:
        """Return the mean of a map in each region, NaN outside of the model's: (n_regions,)."""
        values = term.values
        if term.method == "restricted":
            is_other = self._x_mm >= 0 if term.side == "left" else self._x_mm <= 0
            values = np.where(is_other, 0, values)
        with np.errstate(invalid="ignore"):  # 0 / 0 outside
            means: NDArray[np.float32] = (self._shared @ values / self._total).astype(np.float32)
        return means


def _other_side(image: Any, side: Side | None) -> NDArray[np.bool_]:
    """Voxels whose centre is not on this side of the midplane: left is x < 0."""
    voxels = np.indices(image.shape)  # (3, x, y, z)
    row = image.affine[0]
    x_mm = np.tensordot(row[:3], voxels, axes=1) + row[3]
    outside: NDArray[np.bool_] = x_mm >= 0 if side == "left" else x_mm <= 0
    return outside
