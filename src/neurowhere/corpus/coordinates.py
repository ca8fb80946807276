"""Check coordinates: find tables that do not hold MNI coordinates in mm, and convert them.

The brain is approximated by two ellipsoids, which contain 99 % of the peaks of NeuroQuery, and 76 %
if these are mirrored from front to back. If a table lies partly outside the brain, but wholly
inside when it is read in another way, that way is most likely right.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.documents import XYZ, Document, parse_space, read_table
from neurowhere.corpus.review import Problem
from neurowhere.exceptions import CorpusError, DataWarning

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]  # (n, 3)

# Centre and radii in mm of the ellipsoids, and how far the long axis of the first tilts.
CEREBRUM = np.array([0.0, -22.0, 9.0]), np.array([80.0, 97.0, 75.0])
CEREBELLUM = np.array([0.0, -55.0, -38.0]), np.array([60.0, 48.0, 35.0])
TILT = np.deg2rad(10)
FAR = 1.1  # times the radius: no rounding or bad registration puts a peak there

MIN_OUTSIDE, MIN_FAR = 3, 2  # peaks that show that a table is not in mm, or mirrored
MAX_LEFT_OUTSIDE = 0.2  # share still outside when the table is read as intended
MIN_ROWS = 5  # rows of a table that can be judged as a whole

# FSL's image of the MNI152 template with voxels of 2 mm, of which tables list indices.
VOXEL_MM = np.array([-2.0, 2.0, 2.0])
VOXEL_ORIGIN_MM = np.array([90.0, -126.0, -72.0])
LAST_VOXEL = np.array([90, 108, 90])

MIRROR = np.array([-1.0, -1.0, 1.0])  # AFNI's RAI order: right and front are negative
MIN_EQUAL, MIN_SHARE_EQUAL = 4, 0.75  # rows with one number twice

MAX_DECIMALS = 4  # decimals of a printed number; converted coordinates have more
ROUNDING = 1e-9

# Three statistics in a row, such as (3.3, 1.9, 6.0).
MAX_OF_THREE = 10.0
MAX_BESIDE_OTHERS = 15.0  # limit in a table with several such rows
MIN_ROWS_OF_THREE = 3
MIN_SHARE_OF_THREE = 0.5  # share of the rows that are not whole; then one row is enough
MIN_NOT_WHOLE = 2  # numbers of such a row

# Stretches of rows in which one or two columns are statistics, such as (y, z, t).
MAX_OF_COLUMN = 20.0
MIN_NUMBERS = 5
MIN_SHARE_NOT_WHOLE = 0.7
MIN_DIFFERENT_FRACTIONS = 3  # slices of a scan are apart by 2.5 mm, or by 0.5 mm off
# Share of rows with shifted columns; above it, the others may be shifted too.
MAX_SHARE_OF_TABLE = 0.5

# Stretches of statistics with signs, such as differences of coordinates.
MIN_ROWS_WITH_SIGNS = 5
MIN_SHARE_WITH_SIGNS = 0.5


@dataclass(frozen=True, eq=False)
class Tables:
    """Peaks by table, or by document where tables are not known.

    `table` and `study` hold the numbers of the table and of the document of each peak. `is_first`
    tells which peaks repeat no earlier row of their table; only these count as evidence.
    """

    xyz: Points
    table: NDArray[np.intp]
    study: NDArray[np.intp]
    is_first: Mask

    @classmethod
    def of(cls, corpus: Corpus) -> "Tables":
        """Group the peaks of a corpus."""
        keys = [key for key in ("id", "table") if key in corpus.peaks]
        table = np.asarray(corpus.peaks.groupby(keys, sort=False).ngroup(), dtype=np.intp)
        is_first = ~corpus.peaks[XYZ].assign(table=table).duplicated().to_numpy()
        return cls(corpus.peaks[XYZ].to_numpy(np.float64), table, corpus.peak_rows, is_first)

    def without(self, peaks: Mask) -> "Tables":
        """Return the tables without some peaks; tables keep their numbers."""
        kept = ~peaks
        return Tables(self.xyz[kept], self.table[kept], self.study[kept], self.is_first[kept])

    def total(self, peaks: Mask) -> NDArray[np.intp]:
        """Count the different peaks of each table that a mask selects."""
        return np.bincount(self.table[self.is_first & peaks], minlength=self.n_tables)

    def share(self, peaks: Mask) -> NDArray[np.float64]:
        """Return the share of the different peaks of each table that a mask selects."""
        return self.total(peaks) / np.maximum(self.size, 1)

    @cached_property
    def size(self) -> NDArray[np.intp]:
        """Number of different peaks of each table."""
        return np.bincount(self.table[self.is_first], minlength=self.n_tables)

    @property
    def n_tables(self) -> int:
        """One more than the highest number of a table."""
        return int(self.table.max(initial=-1)) + 1

    @cached_property
    def study_of_table(self) -> NDArray[np.intp]:
        """Document of each table."""
        study = np.full(self.n_tables, -1, dtype=np.intp)
        study[self.table] = self.study
        return study

    def fits(self, converted: Points) -> Mask:
        """Return which tables lie outside the brain as they are, and inside when converted."""
        before, after = brain_radius(self.xyz), brain_radius(converted)
        outside = self.total(before > 1)
        return np.asarray(
            (outside >= MIN_OUTSIDE)
            & (self.total(before > FAR) >= MIN_FAR)
            & (self.total(after > 1) <= MAX_LEFT_OUTSIDE * outside)
            & (self.total(after > FAR) == 0)
        )


def brain_radius(xyz_mm: Points) -> NDArray[np.float64]:
    """Return how far out points (n, 3) are: 1 on the surface of the brain, less inside.

    >>> brain_radius(np.array([[0.0, -22, 9], [40, -85, 0], [40, 85, 0]])).round(2)
    array([0.  , 0.83, 1.24])
    """
    center, radii = CEREBRUM
    x, y, z = (xyz_mm - center).T
    along = np.cos(TILT) * y + np.sin(TILT) * z
    across = np.cos(TILT) * z - np.sin(TILT) * y
    cerebrum = np.linalg.norm(np.stack([x, along, across], axis=1) / radii, axis=1)
    center, radii = CEREBELLUM
    cerebellum = np.linalg.norm((xyz_mm - center) / radii, axis=1)
    return np.asarray(np.minimum(cerebrum, cerebellum))


def find_statistics(tables: Tables) -> Mask:
    """Find the rows that are statistics; see `neurowhere.corpus.coordinates`."""
    found = np.zeros(len(tables.xyz), dtype=bool)
    not_whole = np.asarray((tables.xyz != np.round(tables.xyz)).any(axis=1))
    fractional = np.unique(tables.table[not_whole])
    concerned = np.flatnonzero(np.isin(tables.table, fractional))
    for rows in pd.Series(concerned).groupby(tables.table[concerned]).indices.values():
        found[concerned[rows]] = is_statistic(tables.xyz[concerned[rows]])
    return found


def find_columns(tables: Tables) -> Mask:
    """Find tables most of whose rows have one number twice: a column was read as two."""
    x, y, z = tables.xyz.T
    equal = (x == y) | (y == z) | (x == z)
    bad = (tables.total(equal) >= MIN_EQUAL) & (tables.share(equal) >= MIN_SHARE_EQUAL)
    return np.asarray(bad[tables.table])


def find_voxels(tables: Tables) -> Mask:
    """Find tables of voxel indices of a 2-mm image: never negative, and no better as mirrored."""
    possible = np.asarray(((tables.xyz >= 0) & (tables.xyz <= LAST_VOXEL)).all(axis=1))
    bad = (tables.share(possible) == 1) & (tables.size >= MIN_ROWS)
    as_voxels, as_mirrored = (
        tables.total(brain_radius(convert(tables.xyz)) > 1) for convert in (to_mm, to_lpi)
    )
    bad &= tables.fits(to_mm(tables.xyz)) & (as_voxels < as_mirrored)
    return np.asarray(bad[tables.table])


def find_mirrored(tables: Tables) -> Mask:
    """Find tables in AFNI's RAI order, in which x and y have the other sign.

    A table is surely mirrored if it fits; another one of its document is so too if fewer of its
    peaks are outside that way, or as many, and none of the document's tables says otherwise.
    """
    before = tables.total(brain_radius(tables.xyz) > 1)
    after = tables.total(brain_radius(to_lpi(tables.xyz)) > 1)
    signed = tables.total(np.asarray((tables.xyz < 0).any(axis=1))) > 0
    sure = tables.fits(to_lpi(tables.xyz)) & signed
    study = tables.study_of_table
    in_mirrored_study = np.isin(study, study[sure])
    against = np.isin(study, study[in_mirrored_study & (after > before)])
    as_well = in_mirrored_study & ((after < before) | ((after == before) & ~against))
    return np.asarray((sure | as_well)[tables.table])


def find_misplaced(tables: Tables) -> Mask:
    """Find tables most of which lies outside the brain."""
    outside = tables.share(brain_radius(tables.xyz) > 1)
    return np.asarray(((outside > 1 / 2) & (tables.size >= MIN_ROWS))[tables.table])


def to_lpi(xyz: Points) -> Points:
    """Convert from RAI order, in which right and front are negative."""
    return np.asarray(xyz * MIRROR)


def to_mm(xyz: Points) -> Points:
    """Convert indices of voxels of FSL's 2-mm template to mm."""
    return np.asarray(xyz * VOXEL_MM + VOXEL_ORIGIN_MM)


