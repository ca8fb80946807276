"""Lending: results that are pickled without the model that they came from.

What belongs to the model is written as its name, and found again by the model's key: among the
models of the process, or in the folder that it was loaded from. A result of 120 kB would otherwise
take 50 MB along, and a hundred of them a hundred copies.
"""

import io
import pickle
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


def dump(value: Any, model: Any) -> bytes:
    """Pickle a value, but for what belongs to its model."""
    stream = io.BytesIO()
    _Pickler(stream, _parts(model)).dump(value)
    return stream.getvalue()


def load(content: bytes, model: Any) -> Any:
    """Undo `dump`."""
    return _Unpickler(io.BytesIO(content), model).load()


def _parts(model: Any) -> dict[int, str]:
    """Return the names of what belongs to a model, by identity."""
    names = ("partition_", "brain_", "mean_map_", "predictor_", "extractor_", "vocabulary_")
    parts = {id(getattr(model, name)): name for name in names if hasattr(model, name)}
    return {**parts, id(model): ""}


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, parts: dict[int, str]) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self._parts = parts

    def persistent_id(self, obj: Any) -> str | None:
        return self._parts.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, model: Any) -> None:
        super().__init__(stream)
        self._model = model

    def persistent_load(self, pid: str) -> Any:
        return getattr(self._model, pid) if pid else self._model
