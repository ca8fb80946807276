import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from neurowhere._tools import parallel
from neurowhere._tools.parallel import Workers, connect, run_here, run_in_order
from neurowhere.exceptions import ClusterError, FitError, MissingExtraError


def weigh(shared: np.ndarray, task: int) -> tuple[int, float]:
    print("a bar of progress", file=sys.stderr)
    return task, float(shared.sum() * task)


def die(shared: object, task: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(shared: object, task: int) -> None:
    raise FitError(f"cannot fit {task}")


@pytest.mark.parametrize(("n_jobs", "at_once"), [(1, None), (2, None), (2, 1)])
def test_every_call_is_answered_once(n_jobs: int, at_once: int | None) -> None:
    large, small = np.ones(300_000), np.ones(3)
    calls = [(large, task) for task in range(5)] + [(small, task) for task in range(5, 9)]
    results = dict(run_here(weigh, calls, n_jobs=n_jobs, at_once=at_once))
    assert results == {task: shared.size * task for shared, task in calls}


def test_nothing_to_do_is_done() -> None:
    assert list(run_here(weigh, [], n_jobs=2)) == []


def test_workers_show_no_progress_of_their_own(capfd: pytest.CaptureFixture[str]) -> None:
    list(run_here(weigh, [(np.ones(1), 1)], n_jobs=2))
    assert "a bar of progress" not in capfd.readouterr().err


def test_an_error_in_the_work_comes_through() -> None:
    with pytest.raises(FitError, match="cannot fit 1"):
        list(run_here(refuse, [(None, 1)], n_jobs=2))


@pytest.mark.filterwarnings("ignore")  # joblib's own, about memory it could not clean up
@pytest.mark.linux
def test_a_killed_process_is_one_line() -> None:
    with pytest.raises(ClusterError, match="a worker process was killed"):
        list(run_here(die, [(None, 1)], n_jobs=2))


SLEEPERS = """
import os, sys, time
from pathlib import Path
from neurowhere._tools.parallel import run_here

def sleep(folder, task):
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    list(run_here(sleep, [(sys.argv[1], task) for task in range(2)], n_jobs=2))
"""


@pytest.mark.linux
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    script, folder = tmp_path / "sleepers.py", tmp_path / "pids"
    script.write_text(SLEEPERS)
    folder.mkdir()
    process = subprocess.Popen([sys.executable, script, folder], stderr=subprocess.DEVNULL)
    wait_until(lambda: len(list(folder.iterdir())) == 2)
    process.terminate()
    assert process.wait(timeout=30) == 128 + signal.SIGTERM
    wait_until(lambda: not any(is_running(int(path.name)) for path in folder.iterdir()))


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'neurowhere\[cluster\]'"):
        connect("tcp://127.0.0.1:9")


# ---- clusters


def lose(*_: object, **__: object) -> None:
    raise OSError("no answer")


def cluster_of(n_workers: Callable[[], int], **methods: object) -> SimpleNamespace:
    """A client of a cluster that has so many workers."""
    count = {"status": "running", "run_on_scheduler": lambda _: n_workers()}
    return SimpleNamespace(loop=None, cancel=lambda _: None, **count, **methods)


class Sent:
    """A future: of a call that was made, or that died with a worker."""

    def __init__(self, result: object, is_lost: bool) -> None:
        self.status = "cancelled" if is_lost else "finished"
        self._result, self._is_lost = result, is_lost

    def result(self) -> object:
        if self._is_lost:
            raise CancelledError("lost dependencies")
        return self._result

    def release(self) -> None:
        pass


def send_to(monkeypatch: pytest.MonkeyPatch, is_lost: Callable[[int, int], bool]) -> list[list]:
    """Send calls to a cluster that loses some of each round; note the tasks of each round."""
    rounds: list[list] = []

    def submit(work: Callable, calls: list, client: object) -> list[Sent]:
        rounds.append([task for _, task in calls])
        return [Sent(work(*call), is_lost(len(rounds), call[1])) for call in calls]

    monkeypatch.setattr(parallel, "_submit", submit)
    monkeypatch.setattr(parallel, "_iter_finished", lambda _, futures: iter(futures))
    return rounds


CALLS = [(np.ones(3), task) for task in range(5)]


def test_what_a_worker_takes_along_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    rounds = send_to(monkeypatch, lambda number, task: task >= 2 * number)
    results = list(parallel.run_on_cluster(weigh, CALLS, cluster_of(lambda: 1)))
    assert results == [(task, 3.0 * task) for task in range(5)]
    assert rounds == [[0, 1, 2, 3, 4], [2, 3, 4], [4]]


def test_a_worker_that_dies_while_it_is_sent_to_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dask does so without end, if the worker was to pass on what it is sent."""

    async def scatter(*_: object, **__: object) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(parallel, "SHARE_SECONDS", 0.01)
    workers = iter([{"a", "b"}, {"a", "b"}, {"a"}])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client = SimpleNamespace(
        scatter=scatter,
        loop=SimpleNamespace(asyncio_loop=loop),
        run_on_scheduler=lambda _: next(workers),
    )
    with pytest.raises(OSError, match="a worker died"):
        parallel._share([1], client)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(asyncio.sleep(0.01))  # what is cancelled ends
    loop.close()


@pytest.mark.parametrize(("n_workers", "n_rounds"), [(0, 1), (1, parallel.MOST_IDLE_ROUNDS)])
def test_it_is_not_sent_without_end(
    monkeypatch: pytest.MonkeyPatch, n_workers: int, n_rounds: int
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "ALIVE_SECONDS", 0.0)
    rounds = send_to(monkeypatch, lambda *_: True)
    with pytest.raises(ClusterError, match="the cluster went away"):
        list(parallel.run_on_cluster(weigh, CALLS, cluster_of(lambda: n_workers)))
    assert len(rounds) == n_rounds


def test_a_cluster_whose_workers_are_gone_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Depending on its version and its data, a scheduler then waits for new ones without end."""
    distributed = pytest.importorskip("distributed")
    never = SimpleNamespace(has_ready=lambda: False)
    monkeypatch.setattr(distributed, "as_completed", lambda *_, **__: never)
    monkeypatch.setattr(parallel, "ALIVE_SECONDS", 0.0)
    n_workers = iter([2, 1, 0])
    client = cluster_of(lambda: next(n_workers))
    with pytest.raises(ClusterError, match="the cluster went away"):
        next(parallel._iter_finished(client, [None]))
    assert list(n_workers) == []


def test_letting_go_of_a_lost_cluster_hides_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    client = SimpleNamespace(run_on_scheduler=lose, cancel=lose, close=lose, status="closed")
    monkeypatch.setattr(parallel, "connect", lambda _: client)
    with (
        pytest.raises(ClusterError, match="the cluster went away"),
        parallel.hired(1, "tcp://127.0.0.1:9") as workers,
    ):
        list(workers.run(weigh, [(np.ones(1), 1)]))


def test_a_task_that_workers_die_of_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def give_up(*_: object) -> None:
        raise distributed.KilledWorker("task", "worker", 3)

    send_to(monkeypatch, lambda *_: False)
    monkeypatch.setattr(Sent, "result", give_up)
    with pytest.raises(ClusterError, match=r"died again and again.*run again to go on"):
        list(parallel.run_on_cluster(weigh, CALLS[:1], SimpleNamespace(cancel=lose)))


CLUSTER = """
import json, subprocess, sys, time
from pathlib import Path
from neurowhere._tools.parallel import hired
from neurowhere.exceptions import ClusterError

def slow(shared, task):
    time.sleep(0.1)
    return shared + task

def start(*command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *command, "--no-dashboard"], **quiet)

if __name__ == "__main__":
    note = Path("scheduler.json")
    local = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(note))
    started = {"scheduler": start("distributed.cli.dask_scheduler", *local)}
    while not note.exists():
        time.sleep(0.05)
    address = json.loads(note.read_text())["address"]
    started["worker"] = start("distributed.cli.dask_worker", address, "--no-nanny")
    try:
        with hired(1, address) as workers:
            for number, _ in enumerate(workers.run(slow, [(1, task) for task in range(200)])):
                if number == 3:
                    for name in sys.argv[1:]:
                        started[name].kill()
    except ClusterError as error:
        print(error)
    finally:
        for process in started.values():
            process.kill()
            process.wait()
"""


@pytest.mark.cluster
@pytest.mark.enable_socket
@pytest.mark.parametrize("lost", [("scheduler",), ("worker",), ("scheduler", "worker")])
def test_a_cluster_that_goes_away_is_one_line(tmp_path: Path, lost: tuple[str, ...]) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, "cluster.py", *lost]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("\n") == 1, done.stdout
    assert "the cluster went away" in done.stdout
    assert "run again to go on" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


def add(shared, task):
    if task == 13:
        raise ValueError("13")
    return shared + task


def test_results_come_in_the_order_of_the_tasks_and_few_are_held():
    taken = []
    found = run_in_order(add, 100, (taken.append(i) or i for i in range(50_000)), Workers())
    assert [next(found) for _ in range(12)] == list(range(100, 112))
    assert len(taken) < 30
    next(found)
    with pytest.raises(ValueError, match="13"):
        next(found)
