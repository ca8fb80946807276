"""Settings of the server: what one request may ask for, and how many may wait."""

import os
from dataclasses import dataclass, field


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Limits; each is an option of ``neurowhere serve`` and an environment variable.

    Attributes
    ----------
    max_body : int
        Bytes of the body of a request.
    max_text : int
        Characters of one text.
    max_batch : int
        Texts of one batch, points of one decoding, sentences of one text.
    max_seconds : float
        From the arrival of a request to its answer.
    workers : int
        Requests that are worked on at once.
    max_queue : int
        Requests that may wait for a worker; further ones are told to come back.
    origins : tuple of str
        Other sites whose pages may call the API (CORS); by default none.
    """

    max_body: int = 1_000_000
    max_text: int = 50_000
    max_batch: int = 100
    max_seconds: float = 30.0
    workers: int = field(default_factory=cores)
    max_queue: int = 64
    origins: tuple[str, ...] = ()
