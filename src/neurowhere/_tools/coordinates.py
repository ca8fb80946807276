"""Points in stereotactic space: millimetres, voxels, and Talairach to MNI.

Coordinates are arrays of shape (n, 3), in millimetres unless a name says otherwise.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["MNI_TO_TALAIRACH", "talairach_to_mni", "transform_points", "voxel_index"]

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


def transform_points(affine: NDArray[np.floating], points: ArrayLike) -> NDArray[np.float64]:
    """Apply a (4, 4) affine to points of shape (n, 3)."""
    xyz = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    moved: NDArray[np.float64] = xyz @ affine[:3, :3].T + affine[:3, 3]
    return moved


def talairach_to_mni(points_mm: ArrayLike) -> NDArray[np.float64]:
    """Convert Talairach coordinates to MNI by the inverse of Lancaster's transform.

    >>> talairach_to_mni([[-1.0423, -1.394, 3.6475]]).round(6) + 0.0
    array([[0., 0., 0.]])
    """
    return transform_points(np.linalg.inv(MNI_TO_TALAIRACH), points_mm)


def voxel_index(affine: NDArray[np.floating], points_mm: ArrayLike) -> NDArray[np.int64]:
    """Return the index of the voxel whose cell contains each point; it may lie outside the image.

    The affine gives voxel centres, so voxel i spans [i − ½, i + ½) and its index is
    floor(x + ½). Rounding half to even instead would send every tie, two thirds of the
    integer peaks on a 4-mm grid, to an even voxel.

    >>> voxel_index(np.diag([4.0, 4.0, 4.0, 1.0]), [[2, 6, -2], [1.9, 5.9, -2.1]])
    array([[ 1,  2,  0],
           [ 0,  1, -1]])
    """
    voxels = transform_points(np.linalg.inv(affine), points_mm)
    # An inverse affine misplaces exact ties by a few ulp; a nanovoxel puts them back.
    return np.floor(voxels + (0.5 + 1e-9)).astype(np.int64)
