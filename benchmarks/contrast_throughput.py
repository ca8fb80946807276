"""How fast documents are read, counted and encoded for contrasts; how long a million would take.

    python benchmarks/contrast_throughput.py [--model FOLDER] [--megabytes 32]

Full texts of the development data are written as JSON lines in files of 4 MB. Each stage is timed
on one core, on two, and on a local Dask cluster of two workers, which are started beforehand. Then
a worker is killed on the way, and what comes out is compared with what one core found. At last, the
peak memory of one core on corpora of several sizes.
"""

import argparse
import json
import logging
import lzma
import multiprocessing
import os
import signal
import tempfile
import threading
import time
import warnings
from itertools import count
from pathlib import Path

import numpy as np
import psutil
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from neurowhere import contrast_documents, default_atlas, load_model
from neurowhere._tools.parallel import hired
from neurowhere.contrast.background import find_background
from neurowhere.contrast.library import open_library
from neurowhere.contrast.run import How
from neurowhere.contrast.selection import ByTerm, search
from setting import DATA, peak_memory_gib, print_table

FILE_MEGABYTES = 4
MEMORY_SHARES = (0.5, 1, 2)  # of the megabytes
MILLION = 1_000_000
NOTHING = np.empty(0, np.intp)  # no term is left out
FITTED = "encode twice, fit to kinds"
TERMS = ("parkinson", "aphasi*", "substantia nigra", r"/\bHD\b/")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder of a model", default=None)
    parser.add_argument("--megabytes", type=float, default=32, help="of text")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    model = load_model(arguments.model)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        n, megabytes = write_texts(folder / "texts", arguments.megabytes)
        print(f"{n:,} full texts, {megabytes:.1f} MB, {megabytes / n * 1000:.0f} kB each\n")
        rows = []
        for name, n_jobs in (("1 core", 1), ("2 cores", 2)):
            with hired(n_jobs, None) as workers, threadpool_limits(1):
                rows += measure(name, model, folder, workers, n, megabytes)
        get_reusable_executor().shutdown()  # joblib's workers, whose time would be counted too
        with local_cluster() as cluster, hired(1, cluster.scheduler_address) as workers:
            rows += measure("Dask, 2 workers", model, folder, workers, n, megabytes)
            killed = kill_a_worker(cluster, model, folder, workers)
        header = ["where", "stage", "s", "CPU s", "documents/s", "MB/s"]
        header += ["million full texts", "CPU of it"]
        print_table(header, rows)
        sizes = sum(file.stat().st_size for file in (folder / "1 core").rglob("0*.npz"))
        print(f"\nkept on disk: {sizes / 1e6 / megabytes:.2f} bytes per byte of text")
        print(killed)
    print()
    sizes = [arguments.megabytes * share for share in MEMORY_SHARES]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        rows = pool.starmap(peak_memory, [(arguments.model, size) for size in sizes], chunksize=1)
    print_table(["documents", "MB", "peak memory, GiB"], rows)


def write_texts(folder, megabytes):
    """Write full texts of the development data as files of about the same size."""
    folder.mkdir()
    n_files = max(1, round(megabytes / FILE_MEGABYTES))
    streams = [(folder / f"{i}.jsonl").open("w", encoding="utf-8") for i in range(n_files)]
    n = size = 0
    for record in full_texts():
        streams[n % n_files].write(json.dumps(record, ensure_ascii=False) + "\n")
        n, size = n + 1, size + sum(map(len, record.values()))
        if size > megabytes * 1e6:
            break
    for stream in streams:
        stream.close()
    return n, size / 1e6


def full_texts():
    """Yield full texts; once all were given, again under other names."""
    for copy in count():
        for file in sorted((DATA / "unlabelled").glob("*.jsonl.xz")):
            with lzma.open(file, "rt", encoding="utf-8") as lines:
                for number, line in enumerate(lines):
                    record = json.loads(line)
                    if len(record.get("body") or "") > 10_000:
                        name = f"{file.name}-{number}-{copy}"
                        texts = {
                            key: record.get(key) or "" for key in ("title", "abstract", "body")
                        }
                        yield {"id": name, **texts}


