"""Maps as pictures (slices and the glass brain), and maps of terms as files."""

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import new_folder, write_info
from neurowhere._tools.parallel import slices, track
from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import PartitionError
from neurowhere.model.decoding import unlearned_terms
from neurowhere.model.encoding import Encoding
from neurowhere.model.methods import OF_TERM, MethodsText, write_methods
from neurowhere.model.term_maps import RegionMeans, TermMap, WantedTerm, find_terms, iter_term_maps
from neurowhere.model.text_model import TextModel
from neurowhere.report.canvas import BAR_WIDTH_MM, DPI, LARGE, Canvas, Colours, add_bar
from neurowhere.report.panels import (
    SMOOTH_MM,
    Panel,
    Volume,
    add_cross,
    add_glass,
    add_slice,
    volume_of,
)
from neurowhere.report.tables import to_csv
from neurowhere.space import Atlas

ROW_MM, TITLE_MM, MARGIN_MM = 189.0, 30.0, 6.0  # height of panels and of their title
TITLE_FOOT_MM, BAR_FOOT_MM = 10.0, 5.0
GAP_MM, MIDDLE_MM, BAR_MM = 4.0, 16.0, 66.0  # between panels, between their kinds, for the bar
SLICES_MM = (-40.0, -24.0, -8.0, 8.0, 24.0, 40.0, 56.0)  # the same for all maps: they compare
LARGEST = 1.0  # end of the scale of a map that is zero everywhere
SHOWN = 0.1  # share of the voxels, the strongest ones, that get a colour
BRIGHTEST = 0.999  # share of the voxels below the last colour
FAINTEST = 1e3  # range of the colours of a map that shows all but zeros
MEAN_MAP = "mean map of all studies"
JUST_BELOW = 0.9  # share of the maximum; above it, no colour bar can be drawn
SIGNED_COLOURS, DENSITY_COLOURS = "RdBu_r", "YlOrRd"  # the latter pale where a density is low
DENSITY_UNIT, RATIO_UNIT = "% of peaks per cm³", "× the average"
TERM_UNIT, CONTRAST_UNIT = "× with the term", "× the reference"
RATIO_UNITS = (RATIO_UNIT, TERM_UNIT, CONTRAST_UNIT)  # maps hold their logarithms
PERCENT_PER_CM3 = 1e5  # times a density in mm⁻³
AVERAGE_COLOURS = "Greys"  # colours of the mean map
PNG_COMPRESSION = 2  # at most 9; files are a tenth larger than by default, in 40 % of the time
MOST_VOLUMES = 2**15 - 1  # NIfTI counts volumes in 16 bits
SINGLE_FILE_OFFSET = 352  # bytes before the voxels of a NIfTI file
VOXEL_COMPRESSION = 1  # at most 9; noise hardly compresses
ROWS_AT_ONCE = 256
NUMBERS = "%.6g"
MEANING = {
    "log probability": "what the term adds to the log of the density of peaks, up to a constant",
    "probability": "what the term adds to the density of peaks, per mm³",
}

VIEWS_MM = sum(Panel(axis, 0, 0).width for axis in range(3)) + 2 * GAP_MM
CANVAS_MM = 2 * VIEWS_MM + MIDDLE_MM + BAR_MM + 2 * MARGIN_MM


def draw_map(
    img: Any, *, signed: bool = False, title: str = "", unit: str = "", highest: float | None = None
) -> Any:
    """Draw slices through the strongest place, the glass brain, and a row of axial slices.

    Values with signs are coefficients or log ratios, others densities; `unit` stands at the colour
    bar. `highest` is the end of the colours of a signed map, which then shows all that is not zero;
    by default it is the highest value, and only what is strongest is shown.
    """
    canvas = _new_canvas()
    volume = volume_of(img)
    colours = colours_of(volume.data, signed, is_ratio=unit in RATIO_UNITS)
    if highest is not None:
        least = highest / FAINTEST
        colours = colours._replace(lowest=-highest, highest=highest, threshold=least)
    _draw_row(canvas, 1, volume, colours, strongest_place(img), title, unit)
    left = MARGIN_MM
    for z in _slices(img):
        panel = Panel(2, left, MARGIN_MM)
        add_slice(canvas, panel, volume, z, colours)
        left += panel.width + GAP_MM
    return canvas.picture


class Row(NamedTuple):
    """A map in a row of pictures: its title, its image, and the place of its slices in mm."""

    title: str
    img: Any
    place: tuple[float, float, float]


