"""The log-linear encoder on outer folds of neuroquery_dev: all that the model card reports.

    python benchmarks/outer_folds.py -o DIR [--folds 5] [--repeats 2]

For each fold, everything is tuned inside the training studies. On the test studies: nats above
uniform and above the mean map; the same for the model rounded to 8 bits; coverage of the regions of
50, 80 and 95 %; retrieval among 1,000 studies; and the score from raw text beside that from counts,
for the test studies whose text is there. Finished folds are kept in DIR, and not fitted again.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from matcher import Matcher, combine, without_hubs
from neurowhere import Encoder, load_model, save_model
from neurowhere.corpus import read_corpus
from neurowhere.evaluate.metrics import likelihood_matrix, recalls
from neurowhere.exceptions import DataWarning
from neurowhere.learn import mass_for, peak_levels, shuffle_split
from neurowhere.space import VoxelGrid, make_targets, place_peaks
from neurowhere.text.building.anatomy import build_full
from setting import DATA, peak_memory_gib, print_table

SHARES = (0.5, 0.8, 0.95)
CURVE = np.linspace(0.05, 0.95, 19).tolist()
CANDIDATES = 1000
FEW_STUDIES = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", DataWarning)
    corpus, raw = studies_in_brain(), read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    results = []
    for fold in range(arguments.folds):
        file = arguments.output / f"fold-{fold}.json"
        if not file.exists():
            result = run_fold(corpus, raw, fold, arguments.repeats, arguments.output)
            file.write_text(json.dumps(result, indent=1))
        results.append(json.loads(file.read_text()))
    draw_reliability(results, arguments.output / "reliability.png")
    names = [name for name in results[0] if name not in ("fold", "reliability")]
    rows = [[name, *(f"{result[name]:.4f}" for result in results)] for name in names]
    for row, name in zip(rows, names, strict=True):
        values = np.array([result[name] for result in results])
        row.append(f"{values.mean():.4f} ± {values.std(ddof=1):.4f}" if len(values) > 1 else "")
    print_table(["", *(f"fold {result['fold']}" for result in results), "mean ± sd"], rows)


def studies_in_brain():
    """Give the studies that all comparisons on this corpus have: those with a peak in the brain."""
    corpus = read_corpus(DATA / "corpus", format="neuroquery")
    grid = VoxelGrid(4)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    study, _ = place_peaks(grid, grid, xyz, corpus.peak_rows)
    return corpus.select(np.unique(study))


def run_fold(corpus, raw, fold, repeats, folder):
    """Fit on the training studies of a fold, and measure all on its test studies."""
    train, test = shuffle_split(corpus.groups.astype(str), fold, seed=0)
    start = time.perf_counter()
    model = Encoder(
        VoxelGrid(4),
        "likelihood",
        vocabulary=build_full(DATA / "vocabulary"),
        min_studies=FEW_STUDIES,
        repeats=repeats,
    ).fit(corpus.select(train))
    seconds, memory = time.perf_counter() - start, peak_memory_gib()
    held = corpus.select(test)
    scores = model.score_documents(held)
    scores.to_csv(folder / f"studies-{fold}.csv", index=False)
    small = folder / f"model-{fold}"
    save_model(model, small, small=True, overwrite=True)
    twin = load_model(small)
    nats = scores["nats_above_uniform"].mean()
    return {
        "fold": fold,
        "nats above uniform": nats,
        "mean map": (
            scores["mean_map"] - scores["log_likelihood"] + scores["nats_above_uniform"]
        ).mean(),
        "above the mean map": (scores["log_likelihood"] - scores["mean_map"]).mean(),
        "lost by rounding": nats - twin.score_documents(held)["nats_above_uniform"].mean(),
        "size of the small model, MB": sum(file.stat().st_size for file in small.iterdir()) / 1e6,
        **coverage(twin, held),
        **retrieval(twin, corpus.select(train), held),
        **from_raw_text(twin, held, raw),
        "sharpness": model.sharpness_,
        "seconds to fit": seconds,
        "peak memory, GiB": memory,
    }


def coverage(model, held):
    """Share of the peaks in the calibrated regions: mean over studies, and of all peaks."""
    study, region = peaks_of(model, held)
    levels = np.empty(len(study))
    start = 0
    for q in model.iter_predict(held):
        here = (study >= start) & (study < start + len(q))
        levels[here] = peak_levels(q, q, study[here] - start, region[here])
        start += len(q)
    weights = 1 / np.bincount(study)[study]

    def held_share(mass):
        return float(np.average(levels < mass, weights=weights))

    table = {}
    for share in SHARES:
        mass = mass_for(share, model.calibration_)
        table[f"coverage of {share:.0%}, studies"] = held_share(mass)
        table[f"coverage of {share:.0%}, peaks"] = float(np.mean(levels < mass))
        table[f"uncalibrated coverage of {share:.0%}"] = held_share(share)
    calibrated = [held_share(mass_for(share, model.calibration_)) for share in CURVE]
    return table | {"reliability": [calibrated, [held_share(share) for share in CURVE]]}


def draw_reliability(results, path):
    """Draw the share of unseen peaks that regions hold against the share that they should."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.6), dpi=120)
    axes = figure.add_subplot(
        xlabel="share asked for", ylabel="share of the peaks of unseen studies"
    )
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    for index, (name, colour) in enumerate({"calibrated": "C0", "not calibrated": "C3"}.items()):
        curves = np.array([result["reliability"][index] for result in results])
        axes.plot(CURVE, curves.mean(axis=0), color=colour, label=name)
        axes.fill_between(CURVE, curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.2)
    axes.legend(frameon=False)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    figure.tight_layout()
    figure.savefig(path)


