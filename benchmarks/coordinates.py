"""What is done to the coordinates of the development data, each step counted.

Usage: python benchmarks/coordinates.py [--look N] [--seed S]

Prints, for NeuroQuery and Neurosynth: the peaks, tables and studies that each step of
`neurowhere.corpus.coordinates` concerns; how many peaks are near (4, 6, 4), where t-values and
standard deviations end up; twins; and studies in Talairach space by Neurosynth's labels. For
mirrored and voxel tables it prints how many of the articles name AFNI and FSL, whose orders these
are. With --look it also prints N random tables of each step, to judge them by eye.

NEUROWHERE_DATA is the folder of the development data (default: ../shared/data).
"""

import argparse
import json
import lzma
import re
import warnings
from dataclasses import replace

import numpy as np

from neurowhere.corpus import Corpus, read_corpus
from neurowhere.corpus.coordinates import RULES, Tables, brain_radius, to_lpi
from neurowhere.corpus.documents import find_twins
from neurowhere.corpus.review import CONVERTIBLE
from neurowhere.exceptions import DataWarning
from setting import DATA

AS_PRINTED = {"talairach_to_mni": False}
FORMATS = ("neuroquery", "neurosynth")
XYZ = ["x", "y", "z"]
PLACE_MM, NEAR_MM = (4, 6, 4), 7
PROGRAMS = {"mirrored": "AFNI", "voxels": "FSL"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--look", type=int, default=0, metavar="N", help="Tables to print.")
    options.add_argument("--seed", type=int, default=0, help="Seed of the random choice.")
    arguments = options.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    for name in FORMATS:
        corpus = read_corpus(DATA / "corpus", format=name, drop=(), convert=(), **AS_PRINTED)
        print(f"{name}: {len(corpus):,} studies, {len(corpus.peaks):,} peaks")
        xyz = corpus.peaks[XYZ].to_numpy()
        inside, mirrored = (np.mean(brain_radius(p) <= 1) for p in (xyz, to_lpi(xyz)))
        print(f"  in the ellipsoids {inside:.1%}, mirrored {mirrored:.1%}")
        rng = np.random.default_rng(arguments.seed)
        concerned = walk(corpus, arguments.look, rng)
        print_twins(corpus)
        if name == "neuroquery":
            print_programs(concerned)
            print_talairach()


def walk(corpus: Corpus, n_look: int, rng: np.random.Generator) -> dict[str, set[str]]:
    """Take the steps one after the other and print what each concerns; ids by step."""
    tables, ids = Tables.of(corpus), corpus.documents["id"].to_numpy()
    concerned = {}
    print(f"  {'step':<12}{'peaks':>8}{'tables':>8}{'studies':>9}  near {PLACE_MM} before, after")
    for name, rule in RULES.items():
        bad, before = rule.find(tables), near(tables.xyz)
        concerned[name] = set(ids[tables.study[bad]])
        found = tables
        if name in CONVERTIBLE and rule.convert is not None:
            moved = np.where(bad[:, None], rule.convert(tables.xyz), tables.xyz)
            tables = replace(tables, xyz=moved)
        else:
            tables = tables.without(bad)
        n_tables = len(np.unique(found.table[bad]))
        print(
            f"  {name:<12}{bad.sum():>8,}{n_tables:>8,}{len(concerned[name]):>9,}"
            f"{before:>13,} {near(tables.xyz):>6,}"
        )
        look(found, bad, ids, n_look, rng)
    return concerned


def near(xyz: np.ndarray) -> int:
    """Count the peaks near the place where small positive numbers end up."""
    return int(np.count_nonzero(np.linalg.norm(xyz - PLACE_MM, axis=1) < NEAR_MM))


def look(
    tables: Tables, bad: np.ndarray, ids: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """Print some of the tables, with a star at the peaks that a step concerns."""
    numbers = np.unique(tables.table[bad])
    for number in rng.permutation(numbers)[:n]:
        rows = np.flatnonzero(tables.table == number)
        shown = (
            f"{'*' if bad[r] else ''}({', '.join(f'{v:g}' for v in tables.xyz[r])})" for r in rows
        )
        print(f"    {ids[tables.study[rows[0]]]}: {' '.join(shown)}")


def print_twins(corpus: Corpus) -> None:
    twins, _ = find_twins(corpus.peaks[XYZ].to_numpy(), corpus.peak_rows, len(corpus))
    print(f"  twins: {len(np.unique(twins))} studies; {len(set(corpus.groups)):,} groups in all")


def print_programs(concerned: dict[str, set[str]]) -> None:
    """Print how many whole articles name a program, in the studies of a step and in others."""
    found = {name: {True: [0, 0], False: [0, 0]} for name in PROGRAMS}
    with lzma.open(DATA / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as stream:
        for line in stream:
            article = json.loads(line)
            for name, program in PROGRAMS.items():
                count = found[name][str(article.get("pmid")) in concerned[name]]
                count[0] += bool(re.search(rf"\b{program}\b", article["text"]))
                count[1] += 1
    for name, counts in found.items():
        (here, n_here), (there, n_there) = counts[True], counts[False]
        print(
            f"  {PROGRAMS[name]} is named in {here} of {n_here} {name}, {there} of {n_there} others"
        )


def print_talairach() -> None:
    """Print what Neurosynth's labels of spaces change in NeuroQuery."""
    spaces = DATA / "corpus" / "neurosynth7_dev_metadata.tsv.gz"
    printed = read_corpus(DATA / "corpus", format="neuroquery", spaces=spaces, **AS_PRINTED)
    converted = read_corpus(DATA / "corpus", format="neuroquery", spaces=spaces)
    stated = converted.documents["source_space"]
    moved = (stated == "TAL").to_numpy()[converted.peak_rows]
    shift = converted.peaks[XYZ].to_numpy() - printed.peaks[XYZ].to_numpy()
    distance = np.linalg.norm(shift[moved], axis=1)
    print(f"  labels of Neurosynth: {stated.value_counts().to_dict()}")
    print(f"  Talairach: {moved.sum():,} peaks move by {distance.mean():.1f} mm on average")


if __name__ == "__main__":
    main()
