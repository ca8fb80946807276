"""Structures that are made visible in the maps of texts."""

import numpy as np
import pytest

from neurowhere.model import visible

TEXTS = [
    "An infarct of the left thalamus and of the right insula.",
    "Left amygdala, left insula and the hippocampus were activated; no lesion of the pons.",
    "The precuneus, the left cuneus and occipital pole.",
    "Fear and the amygdala.",
]


@pytest.fixture(autouse=True)
def forget(shipped):
    shipped.__dict__.pop("_maker", None)


def test_structures_are_forgotten_and_met_again(shipped, monkeypatch):
    """A server that reads for weeks meets every name there is."""
    expected = [shipped.encode(text).probabilities for text in TEXTS]
    n_kept = len(shipped.maker.visible._kept)
    assert n_kept > 5
    shipped.__dict__.pop("_maker")
    monkeypatch.setattr(visible, "N_KEPT", 3)
    for _ in range(2):
        found = [each.probabilities for each in shipped.encode_many(TEXTS)]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-9)
        assert len(shipped.maker.visible._kept) <= 3


def test_cores_are_made_once(shipped, monkeypatch):
    list(shipped.encode_many(TEXTS))
    asked = []

    def cores(self, terms):
        asked.extend(terms)
        return iter(())

    monkeypatch.setattr(type(shipped.predictor_), "cores", cores)
    assert all(each.uses for each in shipped.encode_many(TEXTS))
    assert asked == []
