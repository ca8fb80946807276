"""Blend: a ridge regression that is mixed into the exponent of a log-linear model.

A log-linear model multiplies what terms say, a ridge adds it up; long texts gain from both. With
x the features of a text, loadings U (d, r) and components S (r, m), and the mean map q̄, the map of
the ridge is

    K = max(q̄ + xᵀU S, 0) / Σ_k max(q̄_k + xᵀU S_k, 0),        L = log((ρ q̄ + (1 − ρ) K) / q̄)

and the exponent e of the log-linear model becomes

    (u + (v − u) g) e + c γ L,        γ = (1 − g)^{3/2},

with g the gate of short texts, so that a few words are left to the log-linear model, sharpened.

**What each term adds** to L is exact. Let θ_k be 1, or −q̄_k / xᵀU S_k where that cuts the map at 0,
and Z the sum that K is divided by. Then K − q̄ is a sum over the terms t of the text,

    K_k − q̄_k = Σ_t κ_tk,        κ_tk = (θ_k d_tk − q̄_k Σ_j θ_j d_tj) / Z,        d_t = x_t U_t S.

With y = (1 − ρ)(K/q̄ − 1) the log ratio is L = log(1 + y), so that term t adds

    κ_tk · (1 − ρ) / q̄_k · log(1 + y_k) / y_k.

This is the integral of what the term does along the straight line from the mean map to the mixture.
All factors are finite and positive: no term is divided by a sum in which others cancel it.

**The fit.** Studies are shown as views v of weight w_v: their whole text, their title, their
keywords. β = (XᵀWX + λI)⁻¹ XᵀW(Y − ȳ) is computed on a coarse grid. U are the loadings of the r
dimensions of XβS that are the strongest, and S is fitted again to the densities of the fine grid by
least squares. S is multiplied by the factor `SHARPER`, since penalties shrink maps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices

Floats = NDArray[np.floating]
Float32 = NDArray[np.float32]
TargetRows = Callable[[NDArray[np.intp]], Float32]

STRENGTH, KEPT = 0.3, 0.8  # c; u
ALONE = 1.2  # v: a few words are shrunk less
REST = 0.2  # ρ
SHARPER = 2.5
PENALTY, RANK = 30.0, 96  # λ; r
LEAST_PENALTY = 1e-3  # of the least squares of S, as a share of the square of each dimension
MORE_DIMENSIONS, PASSES = 32, 4  # of the search for the strongest dimensions
CHUNK = 8  # texts whose maps stay in cache
STUDIES_AT_ONCE = 500


class Split(NamedTuple):
    """What shares L out among the terms of one text: arrays of shape (m,).

    Term t adds factors · (cut · d_t − q̄ Σ cut · d_t) to the exponent.
    """

    cut: Floats  # θ
    factors: Floats


@dataclass(frozen=True, eq=False)
class Blend:
    """A ridge of low rank, and how far it is mixed into the exponent.

    Attributes
    ----------
    loadings : array of shape (d, r)
        U.
    components : array of shape (r, m)
        S, times how much it is sharpened.
    strength, kept : float
        c and u.
    """

    loadings: Float32
    components: Float32
    strength: float = STRENGTH
    kept: float = KEPT

    def gate(self, short: Float32) -> Float32:
        """Return γ of texts, given the gate of short ones: (n,)."""
        gate: Float32 = (1 - short) ** np.float32(1.5)
        return gate

    def keeps(self, short: Float32) -> Float32:
        """Return the factor on the exponent of the log-linear model: (n,)."""
        kept: Float32 = self.kept + np.float32(ALONE - self.kept) * short
        return kept

    def mix(self, exponent: Float32, X: sp.csr_matrix, short: Float32, mean_map: Floats) -> None:
        """Mix the ridge into the exponents of texts, in place.

        Parameters
        ----------
        exponent : array of shape (n, m)
            Without the log of the mean map.
        X : csr_matrix of shape (n, d)
        short : array of shape (n,)
            The gate g of each text.
        mean_map : array of shape (m,)
            Nowhere zero.
        """
        logs, keeps = self.log_ratios(X, short, mean_map), self.keeps(short)[:, None]
        for few in slices(len(logs), CHUNK):
            exponent[few] *= keeps[few]
            exponent[few] += logs[few]

    def log_ratios(self, X: sp.csr_matrix, short: Float32, mean_map: Floats) -> Float32:
        """Return c γ L of texts: (n, m)."""
        strengths = np.float32(self.strength) * self.gate(short)
        logs: Float32 = np.asarray(X @ self.loadings, dtype=np.float32) @ self.components
        for few in slices(len(logs), CHUNK):
            ratios = logs[few]
            ratios /= mean_map
            ratios += 1
            ratios += np.abs(ratios)  # twice the positive part, in half the time of a maximum
            ratios *= (np.float32(1 - REST) / (ratios @ mean_map))[:, None]
            ratios += np.float32(REST)
            np.log(ratios, out=ratios)
            ratios *= strengths[few, None]
        return logs

    def added(self, x: sp.csr_matrix, short: Float32, mean_map: Floats) -> Floats:
        """Return what each term of one text adds to the exponent through the ridge: (k, m)."""
        split = self._split(x, short, mean_map)
        each = self._hidden(x) @ self.components.astype(np.float64)  # d_t
        each *= split.cut
        each -= each.sum(axis=1, keepdims=True) * mean_map
        each *= split.factors
        return each

    def mean_added(
        self, x: sp.csr_matrix, short: Float32, mean_map: Floats, weights: Floats
    ) -> Floats:
        """Average over regions what each term of one text adds, with weights: (k,).

        For several weights, (m, n), they are (k, n).
        """
        split = self._split(x, short, mean_map)
        heights = weights.T * split.factors  # (m,) or (n, m), in the order of memory
        heights -= (heights @ mean_map)[..., None]
        heights *= split.cut
        added: Floats = self._hidden(x) @ (self.components @ heights.astype(np.float32).T)
        return added

    def _hidden(self, x: sp.csr_matrix) -> Floats:
        """Return x_t U_t of the terms of one text: (k, r)."""
        hidden: Floats = x.data[:, None] * self.loadings[x.indices].astype(np.float64)
        return hidden

    def _split(self, x: sp.csr_matrix, short: Float32, mean_map: Floats) -> Split:
        """Return what shares L out among the terms of a text; that of the last text is kept."""
        last: tuple[sp.csr_matrix, Split] | None = self.__dict__.get("_last")
        if last is not None and last[0] is x:
            return last[1]
        split = self._share_out(x, short, mean_map)
        self.__dict__["_last"] = x, split
        return split

    def _share_out(self, x: sp.csr_matrix, short: Float32, mean_map: Floats) -> Split:
        mean = mean_map.astype(np.float64)
        hidden = self._hidden(x).sum(axis=0).astype(np.float32)
        moved = (hidden @ self.components) / mean
        cut = np.where(moved < -1, -1 / np.minimum(moved, -1), 1.0)
        raised = np.maximum(moved + 1, 0)
        total = float(raised @ mean)
        y = (1 - REST) * (raised / total - 1)
        slope = np.divide(np.log1p(y), y, out=np.ones_like(y), where=y != 0)
        strength = self.strength * float(self.gate(short)[0])
        return Split(cut, strength * (1 - REST) / total * slope / mean)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        return {
            "blend_loadings": self.loadings,
            "blend_components": self.components,
            "blend_strength": np.array(self.strength),
            "blend_kept": np.array(self.kept),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Blend":
        """Rebuild a blend from what `to_arrays` gave."""
        return cls(
            arrays["blend_loadings"],
            arrays["blend_components"],
            float(arrays["blend_strength"]),
            float(arrays["blend_kept"]),
        )


@dataclass(frozen=True, eq=False)
class ShownStudies:
    """Studies as several views each.

    Attributes
    ----------
    views : list of csr_matrix of shape (n_studies, d)
        Features of each view.
    view_weights : list of float
        Weight of each view.
    importance : array of shape (n_studies,)
        Weight of each study.
    coarse, fine : callable
        Densities of some studies on a coarse grid and on the grid of the model: (b, m).
    """

    views: list[sp.csr_matrix]
    view_weights: list[float]
    importance: Floats
    coarse: TargetRows
    fine: TargetRows

    @property
    def gram(self) -> Float32:
        """XᵀWX: (d, d)."""
        n_terms = self.views[0].shape[1]
        gram = np.zeros((n_terms, n_terms), np.float32)
        for weight, X in zip(self.view_weights, self.views, strict=True):
            gram += (X.T @ sp.diags_array(weight * self.importance) @ X).toarray()
        return gram

    @property
    def rows(self) -> sp.csr_matrix:
        """WX, summed over the views of each study: (n_studies, d)."""
        total = self.view_weights[0] * self.views[0]
        for weight, X in zip(self.view_weights[1:], self.views[1:], strict=True):
            total = total + weight * X
        return sp.csr_matrix(sp.diags_array(self.importance) @ total, dtype=np.float32)


def fit_blend(
    studies: ShownStudies, *, penalty: float = PENALTY, rank: int = RANK, seed: int = 0
) -> Blend:
    """Fit a ridge to studies, and keep its strongest dimensions.

    Parameters
    ----------
    studies : ShownStudies
    penalty : float
        λ.
    rank : int
        Number of dimensions to keep.
    seed : int
        Seed of the search for them.

    Returns
    -------
    Blend
    """
    from scipy.linalg import cho_factor, cho_solve  # only a fit needs it

    gram, rows = studies.gram, studies.rows
    penalised = gram.copy()
    penalised[np.diag_indices_from(penalised)] += np.float32(penalty)
    factor = cho_factor(penalised, lower=True, overwrite_a=True)
    coefficients = cho_solve(factor, _moved(rows, studies.coarse), overwrite_b=True)  # β
    loadings = coefficients @ _strongest(gram, coefficients, rank, seed)
    normal = (loadings.T @ (gram @ loadings)).astype(np.float64)
    normal[np.diag_indices_from(normal)] *= 1 + LEAST_PENALTY
    hidden = np.asarray(rows @ loadings)
    components = SHARPER * np.linalg.solve(normal, _moved(hidden, studies.fine))
    norms = np.linalg.norm(components, axis=1, keepdims=True)
    return Blend(
        np.ascontiguousarray(loadings * norms.T, np.float32),
        np.ascontiguousarray(components / norms, np.float32),
    )


def _moved(rows: sp.csr_matrix | Float32, targets: TargetRows) -> Float32:
    """Return rowsᵀ(Y − ȳ): (k, m)."""
    n = rows.shape[0]
    moved = mean = np.zeros(1, np.float32)
    for some in slices(n, STUDIES_AT_ONCE):
        Y = targets(np.arange(n)[some])
        moved = moved + np.asarray(rows[some].T @ Y)
        mean = mean + Y.sum(axis=0)
    total = np.asarray(rows.sum(axis=0)).ravel()
    result: Float32 = moved - np.outer(total, mean / n).astype(np.float32)
    return result


def _strongest(gram: Float32, coefficients: Float32, rank: int, seed: int) -> Float32:
    """Return the strongest right singular vectors of W^½ X β: (m, r), by subspace iteration."""
    size = min(rank + MORE_DIMENSIONS, *coefficients.shape)
    basis = np.random.default_rng(seed).normal(size=(coefficients.shape[1], size))
    basis = basis.astype(np.float32)
    for _ in range(PASSES):
        basis, _ = np.linalg.qr(coefficients.T @ (gram @ (coefficients @ basis)))
    inner = coefficients @ basis
    _, vectors = np.linalg.eigh(inner.T @ (gram @ inner))
    strongest: Float32 = basis @ vectors[:, ::-1][:, :rank]
    return strongest
