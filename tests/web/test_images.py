"""Pictures of a map over the brain, pixel by pixel."""

import gzip
import io
import tracemalloc

import nibabel
import numpy as np
import pytest
from PIL import Image

from neurowhere.report.volumes import BOX_MM, brain, coarse_brain, to_nifti
from neurowhere.web.errors import ApiError
from neurowhere.web.images import Look, draw_slices, read_image, to_png

SHAPE = (9, 8, 7)  # of a template with voxels of 1 mm, whose first is at (−4, −3, −2)
PLACE = (1, -1, 3)


def image(values):
    affine = np.eye(4)
    affine[:3, 3] = (-4, -3, -2)
    return nibabel.Nifti1Image(values, affine)


def read(png):
    return np.asarray(Image.open(io.BytesIO(png)))


@pytest.fixture
def spot():
    """A map of a single voxel at the place."""
    values = np.zeros(SHAPE, np.float32)
    values[5, 2, 5] = 2.0
    return image(values)


def test_png_holds_every_pixel():
    pixels = np.random.default_rng(0).integers(0, 256, (7, 9, 4), np.uint8)
    np.testing.assert_array_equal(read(to_png(pixels)), pixels)


def test_each_section_shows_the_spot_where_it_is(spot):
    template = image(np.full(SHAPE, 100, np.uint8))
    picture = read(draw_slices(spot, template, PLACE, Look(1, 2, opacity=1)))
    assert picture.shape == (7 + 8, 8 + 9, 4)  # sagittal (y, z), coronal (x, z); axial (x, y)
    coloured = picture[..., 0] > picture[..., 2] + 50
    # Rows go down from the top: z = 5 of 0 to 6 is row 1, y = 2 of 0 to 7 is row 5 of the axial.
    assert {tuple(place) for place in np.argwhere(coloured)} == {(1, 2), (1, 8 + 5), (7 + 5, 5)}


def test_what_is_below_zero_has_its_own_colours(spot):
    template = image(np.full(SHAPE, 100, np.uint8))
    below = image(-np.asarray(spot.dataobj))
    picture = read(draw_slices(below, template, PLACE, Look(1, 4, opacity=1)))
    red, _, blue, _ = picture[1, 2]
    assert blue > red + 50


def test_outside_of_the_brain_a_picture_is_transparent(spot):
    grey = np.zeros(SHAPE, np.uint8)
    grey[2:7, 1:6, 1:6] = 80
    picture = read(draw_slices(image(np.zeros(SHAPE)), image(grey), PLACE, Look(1, 2)))
    assert set(np.unique(picture[..., 3])) == {0, 255}
    assert (picture[..., 3] == 255).sum() == 3 * 5 * 5
    assert picture[-1, -1].tolist() == [0, 0, 0, 0]  # no section is there


def test_the_template_fills_its_box_fine_and_coarse():
    for template, size in ((brain(), 1), (coarse_brain(), 2)):
        ends = np.array(template.shape) * size
        assert ends.tolist() == [last - first + 1 for first, last in BOX_MM]
        first = template.affine[:3, 3] - size / 2
        np.testing.assert_allclose(first, [start - 0.5 for start, _ in BOX_MM])
        assert np.asarray(template.dataobj).max() > 200


# ---- images that a request brings


@pytest.mark.parametrize("kind", ["u1", "<i2", ">i2", "<i8", "<f4", ">f4", "<f8"])
@pytest.mark.parametrize("slope", [None, 0.25])
def test_an_upload_has_the_values_that_nibabel_reads(kind, slope):
    values = np.random.default_rng(0).integers(0, 100, (7, 8, 9)).astype(kind)
    header = nibabel.Nifti1Header(endianness=kind[0] if kind[0] in "<>" else "<")
    header.set_data_dtype(kind)
    saved = nibabel.Nifti1Image(values, np.diag([3, 4, 5, 1]), header)
    content = saved.to_bytes() if slope is None else _scaled(saved.to_bytes(), header.endianness)
    expected = nibabel.Nifti1Image.from_bytes(content)
    found = read_image(gzip.compress(content))
    np.testing.assert_allclose(found.dataobj, expected.dataobj, rtol=1e-6)
    np.testing.assert_array_equal(found.affine, expected.affine)


def _scaled(content, order):
    """Set the slope and the intercept in the header of a file."""
    scale = np.array([0.25, -2.0], f"{order}f4").tobytes()
    return content[:112] + scale + content[120:]


def test_an_upload_that_is_cut_is_refused():
    content = image(np.zeros(SHAPE)).to_bytes()
    for cut in (content[:-1], content[:352], content[:40], b""):
        with pytest.raises(ApiError) as caught:
            read_image(cut)
        assert caught.value.code == "invalid_image"


def test_an_upload_is_not_copied():
    content = to_nifti(image(np.zeros((180, 210, 180))))  # 54 MB of float64
    tracemalloc.start()
    kept = read_image(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1.5 * np.asarray(kept.dataobj).nbytes
