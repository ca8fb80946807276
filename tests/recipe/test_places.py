"""Places that a table defines, by borders of regions and by points."""

from importlib.resources import files

import numpy as np
import pytest

from neurowhere import Atlas, Vocabulary, VoxelGrid, default_atlas
from recipe.places import border, landmarks, place_densities, tube


@pytest.fixture(scope="module")
def of_aal3():
    return dict(landmarks(default_atlas()))


def points_of(region):
    return np.argwhere(region.mask) @ region.affine[:3, :3].T + region.affine[:3, 3]


def centre_of(region):
    """Mean of one side, x without its sign."""
    xyz_mm = points_of(region)
    return xyz_mm[xyz_mm[:, 0] > 0].mean(axis=0)


def test_a_point_is_a_ball_on_each_side():
    xyz_mm = points_of(tube(np.array([[11.0, -14, -7]]), 3))
    assert np.unique(np.sign(xyz_mm[:, 0])).tolist() == [-1, 1]
    away = np.linalg.norm(np.abs(xyz_mm) - [11, 14, 7], axis=1)
    assert away.max() <= 3
    assert len(xyz_mm) == pytest.approx(2 * 4 / 3 * np.pi * 3**3, rel=0.2)


def test_a_tube_follows_its_points():
    xyz_mm = points_of(tube(np.array([[20.0, 0, 0], [20, -40, 0], [20, -40, 30]]), 2))
    middle, corner = [20, -20, 0], [20, -4, 26]
    assert np.linalg.norm(xyz_mm - middle, axis=1).min() < 2
    assert np.linalg.norm(xyz_mm - corner, axis=1).min() > 20


def test_a_border_lies_between_its_regions():
    volume = np.zeros((30, 10, 10), np.int16)
    volume[2:12], volume[14:28] = 1, 2
    atlas = Atlas((volume, np.diag([2.0, 2.0, 2.0, 1.0])), {1: "Frontal_Mid_L", 2: "Precentral_L"})
    x_mm = points_of(border(atlas, [("Frontal",), ("Precentral",)], 6))[:, 0]
    assert (x_mm.min(), x_mm.max()) == (22, 28)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("frontal eye field", (27, -4, 52)),
        ("v5", (45, -68, 3)),
        ("temporoparietal junction", (53, -46, 22)),
        ("intraparietal sulcus", (32, -56, 50)),
        ("uncinate fasciculus", (32, 12, -15)),
        ("isthmus of corpus callosum", (4, -29, 22)),
        ("foramen of monro", (4, -2, 6)),
        ("paramedian pontine reticular formation", (2, -35, -34)),
        ("cerebellopontine angle", (18, -32, -36)),
    ],
)
def test_landmarks_are_where_the_literature_has_them(of_aal3, name, expected):
    assert np.linalg.norm(centre_of(of_aal3[name]) - expected) < 8


@pytest.fixture(scope="module")
def of_vocabulary():
    """Regions of the names that are always kept, and of a few others."""
    kept = (files("neurowhere.text.building") / "kept.txt").read_text("utf-8").split("\n")
    whole = ["cerebellum", "thalamus", "medulla oblongata", "pituitary gland", *PARTS]
    terms = sorted({*filter(None, kept), *whole})
    vocabulary = Vocabulary(terms, categories=dict.fromkeys(terms, "anatomy"))
    grid = VoxelGrid(8)
    return grid, terms, place_densities(vocabulary, grid, default_atlas(), None)


def test_each_name_that_is_always_kept_has_a_place(of_vocabulary):
    _, terms, densities = of_vocabulary
    assert set(terms) == set(densities)


PARTS = {  # where the parts of the cerebellum and the thalamus are to one another
    "cerebellum anterior lobe": "Cerebellum_4_5",
    "cerebellum posterior lobe": "Cerebellum_Crus",
    "superior vermis": "Vermis_4_5",
    "inferior vermis": "Vermis_8",
    "nodulus": "Vermis_10",
    "anterior thalamus": "Thal_AV",
    "ventral posterior nucleus": "Thal_VPL",
}


@pytest.mark.parametrize(("name", "label"), PARTS.items())
def test_parts_are_where_their_labels_are(of_vocabulary, name, label):
    grid, _, densities = of_vocabulary
    atlas = default_atlas()
    rows = [row for row, name in enumerate(atlas.names) if name.startswith(label)]
    wanted = np.argwhere(np.isin(atlas.regions, rows)) @ atlas.affine[:3, :3].T
    wanted = np.abs(wanted + atlas.affine[:3, 3]).mean(axis=0)
    found = densities[name] @ np.abs(grid.centers_mm) / densities[name].sum()
    assert np.linalg.norm(found - wanted) < 12


def test_without_an_atlas_only_points_are_landmarks():
    names = [name for name, _ in landmarks(None)]
    assert "habenula" in names
    assert "central sulcus" not in names
