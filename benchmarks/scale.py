"""How time and memory grow: documents, files, one long text, and studies to fit.

    python benchmarks/scale.py [PART ...] [--documents 10771] [--times 1 4 16]
        [--sections title abstract body] [--keep FILE.jsonl]

Each line is a command of its own: seconds of the processor, of the clock, and peak memory of the
largest process. With --keep, lines are kept as they are measured, and a second run measures what is
missing. The parts:

- table: ``encode FILE.jsonl --table FILE.csv`` of the unlabelled documents, repeated.
- contrast: ``contrast --jobs 1`` of the same.
- cluster: ``contrast`` of the same on two Dask workers, one of which is killed, and the difference
  between what this writes and what one core does.
- csv: ``encode FILE.csv --column text --table`` of 100,000 rows of a sentence.
- jsonl: ``encode FILE.jsonl --table`` of 100,000 titles and first sentences, repeated.
- files: ``encode FOLDER --table`` of 1,000 files.
- long: ``encode`` of one text of 3 MB and of 20 MiB: abstracts, and a list without end.
- folder: the same of abstracts, into a folder.
- fits: ``fit`` of 50 and of 100,000 synthetic studies, ℓ2 on voxels of 8 mm.
"""

import argparse
import json
import logging
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import psutil

from encode_speed import read_abstracts
from setting import DATA, print_table

COMMAND = Path(sys.executable).parent / "neurowhere"
SENTENCE = "Fear conditioning activated the left amygdala and the anterior insula; no lesion."
LIST = "no amygdala, hippocampus, insula, "
N_ROWS, N_FILES = 100_000, 1_000
SIZES = {"3 MB": 3 * 10**6, "20 MiB": 20 * 2**20}
N_STUDIES = (50, 100_000)
FILE_DOCUMENTS = 300
TERMS = {"amygdala": (-24, -2, -18), "visual cortex": (8, -84, 2), "motor cortex": (-38, -22, 56)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--documents", type=int, default=10_771)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--sections", nargs="+", default=["title", "abstract", "body"])
    parser.add_argument("--keep", type=Path, metavar="FILE.jsonl")
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    kept = read_kept(arguments.keep)
    with tempfile.TemporaryDirectory() as folder:
        for part in arguments.parts:
            for name, prepare in PARTS[part](Path(folder), arguments):
                if name not in kept:
                    kept[name] = measured(prepare())
                    print(name, *kept[name], sep="  ", flush=True)
                    keep(arguments.keep, name, kept[name])
    print()
    header = ["", "CPU, s", "clock, s", "peak, MB", "exit code"]
    print_table(header, [[name, *row] for name, row in kept.items()])


def read_kept(file):
    """Read the lines that an earlier run has measured."""
    if file is None or not file.exists():
        return {}
    return dict(map(json.loads, file.read_text().splitlines()))


def keep(file, name, row):
    if file is not None:
        with file.open("a") as stream:
            stream.write(json.dumps([name, row]) + "\n")


def table(folder, arguments):
    for n, name in numbers_of_documents(arguments):

        def prepare(n=n):
            return encode(write_documents(folder, n, arguments.sections), folder)

        yield f"table of {name}", prepare


def contrast(folder, arguments):
    for n, name in numbers_of_documents(arguments):

        def prepare(n=n):
            documents = write_documents(folder, n, arguments.sections)
            return contrast_of(documents, folder / f"contrast-{n}")

        yield f"contrast of {name}", prepare


def cluster(folder, arguments):
    n, documents = next(numbers_of_documents(arguments))

    def prepare(name, *options):
        written = write_documents(folder, n, arguments.sections)
        return [*contrast_of(written, folder / name), *options]

    yield f"contrast of {documents} on one core", partial(prepare, "here")
    with local_cluster() as workers, killed(workers, folder / "there-cache"):
        options = ["--cluster", workers.scheduler_address]
        name = f"contrast of {documents} on two Dask workers, one killed"
        yield name, partial(prepare, "there", *options)
    if (folder / "here").exists() and (folder / "there").exists():
        print(f"difference of the files: {difference(folder / 'here', folder / 'there')}")


def numbers_of_documents(arguments):
    """Yield numbers of documents, and what to call them."""
    for n in arguments.times:
        number = n * arguments.documents
        yield number, f"{number:,} documents ({', '.join(arguments.sections)})"


def csv(folder, _):
    def prepare():
        file = folder / "rows.csv"
        file.write_text("id,text\n" + "".join(f'{i},"{SENTENCE}"\n' for i in range(N_ROWS)))
        return [*encode(file, folder), "--column", "text"]

    yield f"table of a CSV of {N_ROWS:,} rows", prepare


def jsonl(folder, _):
    def prepare():
        texts = [part for text in read_abstracts() for part in text.split("\n\n")[:2]]
        texts = [part.partition(". ")[0] for part in texts if part.strip()]
        rows = ({"id": str(i), "text": texts[i % len(texts)]} for i in range(N_ROWS))
        file = folder / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [*encode(file, folder), "--keep-going"]

    yield f"table of {N_ROWS:,} titles and sentences", prepare


def files(folder, _):
    def prepare():
        place = folder / "files"
        place.mkdir()
        for i in range(N_FILES):
            (place / f"{i}.txt").write_text(SENTENCE)
        return encode(place, folder)

    yield f"table of {N_FILES:,} files", prepare


