"""Cluster kills: comparisons on two Dask workers, one of which is killed at a random moment.

``python benchmarks/cluster_kills.py`` prints how many of the runs end with the scores that this
process computes alone. Then both workers are killed: that run has to end with one line, and the
same call, with new workers, has to go on where it stopped and end with the same scores.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.append(str(Path(__file__).parents[1]))

import pandas as pd
from tests.studies import TERMS, make_corpus

from neurowhere import Vocabulary
from neurowhere.evaluate import compare
from neurowhere.evaluate.compare import Candidate
from neurowhere.exceptions import ClusterError
from neurowhere.space import VoxelGrid

SEED, N_WORKERS, N_STUDIES, N_FOLDS = 20261119, 2, 120, 10
MEASURES = ["log_likelihood", "total_variation", "penalty", "sharpness", "studies", "peaks"]
KEYS = ["partition", "loss", "fold"]
WAIT_SECONDS = 60.0
POLL_SECONDS = 0.01  # between looks for scores


def start(*command: str) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *command, "--no-dashboard"], **quiet)


class Cluster:
    """A scheduler and workers in processes of their own, without nannies that replace them."""

    def __init__(self, folder: Path) -> None:
        note = folder / "scheduler.json"
        local = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(note))
        self.scheduler = start("distributed.cli.dask_scheduler", *local)
        self.workers: list[subprocess.Popen[bytes]] = []
        wait_until(note.exists)
        self.address = json.loads(note.read_text())["address"]

    def fill(self) -> None:
        """Start workers in place of those that were killed, and wait for them."""
        from distributed import Client

        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < N_WORKERS:
            name = f"worker-{random.random()}"
            options = ("--no-nanny", "--nthreads", "1", "--name", name)
            self.workers.append(start("distributed.cli.dask_worker", self.address, *options))
        with Client(self.address, set_as_default=False) as client:
            wait_until(lambda: len(client.scheduler_info()["workers"]) == N_WORKERS)
            client.run(warm_up)  # imports are no part of what is disturbed

    def end(self) -> None:
        """Kill all of them."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


def warm_up() -> None:
    import neurowhere.evaluate.compare  # noqa: F401


def wait_until(condition) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("the cluster does not start")
        time.sleep(0.05)


@contextmanager
def killing(
    processes: list[subprocess.Popen[bytes]], folder: Path, n_done: int, moment: float = 0.0
) -> Iterator[list[int]]:
    """Kill processes so many seconds after so many scores are there, and yield who was killed.

    None is killed if the block ends before.
    """
    ended = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while count_scores(folder) < n_done:
            if ended.wait(POLL_SECONDS):
                return
        if not ended.wait(moment):
            for process in processes:
                process.send_signal(signal.SIGKILL)
                killed.append(process.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def count_scores(folder: Path) -> int:
    """Count the scores that a run has kept so far."""
    path = folder / "scores.csv"
    return max(path.read_text().count("\n") - 1, 0) if path.exists() else 0


def scores(folder: Path, **where: object) -> pd.DataFrame:
    brain = VoxelGrid(8)
    found = compare(
        make_corpus(N_STUDIES),
        folder,
        [Candidate("voxels:12", VoxelGrid(12)), Candidate("voxels:8", brain)],
        vocabulary=Vocabulary(TERMS),
        brain=brain,
        losses=["l2", "l1"],
        folds=N_FOLDS,
        **where,
    )
    return found.scores.set_index(KEYS)[MEASURES].sort_index()


def are_equal(right: pd.DataFrame, found: pd.DataFrame) -> bool:
    """Whether scores agree to the last digits, which another machine may round otherwise."""
    try:
        pd.testing.assert_frame_equal(right, found, rtol=1e-6)
    except AssertionError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(SEED)
    n_equal = n_killed = 0
    numbers = count(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        right = scores(folder / "here", n_jobs=1)
        cluster = Cluster(folder)
        try:
            cluster.fill()
            began = time.monotonic()
            scores(folder / "undisturbed", cluster=cluster.address)
            usual = time.monotonic() - began
            while n_killed < options.runs:  # a run that ends before its kill does not count
                cluster.fill()
                place, victim = folder / f"run-{next(numbers)}", rng.choice(cluster.workers)
                n_done, moment = rng.randrange(len(right)), rng.uniform(0, usual / len(right))
                try:
                    with killing([victim], place, n_done, moment) as killed:
                        found = scores(place, cluster=cluster.address)
                    is_equal, said = are_equal(right, found), "other scores"
                except ClusterError as error:
                    is_equal, said = False, str(error)
                n_killed += bool(killed)
                n_equal += bool(killed) and is_equal
                if not is_equal:
                    print(f"{place.name}, killed after {n_done} scores: {said}", flush=True)
            print(f"{n_killed} runs of {usual:.1f} s, a worker killed in each: "
                  f"{n_equal} equal", flush=True)  # fmt: skip
            went_on = resume(cluster, folder / "broken", right)
        finally:
            cluster.end()
    sys.exit(n_equal < n_killed or not went_on)


def resume(cluster: Cluster, folder: Path, right: pd.DataFrame) -> bool:
    """Kill all workers in the middle of a run, then go on with others."""
    cluster.fill()
    said = "it ended before"
    try:
        with killing(cluster.workers, folder, len(right) // 2):
            scores(folder, cluster=cluster.address)
    except ClusterError as error:
        said = str(error)
    n_kept = count_scores(folder)
    cluster.fill()
    is_equal = are_equal(right, scores(folder, cluster=cluster.address))
    print(f"all workers killed: {said!r} with {n_kept} of {len(right)} scores; "
          f"then {'equal' if is_equal else 'not equal'}")  # fmt: skip
    return is_equal and 0 < n_kept < len(right)


if __name__ == "__main__":
    main()
