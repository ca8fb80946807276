"""Some seconds of the endurance test: mixed requests while workers are killed."""

import argparse
import asyncio
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SHORT = argparse.Namespace(minutes=0.1, connections=6, rate=12.0, kill_seconds=2.5)


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc")
def test_mixed_requests_get_200_202_or_503_while_workers_are_killed(model_folder, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import serve_load
    import serve_mixed

    with serve_load.Server(str(model_folder)) as server:
        tally = asyncio.run(serve_mixed.endure(server, SHORT))
    statuses = {status for each in tally.statuses.values() for status in each}
    assert 200 in statuses
    assert statuses <= serve_mixed.ALLOWED
    assert set(tally.statuses["health"]) == {200}
    assert tally.kills >= 1
    assert tally.broken == 0
    assert max(tally.memory["HTTP"]) < tally.memory["HTTP"][0] + 20
    assert max(tally.memory["worker"]) < serve_mixed.WORKER_MB
