"""How fast two checkouts encode the same texts, in one run.

    python benchmarks/speeds.py OLD NEW [LINE ...] [--abstracts 1000] [--folders 40] [--rounds 3]

Both checkouts take turns, and the least time of each is printed. OLD works on one core; commands of
NEW that are named "two cores" have `--jobs 2`. The lines:

- many: `Encoder.encode_many` of all abstracts, processor time of one.
- single: `Encoder.encode` of 100 abstracts, one by one, after the first few.
- article: `Encoder.encode` of the article that is nearest to 10,000 words.
- table: ``neurowhere encode FILE.jsonl --table FILE.csv``, with the start, on one core.
- tables: the same on two cores, by the clock.
- folder: ``neurowhere encode FILE.jsonl -o FOLDER`` with all pictures, on one core.
- folders: the same on two cores, by the clock.
- weight: memory of an encoding in a list, of the abstracts and of as many short reports.

The load of the machine is printed too: under other work, only processor times say something.
"""

import argparse
import gc
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("NEUROWHERE_DATA", ROOT.parent / "shared" / "data"))
N_SINGLE, N_ARTICLE, WARM_UP = 100, 20, 5
ARTICLE_WORDS = 10_000
REPORT = (
    "Case {}. Acute infarct in the left thalamus; the right insula is normal. Mass in the left "
    "frontal lobe with oedema, which compresses the left lateral ventricle."
)
LINES = {
    "many": ("encode_many, each", "processor, ms", 1000),
    "single": ("encode of an abstract", "processor, ms", 1000),
    "article": ("encode of an article", "processor, ms", 1000),
    "table": ("table of all, one core", "processor, s", 1),
    "tables": ("table of all, two cores", "clock, s", 1),
    "folder": ("folder each, one core", "processor, s", 1),
    "folders": ("folder each, two cores", "clock, s", 1),
    "weight": ("encoding of an abstract", "kB", 1e-3),
    "reports": ("encoding of a report", "kB", 1e-3),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("lines", nargs="*", metavar="LINE")
    parser.add_argument("--abstracts", type=int, default=1000)
    parser.add_argument("--folders", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"{'':26}{'':16}{'old':>10}{'new':>10}{'times':>8}")
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.json")
        texts.write_text(json.dumps(list(islice(read_abstracts(), arguments.abstracts))))
        for line in arguments.lines or LINES:
            found = [[], []]
            for _ in range(1 if line in ("weight", "reports") else arguments.rounds):
                for seen, checkout in zip(found, (arguments.old, arguments.new)):
                    is_new = checkout is arguments.new
                    seen.append(run_in(checkout, line, texts, arguments.folders, is_new))
            label, unit, scale = LINES[line]
            old, new = (min(seen) * scale for seen in found)
            print(f"{label:26}{unit:16}{old:10.2f}{new:10.2f}{old / new:8.2f}", flush=True)


def read_abstracts():
    """Read titles and abstracts without the code of either checkout."""
    path = DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            if document.get("abstract"):
                yield f"{document.get('title') or ''}\n\n{document['abstract']}"


def run_in(checkout, line, texts, n_folders, is_new):
    """Measure a line in a process that imports a checkout."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = os.environ | one_thread | {"PYTHONPATH": str(checkout.resolve() / "src")}
    command = [sys.executable, __file__, "--measure", line, texts, str(n_folders), str(is_new)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


def measure(line, file, n_folders, is_new):
    warnings.simplefilter("ignore")
    texts = json.loads(Path(file).read_text())
    if line in ("many", "single", "article"):
        return measure_model(line, texts)
    if line in ("weight", "reports"):
        return weigh(texts if line == "weight" else list(map(REPORT.format, range(len(texts)))))
    return measure_command(line, texts, int(n_folders), is_new == "True")


def measure_model(line, texts):
    from neurowhere import load_model

    model = load_model()
    if line == "article":
        article = read_article()
        return min(seconds_of(lambda: model.encode(article)) for _ in range(N_ARTICLE))
    for text in texts[:WARM_UP]:
        model.encode(text)
    if line == "single":
        some = texts[:N_SINGLE]
        return seconds_of(lambda: [model.encode(text) for text in some]) / len(some)
    maps = lambda: [each.probabilities[0] for each in model.encode_many(texts)]  # noqa: E731
    return seconds_of(maps) / len(texts)


def read_article():
    with lzma.open(DATA / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        return min(texts, key=lambda text: abs(len(text.split()) - ARTICLE_WORDS))


def measure_command(line, texts, n_folders, is_new):
    is_folder = line.startswith("folder")
    texts = texts[:n_folders] if is_folder else texts
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.jsonl")
        rows = (json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts))
        source.write_text("\n".join(rows))
        command = [sys.executable, "-m", "neurowhere", "encode", source, "--keep-going"]
        command += ["-o", Path(folder, "out")] if is_folder else ["--table", Path(folder, "t.csv")]
        by_clock = line.endswith("s")
        command += ["--jobs", "2"] if by_clock and is_new else []
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = seconds if by_clock else usage.ru_utime + usage.ru_stime
        return seconds / len(texts) if is_folder else seconds


def weigh(texts):
    from neurowhere import load_model

    model = load_model()
    for _ in model.encode_many(texts):
        pass  # what the model keeps
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = list(model.encode_many(texts))
    gc.collect()
    return (tracemalloc.get_traced_memory()[0] - before) / len(kept)


def seconds_of(work):
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(measure(*sys.argv[2:]))
    else:
        main()
