import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from neurowhere.report.canvas import Canvas
from neurowhere.report.comparison import COLOURS, Example, box_plot, draw_examples, write_svg
from neurowhere.report.maps import write_png
from neurowhere.space import VoxelGrid

UNIFORM = -14.5


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    rows = [
        (fold, partition, loss, UNIFORM + level + rng.normal(0, 0.01))
        for partition, level in [("atlas", 0.2), ("voxels", 0.4)]
        for loss in ("uniform", "mean", "l1", "l2", *(["labels"] if partition == "atlas" else []))
        for fold in range(5)
    ]
    return pd.DataFrame(rows, columns=["fold", "partition", "loss", "log_likelihood"])


def test_box_plot_has_a_row_per_partition_the_best_on_top(scores):
    axes = box_plot(scores, {"atlas": 120, "voxels": 29398}, UNIFORM).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["voxels  (29,398)", "atlas  (120)"]
    assert axes.yaxis_inverted()


def test_box_plot_has_a_box_per_model_where_its_scores_are(scores):
    axes = box_plot(scores, {"atlas": 120, "voxels": 29398}, UNIFORM).axes[0]
    boxes = [patch for patch in axes.patches if patch.get_label() != "band"]
    assert len(boxes) == 2 + 3
    voxels = scores[(scores["partition"] == "voxels") & (scores["loss"] == "l1")]
    low, high = voxels["log_likelihood"].quantile([0.25, 0.75])
    extents = [box.get_path().vertices for box in boxes]
    blue = [
        extent
        for box, extent in zip(boxes, extents)
        if box.get_facecolor()[:3] == pytest.approx(rgb(COLOURS["l1"])) and extent[:, 1].max() < 0.5
    ]
    assert len(blue) == 1
    assert (blue[0][:, 0].min(), blue[0][:, 0].max()) == pytest.approx((low, high))


def test_box_plot_draws_losses_that_have_no_colour_of_their_own(scores):
    others = ("likelihood", "huber")
    more = pd.concat([scores, *(scores[scores["loss"] == "l1"].assign(loss=x) for x in others)])
    figure = box_plot(more, {"atlas": 120, "voxels": 29398}, UNIFORM)
    shown = {text.get_text(): patch for text, patch in legend(figure)}
    assert list(shown) == ["ℓ1", "ℓ2", "labels (ℓ2)", "likelihood", "huber", "mean map", "uniform"]
    colours = {shown[name].get_facecolor() for name in list(shown)[:5]}
    assert len(colours) == 5


def legend(figure):
    box = figure.legends[0]
    return zip(box.get_texts(), box.legend_handles)


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def test_box_plot_marks_the_mean_map_and_the_uniform_line(scores):
    axes = box_plot(scores, {"atlas": 120, "voxels": 29398}, UNIFORM).axes[0]
    marks = [line for line in axes.lines if line.get_marker() == "D"]
    means = scores[scores["loss"] == "mean"].groupby("partition")["log_likelihood"].mean()
    assert [mark.get_xdata()[0] for mark in marks] == pytest.approx(
        [means["voxels"], means["atlas"]]
    )
    vertical = [line for line in axes.lines if list(line.get_xdata()) == [UNIFORM, UNIFORM]]
    assert len(vertical) == 1


def test_the_same_figure_gives_the_same_file(scores, tmp_path):
    for name in "ab":
        figure = box_plot(scores, {"atlas": 120, "voxels": 29398}, UNIFORM)
        write_svg(figure, tmp_path / f"{name}.svg")
        write_png(figure, tmp_path / f"{name}.png")
    for suffix in (".svg", ".png"):
        first, second = (tmp_path / f"{name}{suffix}" for name in "ab")
        assert first.read_bytes() == second.read_bytes()


def test_the_box_plot_says_how_many_folds_it_shows(scores):
    regions = dict.fromkeys(scores["partition"], 10)
    (axes,) = box_plot(scores, regions, UNIFORM).axes[:1]
    n_folds = scores["fold"].nunique()
    assert axes.get_xlabel().endswith(f", {n_folds} folds")
    fewer = scores.drop(scores.index[scores["fold"] == 0][:1])
    (axes,) = box_plot(fewer, regions, UNIFORM).axes[:1]
    assert axes.get_xlabel().endswith(f", {n_folds - 1} to {n_folds} folds")


def test_examples_share_one_scale_and_have_titles(monkeypatch):
    """A map that is a multiple of another has its colours only on a scale that both share."""
    grid = VoxelGrid(16)
    truth = np.zeros(grid.n_regions)
    truth[7] = 60
    written = []
    write = Canvas.write

    def keep(self, x, y, words, **options):
        written.append(words)
        write(self, x, y, words, **options)

    monkeypatch.setattr(Canvas, "write", keep)
    maps = [grid.to_img(truth), grid.to_img(truth / 20)]
    picture = np.asarray(draw_examples([Example("Fear and " * 30, 2.19, *maps)]))
    titles = [words for words in written if len(words) > 30]
    assert titles[0].startswith("predicted from its text: +2.19 nats")
    assert titles[1].startswith("Fear and Fear")
    assert titles[1].endswith("...")
    assert written.count("× uniform") == 2
    assert written.count("≥ ×100") == 2
    for name, value in zip("xyz", grid.centers_mm[7]):
        assert written.count(f"{name} = {value:.0f}".replace("-", "−")) == 2
    above, below = np.array_split(picture[:, :1100], 2)
    reds = [np.abs(half.astype(int) - [128, 0, 38]).sum(axis=2).min() for half in (above, below)]
    assert reds[0] < 50 < 100 < reds[1]


FIRST_FIGURE = "from neurowhere.report.canvas import new_figure; new_figure((1, 1))"


def test_the_first_figure_says_nothing_where_no_cache_can_be_kept(tmp_path):
    """Matplotlib tells of its cache when it is imported; there is nothing to do about it."""
    (tmp_path / "file").touch()
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path / "file")}
    command = [sys.executable, "-c", FIRST_FIGURE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
