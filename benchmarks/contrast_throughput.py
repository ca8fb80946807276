"""How fast documents are read, counted and encoded for contrasts; how long a million would take.

    python benchmarks/contrast_throughput.py --model FOLDER [--megabytes 32]

Full texts of the development data are written as JSON lines in eight files. Each stage is timed on
one core, on two, and on a local Dask cluster of two workers, which are started beforehand.
"""

import argparse
import gzip
import json
import lzma
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from neurowhere.contrast.library import open_library
from neurowhere.contrast.run import sum_all
from neurowhere.contrast.selection import ByTerm, Search, search
from neurowhere.contrast.sums import Summing
from neurowhere.contrast.workers import hired
from neurowhere.store import load_model
from setting import DATA, peak_memory_gib, print_table

N_FILES = 8
MILLION = 1_000_000
NOTHING = np.empty(0, np.intp)  # no term is left out
TERMS = ("parkinson", "aphasi*", "substantia nigra", r"/\bHD\b/")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder of a model", default=None)
    parser.add_argument("--megabytes", type=float, default=32, help="of text")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    model = load_model(arguments.model)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        n, megabytes = write_texts(folder / "texts", arguments.megabytes)
        print(f"{n:,} full texts, {megabytes:.1f} MB, {megabytes / n * 1000:.0f} kB each\n")
        rows = []
        for name, n_jobs in (("1 core", 1), ("2 cores", 2)):
            with hired(n_jobs, None) as workers:
                rows += measure(name, model, folder, workers, n, megabytes)
        with local_cluster() as cluster, hired(1, cluster.scheduler_address) as workers:
            rows += measure("Dask, 2 workers", model, folder, workers, n, megabytes)
        header = ["where", "stage", "s", "documents/s", "MB/s", "million full texts"]
        print_table(header, rows)
        sizes = sum(file.stat().st_size for file in (folder / "1 core").rglob("*.npz"))
        print(f"\nkept on disk: {sizes / 1e6 / megabytes:.2f} bytes per byte of text")
        print(f"peak memory of this process: {peak_memory_gib():.2f} GiB")


def write_texts(folder, megabytes):
    """Write full texts of the development data, dealt out over files of about the same size."""
    folder.mkdir()
    streams = [(folder / f"{i}.jsonl").open("w", encoding="utf-8") for i in range(N_FILES)]
    n = size = 0
    for record in full_texts():
        streams[n % N_FILES].write(json.dumps(record, ensure_ascii=False) + "\n")
        n, size = n + 1, size + sum(len(record[key]) for key in ("title", "abstract", "body"))
        if size > megabytes * 1e6:
            break
    for stream in streams:
        stream.close()
    return n, size / 1e6


def full_texts():
    opened = {".xz": lzma.open, ".gz": gzip.open}
    for file in sorted((DATA / "unlabelled").glob("*.jsonl.xz")):
        with opened[file.suffix](file, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                if len(record.get("body") or "") > 10_000:
                    keys = ("pmid", "sid", "title", "abstract", "body")
                    yield {"abstract": "", **{k: record[k] for k in keys if record.get(k)}}


def measure(name, model, folder, workers, n, megabytes):
    """Rows of the table for one kind of workers, started by a first run on a tenth."""
    summing = Summing(model, NOTHING, 200, 0)
    warm_up(folder, summing, workers)
    cache = folder / name
    seconds = {}
    start = time.perf_counter()

    def lap(stage):
        nonlocal start
        seconds[stage] = time.perf_counter() - start
        start = time.perf_counter()

    library = open_library([folder / "texts"], cache, workers=workers)
    lap("read, cut into shards")
    found = search(
        library, Search([ByTerm("huntington")], summing.model.extractor_, NOTHING), workers
    )
    lap("count terms, index words")
    sum_all(library, found, summing, workers)
    lap("encode, 200 replicates")
    for term in TERMS:
        search(library, Search([ByTerm(term)], summing.model.extractor_, NOTHING), workers)
        lap(f"search for {term}")
    first = ("read, cut into shards", "count terms, index words", "encode, 200 replicates")
    seconds["all of the first three"] = sum(seconds[stage] for stage in first)
    return [
        [
            name,
            stage,
            f"{s:.2f}",
            f"{n / s:,.0f}",
            f"{megabytes / s:.1f}",
            f"{MILLION / n * s / 60:,.1f} min",
        ]
        for stage, s in seconds.items()
    ]


def warm_up(folder, summing, workers):
    """Let the workers start and import what they need."""
    sample = folder / "sample"
    if not sample.exists():
        sample.mkdir()
        lines = (folder / "texts" / "0.jsonl").read_text("utf-8").splitlines()[:8]
        for number, line in enumerate(lines):
            (sample / f"{number}.jsonl").write_text(line + "\n", "utf-8")
    with tempfile.TemporaryDirectory() as cache:
        from neurowhere.contrast import source

        usual, source.PART_BYTES = source.PART_BYTES, 1
        library = open_library([sample], cache, workers=workers)
        source.PART_BYTES = usual
        found = search(
            library, Search([ByTerm("brain")], summing.model.extractor_, NOTHING), workers
        )
        sum_all(library, found, summing, workers)


def local_cluster():
    from distributed import LocalCluster

    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


if __name__ == "__main__":
    main()
