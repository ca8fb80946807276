"""Partitions from stored arrays: what a saved model keeps of its partition."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from neurowhere.exceptions import PartitionError
from neurowhere.space.atlas import Atlas
from neurowhere.space.grid import VoxelGrid
from neurowhere.space.partition import Partition


def partition_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Partition:
    """Make the partition whose `to_arrays` gave these arrays.

    >>> import numpy as np
    >>> grid = VoxelGrid(mask=(np.ones((2, 3, 4)), np.eye(4)))
    >>> partition_from_arrays(grid.to_arrays()) == grid
    True
    """
    if "mask" in arrays:
        return VoxelGrid.from_arrays(arrays)
    if "regions" in arrays:
        return Atlas.from_arrays(arrays)
    raise PartitionError(
        f"expected the arrays of a grid (mask) or an atlas (regions); got {', '.join(arrays)}"
    )