def retrieval(model, training, held):
    """Find the text of coordinates, and the coordinates of a text, among 1,000 studies."""
    some = held.select(np.arange(CANDIDATES))
    study, region = peaks_of(model, some)
    maps = np.vstack(list(model.iter_predict(some)))
    likelihood = likelihood_matrix(maps, study, region, model.partition_.n_regions)
    matcher = Matcher.fit(features(model, training), coarse_densities(training))
    cosines = matcher.scores(features(model, some), coarse_densities(some))
    alone = {f"{name} (likelihood alone)": value for name, value in recalls(likelihood).items()}
    return recalls(without_hubs(combine(likelihood, cosines))) | {
        name: value for name, value in alone.items() if "recall at 10 " in name
    }


def features(model, corpus):
    """Weighted terms of texts."""
    return model.transform(corpus).toarray()


def coarse_densities(corpus):
    """Densities on an 8-mm grid."""
    grid = VoxelGrid(8)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    return make_targets(grid, grid, xyz, corpus.peak_rows, len(corpus)).rows(slice(None))


def from_raw_text(model, held, raw):
    """Score the test studies that have a text, from the text and from their counts."""
    ids = held.documents["id"].astype(str).to_numpy()
    position = {name: i for i, name in enumerate(raw.documents["id"].astype(str))}
    here = np.flatnonzero([name in position for name in ids])
    counts = model.score_documents(held.select(here))["nats_above_uniform"]
    texts = [raw.texts[position[name]] for name in ids[here]]
    xyz = [group[["x", "y", "z"]].to_numpy() for group in peaks_by_study(held.select(here))]
    scores = model.score_documents(texts, xyz)["nats_above_uniform"]
    return {
        "studies with a text": len(here),
        "nats from counts": counts.mean(),
        "nats from text": scores.mean(),
    }


def peaks_by_study(corpus):
    """Peaks of each study, in order."""
    rows = corpus.peak_rows
    return [corpus.peaks[rows == i] for i in range(len(corpus))]


def peaks_of(model, corpus):
    """Study and region of the peaks that are scored."""
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    return place_peaks(model.partition_, model.brain_, xyz, corpus.peak_rows)


if __name__ == "__main__":
    main()
