"""How fast a text is encoded: cold, warm and in a batch, with the shipped model.

    python benchmarks/encode_speed.py [LINE ...] [--rival PYTHON MODEL] [--abstracts 1000]

- cold: ``neurowhere encode "..."`` as a command, from its start to its end: the fastest of 5.
- predict: `Encoder.predict` of one abstract, the density alone: the median over 50.
- warm: `Encoder.encode` with density, regions of AAL3 and terms, as the median over 50 abstracts.
- alone: `Encoder.encode` alone of the same abstracts: the median.
- article: `Encoder.encode` of a whole article of about 10,000 words: the fastest of 20.
- folder: ``neurowhere encode "..." -o FOLDER`` as a command, with all images, tables and pictures.
- folders: `Encoder.encode` and `Encoding.save` of 50 abstracts, each: the median.
- command: ``neurowhere encode FILE.csv -o FOLDER`` of 50 abstracts, each, with the start.
- decode: `decode` of a point, the median over 50.
- served: the same by HTTP, of a server that was started before, with its processor time.
- batch: ``neurowhere encode FILE.jsonl --table FILE.csv``, abstracts a second, without the start.
- plot_stat_map: nilearn's orthogonal slices of one map, written as PNG, after its first use.

Each as it took, and in seconds of the processor, which other work on the machine lengthens less.

With --rival, NeuroQuery encodes the same 50 abstracts: PYTHON of an environment that has it, MODEL
as `rivals/neuroquery_fit.py --model` keeps it.
"""

import argparse
import asyncio
import json
import lzma
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

import pandas as pd

from neurowhere import decode, default_atlas, iter_documents, load_model
from neurowhere._tools.files import new_file
from neurowhere.exceptions import DataWarning
from neurowhere.inputs import iter_texts
from neurowhere.report.tables import RowMaker, encode_items
from serve_load import Client, Server
from setting import DATA, print_table

SENTENCE = "Fear conditioning activated the left amygdala and the anterior insula."
ROWS_AT_ONCE = 64
COLD_RUNS, WARM_TEXTS, WARM_UP, BATCH_RUNS, ARTICLE_RUNS = 5, 50, 3, 3, 20
ARTICLE_WORDS = 10_000
RIVAL = Path(__file__).parent / "rivals" / "neuroquery_encode.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", nargs="*", metavar="LINE")
    parser.add_argument("--rival", nargs=2, metavar=("PYTHON", "MODEL"))
    parser.add_argument("--abstracts", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    abstracts = list(read_abstracts())
    some = abstracts[:WARM_TEXTS]
    length = sum(map(len, some)) / len(some)
    texts = islice(cycle(abstracts), arguments.abstracts)
    lines = {
        "cold": ("cold command, s", in_seconds, cold, "3"),
        "predict": ("warm predict, ms", in_milliseconds, partial(predict, some), "6"),
        "warm": ("warm encode, regions, terms, ms", in_milliseconds, partial(warm, some), "15"),
        "alone": ("warm encode, ms", in_milliseconds, partial(alone, some), "8"),
        "article": ("warm encode of an article, ms", in_milliseconds, article, "60"),
        "folder": ("cold command with a folder, s", in_seconds, partial(cold, "-o"), "3"),
        "folders": ("folder each, s", in_seconds, partial(folders, some), "0.5"),
        "command": ("folder each, one command, s", in_seconds, partial(command, some), "0.5"),
        "decode": ("warm decode of a point, ms", in_milliseconds, points, "50"),
        "served": ("the same by HTTP, ms", in_milliseconds, served, "50"),
        "plot_stat_map": ("nilearn's plot_stat_map, s", in_seconds, partial(stat_map, some[0]), ""),
        "batch": ("batch, abstracts/s", in_rates, partial(batch, list(texts)), "500"),
    }
    rows = []
    for name in arguments.lines or lines:
        label, as_text, measure, aim = lines[name]
        rows.append([label, *map(as_text, measure()), aim])
        print(*rows[-1], sep="  ", flush=True)
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


def in_seconds(value):
    return f"{value:.2f}"


def in_milliseconds(value):
    return f"{1000 * value:.1f}"


def in_rates(value):
    return f"{1 / value:,.0f}"


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


def command(texts):
    """Seconds of a command for each of the texts of a CSV file, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.csv")
        pd.DataFrame({"id": range(len(texts)), "text": texts}).to_csv(file, index=False)
        arguments = ["encode", file, "--column", "text", "-o", Path(folder, "out")]
        program = Path(sys.executable).parent / "neurowhere"
        run = partial(subprocess.run, [program, *arguments], check=True, capture_output=True)
        return [seconds / len(texts) for seconds in timed(run)]


def points():
    model = load_model()
    return usual(timed(partial(decode, model, place)) for place in some_places(model))


def some_places(model):
    return model.partition_.centers_mm[:: model.partition_.n_regions // WARM_TEXTS]


def served():
    """Seconds of a request, and those of the processor of the server."""
    places = some_places(load_model()).tolist()

    async def ask(server):
        client = await Client.open(server.port)
        for place in places:
            start = time.perf_counter(), server.cpu_seconds()
            status, _ = await client.post("/api/v1/decode", {"points": [place]})
            if status != 200:
                raise RuntimeError(f"status {status}")
            times.append((time.perf_counter() - start[0], server.cpu_seconds() - start[1]))
        client.close()

    times = []
    with Server(None) as server:
        asyncio.run(ask(server))
    clock, processor = zip(*times[WARM_UP:])
    return median(clock), sum(processor) / len(processor)  # which is counted in hundredths


def article():
    """Encode the article whose number of words is nearest to 10,000."""
    path = DATA / "corpus" / "fulltext_dev.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        text = min(texts, key=lambda text: abs(len(text.split()) - ARTICLE_WORDS))
    model = load_model()
    return fastest(timed(partial(model.encode, text)) for _ in range(ARTICLE_RUNS))


def alone(texts):
    model = load_model()
    return usual(timed(partial(model.encode, text)) for text in texts)


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
