"""Figures for papers: of one text or two, as shapes of a set width, with a caption."""

import io
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from neurowhere import load_model
from neurowhere.exceptions import OutputError
from neurowhere.report import figure as paper

SVG = "{http://www.w3.org/2000/svg}"
INCHES = {85: 3.346, 174: 6.850}
NUMBERS = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


@pytest.fixture(scope="module")
def encodings():
    model = load_model()
    return [model.encode(text) for text in ("infarct of the left insula", "right amygdala")]


def points(path):
    """Corners of a path of SVG, from absolute lines or from steps."""
    found = []
    for letter, words in re.findall(r"([MLlz])([^MLlz]*)", path):
        pairs = np.array(NUMBERS.findall(words), float).reshape(-1, 2)
        for pair in pairs:
            found.append(found[-1] + pair if letter == "l" else pair)
    return np.array(found)


def distances(corners, line):
    """How far points are from a line through others."""
    starts, steps = line[:-1], np.diff(line, axis=0)
    away = corners[:, None] - starts[None]  # (n, m, 2)
    length = np.maximum((steps**2).sum(axis=-1), 1e-9)
    share = np.clip((away * steps).sum(axis=-1) / length, 0, 1)
    return np.linalg.norm(away - share[..., None] * steps, axis=-1).min(axis=1)


def texts(content):
    return [each.text for each in ET.fromstring(content).iter(f"{SVG}text")]


@pytest.mark.parametrize("width", [85, 174])
def test_a_figure_has_its_width_in_every_form(encodings, width):
    figure = paper.draw_figure(encodings[0], width_mm=width)
    svg = ET.fromstring(paper.figure_bytes(figure, "svg"))
    assert float(svg.get("width").removesuffix("pt")) / 72 == pytest.approx(INCHES[width], abs=0.01)
    image = Image.open(io.BytesIO(paper.figure_bytes(figure, "png")))
    assert image.width == pytest.approx(300 * INCHES[width], abs=1)
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
    (box,) = re.findall(rb"/MediaBox \[ ?([\d. ]+)\]", paper.figure_bytes(figure, "pdf"))
    assert float(box.split()[2]) / 72 == pytest.approx(INCHES[width], abs=0.01)


def test_slices_are_shapes_in_few_bytes(encodings):
    content = paper.figure_bytes(paper.draw_figure(encodings[0]), "svg")
    assert len(content) < 250_000
    assert b"<image" not in content
    words = texts(content)
    assert words.count("L") == words.count("R") == 8
    assert "× the average" in words


def test_short_paths_are_the_same_shapes(encodings, monkeypatch):
    figure = paper.draw_figure(encodings[0], width_mm=85)
    short = paper.figure_bytes(figure, "svg").decode()
    monkeypatch.setattr(paper, "LINES", re.compile(rb"(?!)"))
    whole = paper.figure_bytes(figure, "svg").decode()
    assert len(short) < len(whole) / 5
    pairs = list(zip(*(re.findall(r' d="([^"]*)"', text) for text in (short, whole)), strict=True))
    assert len(pairs) > 100
    for ours, theirs in pairs[::4]:
        if "C" in theirs or "Q" in theirs:
            assert ours == theirs
            continue
        assert not re.search(r"l(?:[z\"]|$)", ours)  # no step without an end
        found, expected = points(ours), points(theirs.replace("\n", " "))
        far = np.abs(found[:, None] - expected[None]).max(axis=-1).min(axis=1)
        assert far.max() < 0.051  # of a point: corners are rounded to tenths
        assert distances(expected, found).max() < 0.2  # of a point: 0.07 mm


def test_two_texts_share_a_scale_and_have_letters(encodings):
    figure = paper.draw_figure(*encodings, width_mm=85)
    words = texts(paper.figure_bytes(figure, "svg"))
    assert words.count("a") == words.count("b") == 1
    assert words.count("L") == 16
    assert words.count("× the average") == 1
    single = texts(paper.figure_bytes(paper.draw_figure(encodings[0], width_mm=85), "svg"))
    assert "a" not in single
    surface = texts(paper.figure_bytes(paper.draw_figure(*encodings, layout="surface"), "svg"))
    assert surface.count("left, lateral") == 2


def test_a_difference_is_one_map_with_its_sides(encodings):
    words = texts(paper.figure_bytes(paper.draw_figure(*encodings, quantity="difference"), "svg"))
    assert paper.DIFFERENCE_UNIT in words
    assert words.count("L") == 8
    with pytest.raises(OutputError, match="expected a second text"):
        paper.draw_figure(encodings[0], quantity="difference")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_a_file_holds_its_caption(encodings, tmp_path, ending):
    path = tmp_path / f"figure.{ending}"
    caption = encodings[0].save_figure(path, encodings[1], width_mm=85)
    assert caption.startswith("How many times as likely as in the average study")
    assert "a, first text; b, second text, on one scale." in caption
    assert "with neurowhere" in caption
    assert "(Dockès et al., 2018)" in caption
    assert "insula" not in caption  # nothing of the texts
    if ending == "png":
        with Image.open(path) as image:
            assert image.info["Description"] == caption
    elif ending == "svg":
        assert caption in "".join(ET.fromstring(path.read_bytes()).itertext())
    else:
        assert b"/Subject" in path.read_bytes()


def test_a_text_that_says_nothing_has_a_caption_that_says_so(tmp_path):
    caption = load_model().encode("zxqv").save_figure(tmp_path / "a.png", width_mm=85)
    assert caption.startswith("The text says nothing of where")
