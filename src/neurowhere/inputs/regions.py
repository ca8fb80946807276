"""Regions: coordinates and cluster tables of other programs, named by an atlas."""

import csv
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere._tools.files import expanded, open_text
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.exceptions import CorpusError, DataWarning, MissingExtraError
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.images import OUTSIDE, read_grid, read_volume, transform_points, voxel_index
from neurowhere.space.partition import FAR_MM, as_points
from neurowhere.text.labels import region_names

__all__ = ["name_regions"]

AXES = ("x", "y", "z")
# How programs name the columns of a peak, in lower case; the first that a header has counts.
LAYOUTS = {
    "FSL cluster": r"(?:[a-z]-)?max {axis} ?\((?P<unit>mm|vox)\)",
    "FreeSurfer": r"(?:mni|tal){axis}",
    "SPM": r"x,y,z \{{(?P<unit>mm)\}}",  # in Excel three columns of one name; in text "-24 -4 -18"
    "nilearn, FSL's local maxima, SPM as CSV": r"{axis}(?:[ _]?[({{\[]?(?P<unit>mm|vox)[)}}\]]?)?",
}
DELIMITERS = ("\t", ",", ";", None)  # None: spaces, as FreeSurfer has them
HEAD = 100  # rows in which the header is
LEVELS = {"set", "cluster", "peak", ""}  # SPM's line above the header
EXCEL = (".xls", ".xlsx")
SPACES = re.compile(r"[\s,;]+")
MANY = 3  # points that are not all on the right, in front and above by chance
PERCENT = 100.0
DIGITS = 3

Points = NDArray[np.float64]
Cells = list[str]


def name_regions(
    xyz: ArrayLike | pd.DataFrame | str | os.PathLike[str],
    atlas: Atlas | None = None,
    *,
    talairach: bool = False,
    voxels: Any = None,
) -> pd.DataFrame:
    """Name the regions of an atlas that coordinates lie in.

    Parameters
    ----------
    xyz : (n, 3), DataFrame or path
        Points in mm, or a table with a column for each axis: that of nilearn's
        `get_clusters_table`, of FSL's `cluster`, of SPM's results or of FreeSurfer's clusters, or
        any with columns x, y and z. Of several places in a row, the peak is named.
    atlas : Atlas, optional
        By default AAL3.
    talairach : bool
        Whether the points are in Talairach space; they are converted to MNI.
    voxels : image or path, optional
        Image whose voxel indices the table has in place of mm.

    Returns
    -------
    DataFrame
        The columns of the table, its cells as the file has them, or x, y and z, and: x_mni, y_mni
        and z_mni, if points were converted; region, the label in the atlas; name, in words; side
        of the point; distance_mm, from a point outside all regions to the closest one, which is
        then named; and for an atlas of probability maps, probability: that of the region at the
        point. A name that the table has already gets ``atlas_`` in front.

    Examples
    --------
    >>> name_regions([[-24, -4, -18], [4, -84, 6]])[["name", "side", "distance_mm"]]
                        name   side  distance_mm
    0          left amygdala   left          0.0
    1  left calcarine cortex  right          0.0
    """
    atlas = atlas or default_atlas()
    table, points, unit = _read(xyz)
    if voxels is not None:
        if unit == "mm":
            raise CorpusError("expected columns of voxel indices, got mm; leave --voxels out")
        points = transform_points(read_grid(voxels, "the image of --voxels")[0], points)
    else:
        _check_is_mm(points, unit, is_file=isinstance(xyz, (str, os.PathLike)))
    if not (np.abs(points) < FAR_MM).all():
        raise CorpusError("expected finite coordinates, got some that are missing or infinite")
    if talairach:
        points = talairach_to_mni(points)
    if talairach or voxels is not None:
        columns = {f"{axis}_mni": points[:, i].round(1) for i, axis in enumerate(AXES)}
        table = _beside(table, pd.DataFrame(columns))
    return _beside(table, _named(points, atlas))


def _check_is_mm(points: Points, unit: str | None, *, is_file: bool) -> None:
    """Refuse voxel indices, and warn of a file whose coordinates may be some."""
    if unit == "vox":
        raise CorpusError(
            "expected coordinates in mm, got voxel indices, which need their image: give it with "
            "--voxels (in Python, voxels=), or write the table with cluster --mm"
        )
    if is_file and unit is None and len(points) >= MANY and (points >= 0).all():
        warnings.warn(
            "no coordinate is negative, as in a table of voxel indices; if it is one, give the "
            "image with --voxels (in Python, voxels=)",
            DataWarning,
            stacklevel=3,
        )