def draw_rows(rows: Sequence[Row], colours: Colours, unit: str) -> Any:
    """Draw maps below each other on one scale: slices through a place, and the glass brain.

    `unit` stands at the colour bars.
    """
    canvas = _new_canvas(len(rows))
    for number, each in enumerate(reversed(rows)):  # rows are counted from below
        _draw_row(canvas, number, volume_of(each.img), colours, each.place, each.title, unit)
    return canvas.picture


def draw_signed(rows: Sequence[Row], unit: str) -> Any:
    """Draw signed maps below each other, on the scale of the strongest one; see `draw_rows`."""
    signed = [
        colours_of(volume_of(each.img).data, signed=True, is_ratio=unit in RATIO_UNITS)
        for each in rows
    ]
    return draw_rows(rows, max(signed, key=lambda colours: colours.highest), unit)


def shown_term(term: TermMap) -> tuple[Any, str]:
    """Return the map of a term as it is drawn, and its unit: a log ratio, or % of peaks per cm³."""
    if term.unit == "log probability":
        return term.img, TERM_UNIT
    return scaled(term.img, PERCENT_PER_CM3), DENSITY_UNIT


def scaled(img: Any, factor: float) -> Any:
    """Return an image whose values are multiplied."""
    from nibabel.nifti1 import Nifti1Image

    values = factor * np.asarray(img.dataobj, dtype=np.float32)
    return Nifti1Image(values, img.affine)  # type: ignore[no-untyped-call]


def draw_encoding(encoding: Encoding, title: str = "") -> Any:
    """Draw an encoding compared with the mean map, and its density: slices and glass brain.

    Both are cut at the strongest peak. If a text supports no map, the mean map is drawn in grey.
    """
    density = encoding.partition.to_img(encoding.density * PERCENT_PER_CM3)
    peaks = encoding.peaks[XYZ].to_numpy(np.float64).tolist()
    place = tuple(peaks[0]) if peaks else strongest_place(density)
    canvas = _new_canvas()
    if encoding.is_mean_map:
        volume = volume_of(density)
        colours = colours_of(volume.data, signed=False)._replace(palette=AVERAGE_COLOURS)
        reason = encoding.support.withheld
        words = f"{reason[0].upper()}{reason[1:]}. " if reason else ""
        words += "The average of all studies:"
        _draw_row(canvas, 1, volume, colours, place, words, DENSITY_UNIT)
        return canvas.picture
    for row, img, signed, words, unit in (
        (1, encoding.log_ratio_img, True, f"Compared with the average study: {title}", RATIO_UNIT),
        (0, density, False, "Density of reported peaks", DENSITY_UNIT),
    ):
        volume = volume_of(img)
        _draw_row(
            canvas, row, volume, colours_of(volume.data, signed), place, words.rstrip(": "), unit
        )
    return canvas.picture


def _new_canvas(n_rows: int = 2) -> Canvas:
    """Return a canvas for rows of panels."""
    return Canvas(CANVAS_MM, n_rows * (ROW_MM + TITLE_MM) + MARGIN_MM)


def colours_of(data: NDArray[Any], signed: bool, is_ratio: bool = True) -> Colours:
    """Return the colours of a map, whose signed values are logarithms of ratios or not."""
    absolute = np.abs(data)
    threshold = shown_above(absolute, SHOWN)
    found = absolute[absolute > 0]
    highest = max(float(np.quantile(found, BRIGHTEST)) if found.size else LARGEST, threshold)
    if not signed:
        return Colours(DENSITY_COLOURS, threshold, highest, threshold, is_open=True)
    return Colours(SIGNED_COLOURS, -highest, highest, threshold, is_ratio, is_open=True)


def _draw_row(
    canvas: Canvas,
    row: int,
    volume: Volume,
    colours: Colours,
    place: tuple[float, float, float],
    title: str,
    unit: str,
) -> None:
    """Draw orthogonal slices at a place, and the glass brain with the colour bar."""
    bottom = MARGIN_MM + row * (ROW_MM + TITLE_MM)
    left = MARGIN_MM
    for axis in range(3):
        slices = Panel(axis, left, bottom + (ROW_MM - Panel(axis, 0, 0).height) / 2)
        add_slice(canvas, slices, volume, place[axis], colours)
        add_cross(canvas, slices, place)
        glass = slices._replace(left=left + VIEWS_MM + MIDDLE_MM)
        add_glass(canvas, glass, volume, colours)
        left += slices.width + GAP_MM
    right = CANVAS_MM - MARGIN_MM
    bar = (right - BAR_WIDTH_MM, right, bottom + BAR_FOOT_MM, bottom + ROW_MM - 3 * BAR_FOOT_MM)
    add_bar(canvas, bar, colours, unit)
    canvas.write(MARGIN_MM, bottom + ROW_MM + TITLE_FOOT_MM, title, size=LARGE)


