"""Viewer: maps, template and atlas as data for the script that draws slices in a page."""

import base64
import gzip
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere.model.encoding import Encoding
from neurowhere.space import Atlas, Partition, VoxelGrid

__all__ = ["DENSITIES", "SHARES", "viewer_data"]

FINEST_MM = 2.0  # of the template, and of the maps where the model's voxels are smaller
GREYS = 63  # of the template; more would double its size and not be seen
DENSITIES = 65535  # steps of a density, so that also weak places have a ratio
MARGIN_MM = 4.0  # around the brain
BRAIN_GREY = 0.1  # of the template's intensity
SHARES = (0.5, 0.8, 0.95)  # of the peaks, that regions are shown for

Packed = dict[str, Any]


def viewer_data(
    encoding: Encoding,
    place: tuple[float, float, float],
    atlas: Atlas | None = None,
    regions: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return all that the script needs, as plain data.

    Parameters
    ----------
    encoding : Encoding
    place : (x, y, z) in mm
        Where the crosshair is at first.
    atlas : Atlas, optional
        Names the place under the crosshair.
    regions : list of dict, optional
        What to tell of each region of the atlas, in its order: name, and why, a list of terms
        with their contributions.

    Returns
    -------
    dict
        Ready for JSON.
    """
    template, affine = template_slices()
    volume = encoding.brain.total_volume_mm3
    relative = encoding.density * volume  # in multiples of the uniform density
    mean = encoding.mean_map / encoding.partition.volumes_mm3 * volume
    density = _pack_density(encoding.partition, relative)
    volumes = {
        "template": _pack(template, affine, 1 / GREYS),
        "density": density,
        "mean": _pack_density(encoding.partition, mean),
    }
    if atlas is not None:
        labels = atlas.sample(affine, template.shape) + 1  # 0 is outside
        volumes["atlas"] = _pack(labels.astype(np.uint16), affine, 1)
    return {
        "volumes": volumes,
        "box": _box(template, affine),
        "levels": _levels(encoding, relative, density["scale"]),
        "uniform": 1 / volume,
        "place": [round(mm) for mm in place],
        "smooth": isinstance(encoding.partition, VoxelGrid),
        "regions": regions or [],
    }


@lru_cache(maxsize=1)
def template_slices() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the brain of nilearn's MNI152 template in few greys, and the affine of its voxels."""
    from nilearn.datasets import load_mni152_template

    template = load_mni152_template(resolution=int(FINEST_MM))
    data = np.asarray(template.dataobj)
    inside = np.argwhere(data > BRAIN_GREY)
    margin = int(MARGIN_MM / FINEST_MM)
    first = np.maximum(inside.min(axis=0) - margin, 0)
    last = np.minimum(inside.max(axis=0) + margin + 1, data.shape)
    cut = data[tuple(slice(*ends) for ends in zip(first, last, strict=True))]
    affine = template.affine.copy()
    affine[:3, 3] += affine[:3, :3] @ first
    return np.rint(cut / cut.max() * GREYS).astype(np.uint8), affine


def _box(template: NDArray[np.uint8], affine: NDArray[np.float64]) -> list[list[float]]:
    """Return the lowest and highest mm of each axis that is shown."""
    low = affine[:3, 3]
    high = low + affine[:3, :3] @ (np.array(template.shape) - 1)
    return [[float(a), float(b)] for a, b in zip(low, high, strict=True)]


def _levels(encoding: Encoding, relative: NDArray[np.floating], scale: float) -> dict[str, float]:
    """Return the density at which the region of each share begins, rounded as densities are."""
    levels = {}
    for share in SHARES:
        lowest = float(relative[encoding.holding(share)].min())
        levels[f"{share * 100:.0f}"] = round(lowest / scale) * scale
    return levels


def _pack_density(partition: Partition, relative: NDArray[np.floating]) -> Packed:
    """Paint the densities of regions on voxels, in whole steps."""
    fine = partition.voxel_sizes_mm.min() < FINEST_MM
    image = partition.to_img(relative, resolution_mm=FINEST_MM if fine else None)
    scale = (float(relative.max()) or 1.0) / DENSITIES
    steps = np.rint(np.asarray(image.dataobj) / scale).astype(np.uint16)
    return _pack(steps, image.affine, scale)


def _pack(volume: NDArray[Any], affine: NDArray[np.float64], scale: float) -> Packed:
    """Compress whole numbers, of which each times `scale` is the value of a voxel."""
    order = volume.dtype.newbyteorder("<")
    data = gzip.compress(np.ascontiguousarray(volume, order).tobytes(), mtime=0)
    return {
        "shape": list(volume.shape),
        "inverse": np.linalg.inv(affine)[:3].tolist(),
        "scale": scale,
        "bytes": volume.dtype.itemsize,
        "data": base64.b64encode(data).decode("ascii"),
    }
