"""The errors and warnings that neurowhere raises, in one tree.

::

    NeurowhereError
    ├── CorpusError        a corpus, or a file meant to be one, is not as expected
    ├── TextError          a text is empty, cannot be read or tells the model nothing
    │   └── ReadingError    neurowhere itself failed on a text
    ├── VocabularyError    a vocabulary is empty, malformed or matches nothing
    ├── PartitionError     a mask, an atlas or its labels do not fit together
    ├── FitError           data that no model can be fitted to
    ├── QueryError         a query for documents cannot be read
    ├── ModelError         the folder of a model is missing, damaged, foreign or too new
    ├── OutputError        a result cannot be written where it was asked for
    ├── ClusterError       a cluster cannot be reached, or was lost on the way
    └── MissingExtraError  an optional dependency is not installed (also an ImportError)

    NeurowhereWarning
    ├── DataWarning         something in the data was odd, counted and worked around
    │   └── DamageWarning   a file, or some of its lines, could not be read
    └── ConvergenceWarning  a solver stopped before its tolerance was reached

Every message says what was expected, what came, and what to do. All errors but
``MissingExtraError`` are also ``ValueError``.
"""

import hashlib
import logging
import traceback
from pathlib import Path

N_FRAMES, N_DIGITS = 3, 12  # frames of a traceback, digits of a fingerprint
_logger = logging.getLogger("neurowhere")


def one_line(text: str) -> str:
    r"""Escape what would break a line or steer a terminal, in a message that quotes something.

    >>> one_line("no column 'a\nb'")
    "no column 'a\\nb'"
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def raised_at(error: BaseException) -> str:
    """Return where an error was raised, the innermost place first, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-N_FRAMES:]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[::-1])


def tell_fault(error: Exception, text: str) -> str:
    """Log a failure of neurowhere on a text, and return the line that is logged.

    The line holds nothing of the text, nor the message of the error, which may quote it: only where
    the error was raised, and a fingerprint (first digits of the SHA-256) that identifies the text.
    """
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    told = (
        f"neurowhere failed on this text ({type(error).__name__} at {raised_at(error)}; "
        f"fingerprint {whole[:N_DIGITS]}); please report this line as a bug"
    )
    _logger.error("%s", told)
    return told


class NeurowhereError(Exception):
    """Base of all errors raised on purpose; the message is one line, whatever it quotes."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class CorpusError(NeurowhereError, ValueError):
    """A corpus, or a file meant to be one, is not as expected."""


class TextError(NeurowhereError, ValueError):
    """A text is empty, cannot be read or tells the model nothing."""


class ReadingError(TextError):
    """Reading a text failed by a fault of neurowhere; the message holds nothing of the text."""


class VocabularyError(NeurowhereError, ValueError):
    """A vocabulary is empty, malformed or matches nothing."""


class PartitionError(NeurowhereError, ValueError):
    """A mask, an atlas or its labels do not fit together."""


class FitError(NeurowhereError, ValueError):
    """Data that no model can be fitted to."""


class QueryError(NeurowhereError, ValueError):
    """A query for documents cannot be read."""


class ModelError(NeurowhereError, ValueError):
    """The folder of a model is missing, damaged, foreign or too new."""


class OutputError(NeurowhereError, ValueError):
    """A result cannot be written where it was asked for."""


class ClusterError(NeurowhereError, ValueError):
    """A cluster cannot be reached, or was lost on the way."""


class MissingExtraError(NeurowhereError, ImportError):
    """An optional dependency is not installed.

    >>> str(MissingExtraError("jats", "reading JATS articles"))
    "reading JATS articles needs an extra: pip install 'neurowhere[jats]'"
    """

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'neurowhere[{extra}]'")


class NeurowhereWarning(UserWarning):
    """Base of all warnings."""


class DataWarning(NeurowhereWarning):
    """Something in the data was odd, counted and worked around."""


class DamageWarning(DataWarning):
    """A file among several, or lines of one, cannot be read; the command line refuses that."""


class ConvergenceWarning(NeurowhereWarning):
    """A solver stopped before its tolerance was reached."""
