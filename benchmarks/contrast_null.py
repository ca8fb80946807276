"""Are the p-values of contrasts right? Random groups of real documents differ by chance only.

    python benchmarks/contrast_null.py --model FOLDER --cache FOLDER [--groups 400]

For random groups of several sizes, the share of p-values below each level (it should be the level)
over a sample of voxels, with the tail that is used, with Pearson's type III alone and with a normal
one; and in how many groups the false-discovery threshold of 5 % lets any voxel pass.
"""

import argparse
import warnings

import numpy as np
from scipy import stats

from neurowhere._tools.parallel import Workers
from neurowhere.contrast.contrast import permutation_null
from neurowhere.contrast.library import open_library
from neurowhere.contrast.selection import ByTerm, Search, search
from neurowhere.contrast.shard import Sums
from neurowhere.model.store import load_model
from setting import DATA, print_table

SIZES = (10, 20, 75, 200, 800)
LEVELS = (0.05, 0.01, 0.001)
NOTHING = np.empty(0, np.intp)  # no term is left out
EVERY = 29  # one voxel in so many


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder of a model", default=None)
    parser.add_argument("--cache", required=True, help="folder of encoded documents")
    parser.add_argument("--groups", type=int, default=400, help="of each size")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    x = encodings(load_model(arguments.model), arguments.cache)
    print(
        f"{x.shape[0]:,} documents, {x.shape[1]:,} voxels, {arguments.groups} groups of each size\n"
    )
    population = sums_of(x)
    rng = np.random.default_rng(0)
    rows = []
    for size in SIZES:
        draws = [rng.choice(len(x), size, replace=False) for _ in range(arguments.groups)]
        nulls = [permutation_null(sums_of(x[draw]), None, population) for draw in draws]
        z = np.array([null.z for null in nulls])
        skewness = stats.skew(x, axis=0) / np.sqrt(size)
        pearson = 2 * np.minimum(stats.pearson3.sf(z, skewness), stats.pearson3.cdf(z, skewness))
        tails = {
            "ours": np.array([null.p_values for null in nulls]),
            "Pearson III": np.minimum(pearson, 1),
            "normal": 2 * stats.norm.sf(np.abs(z)),
        }
        for name, p in tails.items():
            shares = [f"{(p <= level).mean():.4f}" for level in LEVELS]
            passing = np.mean([(stats.false_discovery_control(each) <= 0.05).any() for each in p])
            rows.append([size, name, *shares, f"{passing:.3f}"])
    header = ["documents", "tail", *(f"p ≤ {level}" for level in LEVELS), "any passes 5 % FDR"]
    print_table(header, rows)


def encodings(model, cache):
    """Encode all documents, at a sample of voxels."""
    sources = [DATA / "unlabelled", DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"]
    library = open_library(sources, cache, workers=Workers())
    found = search(library, Search([ByTerm("brain")], model.extractor_, NOTHING), Workers())
    parts = []
    for each in found:
        counts = each.shard.vectors(model.extractor_)[each.known]
        for start in range(0, counts.shape[0], 256):
            features = model.weighting_.transform(counts[start : start + 256])
            parts.append(model.predict_features(features)[:, ::EVERY])
    return np.concatenate(parts).astype(np.float64)


def sums_of(x):
    nothing = np.zeros(1)
    moments = np.stack([(x**k).sum(axis=0) for k in (1, 2, 3)])
    weights = np.full(3, float(len(x)))
    return Sums(len(x), weights, moments, x.sum(axis=0), nothing, nothing, nothing[None], nothing)


if __name__ == "__main__":
    main()