def _beside(table: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """Put columns beside those of a table, which keeps its own where the names are the same."""
    more = more.rename(columns={name: f"atlas_{name}" for name in more if name in table})
    return pd.concat([table, more.set_index(table.index)], axis=1)


# ---- points and an atlas


def _named(points: Points, atlas: Atlas) -> pd.DataFrame:
    """Return the region of each point, the closest one where it is in none."""
    region = atlas.region_of(points)
    distance = np.zeros(len(points))
    outside = np.flatnonzero(region == OUTSIDE)
    if len(outside):
        from scipy.spatial import KDTree

        places = np.argwhere(atlas.regions != OUTSIDE)
        tree = KDTree(transform_points(atlas.affine, places))
        distance[outside], nearest = tree.query(points[outside])
        region[outside] = atlas.regions[tuple(places[nearest].T)]
    names = region_names(atlas.names)
    labels = [atlas.names[index] for index in region]
    found = {
        "region": labels,
        "name": [names[label] for label in labels],
        "side": np.select([points[:, 0] < 0, points[:, 0] > 0], ["left", "right"], "midline"),
        "distance_mm": distance.round(1),
    }
    probability = _probability(points, region, atlas)
    if probability is not None:
        found["probability"] = probability.round(DIGITS)
    return pd.DataFrame(found)


def _probability(points: Points, region: NDArray[np.intp], atlas: Atlas) -> Points | None:
    """Return the probability of a region at each point; None for an atlas of labels."""
    maps, affine = read_volume(atlas.image, "the atlas")
    if maps.ndim == 3:
        return None
    place = voxel_index(affine, points)
    inside = ((place >= 0) & (place < maps.shape[:3])).all(axis=1)
    value = np.zeros(len(points))
    rows = atlas.ids[region[inside]] - 1  # map number + 1
    value[inside] = np.nan_to_num(maps[(*place[inside].T, rows)])
    return value / (PERCENT if np.nanmax(maps) > 1 else 1.0)


# ---- tables


class _Table(NamedTuple):
    table: pd.DataFrame
    points: Points
    unit: str | None  # "mm", "vox", or None where the table does not say


class _Header(NamedTuple):
    """Where a header is, and where in it the coordinates are."""

    row: int
    names: Cells
    columns: list[int]  # three, or one that holds all three
    unit: str | None


def _read(xyz: Any) -> _Table:
    if isinstance(xyz, pd.DataFrame):
        header = _find_header([[str(name) for name in xyz.columns]])
        if header is None:
            raise CorpusError(f"expected columns x, y and z, got {', '.join(map(str, xyz))}")
        cells = xyz.iloc[:, header.columns].astype(str).to_numpy().tolist()
        return _Table(xyz.copy(), _points(cells, range(1, len(cells) + 1), "row"), header.unit)
    if not isinstance(xyz, (str, os.PathLike)):
        points = as_points(xyz)
        return _Table(pd.DataFrame(points, columns=list(AXES)), points, None)
    path = expanded(Path(xyz))
    try:
        if path.suffix.lower() in EXCEL:
            return _parse(_read_sheet(path))
        with open_text(path) as stream:
            lines = stream.read().splitlines()
        return _parse_text(lines)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from error
    except (OSError, UnicodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise CorpusError(f"cannot read {path}: {reason}") from error


def _read_sheet(path: Path) -> list[tuple[int, Cells]]:
    try:
        sheet = pd.read_excel(path, header=None, dtype=str)
    except ImportError as error:
        raise MissingExtraError("excel", "reading a table of Excel") from error
    except OSError:
        raise
    except Exception as error:  # what is no such file fails in many ways
        raise CorpusError(f"it is no table of Excel ({type(error).__name__})") from error
    return [(number, row) for number, row in enumerate(sheet.fillna("").to_numpy().tolist(), 1)]


def _parse_text(lines: list[str]) -> _Table:
    """Read a table, its cells parted by the first delimiter that makes a header of a line."""
    for delimiter in DELIMITERS:
        rows = _cut(lines, delimiter)
        if _find_header([row for _, row in rows]):
            return _parse(rows)
    cut = enumerate((SPACES.split(line.strip()) for line in lines), 1)
    return _parse([(number, row) for number, row in cut if any(row)])


def _cut(lines: list[str], delimiter: str | None) -> list[tuple[int, Cells]]:
    """Return the cells of each line that is not empty, with its number."""
    if delimiter is None:
        rows: Iterator[Cells] = (line.lstrip("# ").split() for line in lines)
    else:
        rows = csv.reader(lines, delimiter=delimiter)
    cut = enumerate(([cell.strip() for cell in row] for row in rows), 1)
    return [(number, row) for number, row in cut if any(row)]


def _parse(rows: list[tuple[int, Cells]]) -> _Table:
    header = _header([row for _, row in rows])
    width, last, body = len(header.names), max(header.columns), rows[header.row + 1 :]
    if header.row >= 0 and width > 1:  # a single cell is a rule or a footnote
        body = list(filter(lambda row: len(row[1]) > 1, body))
    chosen = [[row[i] for i in header.columns] if len(row) > last else row for _, row in body]
    points = _points(chosen, [number for number, _ in body], "line")
    padded = [[*row, *[""] * width][:width] for _, row in body]
    return _Table(pd.DataFrame(padded, columns=header.names, dtype=str), points, header.unit)


def _header(cells: Sequence[Cells]) -> _Header:
    """Return the header of a table, or that of three columns without names."""
    if found := _find_header(cells):
        return found
    if cells and len(_numbers(cells[0])) == len(AXES):
        return _Header(-1, list(AXES), [0, 1, 2], None)
    raise CorpusError(
        f"expected columns of coordinates ({'; '.join(LAYOUTS)}), or three numbers in each row; "
        f"got {' | '.join(cells[0])[:80] if cells else 'nothing'!r}"
    )


def _find_header(rows: Sequence[Cells]) -> _Header | None:
    """Return the first row that names coordinates, with what SPM has above it."""
    for number, row in enumerate(rows[:HEAD]):
        names = [cell.strip().strip('"') for cell in row]
        while names and not names[-1]:
            names.pop()
        lowered = [name.lower() for name in names]
        for layout in LAYOUTS.values():
            if columns := _columns(layout, lowered):
                unit = _unit(layout, [lowered[i] for i in columns])
                return _Header(number, _above(rows, number, names), columns, unit)
    return None


def _unit(layout: str, names: Cells) -> str | None:
    """Return the unit that the names of the columns of coordinates tell."""
    found = (re.fullmatch(layout.format(axis="[xyz]"), name) for name in names)
    units = (match.groupdict().get("unit") for match in found if match)
    return next(filter(None, units), None)


def _columns(layout: str, names: Cells) -> list[int]:
    """Return the columns of x, y and z, each after the one before; or the one that holds all."""
    columns: list[int] = []
    for axis in AXES:
        pattern = re.compile(layout.format(axis=axis))
        after = columns[-1] + 1 if columns else 0
        column = next((i for i in range(after, len(names)) if pattern.fullmatch(names[i])), None)
        if column is None:
            return columns if layout == LAYOUTS["SPM"] else []
        columns.append(column)
    return columns


def _above(rows: Sequence[Cells], number: int, names: Cells) -> Cells:
    """Put SPM's levels before the names of columns: "cluster p(unc)" and "peak p(unc)"."""
    above = rows[number - 1] if number else []
    if not any(above) or not {cell.lower() for cell in above} <= LEVELS:
        return names
    levels = [*above, *[""] * len(names)]
    return [f"{level} {name}".strip() for level, name in zip(levels, names, strict=False)]


def _points(cells: Sequence[Cells], numbers: Sequence[int], what: str) -> Points:
    rows = [_numbers(row) for row in cells]
    for number, row, read in zip(numbers, cells, rows, strict=True):
        if len(read) != len(AXES) or not np.isfinite(read).all():
            raise CorpusError(
                f"{what} {number:,}: expected three numbers, got {', '.join(row)[:80]!r}"
            )
    if not rows:
        raise CorpusError("expected rows of coordinates, got a header alone")
    return np.array(rows, dtype=np.float64)


def _numbers(cells: Cells) -> list[float]:
    parts = [part for cell in cells for part in SPACES.split(str(cell).strip(' "')) if part]
    with suppress(ValueError):
        return [float(part) for part in parts]
    return []
