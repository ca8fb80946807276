"""Apart: documents parsed in a process of their own, within limits of memory and time.

A small file can be made to take gigabytes or minutes, or to crash a parser. A process that reads
such a file is ended, and the caller gets a one-line error. A process that has read a document waits
for the next one. Requests and answers are JSON: nothing that comes back is run.

The time is limited everywhere, memory on Linux. The parsers have bounds of their own (pages, tags,
paragraphs, cells), which hold on all systems.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from neurowhere.exceptions import CorpusError, MissingExtraError, TextError
from neurowhere.inputs import prose
from neurowhere.inputs.prose import MAX_CHARACTERS, MEBI, TooMuchError, check_count

__all__ = ["article_texts", "document_text", "serve"]

MAX_SECONDS = 20.0  # seconds per document, or until the next article of a file
MAX_MEMORY_BYTES = 1024 * MEBI
IDLE_SECONDS = 30.0  # seconds until an idle process ends
# Markup is parsed in linear time and memory, without expansion: so much of it needs no process.
SMALL_BYTES = MEBI
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
START = (
    "import json, sys; sys.path[:], *limits = json.loads(sys.argv[1]); "
    "from neurowhere.inputs.apart import serve; serve(*limits)"
)
EXTRAS = {"pdf": ("pypdf", "reading PDF files"), "docx": ("docx", "reading Word files")}
ERRORS = {error.__name__: error for error in (CorpusError, TextError, TooMuchError)}

Named = tuple[str, str]  # what a text is called, and the text


def document_text(kind: str, content: bytes | str, name: str) -> str:
    """Return the prose of a document."""
    if isinstance(content, str):
        if len(content) <= SMALL_BYTES:
            return next(_parsers()[kind](content.encode("utf-8", "replace"), name))[1]
        content = content.encode("utf-8", "replace")
    if kind in EXTRAS and find_spec(EXTRAS[kind][0]) is None:
        raise MissingExtraError(kind, EXTRAS[kind][1])
    ((_, text),) = _parsed_apart(kind, content, name)
    return text


def article_texts(path: Path) -> Iterator[Named]:
    """Yield the names and the prose of the articles of a file of JATS."""
    if path.stat().st_size <= SMALL_BYTES:
        return _parsers()["jats"](b"", str(path))
    return _parsed_apart("jats", b"", str(path))


# ---- the process, as seen from here


class Parser:
    """A handle on a process that parses documents, one after the other."""

    def __init__(self) -> None:
        self.is_new = True
        self._is_late = False
        # Its modules come from where ours do, and never from the current folder by accident (-P).
        given = json.dumps([sys.path, MAX_MEMORY_BYTES, MAX_SECONDS, IDLE_SECONDS])
        command = [sys.executable, "-P", "-W", "ignore", "-c", START, given]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | ONE_THREAD,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # opens no console on Windows
        )

    def ask(self, kind: str, content: bytes, name: str) -> Iterator[Named]:
        """Yield the texts of a document, or raise the error that ends them."""
        self._send(kind, content, name)
        while (answer := self._receive(name))[0] == "text":
            self.is_new = False
            yield answer[1], answer[2]
        self.is_new = False
        if answer[0] == "memory":
            raise _too_much(name, f"{MAX_MEMORY_BYTES // MEBI} MiB of memory")
        if answer[0] != "end":
            raise ERRORS.get(answer[0], TextError)(answer[1])

    def _send(self, kind: str, content: bytes, name: str) -> None:
        assert self.process.stdin is not None
        head = json.dumps([kind, name, len(content)]).encode("ascii") + b"\n"
        # If it has ended, that is told where its answer is read.
        with suppress(OSError), self._in_time():
            self.process.stdin.write(head)
            self.process.stdin.write(content)
            self.process.stdin.flush()

    def _receive(self, name: str) -> list[str]:
        assert self.process.stdout is not None
        with self._in_time():
            line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            answer: list[str] = json.loads(line)
            return answer
        if self._is_late or -self.process.wait() == getattr(signal, "SIGXCPU", None):
            raise _too_much(name, f"{MAX_SECONDS:g} s")
        raise EndedError

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Stop the process if the block takes too long."""
        timer = threading.Timer(MAX_SECONDS, self._stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _stop(self) -> None:
        self._is_late = True
        self.process.kill()

    def end(self) -> None:
        """Stop the process."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what it was sent and did not read
                stream.close()  # type: ignore[union-attr]
        self.process.wait()


class EndedError(Exception):
    """A process has ended without an answer."""


def _too_much(name: str, limit: str) -> TooMuchError:
    return TooMuchError(f"{name} takes more than {limit} to read; save it as text")


_idle: list[Parser] = []  # processes that wait; taken and put back whole, so that threads may


def _parsed_apart(kind: str, content: bytes, name: str) -> Iterator[Named]:
    """Parse in a process that waits, or in a new one."""
    try:
        with _borrowed(_waiting() or _started(name)) as parser:
            try:
                yield from parser.ask(kind, content, name)
                return
            except EndedError:
                if parser.is_new:
                    raise
        with _borrowed(_started(name)) as parser:  # the other one had just stopped to wait
            yield from parser.ask(kind, content, name)
    except EndedError as error:
        raise TextError(
            f"{name} cannot be read: it ends the program that parses it; save it as text"
        ) from error


def _waiting() -> Parser | None:
    with suppress(IndexError):
        while True:
            parser = _idle.pop()
            if parser.process.poll() is None:
                return parser
            parser.end()
    return None


def _started(name: str) -> Parser:
    try:
        return Parser()
    except OSError as error:
        raise TextError(
            f"cannot start a process to read {name} ({error.strerror}); save it as text"
        ) from error


@contextmanager
def _borrowed(parser: Parser) -> Iterator[Parser]:
    """Put a process back once its document is read; one that is left in the middle is ended."""
    try:
        yield parser
    except BaseException as error:
        is_damaged = isinstance(error, CorpusError | TextError)  # the document, not the process
        if is_damaged and not isinstance(error, TooMuchError):
            _idle.append(parser)
        else:
            parser.end()
        raise
    _idle.append(parser)


def _end_all() -> None:
    while _idle:
        _idle.pop().end()


def _forget_all() -> None:
    """Leave the processes to the one that started them: a copy of it has copies of their pipes."""
    while _idle:
        _idle.pop().process.returncode = 0


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# ---- in the process


def serve(memory_bytes: int, seconds: float, idle_seconds: float) -> None:
    """Parse what comes from standard input until it closes; this runs in the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    _limit_memory(memory_bytes)
    while request := _next_request(sys.stdin.buffer, idle_seconds):
        _limit_time(seconds)
        for answer in _answers(*request):
            answers.write(json.dumps(answer).encode("ascii") + b"\n")
            answers.flush()
        del request


def _next_request(stream: BinaryIO, idle_seconds: float) -> tuple[str, bytes, str] | None:
    impatience = threading.Timer(idle_seconds, os._exit, [0])
    impatience.daemon = True
    impatience.start()
    head = stream.readline()
    impatience.cancel()
    if not head:
        return None
    kind, name, size = json.loads(head)
    return kind, stream.read(size), name


def _answers(kind: str, content: bytes, name: str) -> Iterator[list[str]]:
    try:
        for title, text in _parsers()[kind](content, name):
            check_count(len(text), MAX_CHARACTERS, f"the text of {name} has", "characters")
            yield ["text", title, text]
        yield ["end"]
    except (CorpusError, MissingExtraError, TextError) as error:
        yield [type(error).__name__, str(error)]
    except MemoryError:
        yield ["memory"]


def _parsers() -> dict[str, Callable[[bytes, str], Iterator[Named]]]:
    """Return the parser of each kind, which yields names and texts."""

    def html(content: bytes, name: str) -> Iterator[Named]:
        yield name, prose.html_to_text(content.decode("utf-8"))

    def pdf(content: bytes, name: str) -> Iterator[Named]:
        yield name, prose.pdf_to_text(content, name)

    def docx(content: bytes, name: str) -> Iterator[Named]:
        yield name, prose.docx_to_text(content, name)

    def jats(content: bytes, name: str) -> Iterator[Named]:
        return prose.articles_to_texts(Path(name))

    return {"html": html, "pdf": pdf, "docx": docx, "jats": jats}


def _limit_memory(most: int) -> None:
    """Refuse this process more memory, beyond what it has now, than a document may take."""
    # Windows has no such limits; macOS may refuse them.
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _set_limit(resource, resource.RLIMIT_AS, pages * resource.getpagesize() + most)


def _limit_time(seconds: float) -> None:
    """End this process where nobody is left to do so, after the time of one document."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _set_limit(resource, resource.RLIMIT_CPU, int(time.process_time() + seconds) + 1)


def _set_limit(resource: Any, kind: int, most: int) -> None:
    """Set a limit, unless a lower one is set for all of the user's processes."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, hard))
