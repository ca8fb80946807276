"""Does a contrast find what is there, and nothing where there is nothing? On 10,771 documents.

    python benchmarks/contrast_validation.py -o docs/results/contrast/validation.json

A part that is measured again replaces that of the file.

Nothing to find: random groups as long as real ones, random groups drawn by the propensity of real
ones, and words outside of the vocabulary that the calibration has not seen. The table has the share
with any discovery (false-discovery rate 5 %, so at most 0.05), among regions and among voxels.
Something to find: the terms of contrast_terms.csv, with the regions that should be raised. The
first set was used to choose the method, the second was written down before its maps were seen; a
third, "development", with which the floor of the response was chosen, is not asked.
Power: samples of large groups. Coverage: how often the 95 % intervals of samples hold the ratio of
the whole group.
"""

import argparse
import csv
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from neurowhere import contrast_documents, default_atlas, load_model
from neurowhere._tools.parallel import Workers
from neurowhere.contrast import ByTerm
from neurowhere.contrast.background import find_background, find_chance, fit_groups_of
from neurowhere.contrast.controls import propensity
from neurowhere.contrast.library import open_library
from neurowhere.contrast.regression import Fits, discoveries, half_width, t_tests
from neurowhere.contrast.run import (
    LEAST_EXPECTED,
    How,
    columns_left_out,
    default_cache,
    masked_design,
)
from neurowhere.contrast.selection import search
from setting import DATA, print_table

SOURCE = DATA / "unlabelled"
TERMS = Path(__file__).with_name("contrast_terms.csv")
FEW = 20  # documents
LARGE = 150  # documents of a group of which samples are taken
SIZES = (25, 50, 100)
NEAR = 50  # ranks of length
AT_ONCE = 200  # groups
PARTS = ("terms", "nothing", "samples")
UNSEEN = 1500  # words from here on, in their random order, were not looked at before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="to measure")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--groups", type=int, default=200, help="of each random kind")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--samples", type=int, default=20, help="of each group and size")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with TERMS.open() as stream:
        terms = [row for row in csv.DictReader(stream) if row["set"] != "development"]
    study = Study(arguments.cache)
    measure = {
        "terms": lambda _: [ask(term, arguments.cache) for term in terms],
        "nothing": lambda rng: study.nothing(terms, arguments.words, arguments.groups, rng),
        "samples": lambda rng: study.samples(terms, arguments.samples, rng),
    }
    for part in arguments.parts:
        rows = measure[part](np.random.default_rng(0))
        print_table(list(rows[0]), [row.values() for row in rows])
        if part == "terms":
            print_hits(rows)
        known = arguments.output.exists() and json.loads(arguments.output.read_text("utf-8"))
        results = {"documents": study.n, "covariates": len(study.columns)}
        results = (known or {}) | results | {part: rows}
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def ask(term, cache):
    """Contrast a term as a user does; count the expected regions that are raised."""
    result = contrast_documents(SOURCE, term["query"], cache=cache, n_jobs=1)
    expected = term["regions"].split(";") if term["regions"] else []
    table = result.regions().set_index("region")
    raised = table["passes"] & (table["t"] > 0)
    voxels = result.significant()
    return {
        "set": term["set"],
        "term": term["term"],
        "documents": result.about["documents_in_group"],
        "in passing": result.about["documents_in_passing"],
        "tested": result.about["tested"],
        "expected": len(expected),
        "hits": int(raised[expected].sum()),
        "ratio": round(float(table.loc[expected, "ratio"].mean()), 2) if expected else None,
        "raised": int(raised.sum()),
        "lowered": int((table["passes"] & (table["t"] < 0)).sum()),
        "voxels": int(voxels.sum()),
        "first": list(table.index[:5]),
    }


def print_hits(rows):
    for name in ("design", "others"):
        tested = [row for row in rows if row["set"] == name and row["tested"]]
        share = np.mean([row["hits"] / row["expected"] for row in tested])
        print(f"{name}: hits {share:.2f}, mean over {len(tested)} tested terms\n")


