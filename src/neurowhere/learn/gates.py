"""Gates: how far a text is a few words, or a whole article, by the number of terms in it.

With n the number of distinct known terms of a text,

    g = n₀ / (n₀ + n),        h = n⁴ / (n⁴ + N⁴),        s = 1 − σ_g g + σ_h h.

The short gate g is 1 for a text without a known term, and closes as terms add up. The long gate h
opens where a text is longer than an abstract. The sharpness s multiplies the whole exponent: a few
words say less than they seem to, and an article says more.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

N_SHORT, N_LONG, POWER = 5.0, 80.0, 4  # terms that halve the one gate, and open half the other
LESS_SHORT, MORE_LONG = 0.3, 0.3  # of the sharpness


class Opening(NamedTuple):
    """The gates of some texts: arrays of shape (n_texts,)."""

    short: Float32
    long: Float32

    @property
    def sharpness(self) -> Float32:
        """Return s of each text."""
        sharpness = 1 - LESS_SHORT * self.short + MORE_LONG * self.long
        return sharpness.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Gates:
    """Which terms are known ones, and which are extra words that only help short texts.

    Attributes
    ----------
    is_extra : array of shape (n_terms,)
        Whether each term is an extra word, which does not count as a known term.

    Examples
    --------
    >>> gates = Gates(np.array([False, False, True]))
    >>> short, long = gates.of(sp.csr_matrix([[1, 1, 1], [0, 0, 2]]))
    >>> short.round(3), long.round(3)
    (array([0.714, 1.   ], dtype=float32), array([0., 0.], dtype=float32))
    """

    is_extra: NDArray[np.bool_]

    def of(self, X: sp.csr_matrix) -> Opening:
        """Return the gates of texts, given their features or counts."""
        known = np.append(0, np.cumsum(~self.is_extra[X.indices] & (X.data != 0)))
        n = np.diff(known[X.indptr]).astype(np.float64)
        short = N_SHORT / (N_SHORT + n)
        long = n**POWER / (n**POWER + N_LONG**POWER)
        return Opening(short.astype(np.float32), long.astype(np.float32))
