"""Draw every figure of the pages on the paper's study, contrasts and regions from docs/results.

    python benchmarks/paper_figures.py [--only NAME ...]

study-atlases      box plot: voxels and atlases, all losses, mean map and uniform, same folds
study-in-the-paper the paper's three studies: true map above prediction, one scale
study-amygdala     learned maps of the left, of any and of the right amygdala, one scale
contrast-paper     what contrasts of three diseases and of "antibody" find, one scale
contrast-regions   the regions that they raise, with intervals
reliability        the share of unseen peaks that regions of 50, 80 and 95 % hold, by kind of text

The scores are those of `paper_study.sh`, which has the same corpus, features, brain and seed for
voxels and atlases, so that a fold of one is that of the other; this is checked. Folds that one of
them lacks are left out. The maps are written by `paper_maps.py` and `disease_maps.py`. Prints, for
the box plot, the mean of each model, and its paired difference from ℓ1 on voxels. The digest of the
files that a picture is drawn from is written to ``docs/images/pictures.csv``.
"""

import argparse
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from neurowhere import VoxelGrid
from neurowhere.evaluate.trial import BASELINES
from neurowhere.report.canvas import new_figure
from neurowhere.report.comparison import Example, box_plot, draw_examples
from neurowhere.report.contrast import END_OF_COLOURS, draw_ratios
from neurowhere.report.maps import (
    CONTRAST_UNIT,
    DENSITY_UNIT,
    PERCENT_PER_CM3,
    Row,
    draw_map,
    draw_signed,
    scaled,
    write_png,
)
from setting import print_table

RESULTS = Path(__file__).parents[1] / "docs" / "results"
IMAGES = RESULTS.parent / "images"
PICTURES = IMAGES / "pictures.csv"
TABLES = ("voxels", "atlases")
SAME = ("seed", "test_share", "studies", "corpus_sha256", "features_sha256", "brain_sha256")
BEST = ("voxels 4 mm", "l1")
NAMES = {
    "craddock200": "Craddock",
    "aicha": "AICHA",
    "aal": "AAL",
    "brainnetome246": "Brainnetome",
    "talairach_gyrus": "Talairach gyri",
    "neuromorphometrics": "Neuromorphometrics",
    "hammersmith": "Hammersmith",
    "schaefer1000": "Schaefer",
    "hcpex426": "HCPex",
    "ho_cortical_thr25": "Harvard-Oxford, cortex",
    "ho_subcortical_thr25": "Harvard-Oxford, nuclei",
    "yeo17_liberal": "Yeo, 17 networks",
    "destrieux": "Destrieux",
    "desikan_killiany": "Desikan-Killiany",
}
SMALLER, N_COLOURS = 1.6, 256  # of a tall picture
N_REGIONS = 8  # of each disease
SHARES = (50, 80, 95)
KINDS = {  # as kinds_of_text.py and unseen_studies.py call them
    "one keyword": "",
    "keywords": "",
    "title": "title",
    "title, abstract, keywords": "title and abstract",
    "article": "article without tables",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=list(FIGURES))
    for name in parser.parse_args().only:
        try:
            picture = FIGURES[name]()
        except FileNotFoundError as error:
            print(f"{name} is not drawn: run paper_maps.py or disease_maps.py first ({error})")
            continue
        if isinstance(picture, Image.Image):
            size = (round(picture.width / SMALLER), round(picture.height / SMALLER))
            picture = picture.resize(size, Image.LANCZOS)
            picture = picture.quantize(N_COLOURS, dither=Image.Dither.NONE, kmeans=3)
        write_png(picture, IMAGES / f"{name}.png")
        record_data(f"{name}.png")


def record_data(image):
    """Write down what the files are that an image was drawn from."""
    table = pd.read_csv(PICTURES, dtype=str, keep_default_na=False)
    row = table["image"] == image
    table.loc[row, "sha256"] = digest_of(table.loc[row, "files"].item())
    table.to_csv(PICTURES, index=False, lineterminator="\n")


def digest_of(patterns):
    """Return the SHA-256 of the files of docs/results that any of some patterns names."""
    files = sorted({file for pattern in patterns.split() for file in RESULTS.glob(pattern)})
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


# ---- the paper's study


def draw_study():
    """Draw the box plot, and print the table of the same folds."""
    scores, regions = read_scores()
    uniform = scores.loc[scores["loss"] == "uniform", "log_likelihood"].mean()
    n_folds = scores["fold"].nunique()
    named = scores.assign(partition=scores["partition"].replace(NAMES))
    regions = {NAMES.get(name, name): n for name, n in regions.items()}
    figure = box_plot(named, regions, uniform)
    words = f"The same {n_folds} folds for all models; in brackets, the number of regions"
    figure.suptitle(words, fontsize=10)
    print(f"{n_folds} folds\n")
    print_table(["partition", "loss", "nats above uniform", "below l1 on voxels"], rows_of(scores))
    return figure


def read_scores():
    """Read the scores of all tables in the folds that they share, and numbers of regions."""
    about = [json.loads((RESULTS / name / "info.json").read_text()) for name in TABLES]
    settings = [{key: each["settings"][key] for key in SAME} for each in about]
    assert settings[0] == settings[1], f"not the same study: {settings}"
    tables = [pd.read_csv(RESULTS / name / "scores.csv") for name in TABLES]
    models = [each for table in tables for _, each in table.groupby(["partition", "loss"])]
    shared = set.intersection(*(set(model["fold"]) for model in models))
    scores = pd.concat([table[table["fold"].isin(shared)] for table in tables], ignore_index=True)
    by_fold = scores[scores["loss"] == "uniform"].groupby("fold")["log_likelihood"]
    assert np.allclose(by_fold.max(), by_fold.min(), atol=1e-9), "the folds differ"
    regions = {
        name: partition["regions"]
        for each in about
        for name, partition in each["partitions"].items()
    }
    return scores, regions


