"""Where in the brain is this text about? Text in, brain map out."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurowhere.corpus import Corpus, iter_documents, read_corpus
    from neurowhere.encoder import Encoder
    from neurowhere.space import Atlas, VoxelGrid
    from neurowhere.text import TermCounter, Vocabulary

__all__ = [
    "Atlas",
    "Corpus",
    "Encoder",
    "TermCounter",
    "Vocabulary",
    "VoxelGrid",
    "iter_documents",
    "read_corpus",
]

_HOMES = {
    "Atlas": "space",
    "Corpus": "corpus",
    "Encoder": "encoder",
    "TermCounter": "text",
    "Vocabulary": "text",
    "VoxelGrid": "space",
    "iter_documents": "corpus",
    "read_corpus": "corpus",
}


def __getattr__(name: str) -> object:
    # Imported at first use, so that the command line starts at once.
    if name in _HOMES:
        return getattr(import_module(f"neurowhere.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'neurowhere' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
