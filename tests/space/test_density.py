"""Kernel densities against the direct sum, and what must hold of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage, sparse

from neurowhere.exceptions import DataWarning, FitError, PartitionError
from neurowhere.space import DensityEstimator, VoxelGrid, stack_peaks
from neurowhere.space.density import worker_threads
from neurowhere.space.images import transform_points, voxel_index
from neurowhere.space.smoothing import runs_along_z, runs_between

METHODS = ["auto", "direct", "separable", "fft"]
FWHM_PER_SIGMA = 2.3548200450309493


def direct_sum(grid, peaks, sigmas, weights=None):
    """ŷ_k ∝ Σ_i w_i φ(k − b_i) over the voxels of the brain, one study, as it is written."""
    voxels = np.argwhere(grid.brain)
    density = np.zeros(len(voxels))
    for peak, weight in zip(peaks, np.ones(len(peaks)) if weights is None else weights):
        offset = voxels - voxel_index(grid.affine, peak)
        near = (np.abs(offset) <= 5 * np.asarray(sigmas)).all(axis=1)
        density += weight * near * np.exp(-0.5 * ((offset / sigmas) ** 2).sum(axis=1))
    return density / density.sum()


def random_peaks(grid, n, rng, margin=2):
    """Peaks in and around the image, in mm."""
    low, high = -margin, np.array(grid.shape) + margin
    return transform_points(grid.affine, rng.uniform(low, high, (n, 3)))


@pytest.fixture
def grid(mask, affine):
    return VoxelGrid(mask=(mask, affine))


@pytest.fixture
def studies(grid):
    """Peaks in and around the image, at least one of each study in the brain."""
    rng = np.random.default_rng(3)
    inside = grid.centers_mm[rng.integers(0, grid.n_regions, 5)]
    around = [random_peaks(grid, n, rng) for n in (0, 5, 2, 40, 3)]
    return [np.vstack([first, rest]) for first, rest in zip(inside, around, strict=True)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bandwidth", [0.1, 0.5, 1.0, 1.3])
def test_exact_against_the_direct_sum(grid, studies, method, bandwidth):
    kde = DensityEstimator(grid, bandwidth, method=method)
    counts = kde.bin_peaks(*stack_peaks(studies), n_studies=5)
    expected = [direct_sum(grid, peaks, [bandwidth] * 3) for peaks in studies]
    np.testing.assert_allclose(kde.densities(counts), expected, atol=1e-6)
    np.testing.assert_allclose(kde.densities(counts, dtype=np.float64), expected, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_width_in_mm_is_the_same_in_all_directions(grid, studies, method):
    sigmas = 6.0 / FWHM_PER_SIGMA / grid.voxel_sizes_mm
    kde = DensityEstimator(grid, fwhm_mm=6.0, method=method)
    np.testing.assert_allclose(kde.sigmas, sigmas)
    counts = kde.bin_peaks(*stack_peaks(studies), n_studies=5)
    expected = [direct_sum(grid, peaks, sigmas) for peaks in studies]
    np.testing.assert_allclose(kde.densities(counts), expected, atol=1e-6)


def test_weights(grid, studies):
    weights = np.random.default_rng(0).random(41)
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(studies[3], np.zeros(41, int), 1, weights)
    expected = direct_sum(grid, studies[3], [1, 1, 1], weights)
    np.testing.assert_allclose(kde.densities(counts)[0], expected, atol=1e-6)


def test_wide_kernels_stop_at_the_width_of_the_image(grid):
    kde = DensityEstimator(grid, bandwidth=50)
    assert kde.smoother.shape == (7 + 2 * 8, 8 + 2 * 9, 9 + 2 * 11)
    counts = kde.bin_peaks(grid.centers_mm[:2], [0, 1], 2)
    # From within the brain nothing is cut: nearly flat.
    np.testing.assert_allclose(kde.densities(counts) * grid.n_regions, 1, atol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_real_grid_against_scipys_filter(method):
    grid = VoxelGrid(8)
    rng = np.random.default_rng(0)
    peaks = [rng.normal(0, 30, (n, 3)).round() for n in (3, 30)]
    image = np.zeros((2, *np.add(grid.shape, 20)))
    for study, xyz_mm in enumerate(peaks):
        x, y, z = voxel_index(grid.affine, xyz_mm).T + 10
        np.add.at(image, (study, x, y, z), 1)
    smooth = [ndimage.gaussian_filter(i, 1.0, truncate=5, mode="constant") for i in image]
    expected = np.stack([s[10:-10, 10:-10, 10:-10][grid.brain] for s in smooth])
    kde = DensityEstimator(grid, method=method)
    counts = kde.bin_peaks(*stack_peaks(peaks), n_studies=2)
    np.testing.assert_allclose(kde.smooth(counts), expected, atol=1e-6)
    np.testing.assert_allclose(kde.masses(counts), expected.sum(axis=1))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(kde.densities(counts), expected, atol=1e-6)


def test_real_studies_against_the_direct_sum(data):
    table = pd.read_csv(data / "corpus" / "neuroquery_dev_coordinates.tsv.gz", sep="\t")
    peaks = [part.to_numpy() for _, part in table[:4000].groupby("id")[["x", "y", "z"]]]
    grid = VoxelGrid(4)
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(*stack_peaks(peaks), n_studies=len(peaks))
    densities = kde.densities(counts)
    np.testing.assert_allclose(densities.sum(axis=1), 1, atol=1e-5)
    for study in range(0, len(peaks), 20):
        expected = direct_sum(grid, peaks[study], [1, 1, 1])
        np.testing.assert_allclose(densities[study], expected, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    bandwidth=st.floats(0.3, 2.0),
    method=st.sampled_from(METHODS),
)
def test_mass_is_one_and_order_is_nothing(seed, sizes, bandwidth, method):
    rng = np.random.default_rng(seed)
    grid = VoxelGrid(mask=(rng.random((7, 8, 9)) < 0.5, np.diag([-2.0, 3.0, 4.0, 1.0])))
    kde = DensityEstimator(grid, bandwidth, method=method)
    peaks = [grid.centers_mm[rng.integers(0, grid.n_regions, n)] for n in sizes]
    counts = kde.bin_peaks(*stack_peaks(peaks), n_studies=len(peaks))
    if 0 in sizes:
        with pytest.warns(DataWarning, match=rf"{sizes.count(0)} of {len(sizes)} studies"):
            densities = kde.densities(counts)
    else:
        densities = kde.densities(counts)
    assert densities.min() >= 0
    np.testing.assert_allclose(densities.sum(axis=1), np.sign(sizes), atol=1e-5)

    order = rng.permutation(len(peaks))
    shuffled = [rng.permutation(peaks[i]) for i in order]
    again = kde.bin_peaks(*stack_peaks(shuffled), n_studies=len(peaks))
    shares = kde.normalise(counts) if 0 not in sizes else counts
    moved = kde.normalise(again) if 0 not in sizes else again
    np.testing.assert_allclose(kde.smooth(moved), kde.smooth(shares)[order], atol=1e-6)


def test_studies_outside_the_brain_are_zero_and_counted(grid):
    far = transform_points(grid.affine, [[900.0, 0, 0]])
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(*stack_peaks([grid.centers_mm[:1], far, []]), n_studies=3)
    assert kde.masses(counts)[1] == 0
    with pytest.warns(DataWarning, match=r"2 of 3 studies have no peak in or near the brain"):
        densities = kde.densities(counts)
    assert densities[0].sum() == pytest.approx(1)
    assert not densities[1:].any()


@pytest.mark.parametrize("method", METHODS)
def test_peaks_beside_the_brain_count_as_far_as_they_reach(method):
    brain = np.zeros((7, 8, 9))
    brain[4:, 2:6, 3:6] = 1
    grid = VoxelGrid(mask=(brain, np.eye(4)))
    kde = DensityEstimator(grid, method=method)
    peaks = [[[0, 4, 4]], [[-1, 4, 4]]]  # four and five voxels away: less and less mass
    counts = kde.bin_peaks(*stack_peaks(peaks), n_studies=2)
    assert (kde.masses(counts) > 0).all()
    expected = [direct_sum(grid, xyz_mm, [1, 1, 1]) for xyz_mm in peaks]
    np.testing.assert_allclose(kde.densities(counts), expected, atol=1e-5)


def test_threads_and_chunks_change_nothing(monkeypatch, grid, studies):
    monkeypatch.setattr("neurowhere.space.density.PIECE_BYTES", 1)  # one row a piece
    peaks = studies * 7
    counts = DensityEstimator(grid).bin_peaks(*stack_peaks(peaks), n_studies=35)
    one = DensityEstimator(grid, n_jobs=1)
    many = DensityEstimator(grid, n_jobs=5)
    expected = one.densities(counts)
    np.testing.assert_array_equal(many.densities(counts), expected)
    for chunk in (1, 4, 35, None):
        chunks = list(many.iter_densities(counts, chunk))
        np.testing.assert_array_equal(np.concatenate(chunks), expected)
        assert {len(c) for c in chunks[:-1]} <= {chunk}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_in_threads_are_raised(n_jobs):
    def work(piece):
        raise ValueError(piece.start)

    with worker_threads(n_jobs) as run, pytest.raises(ValueError, match="0"):
        run(work, [slice(0, 1), slice(1, 2)])


@pytest.mark.parametrize("method", METHODS)
def test_smoothing_is_linear_on_any_maps(grid, method):
    rng = np.random.default_rng(0)
    kde = DensityEstimator(grid, 0.7, method=method)
    a, b = rng.normal(size=(2, 3, kde.n_box_voxels))
    combined = 2 * kde.smooth(a, dtype=np.float64) - kde.smooth(b, dtype=np.float64)
    np.testing.assert_allclose(kde.smooth(2 * a - b, dtype=np.float64), combined, atol=1e-12)
    scattered = sparse.csr_matrix(np.where(rng.random(a.shape) < 0.01, a, 0))
    for form in (scattered, scattered.tocsc(), scattered.toarray()):
        by_axis = DensityEstimator(grid, 0.7, method="separable").smooth(form)
        np.testing.assert_allclose(kde.smooth(form), by_axis, atol=1e-6)


def test_smoothing_commutes_with_regression(grid, studies):
    """Coefficients of counts, smoothed, are the coefficients of densities."""
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(*stack_peaks(studies), n_studies=5)
    design = np.random.default_rng(0).normal(size=(5, 2))
    of_counts = np.linalg.lstsq(design, kde.normalise(counts).toarray())[0]
    of_densities = np.linalg.lstsq(design, kde.densities(counts, dtype=np.float64))[0]
    np.testing.assert_allclose(kde.smooth(of_counts, dtype=np.float64), of_densities, atol=1e-12)


@pytest.mark.parametrize("columns", [slice(0, 1), slice(3, 40), slice(-5, None), slice(None)])
def test_columns_are_those_of_the_densities(grid, studies, columns):
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(*stack_peaks(studies), n_studies=5)
    shares = kde.normalise(counts).tocsc()
    expected = kde.densities(counts)[:, columns]
    np.testing.assert_allclose(kde.density_columns(shares, columns), expected, atol=1e-7)


def test_blocks_of_columns_of_a_real_grid():
    grid = VoxelGrid(8)
    rng = np.random.default_rng(0)
    kde = DensityEstimator(grid, 1.5)
    counts = kde.bin_peaks(rng.normal(0, 30, (300, 3)), rng.integers(0, 20, 300), 20)
    shares = kde.normalise(counts).tocsc()
    starts = range(0, grid.n_regions, 100)
    blocks = [kde.density_columns(shares, slice(start, start + 100)) for start in starts]
    np.testing.assert_allclose(np.hstack(blocks), kde.densities(counts), atol=1e-7)


def test_runs_tell_the_brain(mask):
    brain = mask > 0
    runs, line_runs = runs_along_z(brain)
    again = np.zeros_like(brain)
    for x, y, start, stop, region in runs:
        assert region == np.count_nonzero(again)  # in the order of regions
        again[x, y, start:stop] = True
    np.testing.assert_array_equal(again, brain)
    lengths = np.diff(line_runs)
    np.testing.assert_array_equal(
        np.repeat(np.arange(len(lengths)), lengths), runs[:, :2] @ [10, 1]
    )
    cut = runs_between(runs, 5, 50)
    assert (cut[:, 3] - cut[:, 2]).sum() == 45
    assert cut[0, 4] == 5


def test_bandwidths_that_cannot_be(grid):
    for bad in (0, -1.0, np.nan, np.inf):
        with pytest.raises(PartitionError, match="above zero"):
            DensityEstimator(grid, bad).sigmas  # noqa: B018
        with pytest.raises(PartitionError, match="above zero"):
            DensityEstimator(grid, fwhm_mm=bad).sigmas  # noqa: B018
    kde = DensityEstimator(grid, method="magic")
    maps = np.ones((1, kde.n_box_voxels))
    with pytest.raises(PartitionError, match="auto, direct, separable, fft; got 'magic'"):
        kde.smooth(maps)
    sheared = np.eye(4)
    sheared[0, 1] = 0.5
    tilted = VoxelGrid(mask=(np.ones((3, 3, 3)), sheared))
    with pytest.raises(PartitionError, match="orthogonal"):
        DensityEstimator(tilted, fwhm_mm=3).sigmas  # noqa: B018
    assert DensityEstimator(tilted, 1).n_box_voxels == 7**3


def test_counts_of_another_grid_are_refused(grid):
    kde = DensityEstimator(grid)
    with pytest.raises(FitError, match=r"box voxels, as bin_peaks makes them; got shape \(2, 9\)"):
        kde.densities(sparse.csr_matrix((2, 9)))
    with pytest.raises(PartitionError, match="consecutive"):
        kde.density_columns(sparse.csc_matrix((2, kde.n_box_voxels)), slice(0, 10, 2))


def test_no_studies(grid):
    kde = DensityEstimator(grid)
    counts = kde.bin_peaks(*stack_peaks([]), n_studies=0)
    assert kde.densities(counts).shape == (0, grid.n_regions)
    assert list(kde.iter_densities(counts)) == []
