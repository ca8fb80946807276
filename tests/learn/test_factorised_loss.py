"""The supplement's factorised loss: ∫ δ(p̂ − q) dz = Σ_k v_k δ(ŷ_k/v_k − q_k/v_k)."""

import numpy as np
import pytest

from neurowhere.space import Atlas


@pytest.mark.parametrize("distance", [np.abs, np.square], ids=["l1", "l2"])
def test_equals_direct_integration_over_a_fine_grid(distance):
    rng = np.random.default_rng(0)
    affine = np.array([[2.0, 0, 0, -5], [0, -3, 0, 4], [0, 0, 1, 2], [0, 0, 0, 1]])
    atlas = Atlas((rng.choice([0, 3, 7, 200], size=(7, 8, 9)), affine))
    volumes = atlas.volumes_mm3
    observed, predicted = rng.dirichlet(np.ones(3), size=2)
    factorised = np.sum(volumes * distance(observed / volumes - predicted / volumes))

    # Midpoints of cells of half a voxel, over a box that holds the whole image.
    steps = [np.arange(-1, n + 1, 0.5) - 0.25 for n in (7, 8, 9)]
    voxels = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    points_mm = voxels @ affine[:3, :3].T + affine[:3, 3]
    region = atlas.region_of(points_mm)
    density = [np.append(y / volumes, 0.0)[region] for y in (observed, predicted)]
    cell_mm3 = 2 * 3 * 1 / 8
    assert np.sum(distance(density[0] - density[1])) * cell_mm3 == pytest.approx(factorised)
    # Total variation is half of the ℓ1 distance.
    if distance is np.abs:
        assert factorised / 2 == pytest.approx(np.maximum(observed - predicted, 0).sum())