def long(folder, _):
    for name, words in (("abstracts", prose), ("a list without end", lambda: LIST)):
        for size in SIZES:

            def prepare(words=words, size=size):
                return ["encode", write_long(folder, words(), SIZES[size]), "--json"]

            yield f"one text of {size}: {name}", prepare


def folder(folder, _):
    def prepare():
        file = write_long(folder, prose(), SIZES["20 MiB"])
        return ["encode", file, "-o", folder / "encoded"]

    yield "one text of 20 MiB: abstracts, into a folder", prepare


def fits(folder, _):
    for n in N_STUDIES:

        def prepare(n=n):
            corpus = folder / f"studies-{n}.jsonl"
            rng = np.random.default_rng(0)
            with corpus.open("w") as stream:
                for i in range(n):
                    stream.write(json.dumps(study(i, rng)) + "\n")
            options = ["--partition", "voxels:8", "--loss", "l2", "-o", folder / f"model-{n}"]
            return ["fit", corpus, *options]

        yield f"fit of {n:,} studies", prepare


def study(number, rng):
    """Make a synthetic study: one or two terms, and peaks around their places."""
    terms = rng.choice(list(TERMS), rng.integers(1, 3), replace=False)
    peaks = np.concatenate([rng.normal(TERMS[term], 6, (4, 3)) for term in terms]).round(1)
    peaks = [dict(zip("xyz", peak)) for peak in peaks.tolist()]
    text = f"We studied the {' and the '.join(terms)} in {rng.integers(10, 40)} volunteers."
    return {"id": str(number), "title": "", "abstract": text, "space": "MNI", "peaks": peaks}


PARTS = {
    part.__name__: part
    for part in (table, contrast, cluster, csv, jsonl, files, long, folder, fits)
}


def encode(source, folder):
    table = folder / "table.csv"
    return ["encode", source, "--table", table, "--overwrite", "--keep-going"]


def contrast_of(documents, output):
    cache = output.with_name(f"{output.name}-cache")
    options = ["--term", "parkinson", "--jobs", "1", "--cache", cache]
    return ["contrast", documents, *options, "-o", output]


def write_documents(folder, n, sections):
    """Write the unlabelled documents, again under other names once all were written."""
    place = folder / f"documents-{n}"
    if place.exists():
        return place
    place.mkdir()
    lines = unlabelled_lines()
    for first in range(0, n, FILE_DOCUMENTS):
        with (place / f"{first:07}.jsonl").open("w", encoding="utf-8") as stream:
            for i, line in enumerate(islice(lines, min(FILE_DOCUMENTS, n - first)), first):
                record = json.loads(line)
                texts = {key: record.get(key) or "" for key in sections}
                stream.write(json.dumps({"id": str(i), **texts}, ensure_ascii=False) + "\n")
    return place


def unlabelled_lines():
    while True:
        for source in sorted((DATA / "unlabelled").glob("*.jsonl.xz")):
            with lzma.open(source, "rt", encoding="utf-8") as lines:
                yield from lines


def prose():
    return "\n\n".join(islice(read_abstracts(), 200))


def write_long(folder, words, size):
    """Write a text of a size in bytes, by repeating words."""
    file = folder / "long.txt"
    content = words.encode("ascii", "ignore")
    file.write_bytes((content * (size // len(content) + 1))[:size])
    return file


@contextmanager
def killed(workers, cache):
    """Kill one of the workers of a cluster once the first documents were counted."""
    victim = next(iter(workers.workers.values())).process.pid
    over = threading.Event()

    def kill():
        while not over.wait(0.01):
            if any(cache.rglob("*.vectors-*.npz")):
                os.kill(victim, signal.SIGKILL)
                return

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    over.set()
    thread.join()
    print("one worker was killed" if not psutil.pid_exists(victim) else "NO worker was killed")


def difference(here, there):
    """Return how far the files of two folders differ: names, tables and images."""
    names = [{str(file.relative_to(place)) for file in place.rglob("*")} for place in (here, there)]
    if names[0] != names[1]:
        return f"other names: {sorted(names[0] ^ names[1])}"
    largest = {}
    for name in sorted(names[0]):
        if (values := numbers(here / name)) is not None:
            other = numbers(there / name)
            if values.shape != other.shape:
                return f"{name}: other shapes"
            same = (values == other) | (np.isnan(values) & np.isnan(other))
            apart = np.abs(values[~same] - other[~same]).max(initial=0)
            largest[name] = float(apart / np.nanmax(np.abs(values), initial=1e-12))
    return ", ".join(f"{name} {value:.0e}" for name, value in largest.items())


def numbers(file):
    """Return the numbers of a table or an image, None for other files."""
    if file.name.endswith(".nii.gz"):
        return np.asarray(nibabel.load(file).dataobj, dtype=np.float64)
    if file.suffix == ".csv":
        return pd.read_csv(file).select_dtypes("number").to_numpy(np.float64)
    return None


def measured(arguments):
    """Run a command: seconds of the processor and of the clock, peak memory, exit code."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, done.returncode)\n"
    )
    start = time.perf_counter()
    command = [sys.executable, "-c", code, COMMAND, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seconds = time.perf_counter() - start
    cpu, peak, status = done.stdout.split()
    return f"{float(cpu):.1f}", f"{seconds:.1f}", f"{int(peak):,}", status


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
