import os
import signal
import threading
import time

import pandas as pd
import pytest

from neurowhere.evaluate import compare

pytest.importorskip("distributed")

# Dask's own threads and sockets are closed after pytest looks.
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("ignore"),
]

MEASURES = ["log_likelihood", "total_variation", "penalty", "sharpness", "studies", "peaks"]
KEYS = ["partition", "loss", "fold"]


def kill_one_worker_after_the_first_scores(cluster, path, killed):
    victim = next(iter(cluster.workers.values())).process.pid
    while not (path.exists() and path.read_text().count("\n") > 2):
        time.sleep(0.01)
    os.kill(victim, signal.SIGKILL)
    killed.append(victim)


@pytest.mark.linux
def test_a_worker_that_is_killed_loses_and_repeats_nothing(
    cluster, corpus, brain, vocabulary, candidates, tmp_path
):
    options = {"vocabulary": vocabulary, "brain": brain, "folds": 4}
    here = compare(corpus, tmp_path / "here", candidates, n_jobs=1, **options)
    killed = []
    path = tmp_path / "there" / "scores.csv"
    thread = threading.Thread(
        target=kill_one_worker_after_the_first_scores, args=(cluster, path, killed), daemon=True
    )
    thread.start()
    there = compare(
        corpus, tmp_path / "there", candidates, cluster=cluster.scheduler_address, **options
    )
    thread.join(timeout=10)
    assert killed, "the worker was to be killed on the way"
    assert len(there.scores) == 4 * (4 + 4 + 5)
    pd.testing.assert_frame_equal(
        here.scores.set_index(KEYS)[MEASURES], there.scores.set_index(KEYS)[MEASURES], rtol=1e-4
    )
