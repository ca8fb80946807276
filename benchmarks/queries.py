"""Queries: how many short queries point where an expert would look.

    python benchmarks/queries.py

A query is right if its regions of AAL3 together are at least twice as probable as under the mean
map, or if one of them is among the first three. The regions were written down before any model was
asked; half of the queries were not looked at while the model was made.

A second table tells for how many texts about the brain, and about anything else (recipes, sports,
law, code, statistics, other parts of the body, other languages), the support is good, weak or none.
"""

import json
import warnings
from pathlib import Path

from neurowhere import default_atlas, load_model
from neurowhere.exceptions import DataWarning
from setting import print_table

CASES = Path(__file__).parent / "cases"
TWICE, FIRST = 2.0, 3
SETS = ("seen", "unseen")
LEVELS = ("good", "weak", "none")


def main():
    warnings.simplefilter("ignore", DataWarning)
    model, atlas = load_model(), default_atlas()
    rows = []
    for name in SETS:
        queries = read(f"queries_{name}.jsonl")
        right = [is_right(model, atlas, query) for query in queries]
        kinds = dict.fromkeys(query["kind"] for query in queries)
        counts = [
            f"{sum(ok for ok, query in zip(right, queries) if query['kind'] == kind)} of "
            f"{sum(query['kind'] == kind for query in queries)}"
            for kind in kinds
        ]
        rows.append([name, f"{sum(right)} of {len(right)}", *counts])
    print_table(["queries", "right", *kinds], rows)
    print_table(["texts", "about", "number", *LEVELS], list(supports(model)))


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
