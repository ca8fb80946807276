"""Places: the regions that the names of brain structures stand for, as densities.

The regions come from atlases by their labels, from two tables beside this module, and from what
other names say about them: "posterior insula" is the posterior half of the insula, and "fusiform
cortex" is where the fusiform gyrus is. Both sides are taken together.

A row of ``place_names.csv`` gives a name by areas of Brodmann, by how labels of AAL3 begin, or (the
first row that fits) by a word in it and the term whose region it lies in.

A row of ``landmarks.csv`` defines a place that no atlas region names in one of two ways:

- border: where regions of AAL3 meet. The sulcus between two gyri is what lies within `radius_mm` of
  both. Regions are given by how their labels begin, alternatives by "|".
- points: a chain of points in MNI space, in mm, on both sides of the brain: the place lies within
  `radius_mm` of the line through them. Small nuclei are one point; tracts are several.

The column `source` names a work that says where the structure lies, or the template that it is seen
on. The points are ours, right to within a few millimetres: no atlas was copied.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates

from neurowhere._tools.files import shipped_table
from neurowhere.space import Atlas, VoxelGrid
from neurowhere.text import Vocabulary
from neurowhere.text.labels import words_of_label

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]

SIGMA_MM, TRUNCATE = 4.0, 4.0  # by which regions are smoothed; at how many of these it ends
LEAST_VOXELS = 4  # voxels of a region that can be cut in two

# Directions: the axis, and the sign of what lies that way; None for the middle third.
DIRECTIONS: dict[str, tuple[int, int] | None] = {
    "anterior": (1, 1),
    "posterior": (1, -1),
    "rostral": (1, 1),
    "caudal": (1, -1),
    "dorsal": (2, 1),
    "ventral": (2, -1),
    "superior": (2, 1),
    "inferior": (2, -1),
    "lateral": (0, 1),
    "medial": (0, -1),
    "dorsolateral": (2, 1),
    "ventrolateral": (2, -1),
    "dorsomedial": (2, 1),
    "ventromedial": (2, -1),
    "middle": None,
    "mid": None,
}
NOUNS = ("gyrus", "cortex", "lobule")  # nouns that names exchange
# Names in which a direction says nothing of which half is meant.
UNDIVIDED = re.compile("nucleus|nuclei|fasciculus|tract|peduncle")

TUBE_MM, BORDER_MM = 1.0, 2.0  # size of the voxels of a landmark
SEPARATOR = ";"


class Region(NamedTuple):
    """Region of a name: voxels, and their affine."""

    mask: Mask
    affine: NDArray[np.float64]


def place_densities(
    vocabulary: Vocabulary, grid: VoxelGrid, aal3: Atlas | None, brodmann: Atlas | None
) -> dict[str, NDArray[np.float32]]:
    """Return the density of the region of each term that names one.

    Parameters
    ----------
    vocabulary : Vocabulary
    grid : VoxelGrid
    aal3, brodmann : Atlas or None
        Left out where there is none.

    Returns
    -------
    dict of str to array of shape (n_regions,)
        Densities in multiples of the uniform one.
    """
    regions = named_regions(vocabulary, aal3, brodmann)
    regions |= {
        _term(vocabulary, name): region for name, region in landmarks(aal3) if name in vocabulary
    }
    regions |= dict(derived_regions(vocabulary, regions))
    return {
        term: density
        for term, region in regions.items()
        if (density := _density(region, grid)) is not None
    }


def named_regions(
    vocabulary: Vocabulary, aal3: Atlas | None, brodmann: Atlas | None
) -> dict[str, Region]:
    """Return the regions that labels of atlases, and a few other names, stand for."""
    found: dict[str, Region] = {}
    for atlas in (brodmann, aal3):
        if atlas is not None:
            found |= _by_label(vocabulary, atlas)
    if brodmann is not None:
        numbers = [_numbers(name) for name in brodmann.names]
        every = {number for some in numbers for number in some}
        areas = {f"brodmann area {number}": str(number) for number in every}
        for name, wanted in (areas | place_names("areas")).items():
            if name in vocabulary:
                rows = [row for row, some in enumerate(numbers) if some & _numbers(wanted)]
                found.setdefault(_term(vocabulary, name), _region(brodmann, rows))
    if aal3 is not None:
        for name, beginnings in place_names("labels").items():
            rows = _rows_of(aal3, beginnings.split())
            if name in vocabulary and rows:
                found[_term(vocabulary, name)] = _region(aal3, rows)
    return found


@cache
def place_names(kind: str) -> dict[str, str]:
    """Read where the names of a kind are: "areas", "labels" or "within"."""
    rows = shipped_table(__package__, "place_names.csv")
    return {row["name"]: row["where"] for row in rows if row["kind"] == kind}


def derived_regions(
    vocabulary: Vocabulary, known: Mapping[str, Region]
) -> Iterator[tuple[str, Region]]:
    """Yield regions of names of structures that other names with a region are part of."""
    for term in vocabulary.terms:
        if vocabulary.category(term) != "anatomy" or term in known:
            continue
        whole, directions = _whole_of(term, vocabulary, known)
        if whole is None:
            continue
        mask, affine = known[whole]
        for direction in directions:
            if mask.sum() > LEAST_VOXELS:
                mask = cut(mask, affine, direction)
        yield term, Region(mask, affine)


def _whole_of(
    term: str, vocabulary: Vocabulary, known: Mapping[str, Region]
) -> tuple[str | None, list[str]]:
    """Find the term with a region that a name is part of, and the directions within it."""
    words = term.replace("-", " ").split()
    n_directions = 0
    while n_directions < len(words):
        rest = words[n_directions:]
        if (whole := _known_name(rest, vocabulary, known)) is not None:
            return whole, words[:n_directions]
        if rest[0] not in DIRECTIONS:
            break
        n_directions += 1
    for part, name in place_names("within").items():
        if part in words or (" " in part and part in term):
            if name not in vocabulary or (whole := _term(vocabulary, name)) not in known:
                break
            inside = [] if UNDIVIDED.search(term) else [w for w in words if w in DIRECTIONS]
            return whole, inside
    return None, []


def _known_name(
    words: list[str], vocabulary: Vocabulary, known: Mapping[str, Region]
) -> str | None:
    """Return the term with a region that words name, also with another noun at the end."""
    names = [" ".join(words), *(" ".join([*words[:-1], noun]) for noun in NOUNS)]
    for name in names:
        if name in vocabulary and (term := _term(vocabulary, name)) in known:
            return term
    return None


def cut(mask: Mask, affine: NDArray[np.float64], direction: str) -> Mask:
    """Return the half of a region that lies in a direction, on each side of the brain.

    Parameters
    ----------
    mask : array
    affine : array of shape (4, 4)
    direction : str
        One of `DIRECTIONS`; the middle is a third.

    Returns
    -------
    array
        Of the shape of the mask.
    """
    voxels = np.argwhere(mask)
    xyz_mm = voxels @ affine[:3, :3].T + affine[:3, 3]
    part = np.zeros_like(mask)
    for side in (xyz_mm[:, 0] < 0, xyz_mm[:, 0] >= 0):
        if side.any():
            kept = _kept(xyz_mm[side], direction)
            part[tuple(voxels[side][kept].T)] = True
    return part


def _kept(xyz_mm: NDArray[np.float64], direction: str) -> Mask:
    """Return which points of one side lie in a direction."""
    way = DIRECTIONS[direction]
    if way is None:
        first, second = np.quantile(xyz_mm[:, 1], [1 / 3, 2 / 3])
        middle: Mask = (xyz_mm[:, 1] >= first) & (xyz_mm[:, 1] <= second)
        return middle
    axis, sign = way
    along = sign * (np.abs(xyz_mm[:, 0]) if axis == 0 else xyz_mm[:, axis])
    beyond: Mask = along >= np.median(along)
    return beyond


def _by_label(vocabulary: Vocabulary, atlas: Atlas) -> dict[str, Region]:
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(atlas.names):
        words, _ = words_of_label(label)
        if words and words in vocabulary:
            rows.setdefault(_term(vocabulary, words), []).append(row)
    return {term: _region(atlas, some) for term, some in rows.items()}


def _numbers(label: str) -> set[int]:
    """Return the numbers of Brodmann areas in a label."""
    return {int(number) for number in re.findall(r"\d+", label)}


def _rows_of(atlas: Atlas, beginnings: Sequence[str]) -> list[int]:
    """Return the regions whose labels begin so."""
    return [row for row, label in enumerate(atlas.names) if label.startswith(tuple(beginnings))]


def _term(vocabulary: Vocabulary, name: str) -> str:
    return vocabulary.terms[vocabulary.index(name)]


def _region(atlas: Atlas, rows: list[int]) -> Region:
    return Region(np.isin(atlas.regions, rows), atlas.affine)


def _density(region: Region, grid: VoxelGrid) -> NDArray[np.float32] | None:
    """Smooth a region and make it a density on the grid; None where it lies outside."""
    if not region.mask.any():
        return None
    sizes = np.abs(np.diag(region.affine)[:3])
    margin = np.ceil(TRUNCATE * SIGMA_MM / sizes).astype(int)
    filled = np.argwhere(region.mask)
    first = (
        filled.min(axis=0) - margin
    )  # corner of a box that is smoothed in place of the whole brain
    box = np.zeros(filled.max(axis=0) + margin + 1 - first, np.float32)
    box[tuple((filled - first).T)] = 1
    smooth = gaussian_filter(box, SIGMA_MM / sizes, truncate=TRUNCATE)
    inverse = np.linalg.inv(region.affine)
    voxels = grid.centers_mm @ inverse[:3, :3].T + inverse[:3, 3] - first
    values = map_coordinates(smooth, voxels.T, order=1, mode="constant")
    total = values.sum(dtype=np.float64)
    return None if total <= 0 else (values / total * len(values)).astype(np.float32)


def landmarks(aal3: Atlas | None) -> Iterator[tuple[str, Region]]:
    """Yield the landmarks of the table; those that atlas regions define only with the atlas.

    Parameters
    ----------
    aal3 : Atlas or None

    Yields
    ------
    name : str
    Region
    """
    for row in shipped_table(__package__, "landmarks.csv"):
        parts = [part.strip() for part in row["where"].split(SEPARATOR)]
        radius_mm = float(row["radius_mm"])
        if row["kind"] == "points":
            points = np.array([[float(number) for number in part.split()] for part in parts])
            yield row["name"], tube(points, radius_mm)
        elif aal3 is not None:
            yield row["name"], border(aal3, [part.split("|") for part in parts], radius_mm)


def tube(points_mm: Points, radius_mm: float) -> Region:
    """Return what lies close to a chain of points or to its mirror image.

    Parameters
    ----------
    points_mm : array of shape (n, 3)
    radius_mm : float

    Returns
    -------
    Region
    """
    low, high = points_mm.min(axis=0) - radius_mm, points_mm.max(axis=0) + radius_mm
    low[0] = -high[0]  # the mirror image
    axes = [np.arange(*ends, TUBE_MM) for ends in zip(low, high + TUBE_MM, strict=True)]
    affine = np.diag([TUBE_MM, TUBE_MM, TUBE_MM, 1.0])
    affine[:3, 3] = low
    xyz_mm = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    xyz_mm[..., 0] = np.abs(xyz_mm[..., 0])
    chain = points_mm if len(points_mm) > 1 else np.repeat(points_mm, 2, axis=0)
    near = [_distance(xyz_mm, *ends) <= radius_mm for ends in pairwise(chain)]
    return Region(np.any(near, axis=0), affine)


def _distance(xyz_mm: Points, start: Points, end: Points) -> Points:
    """Return how far points are from a segment."""
    way = end - start
    length = way @ way
    along = np.clip((xyz_mm - start) @ way / length, 0, 1) if length else np.zeros(1)
    distance: Points = np.linalg.norm(xyz_mm - start - along[..., None] * way, axis=-1)
    return distance


def border(aal3: Atlas, groups: list[list[str]], radius_mm: float) -> Region:
    """Return what lies close to all of some groups of regions.

    Parameters
    ----------
    aal3 : Atlas
    groups : list of list of str
        How the labels of the regions of each group begin.
    radius_mm : float

    Returns
    -------
    Region
    """
    size = np.abs(np.diag(aal3.affine)[:3])
    step = max(1, round(BORDER_MM / float(size.max())))
    regions = aal3.regions[::step, ::step, ::step]
    affine = aal3.affine @ np.diag([step, step, step, 1.0])
    masks = [np.isin(regions, _rows_of(aal3, beginnings)) for beginnings in groups]
    near = np.zeros(regions.shape, bool)
    window = _around(masks[0], np.ceil(2 * radius_mm / (size * step)).astype(int))
    if all(mask[window].any() for mask in masks):
        distances = (distance_transform_edt(~m[window], sampling=size * step) for m in masks)
        near[window] = np.all([distance <= radius_mm for distance in distances], axis=0)
    return Region(near, affine)


def _around(mask: Mask, margin: NDArray[np.intp]) -> tuple[slice, ...]:
    """Return the box around a mask, with a margin on all sides, in voxels.

    With twice a radius, it has what is so close to the mask, and what that may be close to.
    """
    filled = np.argwhere(mask)
    if not len(filled):
        return tuple(slice(0) for _ in mask.shape)
    low, high = np.maximum(filled.min(axis=0) - margin, 0), filled.max(axis=0) + margin + 1
    return tuple(map(slice, low.tolist(), high.tolist()))
