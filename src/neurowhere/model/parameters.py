"""Parameters of an estimator by the conventions of scikit-learn, without importing it.

Prediction needs nothing of scikit-learn, and importing it takes longer than everything else.
`clone`, `cross_val_score` and `GridSearchCV` ask for the methods below and no more.
"""

import inspect
from functools import cache
from typing import Any, Self

from neurowhere.exceptions import FitError


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
        """Return the value of each parameter, as the constructor got it.

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
