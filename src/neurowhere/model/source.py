"""Source: what a map was made from, and what that tells of it: words, places, similar studies."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LengthCalibration, LogLinear
from neurowhere.model.counted import Counted
from neurowhere.model.lending import key_of, model_of
from neurowhere.model.mixture import Mixture, Report, mass_for_seats
from neurowhere.model.prediction import Added
from neurowhere.model.reading import Reader, Readings
from neurowhere.model.visible import Extent
from neurowhere.space import Partition, VoxelGrid
from neurowhere.text.findings import (
    SHORT,
    Place,
    affirms_place,
    is_on_surface,
    names_surface,
    says_normal,
    shows_nothing,
)
from neurowhere.text.outside import Outside, find_on_surface, find_outside
from neurowhere.text.places import ADJECTIVE
from neurowhere.text.reading.mentions import Mentions, Span

if TYPE_CHECKING:
    from neurowhere.model.text_model import TextModel

Floats = NDArray[np.floating]
N_EXPLAINED = 4  # texts of which is kept what explains them
# How much a term of a category tells that a text is about the brain; names of all others tell most.
SUBJECT = {"generic": 0.0, "other": 0.5, "function": 0.75}
OF_ADJECTIVE = 0.75  # "temporal", "limbic", which are said of other things as well
SHORTEST_SPELT = 6  # letters of a word for which others are suggested
TINY = 1e-12
HALF = 0.5  # gate above which a text is a report
COMPLAINTS = "the scan is normal; the map is that of the complaints"
BESIDE = "“{}”{} is outside the tissue of the brain and not drawn; the map is that of the rest"
NOWHERE = "the report affirms no place; the map is that of its other words"
EVENLY = 1e-3  # of what places explain, that is given to each by its share in the whole map


@dataclass(slots=True)  # not frozen: a text has a hundred, and those are slow to make
class TermUse:
    """How a text uses a term.

    Attributes
    ----------
    count : int
        Mentions that count.
    weight : float
        Feature x_t.
    where : list of (int, int)
        Where the mentions are.
    implied : bool
        Whether the text does not name it: the name of an artery, a syndrome or a sign points to
        it by a rule.
    subject : float
        How much it tells that a text is about the brain, from 0 for generic words to 1 for the
        names of structures and diseases.
    """

    count: int
    weight: float
    where: list[Span]
    implied: bool = False
    subject: float = 1.0


class Source:
    """What a map was made from. This one knows nothing but the brain that the map is of.

    Parameters
    ----------
    mean_map : array of shape (m,)
        Probability of each region over the training studies: what to expect of any text.
    partition : Partition
    brain : VoxelGrid
        Its volume V is that of the uniform density.
    """

    is_text = False  # sums of texts have their maps, whatever these say
    is_normal = False
    report: Report | None = None
    listed: int | None = None
    mixture: Mixture | None = None
    unit: Literal["probability", "log probability"] = "probability"

    def __init__(self, mean_map: Floats, partition: Partition, brain: VoxelGrid) -> None:
        self.mean_map, self.partition, self.brain = mean_map, partition, brain

    @property
    def says_nothing(self) -> bool:
        """Whether no term counts."""
        return True

    @property
    def doubt(self) -> str:
        """Why a map says little of where something is wrong; empty if it does."""
        return ""

    @property
    def mentions(self) -> Mentions:
        """All that was read: also what the text denies, and the sides that it gives."""
        return Mentions(())

    @property
    def outside(self) -> Outside | None:
        """Where outside the brain the finding of the text is; None if it is not."""
        return None

    def uses(self) -> dict[str, TermUse]:
        """Return how the text uses the terms that it affirms, the heaviest first."""
        return {}

    def mass_for(self, share: float) -> float:
        """Return the predicted mass that holds a share of the peaks of unseen studies."""
        return share

    def gain(self, nats: float) -> float:
        """Return the gain that unseen studies showed where the model expects one, in nats."""
        return nats

    def explain(self, places: Floats) -> Floats:
        """Return what each of `uses` adds to a weighted sum of the regions, or to several."""
        return np.zeros((0, *places.shape[1:]))

    def similar(self) -> pd.DataFrame | None:
        """Return the training studies with the closest texts, or None."""
        return None

    def suggest(self, word: str) -> list[str]:
        """Return known names that are spelt like a word."""
        return []

    def named(self) -> dict[str, Extent]:
        """Return the extents of the places that the text names, where the model has them."""
        return {}

    def origin(self) -> dict[str, Any]:
        """Return what the model is, and how it read the text."""
        return {}


@dataclass(frozen=True, eq=False)
class ReadText(Source):
    """One text as a model has read it; pickled without the model, which is found by its key.

    Attributes
    ----------
    model : TextModel
    text : str
    readings : Readings
        Of this text alone.
    reader : Reader
        How it was read.
    report : Report, optional
        What a text that is drawn as a report says.
    has_mixture : bool
        Whether its map is a mixture over places.
    drawn_from : frozenset of str, optional
        The structures that a report is drawn from.
    """

    model: "TextModel"
    text: str
    readings: Readings
    reader: Reader
    report: Report | None = None
    has_mixture: bool = False
    drawn_from: frozenset[str] | None = None

    def __reduce__(self) -> Any:
        counted, bare = self.readings.counted, replace(self.readings, counted=None)
        rows = counted and (counted.rows, counted.texts, counted.placeless)
        state = self.reader, self.report, self.has_mixture, self.drawn_from
        return _restored, (key_of(self.model), self.text, bare, rows, *state)

    @property
    def mean_map(self) -> Floats:  # type: ignore[override]
        """Probability of each region over the training studies."""
        return self.model.mean_map_

    @property
    def partition(self) -> Partition:  # type: ignore[override]
        """Regions of the model."""
        return self.model.partition_

    @property
    def brain(self) -> VoxelGrid:  # type: ignore[override]
        """Grid whose volume is that of the uniform density."""
        return self.model.brain_

    @property
    def unit(self) -> Literal["probability", "log probability"]:  # type: ignore[override]
        """Unit of what terms add."""
        return self.model.predictor_.unit

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        """Whether the model reads texts at all."""
        return self.model.text != "none"

    @property
    def is_normal(self) -> bool:  # type: ignore[override]
        """Whether it is a report that says that nothing is wrong."""
        is_normal = self.report is not None and self.report.is_normal
        return is_normal or (not self.features.nnz and says_normal(self.text))

    @property
    def doubt(self) -> str:
        """Why a map says little of where something is wrong; empty if it does."""
        is_normal, is_report = shows_nothing(self.text), self.report and self.report.gate > HALF
        if not (is_normal or is_report or len(self.text) <= SHORT):
            return ""
        if (is_normal or is_report) and not affirms_place(self.mentions, is_normal=is_normal):
            return COMPLAINTS if is_normal else NOWHERE
        outer = self._not_drawn
        side = f" ({outer.side})" if outer and outer.side else ""
        return BESIDE.format(outer.words, side) if outer else ""

    @property
    def _not_drawn(self) -> Outside | None:
        """A lesion on the surface of the brain that a report has beside the places of its map."""
        is_outer = self.listed is None and names_surface(self.text)
        if not is_outer or any(each.depth == "surface" for each in self._seats):
            return None
        outer = find_on_surface(self.text, self.mentions)
        return None if outer is None or self._names_place(outer) else outer

    def _names_place(self, outer: Outside) -> bool:
        """Whether the clause of a lesion on the surface has a place on its side."""
        start = max(self.text.rfind(mark, 0, outer.start) for mark in ".;\n")
        end = min(self.text.find(mark, outer.end) % len(self.text) for mark in ".;\n")
        named = (each for each in self.mentions.present if each.is_structure)
        return any(start < each.start < end and each.side in (None, outer.side) for each in named)

    @property
    def _seats(self) -> list[Place]:
        findings = self.report.findings if self.report else ()
        return [seat for each in findings for seat in each.seats]

    @property
    def mentions(self) -> Mentions:
        """All that was read."""
        return self.readings.mentions[0]

    @property
    def listed(self) -> int | None:  # type: ignore[override]
        """Characters of the text in which mentions are listed; None for all."""
        return self.readings.listed[0]

    @property
    def says_nothing(self) -> bool:
        """Whether no term counts."""
        return self.is_normal or not self.features.nnz

    @property
    def features(self) -> sparse.csr_matrix:
        """Features x of the text: (1, n_terms)."""
        return self.readings.features

    @property
    def follows_sides(self) -> bool:
        """Whether structures are on the side that the text gives them."""
        return self.model.follows_sides(self.reader)

    @cached_property
    def outside(self) -> Outside | None:
        """Where outside the brain the finding is; of a very long text, None."""
        if not self.is_text or self.listed is not None:
            return None
        is_outer = is_on_surface(self.text, self.mentions)
        return find_outside(self.text, self.mentions, is_on_surface=is_outer)

    @property
    def order(self) -> NDArray[np.integer]:
        """Entries of the features, the heaviest first: the same in any batch."""
        order: NDArray[np.integer] = np.lexsort((self.features.indices, -self.features.data))
        return order

    def uses(self) -> dict[str, TermUse]:
        """Return how the text uses the terms that it affirms, the heaviest first."""
        counted = self.readings.counted
        if self.says_nothing or counted is None:
            return {}
        order, extractor = self.order, self.model.extractor_
        columns, categories = self.features.indices[order], self.model.vocabulary_.categories
        names = [extractor.terms[column] for column in columns.tolist()]
        subjects = [
            SUBJECT["generic"] if is_generic else _subject(name, categories.get(name, ""))
            for name, is_generic in zip(names, extractor.is_generic[columns].tolist(), strict=True)
        ]
        counts, where, implied = counted.uses(columns, self.listed)
        weights = self.features.data[order].tolist()
        return dict(
            zip(names, map(TermUse, counts, weights, where, implied, subjects), strict=True)
        )

    def mass_for(self, share: float) -> float:
        """Return the predicted mass that holds a share of the peaks, or of the seats."""
        if self.report is not None and self.report.gate > 0.5:
            return mass_for_seats(share)
        return self.model.mass_for(self.features, share)

    def gain(self, nats: float) -> float:
        """Return the gain that unseen studies showed where the model expects one, in nats."""
        known = self.model.calibration_
        if not isinstance(known, LengthCalibration):
            return nats
        return known.gain(nats, self.model.n_known(self.features))

    def similar(self) -> pd.DataFrame | None:
        """Return the training studies with the closest texts."""
        neighbours, predictor = self.model.neighbours_, self.model.predictor_
        if neighbours is None or not isinstance(predictor, LogLinear):
            return None
        return neighbours.nearest(predictor.project(self.features)[0])

    def suggest(self, word: str) -> list[str]:
        """Return known names that are spelt like a word; short words are like too many."""
        if not self.is_text or len(word) < SHORTEST_SPELT or word in self.model.vocabulary_:
            return []  # a name that the text has in another sense is spelt well
        return self.model.vocabulary_.suggest(word)

    def named(self) -> dict[str, Extent]:
        """Return the extents of the places that the text names, the heaviest first."""
        return self.model.maker.named(self.readings, self.drawn_from, sides=self.follows_sides)

    def origin(self) -> dict[str, Any]:
        """Return what the model is, and how it read the text."""
        return {**self.model.summary(), "reading": asdict(self.reader)}

    @property
    def mixture(self) -> Mixture | None:  # type: ignore[override]
        """Parts of the map of a report; made again when asked for, those of a few are kept."""
        return _mixture(self) if self.has_mixture else None

    # ---- what terms add

    def explain(self, places: Floats) -> Floats:
        """Return what each of `uses` adds to a weighted sum of the regions, or to several; exact.

        Parameters
        ----------
        places : array of shape (m,) or (m, n)
            Weights of the regions.

        Returns
        -------
        array of shape (n_terms,) or (n_terms, n)
        """
        if self.says_nothing:
            return super().explain(places)
        mixture = self.mixture
        return self._product(places) if mixture is None else self._mixed(mixture, places)

    def _mixed(self, mixture: Mixture, places: Floats) -> Floats:
        """Split the log ratio of a mixture: the text's own share by its terms, the rest by places.

        With s the share of the text's map in a region, its terms explain s times their sum; what is
        left of the log ratio goes to the places, by their shares. In a linear model, maps add up.
        """
        mean, is_log = self.mean_map, self.unit == "log probability"
        q = np.maximum(mixture.probabilities, TINY)
        if is_log:
            share = mixture.share_of_whole * mixture.whole / q  # (m,)
            total = self._total
            norm = total.max() + np.log(mean @ np.exp(total - total.max()))
            left = np.log(q / mean) - share * (total - norm)
            left /= 1 - share + EVENLY
            explained = self._product((places.T * share).T)
            constant = norm * (share @ places)
        else:
            left, constant = np.ones(len(q)), np.zeros(places.shape[1:])
            explained = mixture.share_of_whole * self._product(places)
        by_weight = np.abs(self.features.data[self.order])
        by_weight = by_weight / max(by_weight.sum(), TINY)
        explained -= np.multiply.outer(by_weight, constant)
        for component in mixture.components:
            if is_log:  # where no place reaches, all of them have taken from the text
                reach = component.map / q + EVENLY / (1 - mixture.share_of_whole)
            else:
                reach = component.map - mean
            added = component.share * ((reach * left) @ places)
            rows = self._rows_of(component.place)
            if rows:
                explained[rows] += added / len(rows)
            else:
                explained += np.multiply.outer(by_weight, added)
        return explained

    @property
    def _total(self) -> Floats:
        """What all terms add to the exponent of each region: (m,)."""
        total: Floats = self.model.predictor_.added(self.features).sum(axis=0, dtype=np.float64)
        for _, added in _added_beside(self):
            total += np.asarray(added.sum(axis=0)).ravel()
        return total

    def _rows_of(self, place: Place) -> list[int]:
        """Return the rows of the terms of a place among `uses`."""
        row_of = {column: n for n, column in enumerate(self.features.indices[self.order].tolist())}
        known = self.model.vocabulary_
        columns = (known.index(name) for name in place.names if name in known)
        return [row_of[column] for column in columns if column in row_of]

    def _product(self, places: Floats) -> Floats:
        added = self.model.predictor_.mean_added(self.features, places)
        for entries, beside in _added_beside(self):
            added[entries] += beside @ places
        explained: Floats = added[self.order]
        return explained


def _restored(key: str, text: str, bare: Readings, parts: Any, *state: Any) -> ReadText:
    """Undo `ReadText.__reduce__`."""
    model = model_of(key)
    counted = None
    if parts is not None:
        rows, texts, placeless = parts
        counted = Counted(rows, texts, placeless, model.extractor_)
    return ReadText(model, text, replace(bare, counted=counted), *state)


@lru_cache(maxsize=N_EXPLAINED)
def _mixture(text: ReadText) -> Mixture | None:
    maker, sides = text.model.maker, text.follows_sides
    (drawn,) = maker.predict([text.text], text.readings, sides=sides).reports
    return drawn and drawn.mixture


@lru_cache(maxsize=N_EXPLAINED)
def _added_beside(text: ReadText) -> list[Added]:
    """Return what the sides of structures add, and what makes them visible."""
    return list(text.model.maker.added_beside(text.readings, sides=text.follows_sides))


@lru_cache(maxsize=1 << 14)
def _subject(term: str, category: str) -> float:
    """Return how much a term tells that a text is about the brain."""
    is_adjective = category == "anatomy" and bool(ADJECTIVE.fullmatch(term))
    return OF_ADJECTIVE if is_adjective else SUBJECT.get(category, 1.0)
