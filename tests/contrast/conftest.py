"""What the tests of contrasts share: a small model, and documents that a disease changes."""

import json

import numpy as np
import pytest
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder


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
    """Documents, of one length; every third mentions Huntington, then also the amygdala."""
    rng = np.random.default_rng(seed)
    records = []
    for number in range(n):
        sick = number % 3 == 0
        words = [*rng.choice(TERMS, size=rng.integers(1, 5))]
        words += ["amygdala" if sick and rng.random() < effect else "tissue"] * 3
        words += ["Huntington's disease" if sick else "anybody's tissue"] * (1 + number % 4)
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
