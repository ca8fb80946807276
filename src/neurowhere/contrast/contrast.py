"""Contrast: where a group of documents differs from what is expected, as maps and tables."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from neurowhere.contrast.regression import RATE
from neurowhere.model.methods import MethodsText, write_methods
from neurowhere.space import Atlas, Partition, VoxelGrid
from neurowhere.text.labels import region_names

Array = NDArray[np.floating]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Effects:
    """How far a group is from what is expected, in each of m regions; NaN where not tested."""

    observed: Array  # (m,): mean probability over the group
    expected: Array  # what its kind of document makes of it
    half_width: Array  # of the 95 % interval of `observed`
    t: Array  # statistic of the regression on logarithms
    p_values: Array  # two-sided
    q_values: Array  # p-values adjusted for the false-discovery rate (Benjamini and Hochberg)

    def ratio(self, offset: Array | float = 0.0) -> tuple[Array, Array, Array]:
        """Return (o + observed) / (o + expected), and the bounds of its 95 % interval."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (offset + self.observed) / (offset + self.expected)
            half = self.half_width / (offset + self.expected)
        return ratio, np.maximum(ratio - half, 0.0), ratio + half

    def discovered(self, min_ratio: float) -> Flags:
        """Return which regions pass, and differ by so much in the direction of their t."""
        ratio = self.ratio()[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            large = np.sign(self.t) * np.log(ratio) >= np.log(min_ratio)
        return np.asarray((self.q_values <= RATE) & large)


@dataclass(frozen=True, eq=False, repr=False)
class Contrast:
    """The mean encoding of a group of documents beside what is expected of it.

    Attributes
    ----------
    group, against : str
        What the documents have in common; `against` is "" for all documents.
    partition : Partition
    brain : VoxelGrid
        Its volume V is that of the uniform density.
    atlas : Atlas
        Names the regions.
    voxels, by_region : Effects
        In the regions of the model, and in those of the atlas.
    documents : DataFrame
        Documents of the group or groups: group, id, title, mentions, weight, and what else the
        source says. The most mentions first.
    terms : DataFrame
        Terms that carry the contrast. term; share of the documents that have it, in the group and
        in the reference: share, share_reference; moves, the probability that it moves from one
        place to another; x, y, z of the region that it raises most, in mm. The strongest first.
    kinds : DataFrame
        How the documents of the group differ in kind from those of the reference, see
        `compare_kinds`.
    about : dict
        Numbers of documents, sources, problems, terms that were left out, what nothing looks like.
    model : dict
        Summary of the model, for `methods`.
    """

    group: str
    against: str
    partition: Partition
    brain: VoxelGrid
    atlas: Atlas
    voxels: Effects
    by_region: Effects
    documents: pd.DataFrame
    terms: pd.DataFrame
    kinds: pd.DataFrame
    about: dict[str, Any]
    model: dict[str, Any] = field(default_factory=dict)

    @property
    def probabilities(self) -> Array:
        """Mean probability of each region of the model over the group: (m,)."""
        return self.voxels.observed

    @property
    def reference(self) -> Array:
        """What is expected of it: (m,)."""
        return self.voxels.expected

    @cached_property
    def density(self) -> Array:
        """Mean density of the group in each region, in mm⁻³: (m,)."""
        return self.probabilities / self.partition.volumes_mm3

    @cached_property
    def log_ratio(self) -> Array:
        """log(½/V + ½ q̄) − log(½/V + ½ q̄₀) in each region, q̄₀ what is expected: (m,)."""
        return np.asarray(np.log(self.voxels.ratio(self._uniform)[0]))

    @cached_property
    def interval(self) -> tuple[Array, Array]:
        """Bounds of the interval (95 %) of the log ratio, two arrays of shape (m,)."""
        _, low, high = self.voxels.ratio(self._uniform)
        with np.errstate(divide="ignore"):
            return np.log(low), np.log(high)

    @property
    def _uniform(self) -> Array:
        return self.partition.volumes_mm3 / self.brain.total_volume_mm3  # v/V

    def significant(self, min_ratio: float | None = None) -> Flags:
        """Return the regions of the model that pass a false-discovery rate of 5 %: (m,).

        Parameters
        ----------
        min_ratio : float, optional
            Effect that a region needs as well; by default what the contrast was asked for.

        Returns
        -------
        array of bool
        """
        return self.voxels.discovered(self.about["min_ratio"] if min_ratio is None else min_ratio)

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
        """Difference of logs as a NIfTI image; 0 where the group is as expected."""
        return self.to_img(self.log_ratio)

    @cached_property
    def threshold_img(self) -> Any:
        """Log ratio where it passes the false-discovery threshold, 0 elsewhere."""
        return self.to_img(np.where(self.significant(), self.log_ratio, 0.0))

    def regions(self) -> pd.DataFrame:
        """Return the regions of the atlas, the largest t first; of a hint, the largest log ratio.

        Returns
        -------
        DataFrame
            region, and its name in words: region, name; ratio of its mean probability in the group
            to what is expected, with the interval (95 %): ratio, low, high; t, p, q; passes;
            probability and reference.
        """
        effects = self.by_region
        ratio, low, high = effects.ratio()
        volumes = self.atlas.volumes_mm3 / self.brain.total_volume_mm3
        table = pd.DataFrame(
            {
                "region": self.atlas.names,
                "name": list(region_names(self.atlas.names).values()),
                "ratio": ratio,
                "low": low,
                "high": high,
                "t": effects.t,
                "p": effects.p_values,
                "q": effects.q_values,
                "passes": effects.discovered(self.about["min_ratio"]),
                "probability": effects.observed,
                "reference": effects.expected,
            }
        )
        key = effects.t if self.about["tested"] else effects.ratio(volumes)[0]
        return table.iloc[np.argsort(-key, kind="stable")].reset_index(drop=True)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
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
        from neurowhere._tools.files import new_folder
        from neurowhere.report.contrast import write_files

        with new_folder(folder, overwrite=overwrite) as temporary:
            write_files(
                self,
                temporary,
                resolution_mm=resolution_mm,
                like=like,
                titles=titles,
                keep_formulas=keep_formulas,
            )

    def most_raised(self) -> pd.DataFrame:
        """Return the regions that pass and are raised, the largest ratio first.

        Returns
        -------
        DataFrame
            Rows of `regions`.
        """
        table = self.regions()
        raised = table[table["passes"] & (table["t"] > 0)]
        return raised.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)

    @property
    def outcome(self) -> str:
        """What was found, in words."""
        if not self.about["tested"]:
            n = self.about["documents_in_group"]
            return f"a hint: {n} documents are not enough for a test"
        passes = self.by_region.discovered(self.about["min_ratio"])
        raised = int((passes & (self.by_region.t > 0)).sum())
        lowered = int(passes.sum()) - raised
        level = f"(false-discovery rate {RATE:.0%})"
        if not raised + lowered:
            return f"no region passes {level}"
        return f"{raised} of {self.atlas.n_regions} regions raised, {lowered} lowered {level}"

    def methods(self) -> MethodsText:
        """Write how the contrast came about: a paragraph and its references, for a paper.

        Returns
        -------
        MethodsText
            With `text` and `bibtex`; printed, one after the other.
        """
        about = self.about
        how = f"what a regression on {about['covariates']} covariates of their kind expects"
        if about["unadjusted"]:
            how = "all documents"
        elif about["matched"]:
            how = "the nearest documents of the same kind"
        also = (
            f"The {about['documents_in_group']:,} documents that {self.group} were contrasted with "
            f"{self.against if about['documents_in_second_group'] else how}; regions and voxels "
            f"pass at a false-discovery rate of {RATE:.0%} (Benjamini and Hochberg, 1995)."
        )
        atlas = self.atlas.title or "the atlas"
        return write_methods(self.model, {}, atlas=atlas, also=also)

    def plot(self, view: Literal["slices", "glass", "surface"] = "slices", **options: Any) -> Any:
        """Plot the log ratio where it passes, with nilearn, as `Encoding.plot` does.

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

        return plot_image(self.threshold_img, view, **{"title": self.outcome, **options})

    def _repr_html_(self) -> str:
        from neurowhere.report.notebook import contrast_html

        return contrast_html(self)

    def __repr__(self) -> str:
        return (
            f"Contrast: {self.about['documents_in_group']:,} documents that {self.group} against "
            f"{self.against_words}; {self.outcome}"
        )

    @property
    def against_words(self) -> str:
        """Name of what the group is contrasted with."""
        if self.about["documents_in_second_group"] is not None:
            return f"{self.about['documents_in_second_group']:,} that {self.against}"
        known = f"{self.about['documents_with_known_terms']:,}"
        return f"all {known}" if self.about["unadjusted"] else f"what is expected from {known}"


def correct_together(contrasts: list[Contrast]) -> list[Contrast]:
    """Adjust the p-values of several contrasts for the false-discovery rate over all of them.

    A q-value is not less than that of the contrast by itself: one with many discoveries would
    otherwise lower the threshold for one with none.
    """
    voxels = _corrected([each.voxels for each in contrasts])
    regions = _corrected([each.by_region for each in contrasts])
    return [
        replace(each, voxels=own, by_region=other)
        for each, own, other in zip(contrasts, voxels, regions, strict=True)
    ]


def _corrected(effects: list[Effects]) -> list[Effects]:
    p_values = np.array([each.p_values for each in effects])
    tested = np.isfinite(p_values)
    q_values = np.full_like(p_values, np.nan)
    if tested.any():
        q_values[tested] = stats.false_discovery_control(p_values[tested])
    return [
        replace(each, q_values=np.maximum(each.q_values, q))
        for each, q in zip(effects, q_values, strict=True)
    ]
