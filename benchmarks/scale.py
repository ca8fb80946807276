"""How time and memory grow: documents, files, one long text, and studies to fit.

    python benchmarks/scale.py [PART ...] [--documents 10771] [--times 1 4 16]

Each line is a command of its own: seconds of the processor, of the clock, and peak memory, all of
its children included. The parts:

- table: ``encode FILE.jsonl --table FILE.csv`` of the abstracts of the development data, repeated.
- contrast: ``contrast`` of the same documents.
- csv: ``encode FILE.csv --column text --table`` of 100,000 rows of a sentence.
- files: ``encode FOLDER --table`` of 1,000 files.
- long: ``encode`` of one text of 3 and of 20 MB: abstracts, and a list without end.
- fits: ``fit`` of 50 and of 100,000 synthetic studies, ℓ2 on voxels of 8 mm.

`contrast_throughput.py` runs contrasts on two Dask workers and kills one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from encode_speed import read_abstracts
from setting import print_table

COMMAND = Path(sys.executable).parent / "neurowhere"
SENTENCE = "Fear conditioning activated the left amygdala and the anterior insula; no lesion."
LIST = "no amygdala, hippocampus, insula, "
N_ROWS, N_FILES = 100_000, 1_000
MEGABYTES = (3, 20)
N_STUDIES = (50, 100_000)
TERMS = {"amygdala": (-24, -2, -18), "visual cortex": (8, -84, 2), "motor cortex": (-38, -22, 56)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--documents", type=int, default=10_771)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for part in arguments.parts:
            for name, command in PARTS[part](Path(folder), arguments):
                rows.append([name, *measured(command)])
                print(*rows[-1], sep="  ", flush=True)
    print()
    print_table(["", "CPU, s", "clock, s", "peak, MB", "exit code"], rows)


def table(folder, arguments):
    for n in arguments.times:
        file = write_documents(folder, n * arguments.documents)
        yield f"table of {n * arguments.documents:,} documents", encode(file, folder)
        file.unlink()


def contrast(folder, arguments):
    for n in arguments.times:
        file = write_documents(folder, n * arguments.documents)
        options = ["--term", "parkinson", "-o", folder / f"contrast-{n}"]
        yield f"contrast of {n * arguments.documents:,} documents", ["contrast", file, *options]
        file.unlink()


def csv(folder, _):
    file = folder / "rows.csv"
    file.write_text("id,text\n" + "".join(f'{i},"{SENTENCE}"\n' for i in range(N_ROWS)))
    yield f"table of a CSV of {N_ROWS:,} rows", [*encode(file, folder), "--column", "text"]


def files(folder, _):
    place = folder / "files"
    place.mkdir()
    for i in range(N_FILES):
        (place / f"{i}.txt").write_text(SENTENCE)
    yield f"table of {N_FILES:,} files", encode(place, folder)


def long(folder, _):
    prose = "\n\n".join(islice(read_abstracts(), 200))
    for name, words in (("abstracts", prose), ("a list without end", LIST)):
        for megabytes in MEGABYTES:
            file = folder / "long.txt"
            file.write_text((words * (megabytes * 10**6 // len(words) + 1))[: megabytes * 10**6])
            yield f"one text of {megabytes} MB: {name}", ["encode", file, "--json"]


def fits(folder, _):
    for n in N_STUDIES:
        corpus = folder / f"studies-{n}.jsonl"
        rng = np.random.default_rng(0)
        with corpus.open("w") as stream:
            for i in range(n):
                stream.write(json.dumps(study(i, rng)) + "\n")
        options = ["--partition", "voxels:8", "--loss", "l2", "-o", folder / f"model-{n}"]
        yield f"fit of {n:,} studies", ["fit", corpus, *options]


def study(number, rng):
    """Make a synthetic study: one or two terms, and peaks around their places."""
    terms = rng.choice(list(TERMS), rng.integers(1, 3), replace=False)
    peaks = np.concatenate([rng.normal(TERMS[term], 6, (4, 3)) for term in terms]).round(1)
    peaks = [dict(zip("xyz", peak)) for peak in peaks.tolist()]
    text = f"We studied the {' and the '.join(terms)} in {rng.integers(10, 40)} volunteers."
    return {"id": str(number), "title": "", "abstract": text, "space": "MNI", "peaks": peaks}


PARTS = {part.__name__: part for part in (table, contrast, csv, files, long, fits)}


def encode(source, folder):
    return ["encode", source, "--table", folder / "table.csv", "--overwrite"]


def write_documents(folder, n):
    file = folder / f"documents-{n}.jsonl"
    with file.open("w") as stream:
        for i, text in enumerate(islice(cycle(list(read_abstracts())), n)):
            stream.write(json.dumps({"id": str(i), "text": text}) + "\n")
    return file


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


if __name__ == "__main__":
    main()
