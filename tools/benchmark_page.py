"""Build the page of results of the open benchmark, and its figure, from one JSON file per entry.

    python tools/benchmark_page.py [--check]

Reads ``docs/results/benchmark/*.json`` as `neurowhere benchmark` writes them, with `remark` and
`command` added by hand, and ``gclda-curve.json`` beside their folder, as `rival_entries.py` writes
it. Writes ``docs/benchmark_results.md``, ``docs/images/benchmark.png`` and ``gclda-curve.png``.
--check writes nothing, and fails if the page is not that of the files.
"""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

from neurowhere.evaluate.benchmark import mean_over_folds
from neurowhere.report.benchmark import draw_kinds, entry_cells, kind_cells, summary_cells
from neurowhere.report.comparison import new_figure
from neurowhere.report.maps import write_png
from neurowhere.report.tables import to_markdown

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = DOCS / "results" / "benchmark"
PAGE, PICTURE = DOCS / "benchmark_results.md", DOCS / "images" / "benchmark.png"
CURVE, CURVE_PICTURE = DOCS / "results" / "gclda-curve.json", DOCS / "images" / "gclda-curve.png"
KEYS = {"entry", "trained_on", "settings", "scores", "remark", "command"}
CURVE_KINDS = {"all": "title, keywords and abstract", "title": "title"}
TEXT = """# Results of the open benchmark

[The task](benchmark.md) is the list `neuroquery`: {studies:,} studies with a peak in the
brain. `python tools/benchmark_page.py` builds this page from one JSON file per entry in
`docs/results/benchmark`; [add yours](benchmark.md#enter-a-model) by a pull request.
Means ± standard deviations are over random folds; entries differ in how many they were run on.

![Nats above uniform of each entry and fold, by kind of text](images/benchmark.png)

## Entries

{entries}

## Title, keywords and abstract

{metrics}

Retrieval is among 1,000 candidates. Where an entry was run by protocol 1, its retrieval from texts
is left out: scores were not standardised then.

## Nats above uniform by kind of text

{kinds}

## GC-LDA by iterations

{curve}

## How each was run

{commands}
"""


def main():
    """Build the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    files = read_files(RESULTS)
    if arguments.check:
        sys.exit(
            0 if PAGE.read_text("utf-8") == page_of(files) else f"{PAGE} is old: run {__file__}"
        )
    PAGE.write_text(page_of(files), "utf-8")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from paper_figures import record_data

    write_png(draw_kinds(scores_of(files)), PICTURE)
    write_png(draw_curve(json.loads(CURVE.read_text("utf-8"))), CURVE_PICTURE)
    for picture in (PICTURE, CURVE_PICTURE):
        record_data(picture.name)


def read_files(folder):
    """Return the files of entries, the best first."""
    files = [read_file(path) for path in sorted(folder.glob("*.json"))]
    return sorted(files, key=lambda file: -mean_nats(file))


def read_file(path):
    """Return the file of an entry, and refuse one that lacks something."""
    file = json.loads(path.read_text("utf-8"))
    if missing := KEYS.difference(file):
        sys.exit(f"{path} lacks {', '.join(sorted(missing))}")
    if file["settings"]["task"] != "neuroquery":
        sys.exit(
            f"{path} is of the task {file['settings']['task']!r}; run it with --ids neuroquery"
        )
    return file


def mean_nats(file):
    """Return the mean over folds of the nats from title, keywords and abstract."""
    own = [row["nats"] for row in file["scores"] if row["kind"] == "all"]
    return sum(own) / max(len(own), 1)


def scores_of(files):
    """Return the scores of all entries in one table."""
    rows = [
        {"entry": file["entry"], "trained_on": file["trained_on"], **row}
        for file in files
        for row in file["scores"]
    ]
    return pd.DataFrame(rows)


def draw_curve(curve):
    """Draw the score of GC-LDA against the number of its iterations."""
    points = pd.DataFrame(curve["points"])
    figure = new_figure((5, 3))
    axes = figure.add_subplot(
        xlabel="iterations", ylabel=f"{curve['metric']}, fold {curve['fold']}"
    )
    for kind, name in CURVE_KINDS.items():
        axes.plot(points["iterations"], points[kind], "o-", ms=4, label=name)
    axes.axhline(0, color="0.7", lw=1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def curve_words(curve):
    """Return the section on more iterations: the picture and its table."""
    points, entry = curve["points"], json.loads((RESULTS / "gclda.json").read_text("utf-8"))
    (gain,) = (
        row["nats_above_mean_map"]
        for row in entry["scores"]
        if row["fold"] == curve["fold"] and row["kind"] == "all"
    )
    header = ["iterations", *CURVE_KINDS.values(), "seconds of the processor"]
    keys = ("iterations", *CURVE_KINDS, "seconds")
    rows = [[str(point[key]) for key in keys] for point in points]
    return (
        "`python benchmarks/rival_entries.py WORK -o docs/results/gclda-curve.json` scores one fit "
        f"after more and more iterations on fold {curve['fold']}, in {curve['metric']} "
        f"([file](results/gclda-curve.json)). NiMARE's documentation asks for 10,000; "
        f"{points[-1]['iterations']:,} were run here. The entry above, which was stopped after 220 "
        f"to 260, has {gain:.4f} on this fold.\n\n"
        "![GC-LDA's score against its number of iterations](images/gclda-curve.png)\n\n"
        + to_markdown(header, rows).strip()
    )


def page_of(files):
    """Return the page of some entries."""
    scores = scores_of(files)
    summary = mean_over_folds(scores)
    told = {row[0]: row[1:] for row in entry_cells(scores)}
    entries = [
        [
            file["entry"],
            *told[file["entry"]][:3],
            str(file["settings"]["protocol"]),
            "; ".join(filter(None, [file["remark"], told[file["entry"]][3]])),
        ]
        for file in files
    ]
    header = ["entry", "trained on", "random folds", "newest studies", "protocol", "remark"]
    commands = [[file["entry"], f"`{file['command']}`"] for file in files]
    return TEXT.format(
        studies=max(file["settings"]["studies"] for file in files),
        entries=to_markdown(header, entries).strip(),
        metrics=to_markdown(*summary_cells(summary)).strip(),
        kinds=to_markdown(*kind_cells(summary)).strip(),
        curve=curve_words(json.loads(CURVE.read_text("utf-8"))),
        commands=to_markdown(["entry", "command"], commands).strip(),
    )


if __name__ == "__main__":
    main()
