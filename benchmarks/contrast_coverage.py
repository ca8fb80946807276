"""How often do the 95 % intervals of contrasts hold the truth? Samples of large groups tell.

    python benchmarks/contrast_coverage.py --cache FOLDER [--model FOLDER] [--samples 100]

A large group of real documents is taken as the truth. Samples of several sizes are drawn from it
with replacement, and each is contrasted with the documents outside of the group and itself, as
`neurowhere contrast` does. The table has the share of intervals, over samples and the regions of
AAL3, that hold the ratio of the whole group; the share of those that lie below and above it; and
how wide they are. Rivals: percentiles of the bootstrap, BCa, and the bootstrap-t, which needs the
values of single documents. The prior of 20 documents was chosen on other groups; the limit of the
skewness on a part of the documents of three of these.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy import stats

from disease_maps import find_sources, read_atlas
from neurowhere._tools.parallel import Workers
from neurowhere.contrast.contrast import ratio_bounds
from neurowhere.contrast.library import open_library
from neurowhere.contrast.selection import ByTerm
from neurowhere.model.store import load_model
from neurowhere.space.geometry import overlap_mm3
from setting import print_table

GROUPS = {
    "autism": "autis*",
    "epilepsy": "epilep*",
    "PTSD": "posttraumatic stress disorder OR post traumatic stress disorder OR PTSD",
    "depression": "depressive disorder OR major depression",
    "pain": "pain",
    "reward": "reward",
    "children": "child",
}
SIZES = (5, 10, 20, 41, 109, 182, 729)
REPLICATES = 200
BATCH = 256
FAINTEST = 1e-6  # mean probability of a region, below which it is left out
TAIL = 2.5  # percent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder of a model", default=None)
    parser.add_argument("--cache", type=Path, required=True, help="folder of encoded documents")
    parser.add_argument("--samples", type=int, default=100, help="of each group and size")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    x, groups = encodings(load_model(arguments.model), arguments.cache)
    sizes = ", ".join(f"{name} {inside.sum():,}" for name, inside in groups.items())
    print(f"{len(x):,} documents, {x.shape[1]} regions of AAL3; {sizes}\n")
    rng = np.random.default_rng(0)
    rows = []
    for size in SIZES:
        outcomes = {}
        for inside in groups.values():
            others = x[~inside].sum(axis=0), int((~inside).sum())
            for _ in range(arguments.samples):
                for name, outcome in sample(x, x[inside], *others, size, rng).items():
                    outcomes.setdefault(name, []).append(outcome)
        for name, outcome in outcomes.items():
            held, below, above, width = np.mean(outcome, axis=0)
            shares = [f"{100 * share:.1f}" for share in (held, below, above)]
            rows.append([size, name, *shares, f"{width:.2f}"])
    print_table(["documents", "interval", "covers, %", "below, %", "above, %", "width"], rows)


def encodings(model, cache):
    """Return the probability of each region from each document, and the members of groups."""
    library = open_library(find_sources(cache.parent), cache, workers=Workers())
    atlas = read_atlas("aal3")
    shared = overlap_mm3(atlas, model.partition_).T / model.partition_.volumes_mm3[:, None]
    queries = [ByTerm(text) for text in GROUPS.values()]
    parts, members = [], []
    for shard in library.shards:
        counts = shard.vectors(model.extractor_)
        fresh = np.ones(len(shard), dtype=bool)
        fresh[library.repeated(shard)] = False
        rows = np.flatnonzero(fresh & (counts.getnnz(axis=1) > 0))
        members.append(np.stack([query.mentions(shard) for query in queries])[:, rows] > 0)
        for start in range(0, len(rows), BATCH):
            features = model.weighting_.transform(counts[rows[start : start + BATCH]])
            parts.append(np.asarray(model.predict_features(features) @ shared))
    x = np.concatenate(parts).astype(np.float64)
    inside = np.concatenate(members, axis=1)
    return x[:, x.mean(axis=0) > FAINTEST], dict(zip(GROUPS, inside, strict=True))


def sample(x, group, others, n_others, size, rng):
    """Draw a sample of a group; return how each kind of interval fares, as the mean of regions."""
    truth = group.mean(axis=0) / (
        (others + size * group.mean(axis=0)) / (n_others + size)
    )  # the reference holds the sample too
    drawn = group[rng.integers(len(group), size=size)]
    weights = rng.poisson(1.0, (REPLICATES, size)).astype(float)
    weights = weights[weights.any(axis=1)]
    each = weights @ drawn / weights.sum(axis=1)[:, None]
    all_each = (weights @ drawn + others) / (weights.sum(axis=1) + n_others)[:, None]
    mean, all_mean = drawn.mean(axis=0), (drawn.sum(axis=0) + others) / (size + n_others)
    # The other documents stay as they are: their spread is that of the model's mean map.
    noise = x.std(axis=0) / np.sqrt(n_others) * rng.standard_normal(all_each.shape)
    bounds = {
        "ours": ratio_bounds((mean, all_mean), (each, all_each + noise), (size, len(x))),
        "percentiles": np.percentile(each / all_each, (TAIL, 100 - TAIL), axis=0),
        "BCa": corrected(drawn, each / all_each, mean / all_mean),
        "bootstrap-t": studentised(drawn, weights, each, all_mean),
    }
    return {
        name: (
            np.mean((low <= truth) & (truth <= high)),
            np.mean(high < truth),
            np.mean(low > truth),
            np.median(high - low),
        )
        for name, (low, high) in bounds.items()
    }


def corrected(x, ratios, ratio):
    """Return the bias-corrected and accelerated bounds."""
    acceleration = stats.skew(x, axis=0) / 6 / np.sqrt(len(x))
    bias = stats.norm.ppf(np.clip((ratios < ratio).mean(axis=0), 0.01, 0.99))
    z = stats.norm.ppf([TAIL / 100, 1 - TAIL / 100])[:, None] + bias
    places = stats.norm.cdf(bias + z / (1 - acceleration * z)) * len(ratios)
    places = np.clip(places.astype(int), 0, len(ratios) - 1)
    return np.take_along_axis(np.sort(ratios, axis=0), places, axis=0)


def studentised(x, weights, means, all_mean):
    """Return the bounds of the bootstrap-t, with the spread of documents in each replicate."""
    n = weights.sum(axis=1)[:, None]
    spread = np.sqrt(np.maximum(weights @ x**2 / n - means**2, 0) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (means - x.mean(axis=0)) / spread
    t = np.where(np.isfinite(t), t, 0.0)
    low, high = np.percentile(t, (TAIL, 100 - TAIL), axis=0)
    error = x.std(axis=0) / np.sqrt(len(x))
    return (x.mean(axis=0) - high * error) / all_mean, (x.mean(axis=0) - low * error) / all_mean


if __name__ == "__main__":
    main()
