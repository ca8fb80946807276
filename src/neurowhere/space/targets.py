"""Targets: the peaks of studies as probabilities of regions, to learn from and to score against."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere.space.atlas import Atlas
from neurowhere.space.density import DensityEstimator
from neurowhere.space.grid import VoxelGrid
from neurowhere.space.partition import OUTSIDE, Partition, as_points, count_matrix
from neurowhere.space.smoothing import Way


@dataclass(frozen=True, eq=False)
class Targets:
    """Estimated probability ŷ_k of each region in each study.

    On voxels, ŷ is the kernel density of the peaks in the brain. In an atlas, ŷ_k is the share of
    the study's peaks in the brain that fall in R_k, so a row sums to what the atlas covers.

    Attributes
    ----------
    shares : csr_matrix of shape (n_studies, n_bins)
        Peaks in bins, each study divided by its mass. The bins are the voxels of the kernel's box,
        or the regions of an atlas.
    density : DensityEstimator, or None
        Smooths bins into regions; None where bins are regions.
    study, region : arrays of shape (n_peaks,)
        Study and region of the peaks that are in the brain; region −1 where an atlas leaves it
        uncovered. These are the peaks that are scored.
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
        """Return ŷ of all studies for some regions.

        Parameters
        ----------
        regions : slice
            b consecutive regions.

        Returns
        -------
        (n_studies, b)
        """
        if self.density is None:
            return self._by_column[:, regions].toarray().astype(np.float32)
        return self.density.density_columns(self._by_column, regions)

    def rows(self, studies: slice | NDArray[np.intp]) -> NDArray[np.float32]:
        """Return ŷ of some studies for all regions.

        Parameters
        ----------
        studies : slice or (n,) array of int

        Returns
        -------
        (n, m)
        """
        if self.density is None:
            return self.shares[studies].toarray().astype(np.float32)
        return self.density.smooth(self.shares[studies])

    def select(self, studies: NDArray[np.intp]) -> "Targets":
        """Return the targets of some studies.

        Parameters
        ----------
        studies : (n,)
            Indices of studies.

        Returns
        -------
        Targets
            In that order.
        """
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

    Parameters
    ----------
    partition : VoxelGrid or Atlas
        An atlas should be restricted to `brain` before.
    brain : VoxelGrid
        Says which peaks count; the partition itself where that is a grid.
    xyz_mm, studies, n_studies
        As from `stack_peaks`.
    bandwidth : float
        Standard deviation of the kernel in voxels; only for grids.
    method : {"auto", "direct", "separable", "fft"}
        How to smooth, as in `DensityEstimator`.
    n_jobs : int
        Number of threads, −1 for all cores.

    Returns
    -------
    Targets
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
    """Find the study and the region of the peaks in the brain, those that are scored.

    Parameters
    ----------
    partition : VoxelGrid or Atlas
    brain : VoxelGrid
        Says which peaks count.
    xyz_mm : (n_peaks, 3)
    studies : (n_peaks,)
        Study of each peak.

    Returns
    -------
    study, region : (n_peaks in the brain,)
        The region is −1 where an atlas leaves a peak uncovered.
    """
    points = as_points(xyz_mm)
    inside = brain.region_of(points) != OUTSIDE
    return studies[inside], partition.region_of(points[inside])
