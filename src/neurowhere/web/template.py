"""Template: the brain that maps are drawn over, cut to its size, fine or coarse."""

import gzip
from functools import cache
from typing import Any

import numpy as np

BOX_MM = ((-76, 75), (-110, 75), (-72, 87))  # first and last voxel; the page knows them too
GREYS = 255
GZIP_LEVEL = 1  # the next levels save a tenth of the bytes for twice the time


@cache
def brain() -> Any:
    """Brain of nilearn's MNI152 template at 1 mm, in whole numbers from 0 to 255."""
    from nilearn.datasets import load_mni152_template

    image = load_mni152_template(resolution=1)
    origin = image.affine[:3, 3]
    cut = tuple(
        slice(int(first - start), int(last - start) + 1)
        for (first, last), start in zip(BOX_MM, origin, strict=True)
    )
    grey = np.rint(GREYS * np.clip(np.asarray(image.dataobj)[cut], 0, 1)).astype(np.uint8)
    return _image(grey, np.array([first for first, _ in BOX_MM]), 1)


@cache
def coarse_brain() -> Any:
    """Make the same at 2 mm, for browsers that draw without a graphics card."""
    fine = np.asarray(brain().dataobj, np.float32)
    x, y, z = (size // 2 for size in fine.shape)
    grey = np.rint(fine.reshape(x, 2, y, 2, z, 2).mean(axis=(1, 3, 5))).astype(np.uint8)
    return _image(grey, np.array([first + 0.5 for first, _ in BOX_MM]), 2)


TEMPLATES = {"mni152": brain, "mni152-coarse": coarse_brain}


def _image(grey: Any, first_mm: Any, size_mm: int) -> Any:
    import nibabel

    affine = np.diag([size_mm, size_mm, size_mm, 1.0])
    affine[:3, 3] = first_mm
    return nibabel.Nifti1Image(grey, affine)  # type: ignore[no-untyped-call]


def to_nifti(image: Any) -> bytes:
    """Write an image as a compressed file; the same image gives the same bytes."""
    return gzip.compress(image.to_bytes(), GZIP_LEVEL, mtime=0)
