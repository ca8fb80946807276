"""The report of an encoding: images, tables, pictures, and one page with all of it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.coordinates import transform_points, voxel_index
from neurowhere._tools.files import new_folder, write_info
from neurowhere.model.encoding import Encoding
from neurowhere.model.summary import summarise
from neurowhere.report.encoding_page import encoding_page
from neurowhere.report.maps import RATIO_UNIT, draw_encoding, write_png
from neurowhere.report.surface import draw_surface
from neurowhere.report.tables import encoding_tables, write_csv
from neurowhere.report.viewer import SHARES
from neurowhere.space import Atlas, VoxelGrid
from neurowhere.space.grid import TEMPLATE_THRESHOLD, mni152_brain
from neurowhere.space.images import MAX_RESOLUTION_MM, MIN_RESOLUTION_MM

KIND = "encoding"
N_EXPLAINED = 60  # regions, the most probable ones, whose reasons the page has
N_NAMED = 4  # terms in the title of the picture
SPACE = "MNI152"
TEMPLATE = {  # which of the MNI152 templates, in its makers' words and in those of BIDS
    "name": "ICBM 152 nonlinear symmetric, version 2009a (mni_icbm152_nlin_sym_09a)",
    "bids_name": "MNI152NLin2009aSym",
    "source": "nilearn.datasets.load_mni152_template",
    "mask": f"template intensity above {TEMPLATE_THRESHOLD:g}",
}
OTHER_TEMPLATE = {"name": "unknown: the model came with a brain mask of its own"}
Grid = tuple[NDArray[np.float64], tuple[int, ...]]


def write_encoding(
    encoding: Encoding,
    folder: str | os.PathLike[str],
    *,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    with_text: bool = True,
    pictures: bool = True,
    overwrite: bool = False,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write an encoding as a folder, whole or not at all.

    Parameters
    ----------
    encoding : Encoding
    folder : path
    atlas : Atlas, optional
        Names regions and peaks; by default as in `Encoding.regions`.
    resolution_mm, like
        Grid of the images, as in `Partition.to_img`.
    with_text : bool
        Whether the page shows the text. Without, no file holds any of it but the names of terms.
    pictures : bool
        Whether to draw map.png and surface.png, which is most of the work.
    overwrite : bool
        Whether to replace a folder that exists.
    about : mapping, optional
        What else info.json should tell, such as the model and its options.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        atlas = encoding.gazetteer(atlas).atlas
        summary = summarise(
            encoding, atlas, n_regions=None, n_explained=N_EXPLAINED, with_text=with_text
        )
        grid = _write_images(encoding, temporary, resolution_mm, like)
        for name, table in encoding_tables(summary).items():
            write_csv(table, temporary / name)
        drawn = _write_pictures(encoding, temporary) if pictures else {}
        page = encoding_page(encoding, summary, atlas, with_text=with_text, pictures=drawn)
        (temporary / "report.html").write_text(page, "utf-8")
        info = {"kind": KIND, **_describe(encoding, grid), "with_text": with_text}
        write_info(temporary, info | {"about": dict(about or {})})


# ---- images


def _write_images(encoding: Encoding, folder: Path, resolution_mm: float | None, like: Any) -> Grid:
    """Write the maps, and return the grid that they are on."""
    where = {"resolution_mm": resolution_mm, "like": like}
    density = encoding.partition.to_img(encoding.density, **where)
    _make_integral(density, _mass_within(encoding, density))
    density.header["descrip"] = b"density of reported peaks, per mm^3"
    density.to_filename(folder / "map.nii.gz")
    ratio = encoding.partition.to_img(encoding.log_ratio, **where)
    ratio.header["descrip"] = b"log ratio to the mean map"
    ratio.to_filename(folder / "log_ratio.nii.gz")
    for share in SHARES:
        image = _as_bytes(encoding.partition.to_img(encoding.holding(share), **where))
        image.header["descrip"] = f"region of {share:.0%} of the peaks".encode("ascii")
        image.to_filename(folder / f"mass_{share * 100:.0f}.nii.gz")
    return density.affine, density.shape


def _as_bytes(image: Any) -> Any:
    """Image of whole numbers; nibabel would scale floats to fill the type."""
    voxels = np.asarray(image.dataobj).astype(np.uint8)
    return type(image)(voxels, image.affine, image.header, dtype=np.uint8)


def _make_integral(image: Any, mass: float) -> None:
    """Scale a density to integrate to a mass, from which another grid than its own deviates."""
    voxel_mm3 = abs(np.linalg.det(image.affine[:3, :3]))
    total = float(image.dataobj.sum(dtype=np.float64)) * voxel_mm3
    if total:
        image.dataobj[:] *= np.float32(mass / total)


def _mass_within(encoding: Encoding, image: Any) -> float:
    """Probability of the part of the brain that the image covers: 1, or less for a part of it."""
    partition = encoding.partition
    voxels = np.argwhere(partition.regions >= 0)  # (n_voxels, 3)
    places = voxel_index(image.affine, transform_points(partition.affine, voxels))
    covered = ((places >= 0) & (places < image.shape)).all(axis=1)
    regions = partition.regions[tuple(voxels[covered].T)]
    return float(encoding.density[regions].sum() * partition.voxel_volume_mm3)


# ---- pictures


def _write_pictures(encoding: Encoding, folder: Path) -> dict[str, Path]:
    """Draw the map on slices and on the surface; by the name of what they show."""
    named = ", ".join(encoding.why()["term"].head(N_NAMED))
    figures = {
        "map": draw_encoding(encoding, named),
        "surface": draw_surface(encoding.log_ratio_img, RATIO_UNIT),
    }
    for name, figure in figures.items():
        write_png(figure, folder / f"{name}.png")
    return {name: folder / f"{name}.png" for name in figures}


def _describe(encoding: Encoding, grid: Grid) -> dict[str, Any]:
    affine, shape = grid
    return {
        "summary": repr(encoding),
        "support": str(encoding.support),
        "space": SPACE,
        "template": TEMPLATE if _is_template_mask(encoding.brain) else OTHER_TEMPLATE,
        "grid": {"shape": list(shape), "affine": affine.tolist()},
        "units": {
            "map": "mm⁻³, integrates to 1 over the brain",
            "log_ratio": "nats, of half-uniform densities",
            "contribution": encoding.unit,
        },
        "mass": {f"{share:.0%}": encoding.calibrate(share) for share in SHARES},
    }


def _is_template_mask(brain: VoxelGrid) -> bool:
    """Whether the brain is nilearn's mask of its template; a stored model has it as an array."""
    edge_mm = float(brain.voxel_sizes_mm[0])
    is_cubic = np.allclose(brain.voxel_sizes_mm, edge_mm)
    if not (is_cubic and MIN_RESOLUTION_MM <= edge_mm <= MAX_RESOLUTION_MM):
        return False
    mask, affine = mni152_brain(edge_mm)
    same_grid = mask.shape == brain.shape and np.allclose(affine, brain.affine)
    return same_grid and bool((mask == brain.brain).all())
