r"""Lateral shifts: what it adds to a map that a text puts structures on one side.

The term t of a structure adds a map e_t to the exponent (or, in a linear model, to the
probabilities). With q̄ the mean map, ê_t = e_t − log Σ_k q̄_k exp(e_tk) is how far the term alone
raises the log probability of each region, and a_t = max(ê_t, 0) is where it does; in a linear
model a_t = max(e_t, 0). Let d_t be the share of the term's mentions on the left minus that on the
right, and s = 1 in the left hemisphere, −1 in the right one. The sides add

    s ∘ b ∘ Σ_t h_t,    b = Σ_t d_t a_t² / Σ_t a_t²,    h_t = a_t √(a_t / max a_t).

The sum of h is over the terms that have a side; b is over all structures, so that each place
follows the side of the structures that point to it: "left motor cortex and right cerebellum" moves
each of the two, and what is named on both sides, or on none, stays where it is. Where a term
points most clearly, its side doubles what it adds, and takes it from the mirror image. The share
of term t is s ∘ (d_t a_t² / Σ_u a_u²) ∘ Σ_u h_u, so that the sum over terms stays exact.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Floats = NDArray[np.floating]

TINY = 1e-12  # of a sum that may be zero


def lateral_shifts(
    blocks: Iterable[Float32], balance: Floats, sides: Floats, mean_map: Floats | None = None
) -> Float32:
    """Return what the sides of structures add to the map of a text, term by term.

    Parameters
    ----------
    blocks : iterable of arrays of shape (n, m)
        What the term of each structure adds, e: blocks of all n_terms rows, in order. Rows of one
        block at a time are in memory, and those of terms that have a side.
    balance : array of shape (n_terms,)
        d, between −1 (right) and 1 (left); 0 for both sides or none.
    sides : array of shape (m,)
        s: 1 on the left, −1 on the right, between them for a region across.
    mean_map : array of shape (m,), optional
        q̄, for maps of log probability. Without it, maps are of probability.

    Returns
    -------
    array of shape (n_sided, m)
        Of the terms whose balance is not 0; others add nothing.

    Examples
    --------
    >>> maps = np.array([[0.4, 0.4, 0.1, -0.2]], np.float32)  # left, right, left, right
    >>> lateral_shifts([maps], np.array([1.0]), np.array([1, -1, 1, -1])).round(2)
    array([[ 0.4 , -0.4 ,  0.05, -0.  ]], dtype=float32)
    """
    is_sided = balance != 0
    total = np.zeros(len(sides), np.float32)  # Σ a²
    kept, first = [], 0
    for maps in blocks:
        raised = np.maximum(maps if mean_map is None else maps - _log_means(maps, mean_map), 0)  # a
        for row in raised:
            total += row * row
        kept.append(raised[is_sided[first : first + len(raised)]])
        first += len(raised)
    shifts = np.concatenate(kept)
    heights = (sides * _heights(shifts)).astype(np.float32)
    np.maximum(total, TINY, out=total)
    for row, share in zip(shifts, balance[is_sided].astype(np.float32), strict=True):
        row *= row
        row *= share
        row /= total
        row *= heights
    return shifts


def _heights(raised: Float32) -> Float32:
    """Return Σ h: (m,)."""
    heights = np.zeros(raised.shape[1], np.float32)
    for row in raised:
        heights += row * np.sqrt(row / max(row.max(), np.float32(TINY)))
    return heights


def _log_means(maps: Float32, mean_map: Floats) -> Float32:
    """Return log Σ_k q̄_k exp(e_k) for each map: (n_terms, 1)."""
    highest = maps.max(axis=1, keepdims=True)
    means: Float32 = np.log(np.exp(maps - highest) @ mean_map.astype(np.float32))[:, None] + highest
    return means