@dataclass(frozen=True)
class Rule:
    """How to find a problem of coordinates, and how to convert them if that can be done."""

    find: Callable[[Tables], Mask]
    convert: Callable[[Points], Points] | None = None


# In the order in which they are looked for: each sees what the ones before it have left.
RULES = {
    "statistics": Rule(find_statistics),
    "columns": Rule(find_columns),
    "voxels": Rule(find_voxels, to_mm),
    "mirrored": Rule(find_mirrored, to_lpi),
    "misplaced": Rule(find_misplaced),
}


def repair(corpus: Corpus, *, drop: Iterable[str], convert: Iterable[str]) -> Corpus:
    """Find coordinates that are wrong, and drop or convert them.

    `drop` and `convert` are names among `RULES`; a problem in neither is only counted, one in both
    is dropped. The peaks have to be as printed. What was found is in the corpus's `problems` and in
    a warning.
    """
    dropped, converted = set(drop), set(convert).difference(drop)
    found = [known for known in corpus.problems if known.name not in RULES or known.is_settled]
    peaks, tables = corpus.peaks, Tables.of(corpus)
    kept = np.zeros(len(peaks), dtype=bool)  # although they have a problem
    for name, rule in RULES.items():
        bad = rule.find(tables) & ~kept
        if not bad.any():
            continue
        problem = Problem.at(
            name, peaks["id"][bad], dropped=name in dropped, converted=name in converted
        )
        warnings.warn(str(problem), DataWarning, stacklevel=3)
        found.append(problem)
        if problem.dropped:
            peaks, tables, kept = peaks[~bad], tables.without(bad), kept[~bad]
        elif problem.converted and rule.convert is not None:
            xyz = np.where(bad[:, None], rule.convert(tables.xyz), tables.xyz)
            tables = replace(tables, xyz=xyz)
        else:
            kept |= bad
    columns = dict(zip(XYZ, tables.xyz.T, strict=True))
    peaks = peaks.reset_index(drop=True).assign(**columns)
    return replace(corpus, peaks=peaks, problems=tuple(found))


