"""Encoding: what a model makes of one text, as maps and tables."""

import os
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import PartitionError, ReadingError
from neurowhere.learn import highest_density
from neurowhere.model.methods import AAL3, MethodsText, write_methods
from neurowhere.model.mixture import TINY, Mixture, Report
from neurowhere.model.schema import Support
from neurowhere.model.source import Source, TermUse
from neurowhere.model.support import Evidence, withhold
from neurowhere.space import Atlas, Partition, VoxelGrid, default_atlas
from neurowhere.space.geometry import Gazetteer, gazetteer_of, strongest_regions
from neurowhere.space.images import OUTSIDE
from neurowhere.text.contradictions import Contradiction, find_contradictions
from neurowhere.text.findings import Finding, affirms_wrong, calls_normal
from neurowhere.text.kinds import Kind
from neurowhere.text.reading.mentions import Mentions, Span
from neurowhere.text.sections import read_sections
from neurowhere.text.unknown import UnknownWord, unknown_words
from neurowhere.text.words import without_markup

if TYPE_CHECKING:
    from neurowhere.report.notebook import View

NOTHING_WRONG = "the report says that nothing is wrong"
NO_FINDING = "the report affirms no finding in a part of the brain"
N_PEAKS = 10
Maps = Literal["none", "nifti", "all"]
RegionOrder = Literal["excess", "probability", "ratio"]
REGION_ORDERS: tuple[RegionOrder, ...] = get_args(RegionOrder)


