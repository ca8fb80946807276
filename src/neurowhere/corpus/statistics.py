"""Statistics that were read as coordinates: t-values, standard deviations, ranks of columns.

Programs that find the coordinates of an article take three columns of numbers for x, y and z.
Some tables have other columns of numbers: t-values of three contrasts, or the standard deviation
of each coordinate below its mean. Such numbers are small, not whole, and never negative; three of
them look like a place near the anterior commissure.

The rules below look at one table at a time and at whole rows only. Their thresholds were set by
looking at every table of NeuroQuery and Neurosynth that they concern, or nearly do.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

MAX_DECIMALS = 4  # of a printed number; more are those of coordinates that were converted
ROUNDING = 1e-9

# Three statistics in a row, such as (3.3, 1.9, 6.0).
MAX_OF_THREE = 10.0
MAX_BESIDE_OTHERS = 15.0  # in a table that has several such rows
MIN_ROWS_OF_THREE = 3
MIN_SHARE_OF_THREE = 0.5  # of the rows that are not whole; then one row is enough
MIN_NOT_WHOLE = 2  # numbers of such a row

# Stretches of rows in which one or two columns are statistics, such as (y, z, t).
MAX_OF_COLUMN = 20.0
MIN_NUMBERS = 5
MIN_SHARE_NOT_WHOLE = 0.7
MIN_DIFFERENT_FRACTIONS = 3  # slices of a scan are apart by 2.5 mm, or by 0.5 mm off
MAX_SHARE_OF_TABLE = 0.5  # of rows with shifted columns; above it the others may be shifted too

# Stretches of statistics with signs, such as differences of coordinates.
MIN_ROWS_WITH_SIGNS = 5
MIN_SHARE_WITH_SIGNS = 0.5


def is_statistic(xyz: NDArray[np.float64]) -> Mask:
    """Return which rows of a table are statistics rather than coordinates.

    Parameters
    ----------
    xyz : (n, 3)
        Rows of one table, in their order.

    Returns
    -------
    (n,)

    Examples
    --------
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
    """Find rows of three small numbers, none negative; one of many true rows may be such."""
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
