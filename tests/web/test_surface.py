"""The cortex in 3-D and the glass brain: drawn by the page, with the colours of the legend."""

import gzip

import numpy as np
import pytest

from neurowhere.web.images import PER_MM, cortex


def test_the_cortex_is_sent_whole():
    content = gzip.decompress(cortex())
    at = 0
    for sign in (-1, 1):  # left, right
        n, n_faces = np.frombuffer(content, "<u4", 2, at).tolist()
        points = np.frombuffer(content, "<i2", 9 * n, at + 8).reshape(3, n, 3) / PER_MM
        faces = np.frombuffer(content, "<u2", 3 * n_faces, at + 8 + 19 * n)
        assert (n, n_faces) == (10242, 20480)
        assert np.sign(points[0, :, 0].mean()) == sign
        assert faces.max() == n - 1
        assert np.abs(points[0]).max() < 120  # mm
        at += 8 + 19 * n + 6 * n_faces
    assert at == len(content)


COLOURED = """() => {
    const canvas = document.getElementById("map");
    if (canvas.dataset.pending !== undefined) return null;
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const halves = [0, 0];
    for (let i = 0; i < data.length; i += 4) {
        const warm = data[i] - data[i + 2] > 60;
        if (warm) halves[(i / 4) % width < width / 2 ? 0 : 1] += 1;
    }
    return halves[0] + halves[1] ? halves : null;
}"""


def coloured(visit):
    """Warm pixels of the left and the right half of the stage, once there are some."""
    return visit.page.wait_for_function(COLOURED).json_value()


@pytest.mark.browser
def test_a_left_map_is_on_the_left_hemisphere_and_turns_when_it_is_dragged(visit):
    visit.write("the left motor cortex")
    visit.choose("view", "surface")
    left, right = coloured(visit)
    assert left > 2 * right
    seen = visit.stage()
    visit.page.uncheck("#inflated")
    pial = visit.new_stage(seen)
    box = visit.page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.3
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 80, y + 30, steps=3)
    visit.page.mouse.up()
    turned = visit.new_stage(pial)
    visit.reveal("#reset")
    visit.page.click("#reset")
    visit.new_stage(turned, pial)
    visit.page.mouse.click(x, y)
    visit.told_place()
    assert visit.place()[0] < -10  # on the left
    visit.page.focus("#map")
    visit.page.keyboard.press("v")
    assert visit.page.is_checked("input[value=slices]")
    assert visit.page.is_hidden("#inflating")
    assert visit.errors == []


@pytest.mark.browser
def test_the_glass_brain_shows_what_lies_deep(visit):
    visit.write("the left amygdala")
    first = visit.stage()
    visit.choose("image", "density")
    slices = visit.new_stage(first)
    visit.reveal("#crosshair")
    visit.page.uncheck("#crosshair")
    visit.choose("view", "glass")
    visit.new_stage(slices)
    glass = visit.stage()
    visit.page.fill("#z", "60")  # a section up there would not show it
    visit.page.press("#z", "Enter")
    visit.told_place()
    assert sum(coloured(visit)) > 100
    assert visit.stage() == glass
    assert visit.errors == []


@pytest.mark.browser
def test_beside_three_sections_the_whole_brain_shows_where_a_text_points(visit):
    visit.write("the left motor cortex")
    visit.page.fill("#z", "-50")  # where no section shows it
    visit.page.fill("#x", "60")
    visit.page.fill("#y", "-90")
    visit.page.press("#y", "Enter")
    visit.until("document.getElementById('y').value === '-90'")
    left, right = coloured(visit)
    assert right > 20 * (left + 1)  # in the corner alone, seen from the left
    box = visit.page.locator("#map").bounding_box()
    visit.page.mouse.click(box["x"] + 0.68 * box["width"], box["y"] + 0.7 * box["height"])
    visit.until("document.getElementById('y').value !== '-90'")
    assert visit.place()[0] < 0
    assert visit.errors == []