class Contrast(NamedTuple):
    """What a difference of encodings is made of.

    Attributes
    ----------
    added, subtracted : tuple of Encoding
    gain : array of shape (m,)
        Probability by what was added, minus that by what was subtracted.
    """

    added: tuple["Encoding", ...]
    subtracted: tuple["Encoding", ...]
    gain: NDArray[np.floating]


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """The distribution over the brain that a model predicts from one text.

    Encodings of one model can be added and subtracted: see `neurowhere.model.algebra`.

    Attributes
    ----------
    text : str
    probabilities : array of shape (m,)
        Probability of each region of the partition; they sum to 1.
    source : Source
        What the map was made from: the text as the model has read it, or the parts of a sum.
    problem : str, optional
        Why one of many texts could not be read, in one line; the rest is then that of an empty
        text: the mean map.
    contrast : Contrast, optional
        What a difference of texts is made of.
    """

    text: str
    probabilities: NDArray[np.float32]
    source: Source
    problem: str | None = None
    contrast: Contrast | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def mean_map(self) -> NDArray[np.floating]:
        """Probability of each region over the training studies: what to expect of any text."""
        return self.source.mean_map

    @property
    def partition(self) -> Partition:
        """Regions of the model."""
        return self.source.partition

    @property
    def brain(self) -> VoxelGrid:
        """Grid whose volume V is that of the uniform density."""
        return self.source.brain

    @property
    def unit(self) -> Literal["probability", "log probability"]:
        """Unit of what terms add."""
        return self.source.unit

    @cached_property
    def mentions(self) -> Mentions:
        """All that was read: also what the text denies, and the sides that it gives."""
        return self.source.mentions

    @property
    def listed(self) -> int | None:
        """Characters of the text in which mentions and unknown words are listed; None for all.

        The rest of a very long text counts all the same.
        """
        return self.source.listed

    @property
    def report(self) -> Report | None:
        """What a text that is drawn as a report says."""
        return self.source.report

    @property
    def mixture(self) -> Mixture | None:
        """The parts of the map of a report; None for a text that has no place."""
        return self.source.mixture

    def checked(self) -> "Encoding":
        """Return this encoding, or raise a `ReadingError` if it has a problem.

        Returns
        -------
        Encoding
        """
        if self.problem:
            raise ReadingError(self.problem)
        return self

    @property
    def kind(self) -> Kind:
        """Formula that drew the map: "report" or "study"."""
        return "report" if self.report is not None and self.report.gate > 0.5 else "study"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the text says is wrong, and where; empty for a study."""
        return () if self.report is None else self.report.findings

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Where a report gives the same lesion different sides; empty for a study."""
        if self.kind == "study":
            return ()
        return tuple(find_contradictions(self.text, self.findings))

    def shares(self, place: ArrayLike | None = None) -> pd.DataFrame:
        """Return what part each place of a report has in the probability of a point or region.

        Parameters
        ----------
        place : (x, y, z) in mm, or weights of regions of shape (m,), optional
            By default the whole map.

        Returns
        -------
        DataFrame
            place (the words of the text; empty for the text as a whole), role, side, share and
            log_ratio of the place's own map to the mean map. The shares sum to 1. Empty for a
            study.
        """
        mixture = self.mixture
        columns = ["place", "role", "side", "share", "log_ratio"]
        if mixture is None:
            return pd.DataFrame(columns=columns)
        weights = np.ones(len(self.mean_map)) if place is None else self._indicator(place)
        mean = float(self.mean_map @ weights)
        maps = [*(part.map for part in mixture.components), mixture.whole]
        rows = [(part.place.words, part.place.role, part.place.side) for part in mixture.components]
        table = pd.DataFrame([*rows, ("", "whole text", None)], columns=columns[:3])
        table["share"] = mixture.shares(weights)
        table["log_ratio"] = [np.log(max(float(q @ weights), TINY) / mean) for q in maps]
        return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def uses(self) -> dict[str, TermUse]:
        """How the text uses the terms that it affirms, the heaviest first."""
        return self.source.uses()

    @cached_property
    def terms(self) -> pd.DataFrame:
        """Terms that the text affirms, the heaviest first.

        The columns are term, count, weight (x_t, its feature), where (a list of (start, end) in
        the text), and contribution: how far it moved the map to what it is.
        """
        uses = self.uses.values()
        return pd.DataFrame(
            {
                "term": list(self.uses),
                "count": [use.count for use in uses],
                "weight": np.array([use.weight for use in uses], dtype=np.float32),
                "where": [use.where for use in uses],
                "contribution": self.source.explain(self.probabilities - self.mean_map),
            }
        )

    @cached_property
    def similar(self) -> pd.DataFrame | None:
        """Training studies with the closest texts: id, title, similarity, link; or None."""
        return self.source.similar()

    @property
    def is_mean_map(self) -> bool:
        """Whether no term was found, so that the map is the mean map."""
        return self.source.says_nothing

    @property
    def density(self) -> NDArray[np.float64]:
        """Density q in each region, in mm⁻³: (m,)."""
        return self.probabilities / self.partition.volumes_mm3

    @property
    def mean_density(self) -> NDArray[np.float64]:
        """Density of the mean map in each region, in mm⁻³: (m,)."""
        return self.mean_map / self.partition.volumes_mm3

    @property
    def excess(self) -> NDArray[np.floating]:
        """Probability of each region above what is usual: (m,).

        Usual is the mean map, and for a difference what was subtracted.
        """
        if self.contrast is not None:
            return self.contrast.gain
        excess: NDArray[np.floating] = self.probabilities - self.mean_map
        return excess

    @property
    def log_ratio(self) -> NDArray[np.float32]:
        """Log of the half-uniform density over the half-uniform mean map: (m,).

        With q' = ½ (1/V + q), which is never zero, this is log q' − log q̄'.
        """
        if self.is_mean_map:  # else rounding would be drawn as if it were a map
            return np.zeros(len(self.mean_map), np.float32)
        ratio = _log_relative(self.probabilities, self.brain, self.partition)
        ratio -= _log_relative_mean(Same(self.mean_map), self.brain, self.partition)
        return ratio

    @property
    def density_img(self) -> Any:
        """Density in mm⁻³ as a NIfTI image; it integrates to 1."""
        return self.partition.to_img(self.density)

    @property
    def log_ratio_img(self) -> Any:
        """Log ratio to the mean map as a NIfTI image; 0 where the text changes nothing."""
        return self.partition.to_img(self.log_ratio)

    def mass_img(self, share: float) -> Any:
        """Return the smallest region that should hold a share of the peaks, as an image.

        Parameters
        ----------
        share : float
            Above 0 and at most 1.

        Returns
        -------
        NIfTI image
            Of 0 and 1.
        """
        return self.partition.to_img(self.holding(share))

    def holding(self, share: float) -> NDArray[np.bool_]:
        """Return which regions make the smallest set that should hold a share of the peaks.

        Parameters
        ----------
        share : float
            Above 0 and at most 1.

        Returns
        -------
        array of bool of shape (m,)
        """
        if not 0 < share <= 1:
            raise PartitionError(f"expected a share of the peaks in (0, 1], got {share:g}")
        return highest_density(self.probabilities, self.density, self.source.mass_for(share))

    @cached_property
    def unknown(self) -> list[UnknownWord]:
        """Content words of the text that the model does not know."""
        text = without_markup(self.text[: self.listed])
        read = (*self.mentions.found, *self.mentions.places, *self.mentions.rule_based)
        spans = [(mention.start, mention.end) for mention in read]
        if any(mention.section for mention in read):
            spans += [(part.start, part.end) for part in read_sections(text)]
        return unknown_words(text, spans)

    @cached_property
    def support(self) -> Support:
        """How well the model can tell where the text points."""
        support, outside = self._judge(), self.source.outside
        if reason := self._why_withheld(support):
            return withhold(support, reason)
        if outside is None:
            doubt = self.source.doubt if support.level == "good" else ""
            return replace(support, level="weak", summary=f"weak: {doubt}") if doubt else support
        support = replace(support, outside=outside.where)
        side = f", {outside.side}" if outside.side else ""
        return withhold(support, f"outside the brain: {outside.where}{side}")

    def _why_withheld(self, support: Support) -> str:
        """Return why a text in the brain has no map; empty if it has one."""
        if self.source.is_normal and self.source.outside is None:
            return NOTHING_WRONG if calls_normal(self.text) else NO_FINDING
        if support.foreign and self.source.is_text:
            return "not in English; translate the text"
        return self._why_silent() if self.is_silent and self.source.is_text else ""

    @property
    def is_silent(self) -> bool:
        """Whether nothing says where: neither what is found, nor that it is elsewhere or normal."""
        return self.is_mean_map and not self.source.is_normal and self.source.outside is None

    def _why_silent(self) -> str:
        found = [mention for mention in self.mentions if not mention.is_generic]
        if any(mention.is_negated for mention in found) and not affirms_wrong(self.mentions):
            return "nothing to map: the text denies every place and finding in it"
        if any(mention.section for mention in found):
            return "nothing to map: the text names places only as history, or of relatives"
        if self.mentions.present or affirms_wrong(self.mentions):
            return "no place: these words point nowhere in particular"
        return "no place: the model knows no word of this text"

    def _judge(self) -> Support:
        nats = 0.0
        if not self.is_mean_map:
            nats = self.source.gain(float(self.probabilities @ self.log_ratio))
        evidence = Evidence(self.text, nats, self.uses, self.mentions, len(self.unknown))
        support = evidence.support
        if self.listed is None or self.is_mean_map:
            return support
        part = f"the first {self.listed:,} of {len(self.text):,} characters"
        return replace(support, summary=f"{support.summary}; mentions are listed for {part}")

    @cached_property
    def whole_names(self) -> dict[str, str]:
        """Name that each of `uses` is shown as: its own, or the longest that it stands within.

        A word that a text has only within longer names, "frontal" of "inferior frontal gyrus",
        counts beside them, but is no mention of its own.
        """
        at: dict[Span, list[str]] = {}
        for name, use in self.uses.items():
            for span in use.where:
                at.setdefault(span, []).append(name)
        shared = {name for names in at.values() if len(names) > 1 for name in names}
        return {
            name: _longest_around(name, [at[span] for span in use.where])
            if name in shared
            else name
            for name, use in self.uses.items()
        }

    def why(self, place: ArrayLike | None = None) -> pd.DataFrame:
        """Return which terms raised and which lowered the map: exact, the strongest first.

        What a term adds is compared between a place and the brain at large: with e_tk the effect
        of term t on region k, and q̄ the mean map, a contribution is Σ_k (w_k − q̄_k) x_t e_tk.

        Parameters
        ----------
        place : (x, y, z) in mm, or weights w of shape (m,), optional
            A point; or regions, such as those of a mask, weighted by the map within. By default
            the whole map, w = q.

        Returns
        -------
        DataFrame
            term, contribution: a difference of log probability, or for a linear model of
            probability, before the map is made a density and moved to a side.
        """
        table = pd.DataFrame({"term": list(self.uses), "contribution": self.contributions(place)})
        return table.sort_values(
            "contribution", key=np.abs, ascending=False, kind="stable", ignore_index=True
        )

    def contributions(self, place: ArrayLike | None = None) -> NDArray[np.floating]:
        """Return what each of `uses` adds to a place, as `why` tells it.

        Parameters
        ----------
        place : array of shape (3,), (n_regions,) or (n_regions, n), optional
            A point in mm, weights of regions, or several of these; by default the map itself.

        Returns
        -------
        array of shape (n_terms,) or (n_terms, n)
        """
        return self.source.explain((self._weights(place).T - self.mean_map).T)

    def _weights(self, place: ArrayLike | None) -> NDArray[np.floating]:
        if place is None:
            return self.probabilities
        inside = self._indicator(place)
        if np.shape(place) == (3,):
            return inside
        weights: NDArray[np.floating] = inside.T * self.probabilities
        total = weights.sum(axis=-1, keepdims=True)
        weights /= np.where(total, total, 1.0)
        return weights.T

    def _indicator(self, place: ArrayLike) -> NDArray[np.floating]:
        """Return a point as the region that it is in, and weights of regions as they are."""
        values = np.asarray(place, dtype=np.float64)
        if values.shape == (3,):
            region = int(self.partition.region_of(values[None])[0])
            if region == OUTSIDE:
                x, y, z = values.tolist()
                raise PartitionError(f"{x:g}, {y:g}, {z:g} mm lies outside of the brain")
            point: NDArray[np.floating] = np.zeros(len(self.mean_map))
            point[region] = 1
            return point
        if values.shape[:1] != self.mean_map.shape:
            raise PartitionError(
                f"expected a point (x, y, z) or {len(self.mean_map):,} weights, "
                f"got an array of shape {values.shape}"
            )
        return values

    @cached_property
    def peaks(self) -> pd.DataFrame:
        """Strongest maxima of the density: x, y, z in mm, density, ratio to the mean map.

        All but the first are above the mean map, where the text raises a place at all. Those of a
        difference are the maxima of its `excess`, in density.
        """
        heights = (
            self.density if self.contrast is None else self.excess / self.partition.volumes_mm3
        )
        places = strongest_regions(self.partition, heights, N_PEAKS)
        if self.contrast is None and not self.is_mean_map:
            is_raised = self.probabilities[places] > self.mean_map[places]
            places = places[is_raised | (np.arange(len(places)) == 0)]
        return pd.DataFrame(
            {
                **dict(zip(XYZ, self.partition.centers_mm[places].T, strict=True)),
                "density": self.density[places],
                "ratio": ratios(self.probabilities[places], self.mean_map[places]),
            }
        )

    def regions(self, atlas: Atlas | None = None, *, sort: RegionOrder = "excess") -> pd.DataFrame:
        """Sum up the map by regions: those that every face shows, or all of an atlas.

        Parameters
        ----------
        atlas : Atlas, optional
            Whose regions to list, all of them and no others. By default the list of `summarise`:
            first what the text names, also places that the atlas of names lacks (landmarks), then
            what it raises most.
        sort : "excess", "probability" or "ratio"
            What the first regions have most of. The excess over the mean map lets small regions
            win where a text points to them, and large ones only where it does. The mean map itself
            is sorted by probability.

        Returns
        -------
        DataFrame
            region, name (in words), probability, ratio to the mean map (NaN where that is zero),
            and excess, the probability minus that of the mean map, or for a difference minus that
            of what was subtracted; without an atlas also named,
            whether the text names it. What lies in no region of the atlas is left out, so that the
            probabilities may sum to less than 1.
        """
        if atlas is None:
            from neurowhere.model.regions import N_REGIONS, region_table, regions_of

            return region_table(regions_of(self, self.gazetteer(), N_REGIONS, sort=sort))
        gazetteer = self.gazetteer(atlas)
        probability = gazetteer.shares(self.density)
        mean = gazetteer.shares(self.mean_density)
        table = pd.DataFrame(
            {
                "region": gazetteer.atlas.names,
                "name": gazetteer.names,
                "probability": probability,
                "ratio": ratios(probability, mean),
                "excess": gazetteer.shares(self.excess / self.partition.volumes_mm3),
            }
        )
        if sort not in REGION_ORDERS:
            raise PartitionError(
                f"expected regions sorted by {', '.join(REGION_ORDERS)}, got {sort!r}"
            )
        by = "probability" if self.is_mean_map else sort  # the mean map exceeds itself nowhere
        return table.sort_values(by, ascending=False, kind="stable", ignore_index=True)

    def save_figure(
        self,
        path: str | os.PathLike[str],
        other: "Encoding | None" = None,
        *,
        quantity: Literal["ratio", "density", "difference"] = "ratio",
        layout: Literal["mosaic", "surface"] = "mosaic",
        width_mm: float = 174.0,
    ) -> str:
        """Write the map as a figure for a paper: on white, without title or crosshair.

        Parameters
        ----------
        path : path
            Ends in .svg, .pdf (shapes and letters, no pixels, but for the cortex) or .png (300 dots
            per inch).
        other : Encoding, optional
            Of a second text, which is drawn below on the same scale.
        quantity : "ratio", "density" or "difference"
            The ratio to the average study; the share of the peaks per cm³; or, of two texts, where
            the first points more than the second, and less.
        layout : "mosaic" or "surface"
            Axial slices, or the inflated cortex.
        width_mm : float
            A column has 85 mm, a page 174 mm.

        Returns
        -------
        str
            A caption with the method and what to cite, which the file holds as well.
        """
        from neurowhere.report.encoding import write_figure

        return write_figure(self, path, other, quantity=quantity, layout=layout, width_mm=width_mm)

    def methods(self, *, atlas: str = AAL3) -> MethodsText:
        """Write how the map came about: a paragraph and its references, for a paper.

        Parameters
        ----------
        atlas : str
            Name of the atlas that names regions.

        Returns
        -------
        MethodsText
            With `text` and `bibtex`; printed, one after the other.
        """
        origin = self.source.origin()
        return write_methods(origin, origin.get("reading", {}), self.kind, atlas=atlas)

    def gazetteer(self, atlas: Atlas | None = None) -> Gazetteer:
        """Return the regions of an atlas beside those of the model.

        Parameters
        ----------
        atlas : Atlas, optional
            By default the model's own if it predicts the regions of one, or AAL3.

        Returns
        -------
        Gazetteer
        """
        if atlas is None:
            atlas = self.partition if isinstance(self.partition, Atlas) else default_atlas()
        return gazetteer_of(atlas, self.partition)

    def __add__(self, other: "Encoding") -> "Encoding":
        from neurowhere.model.algebra import add

        return add(self, other) if isinstance(other, Encoding) else NotImplemented

    def __sub__(self, other: "Encoding") -> "Encoding":
        from neurowhere.model.algebra import subtract

        return subtract(self, other) if isinstance(other, Encoding) else NotImplemented

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        atlas: Atlas | None = None,
        resolution_mm: float | None = None,
        like: Any = None,
        with_text: bool = True,
        maps: Maps = "all",
        pictures: bool = True,
        overwrite: bool = False,
    ) -> None:
        """Write images, tables, pictures and report.html into a folder, whole or not at all.

        Parameters
        ----------
        folder : path
        atlas : Atlas, optional
            Names regions and peaks; by default as in `gazetteer`.
        resolution_mm, like
            Grid of the images, as in `Partition.to_img`.
        with_text : bool
            Whether the page shows the text. Without, no file holds any of it but the names of
            terms.
        maps : "none", "nifti" or "all"
            Which files of the map: none but the tables; images and report.html; or all, with
            map.png and surface.png, which are half of the work.
        pictures : bool
            Without, "all" is "nifti".
        overwrite : bool
            Whether to replace a folder that exists.
        """
        from neurowhere.report.encoding import write_encoding

        write_encoding(
            self,
            folder,
            atlas=atlas,
            resolution_mm=resolution_mm,
            like=like,
            with_text=with_text,
            maps="nifti" if maps == "all" and not pictures else maps,
            overwrite=overwrite,
        )

    def plot(
        self,
        view: Literal["slices", "glass", "surface"] = "slices",
        *,
        image: Literal["log_ratio", "density"] = "log_ratio",
        title: str | None = None,
        **options: Any,
    ) -> Any:
        """Plot the map with nilearn; a text that supports no map warns.

        Parameters
        ----------
        view : "slices", "glass" or "surface"
            Slices through the strongest peak, the glass brain, or the inflated cortex.
        image : "log_ratio" or "density"
            Of the map to the mean map, or the density in mm⁻³.
        title : str, optional
            By default the strongest terms.
        options
            Of `nilearn.plotting.plot_stat_map`, `plot_glass_brain` or `plot_img_on_surf`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from neurowhere.report.plots import plot_encoding

        return plot_encoding(self, view, image=image, title=title, **options)

    def view(self, atlas: Atlas | None = None) -> "View":
        """Show the map in an interactive viewer: three slices that follow a crosshair.

        Parameters
        ----------
        atlas : Atlas, optional
            Names the place under the crosshair; by default as in `gazetteer`.

        Returns
        -------
        View
            Shown in a cell of a notebook; `save_as_html` writes it as one file, which needs no
            network. It holds nothing of the text but the names of terms.
        """
        from neurowhere.report.notebook import view_encoding

        return view_encoding(self, atlas)

    def __repr__(self) -> str:
        if self.is_mean_map:
            return "Encoding: no known term, so this is the mean map of the training studies"
        terms = self.support.terms  # not the names that only rules point to
        known = f"{terms:,} known term{'s' * (terms != 1)}"
        peak = "; no peak" if self.peaks.empty else f"; strongest at {_place(self.peaks)}"
        return f"Encoding: {known} in {len(self.text):,} characters{peak}"

    def _repr_html_(self) -> str:
        from neurowhere.report.notebook import encoding_html

        return encoding_html(self)


def _log_relative(
    probabilities: NDArray[np.floating], brain: VoxelGrid, partition: Partition
) -> NDArray[np.float32]:
    """Return log(1 + q V / v), with q V / v the density in multiples of the uniform one."""
    relative: NDArray[np.float32] = probabilities * _volumes_in_regions(brain, partition)
    # In 32 bits log(1 + x) is many times as fast as log1p, and as exact as an image.
    relative += 1
    return np.log(relative, out=relative)


@lru_cache(maxsize=4)
def _volumes_in_regions(brain: VoxelGrid, partition: Partition) -> NDArray[np.float32]:
    volumes = brain.total_volume_mm3 / partition.volumes_mm3
    return volumes.astype(np.float32)


@lru_cache(maxsize=4)
def _log_relative_mean(mean_map: "Same", brain: VoxelGrid, partition: Partition) -> Any:
    """Return the same of the mean map of a model, which all its encodings share."""
    return _log_relative(mean_map.values.astype(np.float32), brain, partition)


class Same:
    """An array that never changes, as a key: equal to itself alone."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[np.floating]) -> None:
        self.values = values

    def __hash__(self) -> int:
        return id(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.values is other.values


def ratios(probability: NDArray[np.floating], mean: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the ratio of each probability to that of the mean map, NaN where that is zero."""
    nothing = np.full(len(mean), np.nan)
    ratio: NDArray[np.float64] = np.divide(probability, mean, out=nothing, where=mean > 0)
    return ratio


def _place(peaks: pd.DataFrame) -> str:
    return ", ".join(f"{mm:.0f}" for mm in peaks.loc[0, XYZ]) + " mm"


def _longest_around(name: str, places: list[list[str]]) -> str:
    """Return the longest name around another, which itself it is if one place has no longer one."""
    if any(len(names) == 1 for names in places):
        return name
    longest = [
        max((each for each in names if f" {name} " in f" {each} "), key=len) for names in places
    ]
    return longest[0] if longest and name not in longest else name
