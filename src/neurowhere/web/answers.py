"""Answers: what the API says of an encoding, as plain data; see `neurowhere.web.schemas`."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.model.decode import Decoding
from neurowhere.model.encoding import Encoding, TermMap
from neurowhere.space.geometry import strongest_regions
from neurowhere.text.clinical.mentions import Mention
from neurowhere.web.gazetteer import Gazetteer, Point, as_point

N_REASONS = 20
N_TERM_PEAKS = 5
N_SENTENCE_REGIONS = 3
SIGNS = {"left": -1, "right": 1}  # of x

Answer = dict[str, Any]


def full(encoding: Encoding, gazetteer: Gazetteer, n_regions: int) -> Answer:
    """Tell all of an encoding but its place and its sentences."""
    return {
        "support": support(encoding),
        "unit": encoding.unit,
        "terms": [
            {
                "term": name,
                "count": count,
                "weight": short(weight),
                "contribution": short(contribution),
                "where": where,
            }
            for name, count, weight, contribution, where in rows(
                encoding.terms, "term", "count", "weight", "contribution", "where"
            )
        ],
        "mentions": list(mentions(encoding)),
        "unapplied_sides": [
            {"side": mark.side, "where": (mark.start, mark.end)}
            for mark in encoding.mentions.unapplied
        ],
        "regions": regions(encoding, gazetteer, n_regions),
        "peaks": peaks(encoding, gazetteer),
        "similar": studies(encoding.similar),
    }


def summary(encoding: Encoding, gazetteer: Gazetteer, n_regions: int) -> Answer:
    """Tell what matters most of an encoding."""
    return {
        "support": support(encoding),
        "terms": reasons(encoding.terms),
        "regions": regions(encoding, gazetteer, n_regions),
        "peaks": peaks(encoding, gazetteer),
    }


def sentence(encoding: Encoding, gazetteer: Gazetteer, where: tuple[int, int]) -> Answer:
    """Tell what matters most of one sentence of a text."""
    return {
        "where": where,
        "support": support(encoding),
        "terms": encoding.why()["term"].tolist(),
        "regions": regions(encoding, gazetteer, N_SENTENCE_REGIONS),
    }


def support(encoding: Encoding) -> Answer:
    """Tell how well a text is supported."""
    found = encoding.support
    return {"level": found.level, "terms": found.terms, "nats": short(found.nats)}


def mentions(encoding: Encoding) -> Iterable[Answer]:
    """Tell what was read, in the order of the text."""
    read = [(mention, True) for mention in encoding.mentions]
    read += [(place, False) for place in encoding.mentions.places]
    for mention, known in sorted(read, key=lambda pair: pair[0].start):
        yield _mention(mention, known)


def _mention(mention: Mention, known: bool) -> Answer:
    return {
        "term": mention.term,
        "known": known,
        "where": (mention.start, mention.end),
        "side": mention.side,
        "side_where": mention.side_span,
        "negation_where": mention.negation_span,
    }


def regions(encoding: Encoding, gazetteer: Gazetteer, n_regions: int) -> list[Answer]:
    """Tell the likeliest regions of the atlas."""
    if not n_regions:
        return []
    probability = gazetteer.shares(encoding.density)
    mean = gazetteer.mean_shares
    likeliest = np.argsort(-probability, kind="stable")[:n_regions].tolist()
    return [
        {
            "region": label,
            "name": gazetteer.words[label],
            "probability": short(probability[row]),
            "ratio": short(probability[row] / mean[row]) if mean[row] else None,
            "at": gazetteer.densest(label, encoding.density),
        }
        for row, label in ((row, gazetteer.atlas.names[row]) for row in likeliest)
    ]


def peaks(encoding: Encoding, gazetteer: Gazetteer) -> list[Answer]:
    """Tell the strongest maxima."""
    table = encoding.peaks
    places = np.column_stack([table[axis] for axis in XYZ])  # (n, 3)
    names = gazetteer.names_at(places)
    return [
        {"at": as_point(place), "density": short(density), "ratio": short(ratio), "name": name}
        for place, name, (density, ratio) in zip(
            places, names, rows(table, "density", "ratio"), strict=True
        )
    ]


def place(encoding: Encoding, gazetteer: Gazetteer, at: Point) -> Answer:
    """Tell what a text says of one place, and why."""
    why = encoding.why(at)  # refuses a point outside of the brain
    point = np.array(at)
    region = int(encoding.partition.region_of(point[None])[0])
    mean = float(encoding.mean_map[region])
    return {
        "at": as_point(point),
        "name": gazetteer.names_at(point[None])[0],
        "density": short(encoding.density[region]),
        "ratio": short(encoding.probabilities[region] / mean) if mean else None,
        "why": reasons(why),
    }


def contrast(first: Encoding, second: Encoding, gazetteer: Gazetteer, n_regions: int) -> Answer:
    """Tell where two texts differ."""
    tables = [encoding.regions(gazetteer.atlas) for encoding in (first, second)]
    both = tables[0].merge(tables[1], on="region", suffixes=("", "_other"))
    both["gain"] = both["probability"] - both["probability_other"]
    both = both.sort_values("gain", ascending=False, kind="stable")
    gain = first.density - second.density

    def told(table: pd.DataFrame, direction: int) -> list[Answer]:
        return [
            {
                "region": label,
                "name": gazetteer.words[label],
                "probability": short(first_share),
                "other": short(second_share),
                "ratio": short(first_share / second_share) if second_share else None,
                "at": gazetteer.densest(label, direction * gain),
            }
            for label, first_share, second_share in rows(
                table.head(n_regions), "region", "probability", "probability_other"
            )
        ]

    return {
        "text": summary(first, gazetteer, n_regions),
        "other": summary(second, gazetteer, n_regions),
        "distance": short(float(np.abs(first.probabilities - second.probabilities).sum()) / 2),
        "more": told(both[both["gain"] > 0], 1),
        "less": told(both[both["gain"] < 0][::-1], -1),
    }


def reasons(table: pd.DataFrame) -> list[Answer]:
    """Tell what terms add."""
    return [
        {"term": name, "contribution": short(contribution)}
        for name, contribution in rows(table.head(N_REASONS), "term", "contribution")
    ]


def studies(table: pd.DataFrame | None) -> list[Answer]:
    """Tell training studies."""
    if table is None:
        return []
    return [
        {"id": name, "similarity": short(similarity), "link": link}
        for name, similarity, link in rows(table, "id", "similarity", "link")
    ]


def decoding(found: Decoding, n_rows: int, outside: int) -> Answer:
    """Tell which terms and studies speak for places."""
    terms = [
        {"term": name, "score": short(score), "ratio": short(ratio)}
        for name, score, ratio in rows(found.terms, "term", "score", "ratio")
    ]
    return {"terms": terms, "studies": studies(found.studies)[:n_rows], "outside": outside}


def term(found: TermMap) -> Answer:
    """Tell of the map of a term."""
    centers, effect = found.partition.centers_mm, found.effect
    if found.side and found.method == "restricted":
        effect = effect * (SIGNS[found.side] * centers[:, 0] >= 0)
    places = strongest_regions(found.partition, effect, N_TERM_PEAKS)
    return {
        "name": found.name,
        "term": found.term,
        "side": found.side,
        "method": found.method,
        "unit": found.unit,
        "peaks": [as_point(center) for center in centers[places]],
    }


def rows(table: pd.DataFrame, *names: str) -> Iterator[Any]:
    """Go through the rows of some columns, as plain values; far faster than `itertuples`."""
    return zip(*(table[name].tolist() for name in names), strict=True)


def short(value: float) -> float | None:
    """Keep the digits that matter; what is no number is null.

    >>> short(0.123456), short(float("nan"))
    (0.1235, None)
    """
    return float(f"{value:.4g}") if math.isfinite(value) else None
