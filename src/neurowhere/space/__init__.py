"""Partitions of the brain and densities over them."""

from neurowhere.space.aal3 import default_atlas
from neurowhere.space.atlas import Atlas
from neurowhere.space.density import DensityEstimator
from neurowhere.space.grid import VoxelGrid
from neurowhere.space.partition import Partition, stack_peaks
from neurowhere.space.stored import partition_from_arrays
from neurowhere.space.targets import Targets, make_targets, place_peaks

__all__ = [
    "Atlas",
    "DensityEstimator",
    "Partition",
    "Targets",
    "VoxelGrid",
    "default_atlas",
    "make_targets",
    "partition_from_arrays",
    "place_peaks",
    "stack_peaks",
]
