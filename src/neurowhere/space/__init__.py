"""Partitions of the brain, densities over them, and their geometry."""

from neurowhere.space.atlas import Atlas, default_atlas, partition_from_arrays
from neurowhere.space.density import DensityEstimator, Targets, make_targets, place_peaks
from neurowhere.space.geometry import fold, move_to_sides, overlap_mm3, strongest_regions
from neurowhere.space.partition import Partition, VoxelGrid, stack_peaks

__all__ = [
    "Atlas",
    "DensityEstimator",
    "Partition",
    "Targets",
    "VoxelGrid",
    "default_atlas",
    "fold",
    "make_targets",
    "move_to_sides",
    "overlap_mm3",
    "partition_from_arrays",
    "place_peaks",
    "stack_peaks",
    "strongest_regions",
]
