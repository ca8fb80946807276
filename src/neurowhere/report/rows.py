"""Rows: the encodings of many texts as a table, a row for each, whatever became of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.exceptions import FitError
from neurowhere.inputs import Failure, Text
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding
from neurowhere.model.text_model import CHUNK_ENCODED
from neurowhere.space import Atlas

COLUMNS = ("id", "terms", "support", "nats", "region", "probability", "ratio", *XYZ, "heaviest")
N_TERMS = 5  # heaviest terms that a row names
UNKNOWN, DENIED = "no known term", "the text denies all terms that are known"
GENERIC = "only generic words are known, which point nowhere by themselves"

Outcome = Encoding | str  # what became of a text: its encoding, or the problem with it
Pair = tuple[Text | Failure, Outcome]


def encode_items(model: Encoder, items: Iterable[Text | Failure], **options: Any) -> Iterator[Pair]:
    """Yield each text with its encoding, or with the problem that it has none.

    Parameters
    ----------
    model : Encoder
    items : iterable of Text or Failure
    options
        As of `Encoder.encode_many`.
    """
    if model.text == "none":
        raise FitError("a model of the mean map says the same of every text; fit one with text")
    stream = iter(items)
    while chunk := list(islice(stream, CHUNK_ENCODED)):
        contents = [item.content for item in chunk if isinstance(item, Text)]
        encodings = model.encode_many(contents, **options)
        for item in chunk:
            yield item, item.reason if isinstance(item, Failure) else _outcome(next(encodings))


def _outcome(encoding: Encoding) -> Outcome:
    if not encoding.is_mean_map:
        return encoding
    if encoding.mentions.present:
        return GENERIC
    return DENIED if len(encoding.mentions) else UNKNOWN


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Sums up what became of texts as rows of a table.

    A row has the id, how many known terms the text has, how well these support a map (in a word,
    and in nats as `Support` has them), the likeliest region with its probability and its ratio to
    the mean map, the strongest place in mm, the heaviest terms, and the problem of what could not
    be encoded: of such a text the row says no more than that.

    Attributes
    ----------
    atlas : Atlas
        Names the regions.
    all_regions : bool
        Whether a row also has the probability of every region of the atlas.
    with_text : bool
        Whether a row has the text itself.
    """

    atlas: Atlas
    all_regions: bool = False
    with_text: bool = False

    def table(self, pairs: Sequence[Pair]) -> pd.DataFrame:
        """Make the rows of some texts."""
        columns = [*COLUMNS, "problem", *(self.atlas.names if self.all_regions else ())]
        if self.with_text:
            columns.insert(1, "text")
        rows = [self._row(item, outcome) for item, outcome in pairs]
        return pd.DataFrame(rows, columns=columns).astype({"terms": "Int64", "problem": object})

    def _row(self, item: Text | Failure, outcome: Outcome) -> dict[str, Any]:
        row: dict[str, Any] = {"id": item.name}
        if self.with_text and isinstance(item, Text):
            row["text"] = item.content
        return row | ({"problem": outcome} if isinstance(outcome, str) else self._tell(outcome))

    def _tell(self, encoding: Encoding) -> dict[str, Any]:
        gazetteer, support = encoding.gazetteer(self.atlas), encoding.support
        shares = gazetteer.shares(encoding.density)
        best = int(shares.argmax())
        mean = float(gazetteer.shares(encoding.mean_density)[best])
        place = encoding.partition.centers_mm[encoding.density.argmax()]
        return {
            "terms": support.terms,
            "support": support.level,
            "nats": support.nats,
            "region": self.atlas.names[best],
            "probability": shares[best],
            "ratio": shares[best] / mean if mean else np.nan,
            **dict(zip(XYZ, place.tolist(), strict=True)),
            "heaviest": "; ".join(islice(encoding.uses, N_TERMS)),
            **(dict(zip(self.atlas.names, shares, strict=True)) if self.all_regions else {}),
        }
