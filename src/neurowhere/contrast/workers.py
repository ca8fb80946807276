"""Workers: the cores of this machine, or those of a Dask cluster, behind one call."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from neurowhere._tools.parallel import connect, run_here, run_on_cluster

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Workers:
    """Where work is done.

    Attributes
    ----------
    n_jobs : int
        Cores of this machine to use, −1 for all.
    client : distributed.Client, optional
        Of a cluster, to use its workers instead.
    """

    n_jobs: int = 1
    client: Any = None

    def run(
        self, work: Callable[[Shared, Task], Result], calls: Sequence[tuple[Shared, Task]]
    ) -> Iterator[Result]:
        """Call ``work(shared, task)`` for every pair; yield results as they finish.

        A single call is made in this process, where nothing has to be sent.
        """
        if len(calls) == 1:
            return run_here(work, calls, n_jobs=1)
        if self.client is not None:
            return run_on_cluster(work, calls, self.client)
        return run_here(work, calls, n_jobs=self.n_jobs)


@contextmanager
def hired(n_jobs: int, cluster: str | None) -> Iterator[Workers]:
    """Give workers, and let go of the cluster in the end."""
    if cluster is None:
        yield Workers(n_jobs)
        return
    client = connect(cluster)
    try:
        yield Workers(n_jobs, client)
    finally:
        client.close()
