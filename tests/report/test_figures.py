import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from neurowhere.report.comparison import COLOURS, box_plot, draw_examples, write_svg
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


def test_examples_show_truth_and_prediction_cut_at_the_same_place(tmp_path):
    grid = VoxelGrid(16)
    rng = np.random.default_rng(0)
    rows = []
    for study, peak in (("one", 7), ("two", 31)):
        truth, prediction = rng.random((2, grid.n_regions)) * 5
        truth[peak] = 50
        maps = {f"true: {study}": truth, f"predicted: {study}": prediction}
        rows.append({title: grid.to_img(each) for title, each in maps.items()})
    figure = draw_examples(rows)
    titles = [text.get_text() for text in figure.texts]
    assert titles == ["true: one", "predicted: one", "true: two", "predicted: two"]
    one, two = figure.texts[0].get_position(), figure.texts[2].get_position()
    assert one[1] > two[1]
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    for peak in (7, 31):
        for name, value in zip("xyz", grid.centers_mm[peak]):
            assert texts.count(f"{name}={value:.0f}") >= 2
    write_png(figure, tmp_path / "example.png")
    assert (tmp_path / "example.png").read_bytes()[1:4] == b"PNG"


FIRST_FIGURE = "from neurowhere.report.comparison import draw_examples; draw_examples([])"


def test_the_first_figure_says_nothing_where_no_cache_can_be_kept(tmp_path):
    """Matplotlib tells of its cache when it is imported; there is nothing to do about it."""
    (tmp_path / "file").touch()
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path / "file")}
    command = [sys.executable, "-c", FIRST_FIGURE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