def rows_of(scores):
    """Return the mean of each model and its difference from the best, by fold."""
    wide = scores.pivot_table("nats_above_uniform", "fold", ["partition", "loss"])
    for partition, loss in wide.mean().sort_values(ascending=False).index:
        if loss in BASELINES and partition != BEST[0]:
            continue
        values = wide[partition, loss]
        gap = wide[BEST] - values
        yield [partition, loss, spread(values), spread(gap)]


def spread(values):
    return f"{values.mean():.3f} ± {values.std():.3f}"


def draw_paper_studies():
    """Draw the paper's three example studies."""
    about, images = read_maps("examples")
    pairs = zip(about, images[::2], images[1::2], strict=True)
    return draw_examples(
        [Example(each["title"], each["nats"], truth, found) for each, truth, found in pairs]
    )


def draw_sides():
    """Draw the learned maps of either amygdala."""
    about, images = read_maps("amygdala")
    rows = [
        Row(each["title"], scaled(image, each["mm⁻³"] * PERCENT_PER_CM3), tuple(each["place"]))
        for each, image in zip(about, images, strict=True)
    ]
    return draw_signed(rows, DENSITY_UNIT)


# ---- contrasts


def draw_diseases():
    """Draw what contrasts find, below each other."""
    about, images = read_maps("diseases")
    pictures = [
        draw_map(
            image, signed=True, title=each["title"], unit=CONTRAST_UNIT, highest=END_OF_COLOURS
        )
        for each, image in zip(about, images, strict=True)
    ]
    return Image.fromarray(np.vstack([np.asarray(picture) for picture in pictures]))


def draw_disease_regions():
    """Draw the regions with the largest ratios of each disease, with intervals."""
    about, _ = read_maps("diseases")
    tested = [each for each in about if each["regions"]]
    figure = new_figure((8, 1.2 + 0.26 * N_REGIONS * len(tested)))
    all_axes = np.atleast_1d(figure.subplots(len(tested), sharex=True))
    for axes, each in zip(all_axes, tested, strict=True):
        regions = each["regions"][:N_REGIONS]
        draw_ratios(axes, pd.DataFrame(regions))
        for row, region in enumerate(regions):
            axes.annotate(
                f"{region['ratio']:.1f}",
                (region["high"], row),
                (4, -3),
                textcoords="offset points",
                fontsize=8,
            )
        axes.set_title(each["title"].split(":")[0], loc="left", fontsize="medium")
    all_axes[-1].set_xscale("log")
    all_axes[-1].set_xlim(0.9, 6)
    ticks = [1, 1.5, 2, 3, 5]
    all_axes[-1].set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    all_axes[-1].minorticks_off()
    all_axes[-1].set_xlabel("observed / expected probability, with its 95 % interval")
    return figure


# ---- regions


def draw_reliability():
    """Draw the share of peaks that regions hold, by kind of text: folds, and another source."""
    folds = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("kinds/shipped-*.json"))]
    unseen = json.loads((RESULTS / "unseen.json").read_text())["kinds"]
    figure = new_figure((8, 2.6))
    for axes, share in zip(figure.subplots(1, len(SHARES), sharey=True), SHARES, strict=True):
        axes.axvline(share, color="0.7", lw=1)
        for row, (kind, elsewhere) in enumerate(KINDS.items()):
            held = [100 * fold[f"{share}% region, {kind}"] for fold in folds]
            axes.plot(held, [row] * len(held), "o", ms=4, color="C0", alpha=0.7)
            if elsewhere:
                other = 100 * unseen[elsewhere][f"{share} %"]
                axes.plot([other], [row], "D", ms=5, mfc="none", color="C3")
        axes.set_title(f"regions of {share} %", fontsize="medium")
        axes.set_xlim(share - 8, min(share + 8, 100))
        axes.set_xlabel("held, % of the peaks")
        axes.set_yticks(range(len(KINDS)), list(KINDS))
        axes.spines[["top", "right"]].set_visible(False)
    axes.invert_yaxis()
    words = f"●: test studies of {len(folds)} folds;  ◇: studies of another source"
    figure.suptitle(words, fontsize=10)
    return figure


def read_maps(name):
    """Read maps on voxels of 4 mm, as images, and what is known of them."""
    with np.load(RESULTS / "maps" / f"{name}.npz") as arrays:
        about, maps = json.loads(str(arrays["about"])), arrays["maps"].astype(np.float32)
    grid = VoxelGrid()
    assert maps.shape[1] == grid.n_regions, "maps of other voxels"
    assert all(math.isfinite(each) for each in maps.sum(axis=1))
    return about, [grid.to_img(values) for values in maps]


FIGURES = {
    "study-atlases": draw_study,
    "study-in-the-paper": draw_paper_studies,
    "study-amygdala": draw_sides,
    "contrast-paper": draw_diseases,
    "contrast-regions": draw_disease_regions,
    "reliability": draw_reliability,
}

if __name__ == "__main__":
    main()
