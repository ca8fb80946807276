"""Parameters of an estimator by the conventions of scikit-learn, without importing it.

Prediction needs nothing of scikit-learn, and importing it takes longer than everything else.
`clone`, `cross_val_score` and `GridSearchCV` ask for the methods below and no more.
"""

import inspect
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
        """Value of each parameter."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Set some parameters."""
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise FitError(f"expected a parameter among {', '.join(known)}, got {name!r}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what this is; only scikit-learn calls it."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        values = self.get_params()
        changed = [
            f"{name}={values[name]!r}"
            for name, default in self._defaults().items()
            if not (values[name] is default or _is_equal(values[name], default))
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _is_equal(value: Any, default: Any) -> bool:
    """Whether a plain value is the default; arrays and the like never are."""
    return type(value) is type(default) and bool(value == default)
