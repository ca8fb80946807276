"""Lending: results that are pickled without the model that they came from.

A model is found again by its key: among the models of the process, or in the folder that it was
loaded from. A result of 120 kB would otherwise take 50 MB along, and a hundred of them a hundred
copies.
"""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from neurowhere.exceptions import ModelError

_models: WeakValueDictionary[str, Any] = WeakValueDictionary()
_loaders: dict[str, Callable[[], Any]] = {}
_lock = threading.Lock()


def key_of(model: Any) -> str:
    """Return the key of a model, by which other processes that have it know it too."""
    with _lock:
        key: str = model.__dict__.setdefault("_key", uuid4().hex)
        _models.setdefault(key, model)
    return key


def lend(model: Any, key: str, load: Callable[[], Any]) -> None:
    """Know a model by a key, and how it is loaded where it is not there."""
    model.__dict__["_key"] = key
    with _lock:
        _loaders[key] = load
        _models.setdefault(key, model)


def model_of(key: str) -> Any:
    """Return the model with a key, which may be loaded for it."""
    model = _models.get(key)
    if model is None and key in _loaders:
        model = _loaders[key]()
        with _lock:
            model = _models.setdefault(key, model)
    if model is None:
        raise ModelError(
            "the model of this result is not here; load it first, or fit it in the same process"
        )
    return model
