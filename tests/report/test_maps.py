"""Pictures of maps: what is sampled, where it is drawn, and in which colours."""

import subprocess
import sys

import nibabel
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from neurowhere.report.canvas import PALETTES, WIDTH_PIXELS, Colours, palette
from neurowhere.report.maps import CANVAS_MM, MARGIN_MM, draw_map, strongest_place
from neurowhere.report.panels import BOX_MM, Panel, Volume, at_points, cut, project, steps
from neurowhere.report.surface import hemisphere, rasterise, sample
from neurowhere.space import VoxelGrid

SHAPE = (7, 8, 9)
FLIPPED = np.array([[-5.0, 0, 0, 12.37], [0, 4, 0, -18.13], [0, 0, 6, -20.41], [0, 0, 0, 1]])
OBLIQUE = FLIPPED @ np.array([[0.8, -0.6, 0, 0], [0.6, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
BOX = ((-20.0, 15.0), (-20.0, 16.0), (-18.0, 30.0))


def volume(affine=FLIPPED, is_linear=True, shape=SHAPE):
    data = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return Volume(data, affine, is_linear)


def oracle(volume, points_mm):
    """What scipy interpolates, in an image that is padded with zeros."""
    padded = np.pad(volume.data.astype(float), 1)
    axes = [np.arange(-1, n + 1) for n in volume.data.shape]
    method = "linear" if volume.is_linear else "nearest"
    look_up = RegularGridInterpolator(axes, padded, method, bounds_error=False, fill_value=0)
    inverse = np.linalg.inv(volume.affine)
    return look_up(points_mm @ inverse[:3, :3].T + inverse[:3, 3])


def points(*axes_mm):
    return np.stack(np.meshgrid(*axes_mm, indexing="ij"), axis=-1)


# ---- sampling


@pytest.mark.parametrize("is_linear", [True, False])
@pytest.mark.parametrize("affine", [FLIPPED, OBLIQUE])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_slice_has_the_values_that_scipy_interpolates(affine, is_linear, axis):
    image, at_mm = volume(affine, is_linear), 2.3
    axes = [np.array([at_mm]) if k == axis else steps(*BOX[k]) for k in range(3)]
    expected = oracle(image, points(*axes)).squeeze(axis).T
    np.testing.assert_allclose(cut(image, axis, at_mm, BOX), expected, atol=1e-5)


def test_points_have_the_values_that_scipy_interpolates():
    places = np.random.default_rng(1).uniform(-40, 40, (500, 3))
    for image in (volume(), volume(OBLIQUE), volume(is_linear=False)):
        np.testing.assert_allclose(at_points(image, places), oracle(image, places), atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_projection_keeps_the_value_farthest_from_zero(axis):
    image = volume()
    planes = [cut(image, axis, mm, BOX_MM) for mm in voxel_centres(image, axis)]
    stack = np.stack(planes)
    farthest = np.take_along_axis(stack, np.abs(stack).argmax(axis=0)[None], axis=0)[0]
    np.testing.assert_allclose(project(image, axis, BOX_MM), farthest, atol=1e-6)


def voxel_centres(image, axis):
    return image.affine[axis, 3] + image.affine[axis, axis] * np.arange(image.data.shape[axis])


# ---- colours


@pytest.mark.parametrize("name", PALETTES)
def test_palettes_are_those_of_matplotlib(name):
    from matplotlib import colormaps

    expected = colormaps[name](np.arange(256), bytes=True).astype(int)
    assert np.abs(palette(name).astype(int) - expected).max() <= 1


def test_weak_values_get_no_colour_and_ends_get_the_last_ones():
    colours = Colours("RdBu_r", -2.0, 2.0, 0.5)
    painted = colours.paint(np.array([-2.0, -0.4, 0.5, 0.6, 2.0]))
    assert painted[:, 3].tolist() == [255, 0, 0, 113, 255]  # fading in
    assert painted[0].tolist() == palette("RdBu_r")[0].tolist()
    assert painted[-1].tolist() == palette("RdBu_r")[-1].tolist()


def test_ticks_are_apart_and_round_but_for_both_ends_and_the_threshold():
    ticks = Colours("RdBu_r", -3.2, 3.2, 0.7).ticks
    assert list(ticks.values()) == ["−3.2", "−2.0", "−0.7", "0.0", "0.7", "2.0", "3.2"]
    assert np.diff(list(ticks)).min() > 0.5
    density = Colours("YlOrRd", 2.12, 199.0, 2.12).ticks
    assert list(density.values()) == ["2", "50", "100", "150", "199"]


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_map_of_one_value_has_a_tick(value):
    assert list(Colours("YlOrRd", value, value, value).ticks) == [value]


# ---- pictures


def blob(place_mm, edge_mm=4):
    grid = VoxelGrid(edge_mm)
    distance = np.linalg.norm(grid.centers_mm - place_mm, axis=1)
    return grid.to_img(np.exp(-((distance / 6) ** 2)))


def reddest_mm(picture, axis, left):
    """Place, in mm of the two axes that are seen, of the reddest pixel of a panel."""
    panel = Panel(axis, left, 0)
    scale = WIDTH_PIXELS / CANVAS_MM
    first = round(left * scale)
    pixels = np.asarray(picture).astype(int)[: picture.height // 2]
    part = pixels[:, first : first + round(panel.width * scale)]
    red = part[..., 0] - part[..., 1] - part[..., 2]
    rows, columns = np.nonzero(red == red.max())
    return columns.mean() / scale + panel.corner_mm[0], rows.mean()


@pytest.mark.parametrize("x_mm", [-26, 26])
def test_left_is_on_the_left(x_mm):
    picture = draw_map(blob((x_mm, -2, -16)), title="a blob")
    assert picture.size[0] == WIDTH_PIXELS
    coronal = MARGIN_MM + Panel(0, 0, 0).width + 4.0
    at_mm, _ = reddest_mm(picture, 1, coronal)
    assert at_mm == pytest.approx(x_mm, abs=5)  # the brightest values share a colour


def test_up_is_up():
    low, high = (reddest_mm(draw_map(blob((-26, -2, z_mm))), 0, MARGIN_MM)[1] for z_mm in (-16, 44))
    scale = WIDTH_PIXELS / CANVAS_MM
    assert low - high == pytest.approx(60 * scale, abs=5 * scale)


IMAGES = {
    "nothing": np.zeros(SHAPE),
    "one value": np.ones(SHAPE),
    "negative": -np.ones(SHAPE),
    "missing": np.full(SHAPE, np.nan),
}


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("signed", [True, False])
def test_odd_images_are_drawn(name, signed):
    image = nibabel.Nifti1Image(IMAGES[name].astype(np.float32), FLIPPED)
    assert draw_map(image, signed=signed).size[0] == WIDTH_PIXELS


def test_the_strongest_place_is_a_voxel():
    image = blob((-26, -2, -16))
    assert strongest_place(image) == (-26, -2, -16)
    lowered = nibabel.Nifti1Image(-image.get_fdata(), image.affine)
    assert strongest_place(lowered) == (-26, -2, -16)


def test_drawing_an_encoding_imports_neither_nilearn_nor_matplotlib(tmp_path):
    code = (
        "import sys; from neurowhere import load_model\n"
        f"load_model().encode('left amygdala').save({str(tmp_path / 'out')!r})\n"
        "print(*{'nilearn', 'matplotlib', 'numba', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert {"map.png", "surface.png", "report.html"} <= {
        f.name for f in (tmp_path / "out").iterdir()
    }


# ---- the cortex


def test_the_surface_is_sampled_as_nilearn_samples_it():
    from nilearn.datasets import load_fsaverage
    from nilearn.surface import SurfaceImage

    image = blob((-40, -60, 44))
    mesh = load_fsaverage("fsaverage5")
    expected = SurfaceImage.from_volume(mesh["pial"], image, inner_mesh=mesh["white_matter"])
    for name, values in sample(image).items():
        theirs = np.nan_to_num(expected.data.parts[name].ravel())
        np.testing.assert_allclose(values, theirs, atol=0.06)
        np.testing.assert_array_equal(hemisphere(name).faces, mesh["inflated"].parts[name].faces)


def test_a_rasterised_square_has_every_pixel_once_and_interpolates():
    corners = np.array([[[1.0, 1], [5, 1], [5, 4]], [[1, 1], [5, 4], [1, 4]]])
    triangle, weights = rasterise(corners, (6, 7))
    expected = np.zeros((6, 7), bool)
    expected[1:4, 1:5] = True
    np.testing.assert_array_equal(triangle >= 0, expected)
    up, right = np.nonzero(expected)
    places = np.einsum("pc,pcd->pd", weights[up, right], corners[triangle[up, right]])
    np.testing.assert_allclose(places, np.stack([right, up], axis=1) + 0.5)


def test_of_two_triangles_the_last_is_seen_and_what_is_off_the_picture_is_cut():
    large = np.array([[-9.0, -9], [30, -9], [-9, 30]])
    triangle, _ = rasterise(np.array([large, large]), (3, 4))
    assert (triangle == 1).all()