# ---- statistics that were read as coordinates: t-values, standard deviations, ranks of columns


def is_statistic(xyz: NDArray[np.float64]) -> Mask:
    """Return which rows (n, 3) of one table are statistics rather than coordinates.

    Programs that find the coordinates of an article take three columns of numbers for x, y and z.
    Some tables have t-values or standard deviations there: small numbers, not whole and never
    negative, which look like places near the anterior commissure. The thresholds of the rules below
    were set by looking at every table of NeuroQuery and Neurosynth that they concern, or nearly do.

    >>> is_statistic(np.array([[-8, -75, 29], [2.4, 2.9, 3.6], [-22, -68, 45]]))
    array([False,  True, False])
    """
    found = np.zeros(len(xyz), dtype=bool)
    while True:  # what is left may be one stretch now
        left = np.flatnonzero(~found)
        more = _find(xyz[left]) if len(left) else found[:0]
        if not more.any():
            return found
        found[left[more]] = True


def _find(xyz: NDArray[np.float64]) -> Mask:
    not_whole = xyz != np.round(xyz)  # (n, 3)
    is_printed = np.allclose(xyz, np.round(xyz, MAX_DECIMALS), rtol=0, atol=ROUNDING)
    if not (is_printed and not_whole.any()):
        return np.zeros(len(xyz), dtype=bool)
    shifted = _in_shifted_columns(xyz, not_whole)
    if shifted.mean() > MAX_SHARE_OF_TABLE and (xyz[~shifted, 0] >= 0).all():
        return np.ones(len(xyz), dtype=bool)  # the rest begins with a Brodmann area or a size
    return shifted | _three_in_a_row(xyz, not_whole) | _with_signs(xyz, not_whole)


def _three_in_a_row(xyz: NDArray[np.float64], not_whole: Mask) -> Mask:
    """Find rows of three small numbers, none negative, unless they are rare in the table."""
    fractional = not_whole.sum(axis=1) >= MIN_NOT_WHOLE
    small: Mask = _all_within(xyz, 0, MAX_OF_THREE) & fractional
    if small.sum() >= MIN_ROWS_OF_THREE:
        small |= _all_within(xyz, 0, MAX_BESIDE_OTHERS) & _any(not_whole)
    elif small.sum() < MIN_SHARE_OF_THREE * fractional.sum():
        small[:] = False
    return small


