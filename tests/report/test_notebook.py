"""What results show of themselves in a notebook, and as figures."""

import warnings

import numpy as np
import pytest

from neurowhere import decode, summarise
from neurowhere.exceptions import DataWarning, PartitionError
from neurowhere.report.maps import draw_encoding


@pytest.fixture(autouse=True)
def _agg():
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def infarct(shipped):
    return shipped.encode("Infarct of the left insula")


@pytest.mark.parametrize("view", ["slices", "glass", "surface"])
@pytest.mark.parametrize("image", ["log_ratio", "density"])
def test_plot_gives_a_figure_of_matplotlib(infarct, view, image):
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="nilearn")
        figure = infarct.plot(view, image=image)
    assert isinstance(figure, Figure)
    assert len(figure.axes) > 1
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    words += [text.get_text() for text in figure.texts] + [a.get_title() for a in figure.axes]
    assert any("left insula" in each for each in [*words, figure.get_suptitle()])


def test_options_of_nilearn_are_passed_on(infarct):
    figure = infarct.plot(display_mode="z", cut_coords=[0, 10], title="mine", colorbar=False)
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"z=0", "z=10", "mine"} <= {*words}


@pytest.mark.parametrize("options", [{"view": "flat"}, {"image": "mass"}])
def test_what_cannot_be_plotted_is_refused(infarct, options):
    with pytest.raises(PartitionError, match="expected a"):
        infarct.plot(**options)


def test_a_text_that_supports_no_map_warns_and_draws_no_noise(shipped):
    with pytest.warns(DataWarning, match="supports no map"):
        encoding = shipped.encode("qwerty uiop")
    assert not encoding.log_ratio.any()
    with pytest.warns(DataWarning, match="supports no map"):
        encoding.plot()
    picture = np.asarray(draw_encoding(encoding).convert("RGB"), int)
    lower = picture[len(picture) // 2 :, : picture.shape[1] // 2]
    assert (np.ptp(lower, axis=2) > 60).mean() < 1e-3  # grey: no place has a colour
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shipped.encode("amygdala")
        list(shipped.encode_many(["qwerty uiop"]))  # of many, each has its support


def test_term_maps_show_themselves(shipped):
    term = shipped.term_map("left amygdala")
    html = term._repr_html_()
    assert "left amygdala" in html
    assert "data:image/png;base64," in html
    assert term.plot("glass").axes


def test_decodings_show_the_titles_of_studies(shipped):
    found = decode(shipped, (-24, -4, -18))
    html = found._repr_html_()
    assert "amygdala" in html
    assert found.studies["title"][0].split(":")[0].split("&")[0] in html


def test_summaries_show_their_places(infarct):
    summary = summarise(infarct)
    html = summary._repr_html_()
    for region in summary.regions[:3]:
        assert region.name in html
    assert summary.similar[0].title.split("'")[0] in html
    assert "those that the text names" in html
