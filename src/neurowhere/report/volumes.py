"""Volumes: the images that the viewer in a browser shows, as small NIfTI files."""

import gzip
import json
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import release
from neurowhere.model.encoding import Encoding
from neurowhere.space import Atlas, Partition
from neurowhere.space.images import mni152_template
from neurowhere.text.labels import region_names

BOX_MM = ((-76, 75), (-110, 75), (-72, 87))  # first and last voxel; the viewer knows them too
GREYS = 32  # greys of the template: a third of the bytes of 256, hardly visible
STEPS = 65535  # steps of a map: half of the bytes of floats
STEP_SHARE = 0.6  # share of a step: rounding changes a value by less
FINEST_MM = 2.0  # maps with smaller voxels are resampled to this size
SHARES = (0.95, 0.8, 0.5)  # regions that hold these shares of the peaks are shown
GZIP_LEVEL = 1  # the next levels save a tenth of the bytes for twice the time
KEPT_LEVEL = 7  # level for files that a browser keeps


# ---- the template


@cache
def brain() -> Any:
    """Return the brain of nilearn's MNI152 template at 1 mm, in `GREYS` steps from 0 to 255."""
    grey, affine = mni152_template()
    cut = tuple(
        slice(int(first - start), int(last - start) + 1)
        for (first, last), start in zip(BOX_MM, affine[:3, 3], strict=True)
    )
    step = 255 / (GREYS - 1)
    few = np.rint(np.rint(grey[cut] / step) * step).astype(np.uint8)
    return _image(few, np.array([first for first, _ in BOX_MM]), 1)


@cache
def coarse_brain() -> Any:
    """Return the brain at 2 mm, which a page loads faster."""
    fine = np.asarray(brain().dataobj, np.float32)
    x, y, z = (size // 2 for size in fine.shape)
    step = 255 / (GREYS - 1)
    mean = fine.reshape(x, 2, y, 2, z, 2).mean(axis=(1, 3, 5))
    grey = np.rint(np.rint(mean / step) * step).astype(np.uint8)
    return _image(grey, np.array([first + 0.5 for first, _ in BOX_MM]), 2)


TEMPLATES = {"mni152": brain, "mni152-coarse": coarse_brain}


def _image(grey: Any, first_mm: Any, size_mm: int) -> Any:
    import nibabel

    affine = np.diag([size_mm, size_mm, size_mm, 1.0])
    affine[:3, 3] = first_mm
    return nibabel.Nifti1Image(grey, affine)  # type: ignore[no-untyped-call]


# ---- maps


def density_of(encoding: Encoding) -> Any:
    """Return the density of an encoding; its header has the levels of the regions of peaks."""
    image = _in_steps(encoding.partition, encoding.density)
    levels = [float(encoding.density[encoding.holding(share)].min()) for share in SHARES]
    rounding = STEP_SHARE * float(image.header["scl_slope"])
    _comment(image, {"levels": [level - rounding for level in levels]})
    image.header["descrip"] = f"neurowhere {release()}: density of peaks, per mm^3"
    return image


def mean_of(partition: Partition, mean_density: NDArray[np.floating], volume_mm3: float) -> Any:
    """Return the mean density; its header has the uniform density."""
    image = _in_steps(partition, mean_density)
    _comment(image, {"uniform": 1 / volume_mm3})
    return image


def _in_steps(partition: Partition, density: NDArray[np.floating]) -> Any:
    """Return a density as whole numbers with a scale."""
    import nibabel

    is_fine = partition.voxel_sizes_mm.min() < FINEST_MM
    image = partition.to_img(density, resolution_mm=FINEST_MM if is_fine else None)
    values = np.asarray(image.dataobj, np.float32)
    slope = float(values.max()) / STEPS or 1.0
    steps = np.rint(values / slope).astype(np.uint16)
    found = nibabel.Nifti1Image(steps, image.affine, image.header, dtype=np.uint16)  # type: ignore[no-untyped-call]
    found.header.set_slope_inter(slope, 0)  # type: ignore[no-untyped-call]
    return found


@lru_cache(maxsize=4)
def labels_of(atlas: Atlas) -> Any:
    """Return an atlas at 2 mm: 0 outside, then its regions, with their names in the header."""
    import nibabel

    coarse = coarse_brain()
    labels = (atlas.sample(coarse.affine, coarse.shape) + 1).astype(np.uint16)
    image = nibabel.Nifti1Image(labels, coarse.affine)  # type: ignore[no-untyped-call]
    _comment(image, list(region_names(atlas.names).items()))
    return image


def _comment(image: Any, words: Any) -> None:
    """Put JSON into the header of an image, for the viewer."""
    from nibabel.nifti1 import Nifti1Extension

    image.header.extensions.append(Nifti1Extension("comment", json.dumps(words).encode()))


def to_nifti(image: Any, level: int = GZIP_LEVEL) -> bytes:
    """Return an image as a compressed NIfTI file; the same image gives the same bytes."""
    return gzip.compress(image.to_bytes(), level, mtime=0)
