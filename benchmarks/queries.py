"""Queries: how many short queries point where an expert would look.

    python benchmarks/queries.py

A query is right if its regions of AAL3 together are at least twice as probable as under the mean
map, or if one of them is among the first three. The regions were written down before any model was
asked; half of the queries were not looked at while the model was made. Those called "fresh" are by
another author, who knew nothing of the program, and were counted but never looked at. Those called
"lay" say in everyday words what hurts or what is done, and were looked at.

A second table tells for how many texts about the brain, and about anything else (recipes, sports,
law, code, statistics, other parts of the body, other languages), the support is good, weak or none.

A third table, with the data, is of drugs and diseases whose targets are rules: what the map of each
name gains on the studies that have it in their title or keywords, in nats above the mean map, with
rules of no weight, of their weight (a tenth for most) and of full weight. The model was fitted on
these studies, which favours no rules.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import neurowhere.model.reading
from neurowhere import default_atlas, load_model
from neurowhere.exceptions import DataWarning
from neurowhere.text.reading.tags import rules as read_table
from setting import DATA, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe.sources import studies_in_brain

CASES = Path(__file__).parent / "cases"
TWICE, FIRST = 2.0, 3
SETS = ("seen", "unseen", "fresh")
LEVELS = ("good", "weak", "none")
WEIGHTS = {"none": 1e-9, "as shipped": 0.5, "full": 5.0}  # of a rule beside what was learned
LEAST_STUDIES = 5


def main():
    warnings.simplefilter("ignore", DataWarning)
    model, atlas = load_model(), default_atlas()
    for name in (*SETS, "lay"):
        queries = read(f"queries_{name}.jsonl")
        right = [is_right(model, atlas, query) for query in queries]
        kinds = dict.fromkeys(query["kind"] for query in queries)
        counts = [
            f"{sum(ok for ok, query in zip(right, queries) if query['kind'] == kind)} of "
            f"{sum(query['kind'] == kind for query in queries)}"
            for kind in kinds
        ]
        row = [name, f"{sum(right)} of {len(right)}", *counts]
        print_table(["queries", "right", *kinds], [row])
    print_table(["texts", "about", "number", *LEVELS], list(supports(model)))
    if DATA.is_dir():
        print_table(["rules of drugs and diseases", "names", "gain", "stated"], list(rules(model)))


def read(name):
    """Read the cases of a file."""
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def supports(model):
    """Yield how many texts have each level of support."""
    for name in SETS:
        cases = read(f"support_{name}.jsonl")
        for about in ("brain", "other"):
            texts = [case["text"] for case in cases if case["about"] == about]
            levels = [model.encode(text).support.level for text in texts]
            yield [name, about, len(texts), *(levels.count(level) for level in LEVELS)]


def rules(model):
    """Yield the mean gain of names on their own studies, by the weight of rules."""
    corpus = studies_in_brain(DATA)
    counts = corpus.counts["title"] + corpus.counts["keywords"]
    counts = (counts @ model.vocabulary_.align(corpus.terms).matrix).tocsc()
    regions = model.partition_.region_of(corpus.peaks[["x", "y", "z"]].to_numpy())
    studies = {}
    for entry in read_table().entries.values():
        if entry.needs == "alone" and entry.name in model.vocabulary_:
            column = counts[:, model.vocabulary_.index(entry.name)]
            own = [regions[corpus.peak_rows == row] for row in column.nonzero()[0]]
            if len(own) >= LEAST_STUDIES:
                studies[entry.name] = [some[some >= 0] for some in own if (some >= 0).any()]
    for told, weight in WEIGHTS.items():
        neurowhere.model.reading.BESIDE_LEARNED = weight
        encodings = {name: model.encode(name) for name in studies}
        gains = []
        for name, encoding in encodings.items():
            gain = np.log(encoding.probabilities) - np.log(model.mean_map_)
            gains.append(np.mean([gain[own].mean() for own in studies[name]]))
        stated = np.mean([encoding.support.nats for encoding in encodings.values()])
        yield [told, len(studies), f"{np.mean(gains):.3f}", f"{stated:.3f}"]


def is_right(model, atlas, query):
    encoding = model.encode(query["query"])
    if encoding.is_mean_map:
        return False
    table = encoding.regions(atlas, sort="probability").set_index("region")
    wanted = table.loc[query["regions"]]
    mean = (wanted["probability"] - wanted["excess"]).sum()
    first = set(table.index[:FIRST]) & set(query["regions"])
    return bool(first) or wanted["probability"].sum() >= TWICE * mean


if __name__ == "__main__":
    main()