class Study:
    """The documents, what is known of all of them, and groups made of them."""

    def __init__(self, cache):
        self.model, self.workers = load_model(), Workers(1)
        self.library = open_library([SOURCE], cache, workers=self.workers)
        options = {"weighted": False, "unadjusted": False, "matched": False}
        self.how = How(
            self.model, default_atlas(), masked=True, without=(), min_ratio=1.0, **options
        )
        found = self.search([ByTerm("brain")], np.empty(0, np.intp))
        folder = self.library.folder
        self.background = find_background(folder, found, self.how.plain, self.workers)
        self.relative = replace(self.how.plain, usual=self.background.usual)
        self.columns = list(range(len(self.background.covariates.names)))
        self.chance = find_chance(
            folder, self.background, self.columns, self.relative, self.workers, calibrated=True
        )
        self.n, self.m = self.background.n_documents, self.model.partition_.n_regions

    def search(self, groups, left_out):
        """Search all documents."""
        return search(self.library, groups, self.model.extractor_, left_out, self.workers)

    def groups_of(self, queries):
        """Return the documents about each of some terms."""
        found = self.search([ByTerm(query) for query in queries], np.empty(0, np.intp))
        return np.concatenate([each.about for each in found], axis=1)

    def nothing(self, terms, n_words, n_groups, rng):
        """Measure the error where there is nothing to find."""
        templates = self.groups_of([term["query"] for term in terms if term["set"] != "nothing"])
        templates = [each for each in templates if each.sum() >= FEW]
        kinds = {
            "words that name no place": self.unseen_words(n_words),
            "random, as long": self.as_long(n_groups, rng),
            "random, by propensity": self.by_propensity(templates, n_groups, rng),
        }
        return [self.error(name, groups) for name, groups in kinds.items()]

    def unseen_words(self, n):
        """Return words that name no place and have no part in the calibration."""
        return sparse.csc_matrix(
            self.background.covariates.placeless[:, UNSEEN : UNSEEN + n], dtype=float
        )

    def as_long(self, n, rng):
        """Draw groups whose documents are about as long as those of words that name no place."""
        words = self.background.covariates.placeless
        lengths = self.background.covariates.values[:, self.column("words")]
        order = np.argsort(lengths + 1e-6 * rng.random(self.n))
        rank = np.argsort(order)
        groups = np.zeros((self.n, n))
        for k in range(n):
            members = rank[words[:, 600 + k].indices]
            near = members + rng.integers(-NEAR, NEAR + 1, len(members))
            groups[order[np.clip(near, 0, self.n - 1)], k] = 1
        return sparse.csc_matrix(groups)

    def by_propensity(self, templates, n, rng):
        """Draw groups by how likely a document of its kind is to be in a real one."""
        values = self.background.covariates.values
        odds = [propensity(values, template) for template in templates]
        groups = np.zeros((self.n, n))
        for k in range(n):
            chosen = k % len(templates)
            p = 1 / (1 + np.exp(-odds[chosen]))
            size = int(templates[chosen].sum())
            groups[rng.choice(self.n, size, replace=False, p=p / p.sum()), k] = 1
        return sparse.csc_matrix(groups)

    def column(self, name):
        """Return the column of a covariate."""
        return self.background.covariates.names.index(name)

    def fit(self, groups, design=None, summing=None):
        """Fit groups, with calibrated variances; return also what is observed and expected."""
        design = design or self.background.design(self.columns)
        some = [slice(k, k + AT_ONCE) for k in range(0, groups.shape[1], AT_ONCE)]
        how = (summing or self.relative, self.workers)
        found = [
            fit_groups_of(design, self.background.found, groups[:, part], *how, adjusted=True)
            for part in some
        ]
        fits = Fits(*(np.concatenate(each) for each in zip(*(fit for fit, _ in found))))
        weights = np.asarray(groups.sum(axis=0)).ravel()[:, None]
        observed = np.concatenate([total for _, total in found]) / weights
        scale = fits.s[:, None] / weights
        expected = np.maximum(observed - scale * fits.effect, LEAST_EXPECTED)
        variance = self.chance.factor * (fits.variance + self.chance.extra)
        half = half_width(variance, fits.n) * scale
        return fits._replace(variance=variance), observed / expected, half / expected

    def error(self, name, groups):
        """Return the share of groups with any discovery, and of intervals that hold no effect."""
        fits, ratio, half = self.fit(groups)
        m, both = self.m, len(self.background.usual)
        p_values = t_tests(fits.effect, fits.variance, fits.n).p_values
        any_region = discoveries(p_values[:, m:both])
        any_voxel = discoveries(p_values[:, :m])
        regions = slice(both + m, 2 * both)
        holds = np.abs(ratio[:, regions] - 1) <= half[:, regions]
        return {
            "groups": name,
            "n": groups.shape[1],
            "regions": round(float(any_region.mean()), 3),
            "voxels": round(float(any_voxel.mean()), 3),
            "p < 0.05": round(float((p_values[:, :m] < 0.05).mean()), 3),
            "p < 0.001": round(float((p_values[:, :m] < 0.001).mean()), 5),
            "interval holds 1": round(float(holds.mean()), 3),
        }

    def samples(self, terms, n_samples, rng):
        """Measure power and coverage in samples of large groups."""
        asked = [term for term in terms if term["set"] != "nothing"]
        whole = self.groups_of([term["query"] for term in asked])
        found = {size: [] for size in SIZES}
        for term, inside in zip(asked, whole, strict=True):
            if inside.sum() < LARGE:
                continue
            left_out = columns_left_out(self.model, [ByTerm(term["query"])], ())
            masked = replace(self.relative, left_out=left_out)
            changed = self.search([ByTerm(term["query"])], left_out)
            design = masked_design(
                self.background, self.columns, changed, self.relative, masked, self.workers
            )
            members = np.flatnonzero(inside)
            groups = np.zeros((self.n, 1 + len(SIZES) * n_samples))
            groups[members, 0] = 1
            for k in range(1, groups.shape[1]):
                drawn = rng.choice(members, SIZES[(k - 1) % len(SIZES)])
                np.add.at(groups[:, k], drawn, 1)
            self.tell(term, groups, self.fit(sparse.csc_matrix(groups), design, masked), found)
        return [
            {
                "documents": size,
                "groups": len({name for name, *_ in rows}),
                "hits": round(float(np.mean([hits for _, hits, _, _ in rows])), 2),
                "coverage": round(float(np.mean([covered for *_, covered, _ in rows])), 3),
                "median width": round(float(np.median([width for *_, width in rows])), 2),
            }
            for size, rows in found.items()
        ]

    def tell(self, term, groups, fit, found):
        """Add what samples of a group found, and whether their intervals hold its ratio."""
        fits, *shown = fit
        m, both = self.m, len(self.background.usual)
        t, p_values = (each[:, m:both] for each in t_tests(fits.effect, fits.variance, fits.n))
        ratio, half = (each[:, both + m : 2 * both] for each in shown)
        names = list(default_atlas().names)
        places = [names.index(name) for name in term["regions"].split(";")]
        for k in range(1, groups.shape[1]):
            ordered = np.sort(p_values[k])
            passing = np.flatnonzero(
                ordered <= 0.05 * np.arange(1, len(ordered) + 1) / len(ordered)
            )
            limit = ordered[passing[-1]] if len(passing) else -1
            hits = np.mean((p_values[k, places] <= limit) & (t[k, places] > 0))
            covered = np.mean(np.abs(ratio[k] - ratio[0]) <= half[k])
            size = int(groups[:, k].sum())
            found[size].append((term["term"], hits, covered, float(np.median(2 * half[k]))))


if __name__ == "__main__":
    main()
