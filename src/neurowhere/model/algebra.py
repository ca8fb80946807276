r"""Algebra: encodings added, subtracted and mixed.

With ρ_i = q_i / q̄ the ratio of a map to the mean map, a sum with signs s_i is the map

    q ∝ q̄ Π_i ((ρ_i + δ) / (1 + δ))^{s_i},

whose log ratio to the mean map is the signed sum of the others'. For a log-linear model this adds
and subtracts the features of the texts. δ mixes a little of the mean map into each map, so that no
place is impossible and none is divided by.

Such a map of a difference still has much of q̄: its highest places are those of any study. Places
are therefore ranked by how much likelier they are by what was added than by what was subtracted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import FitError
from neurowhere.model.encoding import Contrast, Encoding
from neurowhere.model.source import Source, TermUse
from neurowhere.model.visible import Extent
from neurowhere.text.reading.mentions import Mention, Mentions, SideMark, Span

Floats = NDArray[np.floating]

SHARE = 0.01  # δ, of the mean map
PLUS, MINUS = "+", "\N{MINUS SIGN}"


def add(first: Encoding, *others: Encoding) -> Encoding:
    """Return the map of what all of these texts say together."""
    return combine([first, *others], [1] * (1 + len(others)))


def subtract(first: Encoding, *others: Encoding) -> Encoding:
    """Return the map of what the first text says and the others do not.

    >>> from neurowhere import Encoder, VoxelGrid
    >>> peaks = {"vision": [[8, -92, 2]], "speech": [[-56, -20, 4]]}
    >>> texts = [*peaks, "vision and speech"] * 6
    >>> places = [*peaks.values(), [*peaks["vision"], *peaks["speech"]]] * 6
    >>> model = Encoder(VoxelGrid(8), "l2", vocabulary=list(peaks)).fit(texts, places)
    >>> both, speech = model.encode("vision and speech"), model.encode("speech")
    >>> subtract(both, speech).terms[["term", "count"]].values.tolist()
    [['vision', 1], ['speech', 0]]
    """
    return combine([first, *others], [1] + [-1] * len(others))


def combine(encodings: Sequence[Encoding], signs: Sequence[int]) -> Encoding:
    """Return the signed sum of encodings of one model; see this module.

    Parameters
    ----------
    encodings : sequence of Encoding
    signs : sequence of int
        1 to add, −1 to subtract.

    Returns
    -------
    Encoding
        Its text is that of all, each after its sign. Terms that were subtracted have negative
        weights and counts.
    """
    _check(encodings)
    mean = np.asarray(encodings[0].mean_map, np.float64)  # (m,)
    q = _product(mean, [each.probabilities for each in encodings], signs)
    joined = _join(encodings, signs, q)
    added, subtracted = _sides(encodings, signs)
    if not subtracted:
        return joined
    gain = _sum(mean, added) - _sum(mean, subtracted)
    return replace(joined, contrast=Contrast(tuple(added), tuple(subtracted), gain))


def _sum(mean: Floats, encodings: Sequence[Encoding]) -> Floats:
    return _product(mean, [each.probabilities for each in encodings], [1] * len(encodings))


def _product(mean: Floats, maps: Sequence[Floats], signs: Sequence[int]) -> Floats:
    """Return the map of a signed sum; see this module."""
    exponent = np.zeros(len(mean))
    for probabilities, sign in zip(maps, signs, strict=True):
        ratio = np.divide(probabilities, mean, out=np.ones_like(mean), where=mean > 0)
        exponent += sign * np.log((ratio + SHARE) / (1 + SHARE))
    q: Floats = mean * np.exp(exponent - exponent.max())
    q /= q.sum()
    return q


def _sides(
    encodings: Sequence[Encoding], signs: Sequence[int]
) -> tuple[list[Encoding], list[Encoding]]:
    """Return what is added, and what is subtracted, also within differences."""
    sides: tuple[list[Encoding], list[Encoding]] = [], []
    for encoding, sign in zip(encodings, signs, strict=True):
        contrast = encoding.contrast
        added, subtracted = sides if sign > 0 else sides[::-1]
        added += [encoding] if contrast is None else contrast.added
        subtracted += [] if contrast is None else contrast.subtracted
    return sides


def mix(encodings: Sequence[Encoding], weights: Sequence[float] | None = None) -> Encoding:
    """Return the mixture Σ w_i q_i: a map of the places that any one of the texts points to.

    Parameters
    ----------
    encodings : sequence of Encoding
    weights : sequence of float, optional
        Not negative; they are scaled to sum to 1. By default all are equal.

    Returns
    -------
    Encoding
    """
    _check(encodings)
    shares = np.ones(len(encodings)) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != (len(encodings),) or shares.min() < 0 or not shares.sum() > 0:
        raise FitError(
            f"expected {len(encodings)} weights that are not negative and not all 0, "
            f"got {shares.tolist()}"
        )
    shares /= shares.sum()
    maps = np.stack([encoding.probabilities for encoding in encodings])  # (n, m)
    return _join(encodings, shares, shares @ maps)


class _Part(NamedTuple):
    """An encoding in a sum."""

    encoding: Encoding
    factor: float
    offset: int  # of its text in that of all


def _join(encodings: Sequence[Encoding], factors: Sequence[float] | Floats, q: Floats) -> Encoding:
    """Make the encoding with these probabilities, and the texts and the terms of all."""
    text = ""
    parts: list[_Part] = []
    for encoding, factor in zip(encodings, factors, strict=True):
        if parts:
            text += f"\n{PLUS if factor >= 0 else MINUS} "
        parts.append(_Part(encoding, float(factor), len(text)))
        text += encoding.text
    return Encoding(text, q.astype(np.float32), _Sum(encodings[0].source, parts))


class _Sum(Source):
    """What a sum was made from: its parts, the first of which tells of the model."""

    def __init__(self, first: Source, parts: Sequence[_Part]) -> None:
        super().__init__(first.mean_map, first.partition, first.brain)
        self.unit = first.unit
        self.parts, self._first = parts, first
        self._uses = _join_uses(parts)

    def __reduce__(self) -> Any:
        return _Sum, (self._first, self.parts)

    @property
    def says_nothing(self) -> bool:
        """Whether no term counts."""
        return not self._uses

    @property
    def mentions(self) -> Mentions:
        """All that was read in the parts."""
        return _join_mentions(self.parts)

    @property
    def listed(self) -> int | None:  # type: ignore[override]
        """Characters of the whole text in which mentions are listed; None for all."""
        listed = (part.offset + part.encoding.listed for part in self.parts if part.encoding.listed)
        return next(listed, None)

    def uses(self) -> dict[str, TermUse]:
        """Return how the parts use their terms, the heaviest first."""
        return self._uses

    def mass_for(self, share: float) -> float:
        """Return the predicted mass that holds a share of the peaks of unseen studies."""
        return self._first.mass_for(share)

    def gain(self, nats: float) -> float:
        """Return the gain that unseen studies showed where the model expects one, in nats."""
        return self._first.gain(nats)

    def explain(self, places: Floats) -> Floats:
        """Return what each of `uses` adds to a weighted sum of the regions, or to several."""
        row_of = {term: row for row, term in enumerate(self._uses)}
        total: Floats = np.zeros((len(row_of), *places.shape[1:]))
        for part in self.parts:
            rows = [row_of[term] for term in part.encoding.uses]
            total[rows] += part.factor * part.encoding.source.explain(places)
        return total

    def suggest(self, word: str) -> list[str]:
        """Return known names that are spelt like a word."""
        return self._first.suggest(word)

    def named(self) -> dict[str, Extent]:
        """Return the places that the texts name which were added."""
        named: dict[str, Extent] = {}
        for part in self.parts:
            named |= part.encoding.source.named() if part.factor > 0 else {}
        return named

    def origin(self) -> dict[str, Any]:
        """Return what the model is, and how it read the texts."""
        return self._first.origin()


def _join_uses(parts: Sequence[_Part]) -> dict[str, TermUse]:
    """Join the terms of all parts, the heaviest first."""
    joined: dict[str, TermUse] = {}
    for part in parts:
        for term, use in part.encoding.uses.items():
            before = joined.get(term, TermUse(0, 0.0, [], use.implied))
            joined[term] = TermUse(
                before.count + use.count * (1 if part.factor >= 0 else -1),
                before.weight + use.weight * part.factor,
                before.where + [_shifted(span, part.offset) for span in use.where],
                before.implied and use.implied,
                use.subject,
            )
    return dict(sorted(joined.items(), key=lambda pair: -abs(pair[1].weight)))


def _join_mentions(parts: Sequence[_Part]) -> Mentions:
    found: list[Mention] = []
    places: list[Mention] = []
    unapplied: list[SideMark] = []
    rule_based: list[Mention] = []
    for encoding, _, offset in parts:
        found += [_shifted_mention(mention, offset) for mention in encoding.mentions.found]
        places += [_shifted_mention(mention, offset) for mention in encoding.mentions.places]
        rule_based += [
            _shifted_mention(mention, offset) for mention in encoding.mentions.rule_based
        ]
        unapplied += [
            mark._replace(start=mark.start + offset, end=mark.end + offset)
            for mark in encoding.mentions.unapplied
        ]
    return Mentions(tuple(found), tuple(places), tuple(unapplied), tuple(rule_based))


def _shifted_mention(mention: Mention, offset: int) -> Mention:
    side, negation, hedge = mention.side_span, mention.negation_span, mention.hedge_span
    return mention._replace(
        start=mention.start + offset,
        end=mention.end + offset,
        side_span=side and _shifted(side, offset),
        negation_span=negation and _shifted(negation, offset),
        hedge_span=hedge and _shifted(hedge, offset),
    )


def _shifted(span: Span, offset: int) -> Span:
    return span[0] + offset, span[1] + offset


def _check(encodings: Sequence[Encoding]) -> None:
    if not encodings:
        raise FitError("expected encodings to combine, got none")
    mean = encodings[0].mean_map
    if not all(np.array_equal(encoding.mean_map, mean) for encoding in encodings):
        raise FitError("expected encodings of one model; encode all texts with the same")
