import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from tests.contrast.conftest import make_records, write_records

from neurowhere import contrast_documents

pytest.importorskip("distributed")

# Dask's own threads and sockets are closed after pytest looks.
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.enable_socket,
    pytest.mark.filterwarnings("ignore"),
]

N_FILES = 40


def kill_workers(cluster, cache, killed):
    """Kill one worker while documents are read, and another while they are counted."""
    victims = list(cluster.workers.values())[:2]
    for victim, pattern in zip(victims, ("*.documents.npz", "*.vectors-*.npz"), strict=True):
        while len(list(cache.rglob(pattern))) < 2:
            time.sleep(0.002)
        victim.close_gracefully()  # or else another would be started in its place
        os.kill(victim.process.pid, signal.SIGKILL)
        killed.append(len(list(cache.rglob(pattern))))


@pytest.mark.linux
def test_workers_that_are_killed_lose_and_repeat_nothing(cluster, model, tmp_path, monkeypatch):
    cluster.scale(3)  # two of them are killed, and one has to keep what was sent to all
    cluster.wait_for_workers(3, timeout=60)
    monkeypatch.setattr("neurowhere.contrast.library.PART_BYTES", 1)
    monkeypatch.setattr("neurowhere.contrast.background.TASK_DOCUMENTS", 30)
    records = make_records(N_FILES * 10)
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(N_FILES):
        write_records(folder / f"{number:02d}.jsonl", records[10 * number : 10 * number + 10])
    options = {"model": model, "unadjusted": True}
    here = contrast_documents(folder, "huntington", cache=tmp_path / "a", n_jobs=1, **options)
    cache, killed = tmp_path / "b", []
    thread = threading.Thread(target=kill_workers, args=(cluster, cache, killed), daemon=True)
    thread.start()
    address = cluster.scheduler_address
    there = contrast_documents(folder, "huntington", cache=cache, cluster=address, **options)
    thread.join(timeout=10)
    assert len(killed) == 2, "workers were to be killed on the way"
    assert max(killed) < N_FILES
    assert there.about["documents"] == here.about["documents"] == len(records)
    assert there.about["documents_with_known_terms"] == len(records)
    pd.testing.assert_frame_equal(there.documents, here.documents)
    np.testing.assert_allclose(there.reference, here.reference, rtol=1e-5)
    np.testing.assert_allclose(there.voxels.t, here.voxels.t, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(there.log_ratio, here.log_ratio, rtol=1e-4, atol=1e-6)
    assert len(list(cache.rglob("*.words.npz"))) == N_FILES