def strongest_place(img: Any) -> tuple[float, float, float]:
    """Return the centre of the highest voxel in mm; the lowest if none is above 0.

    Of an empty map, return the origin.
    """
    data = np.asarray(img.dataobj)
    if not data.any():
        return 0.0, 0.0, 0.0
    voxel = np.unravel_index(int(np.argmax(data if data.max() > 0 else -data)), data.shape)
    x, y, z = (img.affine @ [*voxel, 1])[:3].tolist()
    return x, y, z


def _slices(img: Any) -> list[float]:
    """Return heights of axial slices in mm: those within the image, or its strongest place."""
    corners = np.array(list(np.ndindex(2, 2, 2))) * (np.array(img.shape[:3]) - 1)
    heights = corners @ img.affine[2, :3] + img.affine[2, 3]
    reached = [z for z in SLICES_MM if heights.min() <= z <= heights.max()]
    return reached or [strongest_place(img)[2]]


def shown_above(data: NDArray[np.floating], share: float) -> float:
    """Return the value that a share of the voxels exceeds; at least one region exceeds it."""
    values = data[data != 0]
    if not values.size:
        return 0.0
    return max(min(float(np.quantile(values, 1 - share)), JUST_BELOW * float(values.max())), 0.0)


def smooth(img: Any) -> Any:
    """Interpolate an image of large voxels, for the eye; the strongest place stays."""
    from nilearn.image import resample_img

    if min(img.header.get_zooms()[:3]) <= SMOOTH_MM:
        return img
    return resample_img(img, np.eye(3) * SMOOTH_MM, interpolation="linear")


def write_png(picture: Any, path: str | os.PathLike[str] | io.BytesIO) -> None:
    """Write a picture as PNG; the same picture gives the same bytes."""
    if hasattr(picture, "savefig"):
        picture.savefig(path, format="png", metadata={"Software": None})
    else:
        picture.save(path, format="png", compress_level=PNG_COMPRESSION, dpi=(DPI, DPI))


# ---- maps of terms as files


