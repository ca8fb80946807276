"""Density: the peaks of studies, smoothed over the voxels of the brain.

`DensityEstimator` is the kernel density on a grid. `Targets` are what models learn from and are
scored against: the peaks of studies as probabilities of the regions of any partition.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import DataWarning, FitError, PartitionError
from neurowhere.space.atlas import Atlas
from neurowhere.space.images import OUTSIDE, voxel_index
from neurowhere.space.partition import Partition, VoxelGrid, as_points, count_matrix
from neurowhere.space.smoothing import Smoother, Way

# Does some work on each of some slices, in threads.
Run = Callable[[Callable[[slice], None], list[slice]], Any]

FWHM_PER_SIGMA = 2 * np.sqrt(2 * np.log(2))
MIN_MASS = 1e-6  # a study with a smaller share of its mass in the brain is outside
MAX_COSINE = 1e-3  # largest cosine between axes that count as orthogonal
CHUNK_BYTES = 2**24  # bytes of densities held at a time
PIECE_BYTES = 2**23  # bytes of counts, if dense, that one thread processes


class DensityEstimator:
    """Gaussian kernel density over the voxels of a grid, one density per study.

    The peaks of a study, counted in voxels and perhaps weighted, are smoothed by a Gaussian,
    restricted to the brain and rescaled to sum to one:

        ŷ_k = Σ_i w_i φ(k − b_i) / Σ_k' Σ_i w_i φ(k' − b_i),   φ(d) ∝ exp(−½ Σ_a d_a² / h_a²)

    with k, k' voxels of the brain, b_i the voxel of peak i, and φ zero where ``|d_a| > 5 h_a``.
    Peaks outside the brain count as far as their kernel reaches into it.

    Parameters
    ----------
    grid : VoxelGrid
    bandwidth : float, default=1
        Standard deviation h of the kernel in voxels, the same along each axis.
    fwhm_mm : float, optional
        Full width at half maximum in mm, instead of `bandwidth`: the same in all directions
        whatever the shape of the voxels.
    method : {"auto", "direct", "separable", "fft"}
        How to smooth: by adding up the kernel of each peak, by a matrix product along each
        axis, or by Fourier transforms. They agree; "auto" estimates which is fastest.
    n_jobs : int, default=-1
        Number of threads, −1 for all cores. It does not change the densities.

    Notes
    -----
    Counts are sparse, over the voxels of a *box*: the brain's bounding box padded by the
    kernel's radius. Smoothing them is linear (see `smooth`), and dividing by the mass of a
    study (see `normalise`) comes first, so that no dense array need exist before the result.

    Examples
    --------
    >>> import numpy as np
    >>> grid = VoxelGrid(mask=(np.ones((7, 8, 9)), np.diag([4.0, 4.0, 4.0, 1.0])))
    >>> kde = DensityEstimator(grid, bandwidth=1)
    >>> counts = kde.bin_peaks([[12, 16, 16], [0, 4, 8]], studies=[0, 0], n_studies=1)
    >>> density = kde.densities(counts)
    >>> density.shape, round(float(density.sum()), 5)
    ((1, 504), 1.0)
    """

    def __init__(
        self,
        grid: VoxelGrid,
        bandwidth: float = 1.0,
        fwhm_mm: float | None = None,
        *,
        method: Literal["auto"] | Way = "auto",
        n_jobs: int = -1,
    ) -> None:
        self.grid = grid
        self.bandwidth = bandwidth
        self.fwhm_mm = fwhm_mm
        self.method = method
        self.n_jobs = n_jobs

    @cached_property
    def sigmas(self) -> NDArray[np.float64]:
        """Standard deviation h_a of the kernel along each axis, in voxels: (3,)."""
        width = self.bandwidth if self.fwhm_mm is None else self.fwhm_mm
        if not (np.isfinite(width) and width > 0):
            raise PartitionError(f"expected a bandwidth above zero; got {width!r}")
        if self.fwhm_mm is None:
            return np.full(3, float(width))
        axes = self.grid.affine[:3, :3] / self.grid.voxel_sizes_mm
        if np.abs(axes.T @ axes - np.eye(3)).max() > MAX_COSINE:
            raise PartitionError(
                "expected orthogonal axes for a kernel in mm; those of the grid are sheared: "
                "resample it, or give the bandwidth in voxels"
            )
        sigmas: NDArray[np.float64] = width / FWHM_PER_SIGMA / self.grid.voxel_sizes_mm
        return sigmas

    @cached_property
    def smoother(self) -> Smoother:
        """The kernel on arrays."""
        return Smoother(self.grid.brain, self.sigmas)

    @property
    def n_box_voxels(self) -> int:
        """Number of voxels of the box, the columns of counts."""
        return self.smoother.n_voxels

    def bin_peaks(
        self,
        xyz_mm: ArrayLike,
        studies: ArrayLike,
        n_studies: int,
        weights: ArrayLike | None = None,
    ) -> sparse.csr_matrix:
        """Count the peaks of each study in the voxels of the box.

        Parameters
        ----------
        xyz_mm : (n_peaks, 3)
            Peaks of all studies, see `stack_peaks`.
        studies : (n_peaks,)
            Index of the study of each peak, from 0 to `n_studies` − 1.
        n_studies : int
            Number of rows; studies without peaks keep an empty one.
        weights : (n_peaks,), optional
            Weight w_i of each peak, 1 by default.

        Returns
        -------
        csr_matrix (n_studies, n_box_voxels)
            Peaks too far away to reach the brain are left out.
        """
        box = self.smoother.shape
        voxels = voxel_index(self.grid.affine, as_points(xyz_mm)) - self.smoother.origin  # (n, 3)
        inside = ((voxels >= 0) & (voxels < box)).all(axis=1)
        columns = np.full(len(voxels), OUTSIDE, np.intp)
        columns[inside] = np.ravel_multi_index(tuple(voxels[inside].T), box)
        return count_matrix(columns, studies, (n_studies, self.n_box_voxels), weights)

    def masses(self, counts: sparse.csr_matrix) -> NDArray[np.float64]:
        """Compute the mass of each study inside the brain after smoothing.

        Parameters
        ----------
        counts : csr_matrix (n, n_box_voxels)
            As from `bin_peaks`.

        Returns
        -------
        (n,)
        """
        masses: NDArray[np.float64] = self._checked(counts) @ self.smoother.inside
        return masses

    def normalise(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Divide the counts of each study by its mass, so that they smooth to a sum of 1.

        Parameters
        ----------
        counts : csr_matrix (n, n_box_voxels)
            As from `bin_peaks`.

        Returns
        -------
        csr_matrix (n, n_box_voxels)
            Studies without mass in the brain get an empty row and are counted in a `DataWarning`.
        """
        masses = self.masses(counts)  # (n,)
        outside = masses <= MIN_MASS * np.asarray(counts.sum(axis=1)).ravel()
        if outside.any():
            warnings.warn(
                f"{np.count_nonzero(outside):,} of {len(outside):,} studies have no peak in or "
                "near the brain: their densities are zero",
                DataWarning,
                stacklevel=2,
            )
        masses[outside] = np.inf
        shares = sparse.csr_matrix(sparse.diags_array(1 / masses) @ counts)
        shares.eliminate_zeros()
        return shares

    def smooth(self, maps: Any, *, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """Smooth maps over the box and restrict them to the brain.

        This is linear and knows nothing of studies: a regression fitted to normalised counts has
        coefficient maps over the box, and these smoothed are the coefficients of the regression
        on densities.

        Parameters
        ----------
        maps : (k, n_box_voxels), dense or sparse
        dtype : dtype
            Of the result.

        Returns
        -------
        (k, m)
        """
        out = np.empty((maps.shape[0], self.grid.n_regions), dtype)
        with worker_threads(self.n_jobs) as run:
            self._smooth_into(self._checked(maps), self._choose(maps), out, run)
        return out

    def densities(
        self, counts: sparse.csr_matrix, *, dtype: DTypeLike = np.float32
    ) -> NDArray[Any]:
        """Compute the density of each study.

        Parameters
        ----------
        counts : csr_matrix (n, n_box_voxels)
            As from `bin_peaks`.
        dtype : dtype
            Of the result.

        Returns
        -------
        (n, m)
            Rows sum to 1, or are zero.
        """
        return self.smooth(self.normalise(counts), dtype=dtype)

    def iter_densities(
        self, counts: sparse.csr_matrix, chunk: int | None = None, *, dtype: DTypeLike = np.float32
    ) -> Iterator[NDArray[Any]]:
        """Yield the densities of some studies at a time.

        Parameters
        ----------
        counts : csr_matrix (n, n_box_voxels)
            As from `bin_peaks`.
        chunk : int, optional
            Studies at a time; by default as many as fit into 16 MiB.
        dtype : dtype
            Of the result.

        Yields
        ------
        (chunk, m)
            Rows of `densities`, in order.
        """
        shares = self.normalise(counts)
        way = self._choose(shares)  # once, so that chunks do not change results
        m = self.grid.n_regions
        with worker_threads(self.n_jobs) as run:
            for rows in slices(shares.shape[0], chunk or _rows_in(CHUNK_BYTES, m, dtype)):
                out = np.empty((rows.stop - rows.start, m), dtype)
                self._smooth_into(shares[rows], way, out, run)
                yield out

    def density_columns(
        self, shares: sparse.csc_matrix, regions: slice, *, dtype: DTypeLike = np.float32
    ) -> NDArray[Any]:
        """Compute the densities of all studies in a few voxels of the brain only.

        Parameters
        ----------
        shares : csc_matrix (n, box voxels)
            ``kde.normalise(counts).tocsc()``, made once.
        regions : slice
            Consecutive voxels of the brain.
        dtype : dtype
            Of the result.

        Returns
        -------
        (n, number of voxels)
            These columns of `densities`, at the cost of the peaks that reach them.
        """
        start, stop, step = regions.indices(self.grid.n_regions)
        if step != 1:
            raise PartitionError(f"expected a slice of consecutive regions; got a step of {step}")
        out = np.zeros((shares.shape[0], max(0, stop - start)), dtype)
        self.smoother.columns(sparse.csc_matrix(self._checked(shares)), start, out)
        return out

    def _choose(self, maps: Any) -> Way:
        """Find the way of smoothing that was asked for, or the fastest."""
        if self.method == "auto":
            entries = maps.size if isinstance(maps, np.ndarray) else maps.nnz
            return self.smoother.fastest(entries / max(1, maps.shape[0]))
        if self.method not in get_args(Way):
            ways = ", ".join(("auto", *get_args(Way)))
            raise PartitionError(f"expected one of the methods {ways}; got {self.method!r}")
        return self.method

    def _smooth_into(self, maps: Any, way: Way, out: NDArray[Any], run: Run) -> None:
        """Smooth pieces of rows in threads; no piece depends on another."""
        if way == "direct" or not isinstance(maps, np.ndarray):
            maps = sparse.csr_matrix(maps)

        def smooth_piece(rows: slice) -> None:
            self.smoother.smooth(maps[rows], out[rows], way)

        run(smooth_piece, slices(len(out), _rows_in(PIECE_BYTES, self.n_box_voxels, out.dtype)))

    def _checked(self, maps: Any) -> Any:
        if maps.ndim != 2 or maps.shape[1] != self.n_box_voxels:
            raise FitError(
                f"expected rows of {self.n_box_voxels:,} box voxels, as bin_peaks makes them; "
                f"got shape {maps.shape}"
            )
        return maps


def _rows_in(n_bytes: int, length: int, dtype: DTypeLike) -> int:
    """Return the number of rows of some length that fit into some memory, at least 1."""
    return max(1, n_bytes // (length * np.dtype(dtype).itemsize))


@lru_cache(maxsize=1)
def _blas(n_modules: int) -> Any:
    """Return what limits the threads of BLAS, which takes long to find; again after an import."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def worker_threads(n_jobs: int) -> Iterator[Run]:
    """Yield a function that does some work on slices in threads, and raises their errors.

    Meanwhile matrix products start no threads of their own, which would cost more than they give.
    """
    from joblib import effective_n_jobs

    with (
        _blas(len(sys.modules)).limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool,
    ):
        yield lambda work, pieces: list(pool.map(work, pieces))


@dataclass(frozen=True, eq=False)
class Targets:
    """Estimated probability ŷ_k of each region in each study.

    On voxels, ŷ is the kernel density of the peaks in the brain. In an atlas, ŷ_k is the share of
    the study's peaks in the brain that fall in R_k, so a row sums to what the atlas covers.

    `shares` (n_studies, n_bins) are the peaks in bins, each study divided by its mass. The bins are
    the regions of an atlas, or the voxels of the kernel's box, which `density` smooths into
    regions. `study` and `region` are those of the peaks in the brain, which are scored; the region
    is −1 where an atlas leaves them uncovered.
    """

    shares: sparse.csr_matrix
    density: DensityEstimator | None
    study: NDArray[np.intp]
    region: NDArray[np.intp]

    def __len__(self) -> int:
        return int(self.shares.shape[0])

    @property
    def smooth(self) -> Callable[[Any], NDArray[np.float32]] | None:
        """The linear map from bins to regions, or None where they are the same."""
        return None if self.density is None else self.density.smooth

    @cached_property
    def has_mass(self) -> NDArray[np.bool_]:
        """Studies with something to learn from."""
        return np.diff(self.shares.indptr) > 0

    @cached_property
    def _by_column(self) -> sparse.csc_matrix:
        return self.shares.tocsc()

    def columns(self, regions: slice) -> NDArray[np.float32]:
        """Return ŷ of all studies for a slice of b regions, (n_studies, b)."""
        if self.density is None:
            return self._by_column[:, regions].toarray().astype(np.float32)
        return self.density.density_columns(self._by_column, regions)

    def rows(self, studies: slice | NDArray[np.intp]) -> NDArray[np.float32]:
        """Return ŷ of some studies for all regions, (n, m)."""
        if self.density is None:
            return self.shares[studies].toarray().astype(np.float32)
        return self.density.smooth(self.shares[studies])

    def select(self, studies: NDArray[np.intp]) -> "Targets":
        """Return the targets of some studies, in the order of their indices."""
        position = np.full(len(self), OUTSIDE)
        position[studies] = np.arange(len(studies))
        moved = position[self.study]
        kept = moved != OUTSIDE
        return Targets(self.shares[studies], self.density, moved[kept], self.region[kept])


def make_targets(
    partition: Partition,
    brain: VoxelGrid,
    xyz_mm: ArrayLike,
    studies: NDArray[np.intp],
    n_studies: int,
    *,
    bandwidth: float = 1.0,
    method: Literal["auto"] | Way = "auto",
    n_jobs: int = -1,
) -> Targets:
    """Turn the peaks of studies into targets over a partition.

    `brain` says which peaks count: the partition itself if that is a grid; an atlas should be
    restricted to it before. `xyz_mm`, `studies` and `n_studies` are as from `stack_peaks`.
    `bandwidth` (in voxels) and `method` are those of `DensityEstimator`, for grids.
    """
    study, region = place_peaks(partition, brain, xyz_mm, studies)
    if isinstance(partition, Atlas):
        counts = count_matrix(region, study, (n_studies, partition.n_regions))
        in_brain = np.bincount(study, minlength=n_studies)
        shares = sparse.csr_matrix(sparse.diags_array(1 / np.maximum(in_brain, 1)) @ counts)
        return Targets(shares, None, study, region)
    density = DensityEstimator(brain, bandwidth, method=method, n_jobs=n_jobs)
    shares = density.normalise(density.bin_peaks(xyz_mm, studies, n_studies))
    return Targets(shares, density, study, region)


def place_peaks(
    partition: Partition, brain: VoxelGrid, xyz_mm: ArrayLike, studies: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the study and the region of the peaks in the brain, those that are scored.

    The region is −1 where an atlas leaves a peak uncovered.
    """
    points = as_points(xyz_mm)
    inside = brain.region_of(points) != OUTSIDE
    return studies[inside], partition.region_of(points[inside])
