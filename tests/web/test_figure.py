"""The figure that is downloaded: what is shown, with a colour bar, in print size."""

import io
import re

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.browser


def figure(visit, form, tmp_path):
    with visit.page.expect_download() as download:
        visit.reveal(f"button[data-form={form}]")
        visit.page.click(f"button[data-form={form}]")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path.read_bytes()


def coloured(pixels):
    """Share of pixels that are not grey."""
    rgb = pixels[..., :3].astype(int)
    return float(((rgb.max(axis=-1) - rgb.min(axis=-1)) > 60).mean())


def test_a_png_has_300_dots_per_inch(visit, tmp_path):
    visit.write("the amygdala")
    image = Image.open(io.BytesIO(figure(visit, "png", tmp_path)))
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
    assert image.width == 2250
    assert coloured(np.asarray(image)) > 0.01


def test_a_figure_follows_threshold_crosshair_and_colours(visit, tmp_path):
    visit.write("the amygdala")
    assert "as likely as in the average study" in figure(visit, "svg", tmp_path).decode()
    visit.choose("image", "density")
    visit.until("/density/.test(document.getElementById('caption').textContent)")
    shown = figure(visit, "svg", tmp_path).decode()
    assert "x = −" in shown or "x = " in shown
    assert "% of peaks per cm³" in shown
    assert "the amygdala" in shown
    ticks = [float(tick) for tick in re.findall(r'font-size="10.5"[^>]*>([\d.]+)<', shown)]
    assert len(ticks) >= 2
    assert all(len(f"{tick:g}".replace("0.", "").strip("0")) <= 2 for tick in ticks)  # round
    lines = shown.count("#4fd1c4")
    assert lines > 6
    visit.reveal("#crosshair")
    visit.page.uncheck("#crosshair")
    visit.reveal("#colours")
    visit.page.select_option("#colours", "viridis")
    other = figure(visit, "svg", tmp_path).decode()
    assert other.count("#4fd1c4") == 0
    assert "rgb(68,1,84)" in other
    assert "rgb(60,9,60)" not in other
    visit.choose("image", "mass")
    visit.until("document.querySelectorAll('#legend .level').length === 3")
    assert "80 %" in figure(visit, "svg", tmp_path).decode()


def test_a_text_that_attacks_is_only_a_text_in_a_figure(visit, tmp_path):
    visit.write("<script>alert(1)</script> the amygdala & more")
    shown = figure(visit, "svg", tmp_path).decode()
    assert "<script" not in shown
    assert "&#60;script" in shown


# ---- two texts side by side


def test_two_texts_are_side_by_side_with_one_crosshair_and_can_be_swapped(visit, tmp_path):
    visit.go("#mode=two&text=amygdala&other=motor+cortex")
    assert visit.caption() == "First and second: both texts, each against the average study"
    assert figure(visit, "svg", tmp_path).decode().count("x = ") == 2
    box = visit.page.locator("#map").bounding_box()
    drawn = visit.stage()
    visit.page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.28)
    visit.new_stage(drawn)
    visit.page.wait_for_selector("#decoded li")
    titles = visit.page.locator("#reasons h3").all_inner_texts()
    assert titles == ["The first, beyond the second", "In the literature"]
    assert re.search(
        r"first ×[\d.]+ the average · .* · second ×[\d.]+ the average",
        visit.page.inner_text("#place-words"),
    )
    visit.open("regions")
    first = visit.regions()
    visit.page.click("#swap")
    visit.until("document.getElementById('text').value === 'motor cortex'")
    visit.page.wait_for_function(
        "rows => document.querySelector('#regions tbody').textContent.toLowerCase() !== rows",
        arg=first,
    )
    visit.open("peaks")
    assert "amygdala" in visit.page.inner_text("#peaks tbody").lower()
    assert visit.errors == []
