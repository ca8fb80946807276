"""Smoother: the linear map from counts in a box to the voxels of the brain, on arrays.

Three ways to evaluate the same sum: peak by peak, axis by axis, and by Fourier transform.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from neurowhere._tools.parallel import compiled

Sparse = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # indptr, indices, data
Taps = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # φ_x, φ_y, φ_z: 2r + 1 values each
Way = Literal["direct", "separable", "fft"]

CUT = 5.0  # the kernel is zero farther than this many standard deviations
ROUNDING = 1e-9  # keeps the last tap when 5 h falls short of a whole number by rounding

# Rough costs on one core, to choose between the three; only their ratios matter.
TAP_SECONDS = 1.7e-9  # one tap of one peak
PRODUCT_SECONDS = 8e-11  # one multiplication and addition in a matrix product
FOURIER_SECONDS = 2e-9  # one element and one power of two, there and back


class Smoother:
    """Gaussian kernel from the voxels of a box to those of the brain in it.

    The *box* is the bounding box of the brain, (nx, ny, nz) voxels, padded on each side by
    the radius of the kernel: no voxel farther away reaches the brain.

    Parameters
    ----------
    brain : (x, y, z) array of bool
    sigmas : (3,)
        Standard deviation along each axis, in voxels.

    Attributes
    ----------
    origin : (3,)
        Voxel of the grid that is the first of the box; may lie outside the image.
    shape : (bx, by, bz)
        Shape of the box.
    taps : three arrays
        Kernel along each axis, 2 r + 1 values that sum to 1.
    bands : three matrices
        T[b, k] = φ(b − k) along each axis, (box voxels, voxels of the bounding box).
    inside : (box voxels,)
        Mass inside the brain of a kernel centred on each voxel of the box.
    """

    def __init__(self, brain: NDArray[np.bool_], sigmas: NDArray[np.float64]) -> None:
        from scipy.linalg import convolution_matrix  # only densities need it; it imports slowly

        voxels = np.nonzero(brain)
        first = np.array([axis.min() for axis in voxels])
        size = np.array([axis.max() for axis in voxels]) - first + 1
        # As in the paper, no wider than the image: more reaches no voxel from within it.
        widest = np.array(brain.shape) - 1
        radius = np.minimum(np.floor(CUT * sigmas + ROUNDING).astype(int), widest)
        bx, by, bz = (size + 2 * radius).tolist()
        self.origin = first - radius
        self.shape: tuple[int, int, int] = bx, by, bz
        self.brain = brain[tuple(slice(f, f + s) for f, s in zip(first, size, strict=True))]
        self.taps = tuple(map(_gaussian, sigmas, radius.tolist()))
        self.bands = tuple(map(convolution_matrix, self.taps, size.tolist()))
        self.inside: NDArray[np.float64] = np.einsum(
            "ax,by,cz,xyz->abc", *self.bands, self.brain, optimize=True
        ).ravel()
        self.runs, self.line_runs = runs_along_z(self.brain)

    @property
    def n_voxels(self) -> int:
        """Number of voxels of the box."""
        return len(self.inside)

    def smooth(self, maps: Any, out: NDArray[Any], way: Way) -> None:
        """Smooth maps (k, box voxels) and restrict them to the brain: `out` (k, m) is overwritten.

        The ways agree, and differ in speed.
        """
        {"direct": self._direct, "separable": self._separable, "fft": self._fft}[way](maps, out)

    def _direct(self, maps: sparse.csr_matrix, out: NDArray[Any]) -> None:
        """Add up the kernels of all entries, touching only the voxels they reach."""
        arrays = (maps.indptr, maps.indices, maps.data.astype(out.dtype))
        _scatter_rows(arrays, self.shape, self._taps_as(out.dtype), self.line_runs, self.runs, out)

    def _separable(self, maps: Any, out: NDArray[Any]) -> None:
        """Multiply by one matrix along each axis."""
        along_x, along_y, along_z = (matrix.astype(out.dtype) for matrix in self.bands)
        boxes = self._boxes(maps, out.dtype)  # (k, bx, by, bz)
        boxes = along_y.T @ (boxes @ along_z)  # (k, bx, ny, nz)
        boxes = along_x.T @ boxes.reshape(*boxes.shape[:2], -1)  # (k, nx, ny nz)
        out[:] = boxes.reshape(len(out), -1)[:, self.brain.ravel()]

    def _fft(self, maps: Any, out: NDArray[Any]) -> None:
        """Multiply Fourier transforms; only the padding wraps around, and it is cut off.

        In double precision: rounding errors are relative to the largest value of the box,
        which may be far larger than what is in the brain.
        """
        from scipy import fft

        lengths = [fft.next_fast_len(n, real=True) for n in self.shape]
        kernel_x, kernel_y, kernel_z = self.taps
        spectrum = fft.rfftn(self._boxes(maps, np.float64), s=lengths, axes=(1, 2, 3))
        spectrum *= fft.fft(kernel_x, lengths[0])[:, None, None]
        spectrum *= fft.fft(kernel_y, lengths[1])[:, None]
        spectrum *= fft.rfft(kernel_z, lengths[2])
        boxes = fft.irfftn(spectrum, s=lengths, axes=(1, 2, 3))
        # Taps are counted from 0, not −r: the bounding box starts at 2 r.
        corner = [len(taps) - 1 for taps in self.taps]
        x, y, z = (slice(c, c + n) for c, n in zip(corner, self.brain.shape, strict=True))
        out[:] = boxes[:, x, y, z][:, self.brain]
        if maps.min() >= 0:
            np.maximum(out, 0, out=out)  # only rounding made it negative

    def columns(self, maps: sparse.csc_matrix, start: int, out: NDArray[Any]) -> None:
        """Add maps (k, box voxels), smoothed, to `out` (k, voxels).

        Its voxels are consecutive ones of the brain, from `start` on.
        """
        arrays = (maps.indptr, maps.indices, maps.data.astype(out.dtype))
        runs = runs_between(self.runs, start, start + out.shape[1])
        _gather_columns(arrays, self.shape, self._taps_as(out.dtype), runs, out)

    def fastest(self, entries_per_map: float) -> Way:
        """Return the way of smoothing with the lowest estimated time, by the non-zeros of a map."""
        taps = np.prod([len(taps) for taps in self.taps])
        (bx, by, bz), (nx, ny, nz) = self.shape, self.brain.shape
        products = bx * by * bz * nz + bx * by * ny * nz + bx * nx * ny * nz
        seconds: dict[Way, float] = {
            "direct": entries_per_map * taps * TAP_SECONDS,
            "separable": products * PRODUCT_SECONDS,
            "fft": self.n_voxels * np.log2(self.n_voxels) * FOURIER_SECONDS,
        }
        return min(seconds, key=lambda way: seconds[way])

    def _boxes(self, maps: Any, dtype: DTypeLike) -> NDArray[Any]:
        """Return the maps as dense boxes: (k, bx, by, bz)."""
        dense: NDArray[Any] = maps if isinstance(maps, np.ndarray) else maps.toarray()
        return dense.astype(dtype, copy=False).reshape(-1, *self.shape)

    def _taps_as(self, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        along_x, along_y, along_z = (taps.astype(dtype) for taps in self.taps)
        return along_x, along_y, along_z


def _gaussian(sigma: float, radius: int) -> NDArray[np.float64]:
    """Return the Gaussian at the whole numbers −radius..radius, rescaled to sum to 1.

    >>> _gaussian(1.0, 1).round(4)
    array([0.2741, 0.4519, 0.2741])
    """
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    rescaled: NDArray[np.float64] = taps / taps.sum()
    return rescaled


def runs_along_z(brain: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the runs of brain voxels along z, and where those of each line (x, y) start.

    A run (one of n_runs, 5) has x, y, first z, last z + 1, and the index of its first voxel in the
    brain. The second array (nx ny + 1,) has the first run of each line in C order.
    """
    steps = np.diff(brain.astype(np.int8), axis=2, prepend=0, append=0)
    x, y, start = np.nonzero(steps == 1)
    stop = np.nonzero(steps == -1)[2]
    length = stop - start
    region = np.cumsum(length) - length
    runs = np.stack([x, y, start, stop, region], axis=1).astype(np.int64)
    lines = np.arange(brain.shape[0] * brain.shape[1] + 1)
    return runs, np.searchsorted(x * brain.shape[1] + y, lines).astype(np.int64)


