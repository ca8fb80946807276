"""Compiled loops of the kernel density; importing this module imports numba.

Both evaluate Σ_b w(b) φ_x φ_y φ_z for peaks in the voxels b, and touch only the voxels of
the brain that a kernel reaches. Peaks are in a box, the brain's bounding box padded by the
radius r of the kernel: box voxel b reaches voxels b − 2r..b of the bounding box, voxel k
with tap b − k. The brain is given as runs of voxels along z, in the order of its regions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import compiled

Sparse = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # indptr, indices, data
Taps = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # φ_x, φ_y, φ_z: 2r + 1 values each


@compiled(nogil=True, fastmath=True)
def scatter_rows(
    maps: Sparse,
    box_shape: tuple[int, int, int],
    taps: Taps,
    line_runs: NDArray[np.int64],
    runs: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Smooth each row of a CSR matrix over box voxels.

    Parameters
    ----------
    maps : CSR (n, box voxels)
    box_shape, taps
        Shape of the padded box, and kernel along each axis.
    line_runs : (nx ny + 1,)
        Line (x, y) of the bounding box holds the runs line_runs[x ny + y] to the next.
    runs : (n_runs, 5)
        x, y, first z, last z + 1, and region of the first voxel.
    out : (n, m)
        Overwritten.
    """
    indptr, indices, data = maps
    taps_x, taps_y, taps_z = taps
    reach_x, reach_y, reach_z = len(taps_x) - 1, len(taps_y) - 1, len(taps_z) - 1
    nx, ny = box_shape[0] - reach_x, box_shape[1] - reach_y
    for row in range(len(indptr) - 1):
        smooth = out[row]
        smooth[:] = 0
        for entry in range(indptr[row], indptr[row + 1]):
            line, bz = divmod(int(indices[entry]), box_shape[2])
            bx, by = divmod(line, box_shape[1])
            for x in range(max(0, bx - reach_x), min(nx, bx + 1)):
                weight_x = data[entry] * taps_x[bx - x]
                for y in range(max(0, by - reach_y), min(ny, by + 1)):
                    weight = weight_x * taps_y[by - y]
                    for run in range(line_runs[x * ny + y], line_runs[x * ny + y + 1]):
                        start = max(runs[run, 2], bz - reach_z)
                        stop = min(runs[run, 3], bz + 1)
                        if start < stop:
                            # Unsigned: without tests for negative indices the loop vectorises.
                            # The taps are symmetric, and read forwards.
                            region = np.uint64(runs[run, 4] + start - runs[run, 2])
                            tap = np.uint64(reach_z + start - bz)
                            for step in range(np.uint64(stop - start)):
                                smooth[region + step] += weight * taps_z[tap + step]


@compiled(nogil=True, fastmath=True)
def gather_columns(
    maps: Sparse,
    box_shape: tuple[int, int, int],
    taps: Taps,
    runs: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Smooth all rows of a CSC matrix over box voxels, at a few voxels of the brain only.

    Parameters
    ----------
    maps : CSC (n, box voxels)
    box_shape, taps
        As in `scatter_rows`.
    runs : (n_runs, 5)
        As in `scatter_rows`, of the wanted voxels only.
    out : (n, wanted voxels)
        Added to.
    """
    indptr, indices, data = maps
    taps_x, taps_y, taps_z = taps
    reach_z = len(taps_z) - 1
    for run in range(len(runs)):
        x, y, start, stop, region = runs[run]
        column = region - runs[0, 4]
        for tap_x in range(len(taps_x)):
            for tap_y in range(len(taps_y)):
                weight_xy = taps_x[tap_x] * taps_y[tap_y]
                line = ((x + tap_x) * box_shape[1] + y + tap_y) * box_shape[2]
                for bz in range(start, stop + reach_z):
                    first, last = max(start, bz - reach_z), min(stop, bz + 1)
                    for entry in range(indptr[line + bz], indptr[line + bz + 1]):
                        weight = weight_xy * data[entry]
                        smooth = out[indices[entry]]
                        for z in range(first, last):
                            smooth[column + z - start] += weight * taps_z[bz - z]
