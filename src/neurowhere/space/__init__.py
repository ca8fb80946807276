"""Partitions of the brain and densities over them."""