def runs_between(runs: NDArray[np.int64], start: int, stop: int) -> NDArray[np.int64]:
    """Return the runs of the voxels `start` to `stop` of the brain, the outer ones cut."""
    region, length = runs[:, 4], runs[:, 3] - runs[:, 2]
    cut = runs[(region < stop) & (region + length > start)]
    before = np.maximum(0, start - cut[:, 4])
    after = np.maximum(0, cut[:, 4] + cut[:, 3] - cut[:, 2] - stop)
    cut[:, 2] += before
    cut[:, 4] += before
    cut[:, 3] -= after
    return cut


# Compiled loops. Both evaluate Σ_b w(b) φ_x φ_y φ_z for peaks in the voxels b, and touch only the
# voxels of the brain that a kernel reaches: box voxel b reaches voxels b − 2r..b of the bounding
# box, voxel k with tap b − k. The brain is given as runs of voxels along z, in the order of its
# regions.


@compiled(nogil=True, fastmath=True)
def _scatter_rows(
    maps: Sparse,
    box_shape: tuple[int, int, int],
    taps: Taps,
    line_runs: NDArray[np.int64],
    runs: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Smooth each row of a CSR matrix (n, box voxels) into a row of `out` (n, m).

    Line (x, y) of the bounding box holds the runs line_runs[x ny + y] to the next; see
    `runs_along_z`.
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
def _gather_columns(
    maps: Sparse,
    box_shape: tuple[int, int, int],
    taps: Taps,
    runs: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Add all rows of a CSC matrix (n, box voxels), smoothed, to `out` (n, wanted voxels).

    `runs` are those of the wanted voxels of the brain only.
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
