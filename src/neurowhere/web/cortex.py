"""Cortex: both hemispheres as bytes, for a page that draws maps on them.

Little-endian, packed with gzip. For each hemisphere, left first::

    uint32              number of vertices n, number of faces f
    int16 (3, n, 3)     pial, white and inflated surface, in hundredths of a millimetre
    uint8 (n,)          1 in a sulcus
    uint16 (f, 3)       vertices of each face
"""

import gzip
from functools import cache

import numpy as np

__all__ = ["CORTEX", "cortex"]

CORTEX = "cortex.bin.gz"
PER_MM = 100


@cache
def cortex() -> bytes:
    """Return fsaverage5, which nilearn carries."""
    from neurowhere.report.surface import hemisphere

    parts = []
    for name in ("left", "right"):
        half = hemisphere(name)
        surfaces = np.stack([half.pial, half.white, half.inflated])  # (3, n, 3)
        parts += [
            np.array([surfaces.shape[1], len(half.faces)], "<u4").tobytes(),
            np.rint(PER_MM * surfaces).astype("<i2").tobytes(),
            (np.asarray(half.depth) > 0).astype("u1").tobytes(),
            np.asarray(half.faces).astype("<u2").tobytes(),
        ]
    return gzip.compress(b"".join(parts), mtime=0)
