"""Loops that numba compiles, kept on disk for the next time where that can be written."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from neurowhere.exceptions import NeurowhereWarning


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function at its first call; importing numba is left until it is decorated.

    Parameters
    ----------
    **options
        Of `numba.njit`.

    Returns
    -------
    callable
        A decorator.
    """
    from numba import njit

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package's folder nor the user's cache can be written
            _warn_once()
            return njit(**options)(function)

    return decorate


@cache
def _warn_once() -> None:
    warnings.warn(
        "no folder to keep compiled code in, so each fit compiles it again, which takes some "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        NeurowhereWarning,
        stacklevel=3,
    )
