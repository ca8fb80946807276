"""
Run on a cluster
================

Comparisons and contrasts can run on the workers of a Dask cluster, given the address of its
scheduler. This example starts a cluster of two workers on this machine, with the commands that you
would use on yours. It needs ``pip install 'neurowhere[cluster]'``.
"""

import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from neurowhere import Candidate, Corpus, Document, VoxelGrid, compare, read_corpus

# %%
# A scheduler and its workers
# ---------------------------
# On a cluster these are two commands: ``dask scheduler`` on one machine, and
# ``dask worker tcp://THAT-MACHINE:8786 --nworkers 4 --nthreads 1`` on every other. Dask can also
# request workers from SLURM, Kubernetes or a cloud. A fit uses one thread, so give each worker one.


@contextmanager
def running(*command):
    """Run a Dask command until the block ends."""
    process = subprocess.Popen([sys.executable, "-m", "dask", *command], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def cluster(n_workers):
    """Start a cluster on this machine, and yield its address."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "scheduler.json"  # the scheduler writes its address here
        common = ["--scheduler-file", str(known), "--no-dashboard"]
        stack.enter_context(running("scheduler", *common, "--host", "127.0.0.1", "--port", "0"))
        for _ in range(n_workers):
            worker = ["--nthreads", "1", "--local-directory", folder, "--no-nanny"]
            stack.enter_context(running("worker", *common, *worker))
        with Client(scheduler_file=str(known), timeout=60) as client:
            client.wait_for_workers(n_workers, timeout=60)
            yield client.scheduler.address


# %%
# The work
# --------
# The data are three copies of each of the twelve made-up studies, with slightly shifted peaks.

rng = np.random.default_rng(0)
studies = list(read_corpus("studies.jsonl").iter_documents())
corpus = Corpus.from_documents(
    Document(
        f"{study.id}-{copy}",
        study.sections,
        study.peaks + rng.normal(0, 3, study.peaks.shape),
        "MNI",
    )
    for study in studies
    for copy in range(3)
)
candidates = [Candidate(f"voxels, {mm} mm", VoxelGrid(mm)) for mm in (10, 14)]
options = {"losses": ["l2"], "folds": 3, "brain": VoxelGrid(10)}

# %%
# Only the option ``cluster`` changes. Data are sent to each worker once. If a worker dies, another
# one repeats its work. Only this process writes files.

with tempfile.TemporaryDirectory() as folder:
    with cluster(n_workers=2) as address:
        print(f"two workers behind {address}")
        there = compare(corpus, Path(folder) / "there", candidates, cluster=address, **options)
    here = compare(corpus, Path(folder) / "here", candidates, n_jobs=1, **options)

# %%
# The scores do not depend on where they were computed.

both = there.scores.merge(
    here.scores, on=["fold", "partition", "loss"], suffixes=("_there", "_here")
)
difference = abs(both["log_likelihood_there"] - both["log_likelihood_here"]).max()
print(f"largest difference: {difference:.1e}")

models = both[both["loss"] == "l2"]
figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
for name, scores in models.groupby("partition"):
    axes.plot("nats_above_uniform_here", "nats_above_uniform_there", "o", data=scores, label=name)
axes.axline((2, 2), slope=1, color="#999999", linewidth=1, zorder=0)
axes.set_xlabel("nats above uniform, computed here")
axes.set_ylabel("computed on the cluster")
axes.spines[["top", "right"]].set_visible(False)
axes.legend()

# %%
# From the command line:
#
# .. code-block:: bash
#
#    neurowhere compare corpus -o comparison --cluster tcp://THAT-MACHINE:8786
#    neurowhere contrast articles --term huntington -o huntington --cluster tcp://THAT-MACHINE:8786

plt.show()