def write_term(
    term: TermMap,
    folder: str | os.PathLike[str],
    *,
    resolution_mm: float | None = None,
    like: Any = None,
    overwrite: bool = False,
    methods: MethodsText | None = None,
) -> None:
    """Write the map of a term as an image and as a picture; whole or not at all.

    `resolution_mm` or `like` give the grid of the image, as in `Partition.to_img`.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        if methods is not None:
            methods.write(temporary)
        image = term.to_img(resolution_mm=resolution_mm, like=like)
        image.to_filename(temporary / "map.nii.gz")
        shown, unit = shown_term(term)
        figure = draw_map(shown, signed=True, title=term.title, unit=unit)
        write_png(figure, temporary / "map.png")
        about = {"name": term.name, "term": term.term, "side": term.side, "method": term.method}
        write_info(temporary, {"kind": "term map", **about})


def write_terms(model: TextModel, folder: str | os.PathLike[str], names: Sequence[str]) -> None:
    """Write the maps of some terms, each as an image, and one picture of all on one scale.

    Terms that the model has not learned, on the side asked for, are left out. The folder appears
    when it is whole.
    """
    known = set(model.extractor_.terms)
    terms = list(iter_term_maps(model, [name for name in names if name in known]))
    with new_folder(folder) as temporary:
        for term in terms:
            term.to_img().to_filename(temporary / f"{term.name.replace(' ', '-')}.nii.gz")
        if terms:
            shown = [(term.title, *shown_term(term)) for term in terms]
            rows = [Row(title, img, strongest_place(img)) for title, img, _ in shown]
            write_png(draw_signed(rows, shown[0][-1]), temporary / "maps.png")
        formula = OF_TERM.format(unit=model.predictor_.unit)
        write_methods(model.summary(), {}, formula=formula).write(temporary)
        write_info(temporary, {"kind": "term maps", "terms": [term.title for term in terms]})


def write_term_maps(
    model: TextModel,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    *,
    as_table: bool = False,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    overwrite: bool = False,
) -> int:
    """Write the maps of many terms; whole or not at all.

    One map is held at a time. The folder holds ``maps.nii.gz``, one volume per term, and
    ``maps.json``, which names the volumes. Or, as a table, ``regions.csv``, one row per term and
    one column per region, and ``regions.json``. ``info.json`` says what made them.

    Parameters
    ----------
    model : Encoder
    folder : path
    names : iterable of str, optional
        Terms, each with or without a side; by default all terms of the model.
    as_table : bool
        Whether to write means by region, as from `parcellate_terms`, and no image.
    atlas : Atlas, optional
        Regions of the table; by default the model's own if it predicts those of one, or AAL3. An
        atlas implies a table.
    resolution_mm, like
        Grid of the images, as in `Partition.to_img`.
    overwrite : bool
        Whether to replace a folder that exists.

    Returns
    -------
    int
        Number of terms.
    """
    wanted = find_terms(model, names)
    maps = iter_term_maps(model, [each.name for each in wanted])
    maps = track(maps, "maps of terms", len(wanted))
    about = _describe(model, wanted)
    with new_folder(folder, overwrite=overwrite) as temporary:
        if as_table or atlas is not None:
            means = RegionMeans(model, atlas)
            _write_table(means, maps, len(wanted), temporary / "regions.csv")
            _write_json(temporary / "regions.json", about | {"atlas": _describe_atlas(means.atlas)})
        else:
            _write_image(maps, len(wanted), temporary / "maps.nii.gz", resolution_mm, like)
            _write_json(temporary / "maps.json", about)
        formula = OF_TERM.format(unit=model.predictor_.unit)
        write_methods(model.summary(), {}, formula=formula).write(temporary)
        write_info(temporary, {"kind": "term maps", "terms": len(wanted)})
    return len(wanted)


def _describe(model: TextModel, wanted: list[WantedTerm]) -> dict[str, Any]:
    """Return what the numbers mean, and the terms in the order of volumes or rows."""
    unlearned = unlearned_terms(model)
    terms = [
        {
            "name": each.name,
            "term": each.term,
            "side": each.side,
            "method": "learned" if each.is_learned else "restricted",
            "few_studies": bool(unlearned[each.column]),
        }
        for each in wanted
    ]
    unit = model.predictor_.unit
    return {"unit": unit, "meaning": MEANING[unit], "space": "MNI152", "terms": terms}


def _describe_atlas(atlas: Atlas) -> dict[str, Any]:
    labels = zip(atlas.ids.tolist(), atlas.names, atlas.volumes_mm3.tolist(), strict=True)
    keys = ("index", "name", "volume_mm3")
    return {
        "name": atlas.title or repr(atlas),
        "regions": [dict(zip(keys, each, strict=True)) for each in labels],
    }


def _write_table(means: RegionMeans, maps: Iterator[TermMap], n_maps: int, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        for chunk in slices(n_maps, ROWS_AT_ONCE):
            some = [next(maps) for _ in range(chunk.stop - chunk.start)]
            rows = [means.of(each) for each in some]
            table = pd.DataFrame(rows, columns=list(means.atlas.names))
            table.insert(0, "term", [each.name for each in some], allow_duplicates=True)
            stream.write(to_csv(table, header=chunk.start == 0, float_format=NUMBERS))


def _write_image(
    maps: Iterator[TermMap], n_maps: int, path: Path, resolution_mm: float | None, like: Any
) -> None:
    """Write volumes one after another, in the order of the file."""
    if n_maps > MOST_VOLUMES:
        raise PartitionError(
            f"expected up to {MOST_VOLUMES:,} maps in one NIfTI image, got {n_maps:,}; choose some "
            "terms, or write a table"
        )
    with path.open("wb") as raw, gzip.GzipFile("", "wb", VOXEL_COMPRESSION, raw, mtime=0) as stream:
        for number, each in enumerate(maps):
            image = each.to_img(resolution_mm=resolution_mm, like=like)
            if number == 0:
                _header(image, n_maps).write_to(stream)
            volume: NDArray[np.float32] = np.asarray(image.dataobj, np.float32)
            stream.write(volume.astype("<f4", copy=False).tobytes(order="F"))


def _header(image: Any, n_maps: int) -> Any:
    """Return the header of an image with many volumes like this one."""
    from nibabel.nifti1 import Nifti1Header

    header = Nifti1Header.from_header(image.header.as_byteswapped("<"), check=False)  # type: ignore[no-untyped-call]
    header.set_data_shape((*image.shape, n_maps))
    header["vox_offset"] = SINGLE_FILE_OFFSET
    return header


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