def _in_shifted_columns(xyz: NDArray[np.float64], not_whole: Mask) -> Mask:
    """Find stretches where one or two columns are small and fractional, and the rest whole."""
    found = np.zeros(len(xyz), dtype=bool)
    for columns in (*combinations(range(3), 1), *combinations(range(3), 2)):
        others = [column for column in range(3) if column not in columns]
        small = _all_within(xyz[:, columns], 0, MAX_OF_COLUMN)
        candidates = small & ~_any(not_whole[:, others])
        for rows in _stretches(candidates, _any(not_whole[:, columns])):
            fractional = not_whole[rows][:, columns]
            fractions = np.round(xyz[rows][:, columns][fractional] % 1, 3)
            if (
                len(fractions) >= MIN_NUMBERS
                and fractional.mean() >= MIN_SHARE_NOT_WHOLE
                and len(np.unique(fractions)) >= MIN_DIFFERENT_FRACTIONS
            ):
                found[rows] = True
    return found


def _with_signs(xyz: NDArray[np.float64], not_whole: Mask) -> Mask:
    """Find long stretches of small numbers of any sign."""
    found = np.zeros(len(xyz), dtype=bool)
    small = _all_within(np.abs(xyz), 0, MAX_OF_THREE)
    for rows in _stretches(small, _any(not_whole)):
        fractional = not_whole[rows]
        if len(fractional) >= MIN_ROWS_WITH_SIGNS and fractional.mean() >= MIN_SHARE_WITH_SIGNS:
            found[rows] = True
    return found


def _all_within(numbers: NDArray[np.float64], low: float, high: float) -> Mask:
    return np.asarray(((numbers >= low) & (numbers < high)).all(axis=1))


def _any(conditions: Mask) -> Mask:
    return np.asarray(conditions.any(axis=1))


def _stretches(candidates: Mask, is_end: Mask) -> Iterator[slice]:
    """Yield runs of consecutive candidates, each cut to begin and end with an `is_end` row."""
    edges = np.flatnonzero(np.diff(candidates.astype(np.int8), prepend=0, append=0))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        ends = np.flatnonzero(is_end[start:stop])
        if len(ends):
            yield slice(start + ends[0], start + ends[-1] + 1)


# ---- spaces

# Lancaster et al. (2007), "Bias between MNI and Talairach coordinates analyzed using the
# ICBM-152 brain template", Human Brain Mapping 28: the pooled icbm_other affine, MNI to Talairach.
MNI_TO_TALAIRACH = np.array(
    [
        [0.9357, 0.0029, -0.0072, -1.0423],
        [-0.0065, 0.9396, -0.0726, -1.3940],
        [0.0103, 0.0752, 0.8967, 3.6475],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


def talairach_to_mni(points_mm: ArrayLike) -> NDArray[np.float64]:
    """Convert Talairach coordinates to MNI by the inverse of Lancaster's transform.

    >>> talairach_to_mni([[-1.0423, -1.394, 3.6475]]).round(6) + 0.0
    array([[0., 0., 0.]])
    """
    to_mni = np.linalg.inv(MNI_TO_TALAIRACH)
    points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 3)
    return np.asarray(points @ to_mni[:3, :3].T + to_mni[:3, 3])


def document_to_mni(document: Document) -> Document:
    """Return a document with its peaks in MNI; the metadata keep the space of its source."""
    if document.space != "TAL":
        return document
    return replace(
        document,
        peaks=talairach_to_mni(document.peaks),
        space="MNI",
        metadata={"source_space": "TAL", **document.metadata},
    )


def corpus_to_mni(corpus: Corpus) -> Corpus:
    """Return a corpus with its Talairach peaks in MNI; `source_space` still says TAL."""
    talairach = corpus.documents["space"].to_numpy() == "TAL"  # (n_documents,)
    if not talairach.any():
        return corpus
    moved = talairach[corpus.peak_rows]  # (n_peaks,)
    peaks = corpus.peaks.copy()
    peaks.loc[moved, XYZ] = talairach_to_mni(peaks.loc[moved, XYZ].to_numpy())
    space = corpus.documents["space"].mask(talairach, "MNI")
    return replace(corpus, documents=corpus.documents.assign(space=space), peaks=peaks)


def read_spaces(path: Path) -> dict[str, str]:
    """Read the space of each document from a table with columns id and space."""
    if not path.is_file():
        raise CorpusError(f"expected a table with columns id and space, but {path} is no file")
    table = read_table(path, ["id", "space"])
    return dict(zip(table["id"], table["space"], strict=True))


def fill_spaces(corpus: Corpus, labels: Mapping[str, str]) -> Corpus:
    """Fill in the space of the documents whose source does not state it, from labels by id."""
    unknown = corpus.documents["space"] == "unknown"
    if not labels or not unknown.any():
        return corpus
    spaces = [parse_space(labels.get(document_id)) for document_id in corpus.documents["id"]]
    space = corpus.documents["space"].mask(unknown, spaces)
    return replace(corpus, documents=corpus.documents.assign(space=space, source_space=space))
