"""Time and peak memory of reading and importing corpora, each in a process of its own.

Usage: python benchmarks/import_corpus.py [DATA]

DATA is the folder of the development data (default: NEUROWHERE_DATA or ../shared/data). The
rival is what reading NeuroQuery's files costs with pandas and SciPy alone: no checks, no
alignment, no conversion.
"""

import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from neurowhere.exceptions import DataWarning

KIB_PER_MIB = 1024  # Linux gives the peak memory in KiB


def bare_reading(data: Path, _: Path) -> str:
    import pandas as pd
    from scipy import sparse

    stem = f"{data}/corpus/neuroquery_dev_"
    documents = pd.read_csv(f"{stem}metadata.tsv.gz", sep="\t")
    peaks = pd.read_csv(f"{stem}coordinates.tsv.gz", sep="\t")
    pd.read_csv(f"{data}/corpus/neuroquery156521_vocabulary.txt.gz", header=None)
    for section in ("title", "abstract", "keywords"):
        sparse.load_npz(f"{stem}counts_{section}.npz")
    return f"{len(documents):,} documents, {len(peaks):,} peaks"


def read(data: Path, output: Path, *, source: str, format: str, save: bool) -> str:
    from neurowhere.corpus import read_corpus

    corpus = read_corpus(data / source, format=format)
    if save:
        corpus.save(output / format)
    return f"{len(corpus):,} documents, {len(corpus.peaks):,} peaks"


def stream(data: Path, _: Path) -> str:
    from neurowhere.corpus import iter_documents

    n_documents = n_characters = 0
    for document in iter_documents(data / "unlabelled"):
        n_documents += 1
        n_characters += len(document.text)
    return f"{n_documents:,} documents, {n_characters / 1e6:.0f} million characters"


Task = Callable[[Path, Path], str]
CORPUS = partial(read, source="corpus")
TASKS: dict[str, Task] = {
    "NeuroQuery, pandas and SciPy alone": bare_reading,
    "NeuroQuery, read_corpus": partial(CORPUS, format="neuroquery", save=False),
    "NeuroQuery, import (read and save)": partial(CORPUS, format="neuroquery", save=True),
    "Neurosynth, import": partial(CORPUS, format="neurosynth", save=True),
    "linked texts (JSON lines), import": partial(CORPUS, format="jsonl", save=True),
    "unlabelled texts (JSON lines), streamed": stream,
}


def measure(task: Task, data: Path, output: Path) -> tuple[float, float, float, str]:
    """Elapsed and processor seconds, peak MiB and result of a task, imports included."""
    warnings.simplefilter("ignore", DataWarning)
    start, start_cpu = time.perf_counter(), time.process_time()
    result = task(data, output)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB
    return seconds, cpu_seconds, peak_mib, result


def main() -> None:
    default = os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data")
    data = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    print(f"{'':<42}{'seconds':>8}{'CPU s':>8}{'peak MiB':>10}  read")
    with tempfile.TemporaryDirectory() as output:
        for name, task in TASKS.items():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                arguments = (task, data, Path(output))
                seconds, cpu, peak_mib, result = pool.submit(measure, *arguments).result()
            print(f"{name:<42}{seconds:>8.2f}{cpu:>8.2f}{peak_mib:>10.0f}  {result}", flush=True)


if __name__ == "__main__":
    main()