def measure(name, model, folder, workers, n, megabytes):
    """Rows of the table for one kind of workers, started by a first run on a tenth."""
    warm_up(folder, model, workers)
    cache = folder / name
    seconds = {}
    start = now()

    def lap(stage):
        nonlocal start
        seconds[stage] = now() - start
        start = now()

    library = open_library([folder / "texts"], cache, workers=workers)
    lap("read, cut into shards")
    found = search(library, [ByTerm("huntington")], model.extractor_, NOTHING, workers)
    lap("count terms, index words")
    background_of(model, library, found, workers)
    lap(FITTED)
    for term in TERMS:
        search(library, [ByTerm(term)], model.extractor_, NOTHING, workers)
        lap(f"search for {term}")
    first = ("read, cut into shards", "count terms, index words", FITTED)
    seconds["all of the first three"] = sum(seconds[stage] for stage in first)
    return [
        [
            name,
            stage,
            f"{s:.2f}",
            f"{cpu:.2f}",
            f"{n / s:,.0f}",
            f"{megabytes / s:.1f}",
            f"{MILLION / n * s / 3600:,.1f} h",
            f"{MILLION / n * cpu / 3600:,.1f} h",
        ]
        for stage, (s, cpu) in seconds.items()
    ]


def now():
    """Seconds by the clock, and of the processor: this process and the workers that it started."""
    this = psutil.Process()
    used = [each.cpu_times() for each in (this, *this.children(recursive=True))]
    return np.array([time.perf_counter(), sum(each.user + each.system for each in used)])


def kill_a_worker(cluster, model, folder, workers):
    """Kill a worker while documents are counted; say what became of them."""
    cache = folder / "killed"
    victim = next(iter(cluster.workers.values())).process.pid
    done = []

    def kill():
        while not done:
            time.sleep(0.01)
            done.extend(cache.rglob("*.vectors-*.npz"))
        os.kill(victim, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    sums = {}
    for name in ("killed", "1 core"):
        library = open_library([folder / "texts"], folder / name, workers=workers)
        found = search(library, [ByTerm("brain")], model.extractor_, NOTHING, workers)
        sums[name] = background_of(model, library, found, workers)
    there, here = sums["killed"], sums["1 core"]
    apart = np.abs(there.usual - here.usual).max() / here.usual.max()
    return (
        f"a worker killed after {len(done)} of {len(library.shards)} shards were counted: "
        f"{there.n_documents:,} documents summed, {here.n_documents:,} without; "
        f"means differ by {apart:.0e} of the maximum"
    )


def peak_memory(model, megabytes):
    """Contrast documents on one core, in a process of its own."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        n, megabytes = write_texts(Path(temporary) / "texts", megabytes)
        contrast_documents(
            Path(temporary) / "texts",
            "parkinson*",
            model=load_model(model),
            cache=Path(temporary) / "cache",
            n_jobs=1,
        )
    return [f"{n:,}", f"{megabytes:.0f}", f"{peak_memory_gib():.2f}"]


def warm_up(folder, model, workers):
    """Let the workers start and import what they need."""
    sample = folder / "sample"
    if not sample.exists():
        sample.mkdir()
        lines = (folder / "texts" / "0.jsonl").read_text("utf-8").splitlines()[:8]
        for number, line in enumerate(lines):
            (sample / f"{number}.jsonl").write_text(line + "\n", "utf-8")
    with tempfile.TemporaryDirectory() as cache:
        from neurowhere.contrast import library as parts

        usual, parts.PART_BYTES = parts.PART_BYTES, 1
        library = open_library([sample], cache, workers=workers)
        parts.PART_BYTES = usual
        found = search(library, [ByTerm("brain")], model.extractor_, NOTHING, workers)
        background_of(model, library, found, workers)


def background_of(model, library, found, workers):
    """Encode all documents twice, for their mean and for what follows from their kind."""
    options = {"weighted": False, "unadjusted": False, "matched": False, "masked": True}
    how = How(model, default_atlas(), without=(), min_ratio=1.0, **options)
    return find_background(library.folder, found, how.plain, workers)


def local_cluster():
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


if __name__ == "__main__":
    main()
