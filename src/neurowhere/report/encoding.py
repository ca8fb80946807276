"""The report of an encoding: images, tables, pictures, and one page with all of it."""

import base64
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import new_folder, write_info
from neurowhere.exceptions import OutputError
from neurowhere.model.algebra import MINUS
from neurowhere.model.encoding import Encoding, Maps, RegionOrder
from neurowhere.model.methods import AAL3
from neurowhere.model.regions import N_REGIONS, order_in_words, regions_of, usual_in_words
from neurowhere.model.schema import Region, Summary, Support, Term
from neurowhere.model.seats import seats_of, write_seats
from neurowhere.model.summary import summarise
from neurowhere.report.maps import MEAN_MAP, RATIO_UNIT, draw_encoding, write_png
from neurowhere.report.page import highlight, render_page
from neurowhere.report.surface import draw_surface
from neurowhere.report.tables import encoding_tables, write_csv
from neurowhere.report.volumes import TEMPLATES, density_of, labels_of, mean_of, to_nifti
from neurowhere.report.words import findings_in_words, places_in_words
from neurowhere.space import Atlas, Partition, VoxelGrid, default_atlas
from neurowhere.space.images import (
    MAX_RESOLUTION_MM,
    MIN_RESOLUTION_MM,
    transform_points,
    voxel_index,
)
from neurowhere.space.partition import TEMPLATE_THRESHOLD, mni152_brain

KIND = "encoding"
N_EXPLAINED = 60  # regions, the most probable ones, whose reasons the page has
N_NAMED = 4  # terms in the title of the picture
SPACE = "MNI152"
TEMPLATE = {  # the MNI152 template, in its makers' words and in those of BIDS
    "name": "ICBM 152 nonlinear symmetric, version 2009a (mni_icbm152_nlin_sym_09a)",
    "bids_name": "MNI152NLin2009aSym",
    "source": "nilearn.datasets.load_mni152_template",
    "mask": f"template intensity above {TEMPLATE_THRESHOLD:g}",
}
OTHER_TEMPLATE = {"name": "unknown: the model came with a brain mask of its own"}
Grid = tuple[NDArray[np.float64], tuple[int, ...]]
N_TERMS = 8  # rows on the page
CENTRE = (0.0, 0.0, 0.0)  # shown first where no place is strongest, in mm
SUPPORT_WORDS = {"good": "well supported", "weak": "weakly supported", "none": "not supported"}
COMPRESSION = 6  # 9 takes six times as long to save 2 %
SHARES = (0.5, 0.8, 0.95)  # shares of the peaks in the regions that are shown


