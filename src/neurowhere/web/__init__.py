"""The page and the HTTP API: requests in, calls to the package, answers out; no science here.

The settings of a server are here, where they are imported without the libraries that serving needs.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Self

__all__ = ["Collection", "Settings", "cores"]


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Collection(NamedTuple):
    """Documents that the server was started with."""

    name: str  # what a request asks for
    path: Path  # file or folder
    cache: Path  # folder in which what was read of it is kept
    n_documents: int


@dataclass(frozen=True)
class Settings:
    """Limits; each is an option of ``neurowhere serve`` and an environment variable.

    Attributes
    ----------
    max_body : int
        Maximum size of a request, in bytes.
    max_map : int
        Maximum size of an image or document, in bytes.
    max_text : int
        Maximum length of a text, in characters.
    max_batch : int
        Maximum number of texts or points per request.
    max_seconds : float
        Time limit of a request, in seconds.
    workers : int
        Number of processes; each holds the model and handles one request at a time.
    max_queue : int
        Maximum number of waiting requests.
    max_jobs : int
        Maximum number of jobs that run, wait or are kept; 0 for none.
    max_job_texts : int
        Maximum number of texts or documents of a job.
    max_job_body : int
        Maximum size of a request that starts a job, in bytes.
    max_job_seconds : float
        Time limit of a job, in seconds.
    keep_seconds : float
        Time for which the result of a job is kept, in seconds.
    documents : tuple of Collection
        File or folder of documents to contrast and to look up; can be repeated.
    origins : tuple of str
        Other site whose pages may call the API (CORS); can be repeated.
    embed : tuple of str
        Other site whose pages may show the map in a frame; can be repeated.
    allow_hosts : tuple of str
        Name by which the server may be addressed, or * for any; can be repeated.
    root_path : str
        Prefix under which a proxy offers the server, such as /nw.
    """

    max_body: int = 1_000_000
    max_map: int = 20_000_000
    max_text: int = 50_000
    max_batch: int = 100
    max_seconds: float = 30.0
    workers: int = field(default_factory=cores)
    max_queue: int = 64
    max_jobs: int = 8
    max_job_texts: int = 10_000
    max_job_body: int = 10_000_000
    max_job_seconds: float = 1_800.0
    keep_seconds: float = 600.0
    documents: tuple[Collection, ...] = ()
    origins: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    root_path: str = ""

    def for_jobs(self) -> Self:
        """Return the settings with the limits of what starts a job."""
        return replace(self, max_batch=self.max_job_texts, max_body=self.max_job_body)
