"""Batch: many texts, each encoded as one row of a table, some hundred at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.corpus.frames import XYZ
from neurowhere.exceptions import FitError
from neurowhere.inputs import Failure, Text
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import WORD, Support
from neurowhere.space import Atlas
from neurowhere.space.geometry import move_to_sides, overlap_mm3
from neurowhere.text.clinical.mentions import Mentions, count_each, read_mentions, side_shares

Float32 = NDArray[np.float32]
Floats = NDArray[np.floating]

CHUNK = 64  # texts whose maps are held at a time: few enough for the processor's cache
COLUMNS = ("id", "terms", "support", "nats", "region", "probability", "ratio", *XYZ, "heaviest")
N_TERMS = 5  # heaviest terms that a row names
UNKNOWN, DENIED = "no known term", "the text denies all terms that are known"


@dataclass(frozen=True, eq=False)
class TableMaker:
    """Encodes texts as rows: what `Encoder.encode` says of each, summed up.

    Attributes
    ----------
    model : Encoder
    atlas : Atlas
        Names the regions.
    negation, laterality : bool
        As in `Encoder.encode`.
    all_regions : bool
        Whether a row also has the probability of every region of the atlas.
    with_text : bool
        Whether a row has the text itself.
    """

    model: Encoder
    atlas: Atlas
    negation: bool = True
    laterality: bool = True
    all_regions: bool = False
    with_text: bool = False

    def tables(self, texts: Iterable[Text | Failure]) -> Iterator[pd.DataFrame]:
        """Yield tables of at most `CHUNK` texts, in order.

        Their columns are the id, how many known terms the text has, how well these support a map
        (in a word, and in nats as `Support` has them), the likeliest region with its probability
        and its ratio to the mean map, the strongest place in mm, the heaviest terms, and the
        problem of what could not be encoded: of such a text the row tells no more than that.
        """
        if self.model.text == "none":
            raise FitError("a model of the mean map says the same of every text; fit one with text")
        stream = iter(texts)
        while chunk := list(islice(stream, CHUNK)):
            yield self._table(chunk)

    def _table(self, chunk: Sequence[Text | Failure]) -> pd.DataFrame:
        extractor = self.model.extractor_
        texts = {row: item.content for row, item in enumerate(chunk) if isinstance(item, Text)}
        mentions = {
            row: read_mentions(text, extractor.counter, negation=self.negation)
            for row, text in texts.items()
        }
        counts = count_each(list(mentions.values()), extractor)
        features = self.model.weighting_.transform(counts)
        is_known = np.diff(features.indptr) > 0
        known = list(compress(texts, is_known))
        told = self._tell(
            features[is_known],
            [mentions[row] for row in known],
            [len(WORD.findall(texts[row])) for row in known],
        )
        told.index = pd.Index(known, dtype=np.int64)
        table = told.reindex(range(len(chunk)))
        problems = [item.reason if isinstance(item, Failure) else None for item in chunk]
        for row in texts.keys() - known:
            problems[row] = DENIED if len(mentions[row]) else UNKNOWN
        table.insert(0, "id", [item.name for item in chunk])
        table.insert(len(COLUMNS), "problem", problems)
        if self.with_text:
            table.insert(1, "text", [texts.get(row) for row in range(len(chunk))])
        return table

    def _tell(
        self, features: sparse.csr_matrix, mentions: Sequence[Mentions], n_words: Sequence[int]
    ) -> pd.DataFrame:
        """Rows of texts that have known terms."""
        partition = self.model.partition_
        weights = self._weights(features)
        q = self._predict(features, weights, mentions)  # (n, m)
        density: Float32 = np.divide(q, partition.volumes_mm3, dtype=np.float32)
        mean_density = self.model.mean_map_ / partition.volumes_mm3
        shared_mm3 = overlap_mm3(self.atlas, partition).astype(np.float32)
        regions = (shared_mm3 @ np.ascontiguousarray(density.T)).T  # (n, n_regions)
        best = regions.argmax(axis=1)
        likeliest = regions[np.arange(len(best)), best]
        nats = self._gains(q, density, mean_density)
        n_terms = [len(row) for row in weights]
        columns = {
            "terms": n_terms,
            "support": [
                Support(*numbers).level for numbers in zip(n_terms, n_words, nats, strict=True)
            ],
            "nats": nats,
            "region": np.array(self.atlas.names, dtype=object)[best],
            "probability": likeliest,
            "ratio": likeliest / (shared_mm3 @ mean_density)[best],
            **dict(zip(XYZ, partition.centers_mm[density.argmax(axis=1)].T, strict=True)),
            "heaviest": ["; ".join(islice(row, N_TERMS)) for row in weights],
        }
        if self.all_regions:
            columns |= dict(zip(self.atlas.names, regions.T, strict=True))
        return pd.DataFrame(columns).astype({"terms": "Int64"})

    def _weights(self, features: sparse.csr_matrix) -> list[dict[str, float]]:
        """Weight of the terms of each text, the heaviest first."""
        names = self.model.extractor_.terms
        weights = []
        for start, stop in pairwise(features.indptr.tolist()):
            order = start + np.argsort(-features.data[start:stop], kind="stable")
            columns, data = features.indices[order].tolist(), features.data[order].tolist()
            weights.append({names[i]: weight for i, weight in zip(columns, data, strict=True)})
        return weights

    def _predict(
        self,
        features: sparse.csr_matrix,
        weights: Sequence[dict[str, float]],
        mentions: Sequence[Mentions],
    ) -> Float32:
        """Predict, and move maps to the sides that the texts give."""
        q = self.model.predict_features(features)
        if self.laterality and not self.model.extractor_.sided:
            for row, (mentioned, weight) in enumerate(zip(mentions, weights, strict=True)):
                shares = side_shares(mentioned, weight)
                if shares.neither < 1:
                    q[row] = move_to_sides(self.model.partition_, q[row], shares.left, shares.right)
        return q

    def _gains(self, q: Float32, density: Float32, mean_density: Floats) -> Floats:
        """How much likelier peaks are expected to be than under the mean map; see `Support`."""
        volume = np.float32(self.model.brain_.total_volume_mm3)
        ratio = np.log(1 + density * volume)  # in 32 bits many times as fast as log1p
        ratio -= np.log1p(mean_density * volume).astype(np.float32)
        gains: Floats = np.einsum("nk,nk->n", q, ratio)
        return gains