def write_encoding(
    encoding: Encoding,
    folder: str | os.PathLike[str],
    *,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    with_text: bool = True,
    maps: Maps = "all",
    sort: RegionOrder = "excess",
    keep_formulas: bool = False,
    overwrite: bool = False,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write an encoding as a folder, whole or not at all.

    The options are those of `Encoding.save`. `sort` is the order of the regions, `keep_formulas`
    is as in `to_csv`, and `about` is what else info.json tells, such as the model.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        atlas = encoding.gazetteer(atlas).atlas
        summary = summarise(
            encoding, atlas, n_regions=None, n_explained=N_EXPLAINED, sort=sort, with_text=with_text
        )
        for name, table in encoding_tables(summary).items():
            write_csv(table, temporary / name, keep_formulas=keep_formulas)
        if seats := seats_of(encoding, with_text=with_text):
            write_seats(seats, temporary)
        encoding.methods(atlas=name_of(atlas)).write(temporary)
        info = {"kind": KIND, **_describe(encoding), "with_text": with_text}
        if maps != "none":
            affine, shape = _write_images(encoding, temporary, resolution_mm, like)
            info["template"] = TEMPLATE if _is_template_mask(encoding.brain) else OTHER_TEMPLATE
            info["grid"] = {"shape": list(shape), "affine": affine.tolist()}
            drawn = _write_pictures(encoding, temporary) if maps == "all" else {}
            page = encoding_page(
                encoding, summary, atlas, sort=sort, with_text=with_text, pictures=drawn
            )
            (temporary / "report.html").write_text(page, "utf-8")
        info["atlas"] = atlas.title or repr(atlas)
        write_info(temporary, info | {"about": dict(about or {})})


def write_figure(
    encoding: Encoding, path: str | os.PathLike[str], other: Encoding | None = None, **options: Any
) -> str:
    """Write the map of a text, or those of two, as a figure for a paper; return its caption.

    The file ends in .svg, .pdf or .png, and holds the caption too. The options are those of
    `draw_figure`: quantity, layout, width_mm.
    """
    from neurowhere.report.figure import FORMATS, caption_of, draw_figure, figure_bytes

    ending = Path(path).suffix.lstrip(".").lower()
    form = next((each for each in FORMATS if each == ending), None)
    if form is None:
        wanted = ", ".join(f".{each}" for each in FORMATS)
        raise OutputError(
            f"expected a figure's name that ends in {wanted}, got {Path(path).name!r}"
        )
    figure = draw_figure(encoding, other, **options)
    options.pop("width_mm", None)
    caption = caption_of([encoding] if other is None else [encoding, other], **options)
    Path(path).write_bytes(figure_bytes(figure, form, caption))
    return caption


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
        region = encoding.partition.to_img(encoding.holding(share), **where)
        voxels = np.asarray(region.dataobj).astype(np.uint8)  # nibabel would scale floats
        image = type(region)(voxels, region.affine, region.header, dtype=np.uint8)
        image.header["descrip"] = f"region of {share:.0%} of the peaks".encode("ascii")
        image.to_filename(folder / f"mass_{share * 100:.0f}.nii.gz")
    return density.affine, density.shape


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
    figures = {
        "map": draw_encoding(encoding, title_of_picture(encoding)),
        "surface": draw_surface(encoding.log_ratio_img, RATIO_UNIT),
    }
    for name, figure in figures.items():
        write_png(figure, folder / f"{name}.png")
    return {name: folder / f"{name}.png" for name in figures}


def title_of_picture(encoding: Encoding) -> str:
    """Return the strongest terms of an encoding, and what was subtracted after a minus.

    >>> from neurowhere import load_model
    >>> model = load_model()
    >>> title_of_picture(model.encode("left amygdala") - model.encode("right amygdala"))
    'left amygdala − right amygdala'
    """
    if encoding.contrast is not None:
        sides = encoding.contrast.added, encoding.contrast.subtracted
        return f" {MINUS} ".join(", ".join(map(title_of_picture, side)) for side in sides)
    sides_of: dict[str, set[str | None]] = {}
    for mention in encoding.mentions.present:
        sides_of.setdefault(mention.term, set()).add(mention.side)
    named = _longest(encoding.why()["term"])[:N_NAMED]
    if not named:
        return MEAN_MAP
    return ", ".join(_with_side(term, sides_of.get(term, set())) for term in named)


def _with_side(term: str, sides: set[str | None]) -> str:
    """Put the one side that a text gives a term before it."""
    side = sides.pop() if len(sides) == 1 else None
    return term if side is None or term.startswith(side) else f"{side} {term}"


def _longest(terms: Iterable[str]) -> list[str]:
    """Leave out terms that are a part of another.

    >>> _longest(["frontal", "inferior frontal gyrus", "insula"])
    ['inferior frontal gyrus', 'insula']
    """
    spaced = [f" {term} " for term in terms]
    return [a.strip() for a in spaced if not any(a in b and a != b for b in spaced)]


def _describe(encoding: Encoding) -> dict[str, Any]:
    return {
        "summary": repr(encoding),
        "support": str(encoding.support),
        "space": SPACE,
        "units": {
            "map": "mm⁻³, integrates to 1 over the brain",
            "log_ratio": "nats, of half-uniform densities",
            "contribution": encoding.unit,
        },
        "mass": {f"{share:.0%}": encoding.source.mass_for(share) for share in SHARES},
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


# ---- the page, of which a notebook shows a part


def encoding_page(
    encoding: Encoding,
    summary: Summary,
    atlas: Atlas,
    *,
    sort: RegionOrder = "excess",
    with_text: bool = True,
    pictures: Mapping[str, Path] | None = None,
) -> str:
    """Return the page as HTML, which works from disk and needs no network.

    The summary has all regions of the atlas. Of the `pictures`, "map" is shown where scripts do not
    run, and "surface" is the cortex.
    """
    pictures = pictures or {}
    n_regions = len(regions_of(encoding, encoding.gazetteer(atlas), N_REGIONS, sort=sort))
    regions, usual = summary.regions[:n_regions], usual_in_words(encoding)
    return render_page(
        "encoding.html",
        styles=("viewer.css", "encoding.css", "text.css"),
        script="report",
        text=highlight(encoding) if with_text else None,
        summary=summary,
        is_mean_map=encoding.is_mean_map,
        **_support_in_words(summary.support),
        regions=regions,
        order=order_in_words(regions, "probability" if encoding.is_mean_map else sort, usual),
        usual=usual,
        terms=strongest(summary.terms),
        answer=places_in_words(summary if with_text else summary.without_text()),
        findings=findings_in_words(summary) if with_text else [],
        methods=encoding.methods(atlas=name_of(atlas)),
        still=pictures.get("map"),
        surface=pictures.get("surface"),
        data=viewer_data(
            encoding, summary.peaks[0].at if summary.peaks else CENTRE, atlas, summary.regions
        ),
    )


def name_of(atlas: Atlas) -> str:
    """Return the name of an atlas, for the methods."""
    return AAL3 if atlas is default_atlas() else atlas.title or "the model"


def _support_in_words(support: Support) -> dict[str, str]:
    """Return the level in words, and what it rests on."""
    if support.withheld:
        rest = support.summary.removeprefix(support.withheld).lstrip("; ")
        return {"support_words": support.withheld, "support_reason": rest}
    reason = support.summary.partition(" ")[2].strip("()")
    return {"support_words": SUPPORT_WORDS[support.level], "support_reason": reason}


def strongest(terms: Iterable[Term]) -> list[Term]:
    """Return the terms that contribute most."""
    return sorted(terms, key=lambda term: -abs(term.contribution))[:N_TERMS]


# ---- data for the viewer


def viewer_data(
    encoding: Encoding,
    place: tuple[float, float, float],
    atlas: Atlas,
    regions: Iterable[Region] = (),
) -> dict[str, Any]:
    """Return all that the viewer of a page needs, as plain data ready for JSON.

    The crosshair is at `place` first. `regions` have the terms that raise or lower them.
    """
    volume_mm3 = encoding.brain.total_volume_mm3
    mean = _packed_mean(encoding.partition, encoding.mean_density.tobytes(), volume_mm3)
    packed = {"template": _packed_data(None), "mean": mean, "atlas": _packed_data(atlas)}
    return {
        "volumes": packed | {"density": _packed(density_of(encoding))},
        "place": [round(mm) for mm in place],
        "average": encoding.is_mean_map,
        "contrast": False,
        "why": {
            region.region: [[reason.term, reason.contribution] for reason in region.why]
            for region in regions
            if region.why
        },
    }


@lru_cache(maxsize=2)
def _packed_mean(partition: Partition, density: bytes, volume_mm3: float) -> str:
    """Pack the mean map, which all texts of a model share."""
    return _packed(mean_of(partition, np.frombuffer(density), volume_mm3))


@lru_cache(maxsize=3)
def _packed_data(what: Atlas | None) -> str:
    """Pack an atlas, or the template."""
    return _packed(TEMPLATES["mni152-coarse"]() if what is None else labels_of(what))


def _packed(image: Any) -> str:
    return base64.b64encode(to_nifti(image, COMPRESSION)).decode("ascii")
