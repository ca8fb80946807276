"""ℓ1 on a slice of real data, against scikit-learn's LinearSVR."""

import warnings

import numpy as np
import pytest
from sklearn.svm import LinearSVR

from neurowhere.corpus import read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.learn import Design, collect, l1_blocks
from neurowhere.space import VoxelGrid, make_targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

TERMS = ["amygdala", "hippocampus", "insula", "thalamus", "precuneus", "cerebellum", "putamen"]


@pytest.fixture(scope="module")
def real_slice(data):
    """Features of 1,500 studies and their densities, times m, in the amygdala."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        corpus = read_corpus(data / "corpus", format="neuroquery")
    corpus = corpus.select(np.flatnonzero(corpus.n_peaks)[:1500])
    counts = TermExtractor(Vocabulary(TERMS)).counts(corpus)
    grid = VoxelGrid()
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(grid, grid, xyz_mm, corpus.peak_rows, len(corpus))
    region = int(grid.region_of([[-22, -4, -18]])[0])
    y = targets.columns(slice(region, region + 1)) * grid.n_regions
    return TfIdf().fit_transform(counts), y


@pytest.mark.parametrize("lam", [3.0, 0.3])
def test_agrees_with_linear_svr(real_slice, lam):
    X, y = real_slice
    design = Design(X, centre=False)
    options = {"tolerance": 1e-6, "max_iterations": 20_000}
    ours = collect(l1_blocks(design, lambda _: y, 1, [lam], **options), 1)
    y = y[:, 0] - y.mean()
    svr = LinearSVR(
        epsilon=0,
        loss="epsilon_insensitive",
        fit_intercept=False,
        C=1 / (2 * lam),
        tol=1e-6,
        max_iter=1_000_000,
    ).fit(X, y)
    beta = svr.coef_
    theirs = np.abs(y - X @ beta).sum() + lam * beta @ beta
    assert ours.certificate.relative_gap <= 1e-6
    assert theirs >= ours.certificate.dual
    assert ours.certificate.primal == pytest.approx(theirs, rel=1e-4)
    np.testing.assert_allclose(ours.coefficients[:, 0], beta, atol=0.02 * np.abs(beta).max())
