"""Settings of the server; imported without the libraries that serving needs."""

import os
from dataclasses import dataclass, field

__all__ = ["Settings", "cores"]


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Limits; each is an option of ``neurowhere serve`` and an environment variable.

    Attributes
    ----------
    max_body : int
        Maximum size of the body of a request, in bytes.
    max_map : int
        Maximum size of an image to decode, in bytes.
    max_text : int
        Maximum length of one text, in characters.
    max_batch : int
        Maximum number of texts in a batch, points to decode, or sentences of a text.
    max_seconds : float
        Time limit of a request.
    workers : int
        Number of requests that are answered at once.
    max_queue : int
        Number of requests that may wait for a worker; further ones are told to try again later.
    origins : tuple of str
        Other sites whose pages may call the API (CORS); by default none.
    embed : tuple of str
        Other sites whose pages may show the map in a frame; by default none.
    """

    max_body: int = 1_000_000
    max_map: int = 20_000_000
    max_text: int = 50_000
    max_batch: int = 100
    max_seconds: float = 30.0
    workers: int = field(default_factory=cores)
    max_queue: int = 64
    origins: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
