"""Contrast: where a group of documents differs from all others, as maps, intervals and tables."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from neurowhere.contrast.shard import Sums
from neurowhere.exceptions import PartitionError
from neurowhere.space import Atlas, Partition, VoxelGrid
from neurowhere.space.geometry import overlap_mm3

__all__ = [
    "FALSE_DISCOVERY_RATE",
    "LEVEL",
    "Contrast",
    "Null",
    "permutation_null",
    "ratio_bounds",
    "upper_tail",
]

Array = NDArray[np.floating]

FALSE_DISCOVERY_RATE = 0.05

LEVEL = 0.95
PRIOR_DOCUMENTS = 20  # whose spread is that of all documents, added to those of a group
MIN_FOR_INTERVAL = 2  # documents: with one, every replicate is the same
ROUNDING = 1e-9  # a variance smaller than this share of the mean square is none
ALMOST_SYMMETRIC = 1e-4  # a gamma of less skewness is a normal distribution to eight digits
NO_SKEWNESS = 1e-6
MOST_SKEWNESS = 0.4  # of a mean: near 0.5 the transformation is vertical, and bounds are erratic


@dataclass(frozen=True, eq=False)
class Null:
    """How far a contrast is from what chance would do, in each region.

    Attributes
    ----------
    z : array of shape (m,)
        (T − E T) / √Var T.
    p_values : array of shape (m,)
        Two-sided.
    q_values : array of shape (m,)
        p-values adjusted to control the false-discovery rate (Benjamini and Hochberg).
    """

    z: Array
    p_values: Array
    q_values: Array


@dataclass(frozen=True, eq=False, repr=False)
class Contrast:
    """The mean encoding of a group of documents beside that of all, or of a second group.

    Attributes
    ----------
    group, against : str
        What the documents have in common; `against` is "" for all documents.
    partition : Partition
    brain : VoxelGrid
        Its volume V is that of the uniform density.
    probabilities, reference : arrays of shape (m,)
        Mean probability of each region, over the group and over what it is contrasted with.
    group_replicates, reference_replicates : arrays of shape (B, m)
        The same, in each replicate of the bootstrap over documents.
    sizes : two floats
        Numbers of documents of the group and of the reference; of weighted ones (Σ w)² / Σ w².
    null : Null
        z, p-values and q-values of each region against random groups of documents.
    documents : DataFrame
        Documents of the group or groups: group, id, title, mentions, weight, and what else the
        source says. The most mentions first.
    terms : DataFrame
        Terms that carry the contrast. term; share of the documents that have it, in the group and
        in the reference: share, share_reference; moves, the probability that it moves from one
        place to another; x, y, z of the region that it raises most, in mm. The strongest first.
    kinds : DataFrame
        How the documents of the group differ in kind from those of the reference, see
        `compare_kinds`; with matched controls also how they did before, as difference_before.
    about : dict
        Numbers of documents, seed, sources, problems, terms that were left out.
    """

    group: str
    against: str
    partition: Partition
    brain: VoxelGrid
    probabilities: Array
    reference: Array
    group_replicates: Array
    reference_replicates: Array
    sizes: tuple[float, float]
    null: Null
    documents: pd.DataFrame
    terms: pd.DataFrame
    kinds: pd.DataFrame
    about: dict[str, Any]

    @cached_property
    def density(self) -> Array:
        """Mean density of the group in each region, in mm⁻³: (m,)."""
        return self.probabilities / self.partition.volumes_mm3

    @cached_property
    def log_ratio(self) -> Array:
        """log(½/V + ½ q̄) − log(½/V + ½ q̄₀) in each region: (m,)."""
        return self._log_ratio(self.probabilities, self.reference)

    @cached_property
    def interval(self) -> tuple[Array, Array]:
        """Bounds of the interval (95 %) of the log ratio, two arrays of shape (m,)."""
        uniform = self.partition.volumes_mm3 / self.brain.total_volume_mm3  # v/V
        low, high = ratio_bounds(
            (self.probabilities, self.reference),
            (self.group_replicates, self.reference_replicates),
            self.sizes,
            uniform,
        )
        with np.errstate(divide="ignore"):
            return np.log(low), np.log(high)

    def significant(
        self, rate: float = FALSE_DISCOVERY_RATE, min_ratio: float | None = None
    ) -> NDArray[np.bool_]:
        """Return the regions that pass a threshold which controls the false-discovery rate.

        Parameters
        ----------
        rate : float
        min_ratio : float, optional
            Effect that a region needs as well, |log ratio| ≥ log `min_ratio`; by default what the
            contrast was asked for.

        Returns
        -------
        array of bool of shape (m,)
        """
        least = self.about.get("min_ratio", 1.0) if min_ratio is None else min_ratio
        is_large = np.abs(self.log_ratio) >= np.log(least)
        return np.asarray((self.null.q_values <= rate) & is_large)

    def to_img(self, values: Array, *, resolution_mm: float | None = None, like: Any = None) -> Any:
        """Paint values of regions as an image.

        Parameters
        ----------
        values : array of shape (m,)
        resolution_mm, like
            Grid of the image, as in `Partition.to_img`.

        Returns
        -------
        NIfTI image
        """
        return self.partition.to_img(values, resolution_mm=resolution_mm, like=like)

    @cached_property
    def density_img(self) -> Any:
        """Mean density of the group in mm⁻³, as a NIfTI image."""
        return self.to_img(self.density)

    @cached_property
    def log_ratio_img(self) -> Any:
        """Difference of logs as a NIfTI image; 0 where the group is like the rest."""
        return self.to_img(self.log_ratio)

    @cached_property
    def threshold_img(self) -> Any:
        """Log ratio where it passes the false-discovery threshold, 0 elsewhere."""
        return self.to_img(np.where(self.significant(), self.log_ratio, 0.0))

    def regions(self, atlas: Atlas | None = None) -> pd.DataFrame:
        """Sum up the map by the regions of an atlas, the most raised first.

        Parameters
        ----------
        atlas : Atlas, optional
            By default the model's own, if it predicts the regions of one.

        Returns
        -------
        DataFrame
            region; ratio of its mean probability in the group to that in the reference, with the
            interval (95 %) of `ratio_bounds`: ratio, low, high; probability and reference.
        """
        if atlas is None and not isinstance(self.partition, Atlas):
            raise PartitionError("the model predicts voxels; give an atlas that names regions")
        group, reference = self.probabilities, self.reference
        each, each_reference = self.group_replicates, self.reference_replicates
        if atlas is not None and atlas is not self.partition:
            shared_mm3 = overlap_mm3(atlas, self.partition).T  # (m, n_regions)
            volumes_mm3 = self.partition.volumes_mm3
            group, reference, each, each_reference = (
                np.asarray(values / volumes_mm3 @ shared_mm3)
                for values in (group, reference, each, each_reference)
            )
        low, high = ratio_bounds((group, reference), (each, each_reference), self.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = group / reference
        table = pd.DataFrame(
            {
                "region": (atlas or self.partition).names,
                "ratio": ratio,
                "low": low,
                "high": high,
                "probability": group,
                "reference": reference,
            }
        )
        return table.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        atlas: Atlas | None = None,
        resolution_mm: float | None = None,
        like: Any = None,
        titles: bool = True,
        keep_formulas: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write images, figures, tables and a page, whole or not at all.

        Parameters
        ----------
        folder : path
        atlas : Atlas, optional
            For regions.csv; by default the model's own.
        resolution_mm, like
            Grid of the images, as in `Partition.to_img`.
        titles : bool
            Whether to write the titles of the documents.
        keep_formulas : bool
            Whether cells of tables that begin like a formula stay as they are; by default they get
            an apostrophe in front, because spreadsheets run formulas.
        overwrite : bool
            Whether to replace a folder that exists.
        """
        from neurowhere.report.contrast import write_contrast

        write_contrast(
            self,
            folder,
            atlas=atlas,
            resolution_mm=resolution_mm,
            like=like,
            titles=titles,
            keep_formulas=keep_formulas,
            overwrite=overwrite,
        )

    def _log_ratio(self, group: Array, reference: Array) -> Array:
        scale = self.brain.total_volume_mm3 / self.partition.volumes_mm3  # V/v
        ratio: Array = np.log1p(group * scale) - np.log1p(reference * scale)
        return ratio

    def plot(self, view: Literal["slices", "glass", "surface"] = "slices", **options: Any) -> Any:
        """Plot the log ratio with nilearn, as `Encoding.plot` does.

        Parameters
        ----------
        view : "slices", "glass" or "surface"
        options
            Of `nilearn.plotting.plot_stat_map`, `plot_glass_brain` or `plot_img_on_surf`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from neurowhere.report.plots import plot_image

        return plot_image(self.log_ratio_img, view, **{"title": self.group, **options})

    def _repr_html_(self) -> str:
        from neurowhere.report.notebook import contrast_html

        return contrast_html(self)

    def __repr__(self) -> str:
        raised = int((self.significant() & (self.log_ratio > 0)).sum())
        return (
            f"Contrast: {self.about['documents_in_group']:,} documents that {self.group} "
            f"against {self.against_words}; {raised:,} of {self.partition.n_regions:,} regions "
            f"raised (false-discovery rate {FALSE_DISCOVERY_RATE:.0%})"
        )

    @property
    def against_words(self) -> str:
        """Name of what the group is contrasted with."""
        if not self.against:
            return f"all {self.about['documents_with_known_terms']:,}"
        return f"{self.about['documents_in_second_group']:,} that {self.against}"


def ratio_bounds(
    means: tuple[Array, Array],
    replicates: tuple[Array, Array],
    sizes: tuple[float, float],
    offset: Array | float = 0.0,
) -> tuple[Array, Array]:
    r"""Bound the ratio of two means, (o + ḡ) / (o + r̄), with a confidence of 95 %.

    Parameters
    ----------
    means : two arrays of shape (m,)
        Mean ḡ over the documents of a group, and r̄ over those of the reference.
    replicates : two arrays of shape (B, m)
        The same in each replicate of a Poisson bootstrap, drawn together.
    sizes : two floats
        Numbers of documents, n and n'; of weighted ones (Σ w)² / Σ w².
    offset : float or array of shape (m,)
        o, a constant.

    Returns
    -------
    two arrays of shape (m,)
        NaN where a group has less than two documents.

    Notes
    -----
    What documents say of a region is very skewed: most say nothing, few say much. A sample that
    happens to miss those few has too low a mean and too small a spread at once, which is why
    percentiles of a bootstrap fall short. Three things make up for it, and all of them follow from
    the replicates, whose cumulants are those of the documents.

    1. With ρ the ratio, T = g − ρ r has mean 0 and the variance and skewness of its replicates.
    2. Both spreads are shrunk towards that of all documents together, as if n₀ = 20 documents with
       it had been seen besides. With c the coefficient of variation of a group, and c₀ that of all,

           c'² = (n c² + n₀ c₀²) / (n + n₀),    γ' = (n γ + n₀ γ₀) / (n + n₀),

       where γ₀ is the skewness of T for gamma variables (2c for one document).
    3. The quantiles ±t of Student's distribution with n + n₀ − 1 degrees of freedom become those of
       the studentised mean of skewed values, by Hall's cubic transformation (J. R. Statist. Soc. B,
       1992): the bounds are ρ − s h(±t), with s the standard error of T / (o + r̄) and

           h(t) = 3/γ' (∛(1 + γ'(t − γ'/6)) − 1),    |γ'| ≤ 0.4.

    `benchmarks/contrast_coverage.py` measures how often they hold the truth.
    """
    (g, r), (n, n_reference) = means, sizes
    few = min(sizes)
    if few < MIN_FOR_INTERVAL:
        nothing = np.full(np.shape(g), np.nan)
        return nothing, nothing
    drawn = np.isfinite(replicates[0]).any(axis=1) & np.isfinite(replicates[1]).any(axis=1)
    g_each, r_each = (each[drawn] for each in replicates)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (offset + g) / (offset + r)
        each = (g_each - g) - ratio * (r_each - r)  # (B, m): T
        squares = g**2, (ratio * r) ** 2  # the part of each mean in T², for a relative variance
        spreads = _variation(g_each, g, n), _variation(r_each, r, n_reference)  # c²
        shrunk = _shrunk(spreads, sizes)
        before = squares[0] * spreads[0] / n + squares[1] * spreads[1] / n_reference
        v, v_reference = shrunk[0] / n, shrunk[1] / n_reference
        after = squares[0] * v + squares[1] * v_reference
        error = np.sqrt(each.var(axis=0) * np.nan_to_num(after / before, nan=1.0))
        third = 2 * (g**3 * v**2 - (ratio * r) ** 3 * v_reference**2)
        usual = np.nan_to_num(third / after**1.5)
        skewness = np.nan_to_num(stats.skew(each, axis=0))
        skewness = (few * skewness + PRIOR_DOCUMENTS * usual) / (few + PRIOR_DOCUMENTS)
        t = float(special.stdtrit(few + PRIOR_DOCUMENTS - 1, (1 + LEVEL) / 2))
        scale = error / (offset + r)
        low = np.maximum(ratio - scale * _stretched(t, skewness), 0.0)
        return low, ratio - scale * _stretched(-t, skewness)


def _variation(replicates: Array, mean: Array, n: float) -> Array:
    """Square of the coefficient of variation of documents, from the spread of their mean."""
    variation: Array = replicates.var(axis=0) / mean**2 * n * n / (n - 1)
    return np.nan_to_num(variation)


def _shrunk(spreads: tuple[Array, Array], sizes: tuple[float, float]) -> list[Array]:
    """Shrink two spreads towards what they are together."""
    together = sum(size * each for size, each in zip(sizes, spreads, strict=True)) / sum(sizes)
    return [
        (size * each + PRIOR_DOCUMENTS * together) / (size + PRIOR_DOCUMENTS)
        for size, each in zip(sizes, spreads, strict=True)
    ]


def _stretched(t: float, skewness: Array) -> Array:
    """Turn a quantile of a symmetric distribution into that of a skewed mean: h(t).

    >>> _stretched(2.0, np.array([0.0, 0.5, -0.5])).round(2)
    array([2.  , 1.58, 3.32])
    """
    skewness = np.clip(skewness, -MOST_SKEWNESS, MOST_SKEWNESS)
    g = np.where(np.abs(skewness) < NO_SKEWNESS, NO_SKEWNESS, skewness)
    return np.asarray(3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1))


# ---- what chance would do


def permutation_null(group: Sums, reference: Sums | None, population: Sums) -> Null:
    r"""Compare the mean of a group with that of random groups of the same size and weights.

    Parameters
    ----------
    group : Sums
    reference : Sums or None
        Second group, disjoint from the first; None contrasts with all documents.
    population : Sums
        All documents among which the weights are permuted.

    Returns
    -------
    Null

    Notes
    -----
    A contrast of mean encodings is, in each region, a linear statistic of the documents,

        T = Σᵢ aᵢ xᵢ,

    where aᵢ = wᵢ/Σw for the documents of the group (minus the same for those of a second group),
    and 0 for all others. If the group had nothing to do with what its documents say, every
    assignment of the weights a to the N documents would be as likely. Over these N! permutations,

        E T = N ā x̄,    Var T = Sₐₐ Sₓₓ / (N − 1),    E (T − E T)³ = N Sₐₐₐ Sₓₓₓ / ((N − 1)(N − 2)),

    with Sₐₐ = Σ (aᵢ − ā)², Sₐₐₐ = Σ (aᵢ − ā)³ and so on. These three moments need sums over
    documents only, no permutation, and are exact; the tail is that of Pearson's type III
    distribution (a shifted gamma) with these moments, as Mielke and Berry propose for permutation
    tests and Winkler et al. (NeuroImage, 2016) for images. Away from the skewness that distribution
    ends, where p-values would be 0 without being certain; there Cornish and Fisher's correction of
    the normal tail is taken wherever it is larger. `benchmarks/contrast_null.py` puts it to the
    test.
    """
    n = population.documents
    a = _scaled(group.weights)  # Σ a, Σ a², Σ a³
    change = group.mean
    if reference is not None:
        a = a - _scaled(reference.weights) * [1, -1, 1]
        change = change - reference.mean
    expected = population.mean if reference is None else 0.0
    a_square, a_cube = _central(a, n)
    x_square, x_cube = _central(population.moments, n)  # (m,)
    variance = a_square * x_square / max(n - 1, 1)
    third = n * a_cube * x_cube / max((n - 1) * (n - 2), 1)
    varies = variance > 0
    scale = np.sqrt(np.where(varies, variance, 1.0))
    z = np.where(varies, (change - expected) / scale, 0.0)
    skewness = np.where(varies, third / scale**3, 0.0)
    p_values = np.minimum(1.0, 2 * np.minimum(upper_tail(z, skewness), upper_tail(-z, -skewness)))
    return Null(z, p_values, stats.false_discovery_control(p_values))


def upper_tail(z: Array, skewness: Array) -> Array:
    """Return the probability above z, for a variable of mean 0, variance 1 and some skewness γ.

    Pearson's type III; for γ < 0 not less than Φ(−w), with w = z − γ (z² − 1) / 6 the first term
    of Cornish and Fisher's expansion, which has no end.

    >>> upper_tail(np.array([1.96, 1.96]), np.array([0.0, 1.0])).round(3)
    array([0.025, 0.045])
    """
    symmetric = np.abs(skewness) < ALMOST_SYMMETRIC
    g = np.where(symmetric, 1.0, skewness)
    shape = 4 / g**2
    place = np.maximum(shape + np.sign(g) * np.sqrt(shape) * z, 0.0)  # a gamma's, from 0
    gamma = np.where(g > 0, special.gammaincc(shape, place), special.gammainc(shape, place))
    endless = special.ndtr(skewness * (z**2 - 1) / 6 - z)
    tail = np.where(g > 0, gamma, np.maximum(gamma, endless))
    return np.where(symmetric, special.ndtr(-z), tail)


def _scaled(weights: Array) -> Array:
    """Σ a, Σ a², Σ a³ for a = w / Σ w."""
    return np.asarray(weights / weights[0] ** np.arange(1, 4))


def _central(sums: Array, n: int) -> tuple[Array, Array]:
    """Σ (x − x̄)² and Σ (x − x̄)³ from Σ x, Σ x², Σ x³."""
    first, second, third = sums
    mean = first / n
    square = second - n * mean**2
    square = np.where(square > ROUNDING * second, square, 0.0)
    return square, third - 3 * mean * second + 2 * n * mean**3
