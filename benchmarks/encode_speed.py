"""How fast a text is encoded: cold, warm and in a batch, with the shipped model.

    python benchmarks/encode_speed.py [--rival PYTHON MODEL] [--abstracts 1000]

- cold: ``neurowhere encode "..."`` as a command, from its start to its end: the fastest of 5.
- predict: `Encoder.predict` of one abstract, the density alone: the median over 50.
- warm: `Encoder.encode` with density, regions of AAL3 and terms, as the median over 50 abstracts.
- folder: ``neurowhere encode "..." -o FOLDER`` as a command, with all images, tables and pictures.
- folders: `Encoder.encode` and `Encoding.save` of 50 abstracts, each: the median.
- decode: `decode` of a point, the median over 50.
- batch: ``neurowhere encode FILE.jsonl --table FILE.csv``, abstracts a second, without the start.
- plot_stat_map: nilearn's orthogonal slices of one map, written as PNG, after its first use.

Each as it took, and in seconds of the processor, which other work on the machine lengthens less.

With --rival, NeuroQuery encodes the same 50 abstracts: PYTHON of an environment that has it, MODEL
as `rivals/neuroquery_fit.py --model` keeps it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from neurowhere import decode, default_atlas, iter_documents, load_model
from neurowhere._tools.files import new_file
from neurowhere.exceptions import DataWarning
from neurowhere.inputs import iter_texts
from neurowhere.report.tables import RowMaker, encode_items
from setting import DATA, print_table

SENTENCE = "Fear conditioning activated the left amygdala and the anterior insula."
ROWS_AT_ONCE = 64
COLD_RUNS, WARM_TEXTS, WARM_UP, BATCH_RUNS = 5, 50, 3, 3
RIVAL = Path(__file__).parent / "rivals" / "neuroquery_encode.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rival", nargs=2, metavar=("PYTHON", "MODEL"))
    parser.add_argument("--abstracts", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    abstracts = list(read_abstracts())
    some = abstracts[:WARM_TEXTS]
    length = sum(map(len, some)) / len(some)
    texts = islice(cycle(abstracts), arguments.abstracts)
    rows = [
        ["cold command, s", *(f"{value:.2f}" for value in cold()), "3"],
        ["warm predict, ms", *(f"{1000 * value:.1f}" for value in predict(some)), "6"],
        ["warm encode, ms", *(f"{1000 * value:.1f}" for value in warm(some)), "15"],
        ["cold command with a folder, s", *(f"{value:.2f}" for value in cold("-o")), "3"],
        ["folder each, s", *(f"{value:.2f}" for value in folders(some)), "0.5"],
        ["warm decode of a point, ms", *(f"{1000 * value:.1f}" for value in points()), "50"],
        ["nilearn's plot_stat_map, s", *(f"{value:.2f}" for value in stat_map(some[0])), ""],
        ["batch, abstracts/s", *(f"{1 / value:,.0f}" for value in batch(list(texts))), "500"],
    ]
    if arguments.rival:
        whole, map_alone = rival(*arguments.rival, some)
        rows.append(["NeuroQuery, ms", f"{whole:.1f}", "", ""])
        rows.append(["NeuroQuery, map alone, ms", f"{map_alone:.1f}", "", ""])
    load = os.getloadavg()[0]
    print(f"abstracts of {length:,.0f} characters; load of the machine {load:.1f}\n")
    print_table(["", "measured", "by processor", "aim"], rows)


def read_abstracts():
    path = DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"
    for document in iter_documents(path):
        if abstract := document.sections.get("abstract"):
            yield f"{document.sections.get('title', '')}\n\n{abstract}"


def cold(*options):
    command = [Path(sys.executable).parent / "neurowhere", "encode", SENTENCE, *options]

    def run(folder):
        place = [Path(folder, "out"), "--overwrite"] if options else []
        subprocess.run([*command, *place], check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder:
        return fastest(timed(partial(run, folder)) for _ in range(COLD_RUNS))


def folders(texts):
    """Seconds for the folder of each text, as in a batch."""
    model = load_model()

    with tempfile.TemporaryDirectory() as folder:

        def save(number, text):
            model.encode(text).save(Path(folder, str(number)))

        return usual(timed(partial(save, *pair)) for pair in enumerate(texts))


def points():
    model = load_model()
    places = model.partition_.centers_mm[:: model.partition_.n_regions // WARM_TEXTS]
    return usual(timed(partial(decode, model, place)) for place in places)


def stat_map(text):
    from nilearn.plotting import plot_stat_map

    image = load_model().encode(text).log_ratio_img
    with tempfile.TemporaryDirectory() as folder:

        def draw():
            plot_stat_map(image, output_file=Path(folder, "map.png"))

        return usual(timed(draw) for _ in range(2 * WARM_UP))


def predict(texts):
    model = load_model()
    return usual(timed(partial(model.predict, [text])) for text in texts)


def warm(texts):
    model, atlas = load_model(), default_atlas()

    def encode(text):
        encoding = model.encode(text)
        return encoding.density, encoding.regions(atlas), encoding.terms

    return usual(timed(partial(encode, text)) for text in texts)


def batch(texts):
    """Seconds for each text."""
    model, maker = load_model(), RowMaker(default_atlas())

    def tables(texts):
        pairs = encode_items(model, texts)
        while some := list(islice(pairs, ROWS_AT_ONCE)):
            yield maker.table(some)

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.jsonl")
        lines = (json.dumps({"id": i, "text": text}) for i, text in enumerate(texts))
        source.write_text("\n".join(lines))
        for _ in tables(islice(iter_texts([str(source)]), WARM_UP)):
            pass  # what is made at first use

        def run():
            with new_file(Path(folder, "table.csv"), overwrite=True) as stream:
                for part in tables(iter_texts([str(source)])):
                    part.to_csv(stream, index=False, float_format="%.6g")

        times = fastest(timed(run) for _ in range(BATCH_RUNS))
        return [seconds / len(texts) for seconds in times]


def rival(python, model, texts):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(texts, file)
        file.flush()
        done = subprocess.run([python, RIVAL, model, file.name], check=True, capture_output=True)
    return map(float, done.stdout.split())


def timed(work):
    """Seconds that some work takes, and those of the processor, here and in its children."""
    start = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - start[0], processor_seconds() - start[1]


def processor_seconds():
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def usual(times):
    """Median, without what is made at first use."""
    return [median(column[WARM_UP:]) for column in zip(*times)]


def fastest(times):
    return [min(column) for column in zip(*times)]


if __name__ == "__main__":
    main()
