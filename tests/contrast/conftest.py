"""What the tests of contrasts share: a small model, and documents that a disease changes."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder
from neurowhere.contrast.shard import Summing


@pytest.fixture(scope="session")
def model():
    """A model of four places and of one disease, which is seen with the visual cortex."""
    corpus = make_corpus(60)
    texts = [f"{text} Huntington's disease." if "visual" in text else text for text in corpus.texts]
    terms = [*TERMS, "huntington disease"]
    return Encoder(GRID, loss="l2", vocabulary=terms, min_studies=1).fit(
        texts, corpus.peaks_by_document
    )


def make_records(n=120, *, effect=0.8, seed=0):
    """Documents, every third of which mentions Huntington; then also the amygdala, more often."""
    rng = np.random.default_rng(seed)
    records = []
    for number in range(n):
        sick = number % 3 == 0
        words = [*rng.choice(TERMS, size=2)]
        words += ["amygdala"] * int(sick and rng.random() < effect) * 3
        words += ["Huntington's disease"] * (1 + number % 4) * sick
        records.append(
            {
                "pmid": 1000 + number,
                "title": f"Study {number}",
                "abstract": f"We looked at {', '.join(words)}.",
                "arm": "patients" if sick else "controls",
            }
        )
    return records


def write_records(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture
def source(tmp_path):
    """A file of 120 documents."""
    return write_records(tmp_path / "documents.jsonl", make_records())


class StubShard:
    """Documents whose counts are given."""

    def __init__(self, counts, part=0, number=0):
        self.counts = sparse.csr_matrix(counts)
        self.part, self.number, self.name = part, number, f"{part}-{number}"

    def __len__(self):
        return self.counts.shape[0]

    def vectors_without(self, extractor, left_out):
        counts = self.counts.toarray()
        counts[:, left_out] = 0
        return sparse.csr_matrix(counts)


def stub_summing(maps, *, replicates=200, seed=0, left_out=()):
    """Sums of a model whose encodings are the given maps, one for each term."""
    maps = np.asarray(maps, dtype=np.float64)
    model = SimpleNamespace(
        extractor_=SimpleNamespace(terms=[str(i) for i in range(len(maps))]),
        weighting_=SimpleNamespace(transform=lambda counts: counts),
        predict_features=lambda features: np.asarray(features @ maps, dtype=np.float32),
        partition_=SimpleNamespace(n_regions=maps.shape[1]),
        mean_map_=maps.mean(axis=0),
    )
    return Summing(model, np.array(left_out, np.intp), replicates, seed)
