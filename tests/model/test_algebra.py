"""Sums, differences and mixtures of encodings: the laws that they have to keep."""

import pickle

import numpy as np
import pytest
from tests.studies import TERMS, make_corpus, small_model

from neurowhere import Encoder, VoxelGrid, summarise
from neurowhere.exceptions import FitError
from neurowhere.model.algebra import SHARE, add, combine, mix, subtract
from neurowhere.report.encoding import title_of_picture

LOSSES = ["l2", "likelihood"]


@pytest.fixture(scope="module", params=LOSSES)
def model(request):
    return small_model(request.param)


@pytest.fixture
def amygdala(model):
    return model.encode("the left amygdala, not the visual cortex")


@pytest.fixture
def motor(model):
    return model.encode("amygdala and motor cortex; the right hand")


def log_ratio(encoding):
    ratio = encoding.probabilities / encoding.mean_map
    return np.log((ratio + SHARE) / (1 + SHARE))


def test_results_can_be_pickled(amygdala, motor):
    for encoding in (amygdala, amygdala - motor):
        copy = pickle.loads(pickle.dumps(encoding))
        np.testing.assert_array_equal(copy.probabilities, encoding.probabilities)
        np.testing.assert_array_equal(copy.terms["contribution"], encoding.terms["contribution"])
        assert copy.source.suggest("amigdala") == encoding.source.suggest("amigdala")


def test_log_ratios_add_up(amygdala, motor):
    result = combine([amygdala, motor, motor], [1, -1, -1])
    expected = log_ratio(amygdala) - 2 * log_ratio(motor)
    found = np.log(result.probabilities / result.mean_map)
    difference = (found - expected)[amygdala.mean_map > 1e-4]
    assert np.ptp(difference) < 1e-3  # the constant makes it sum to 1
    assert result.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_a_text_minus_itself_is_the_mean_map(amygdala):
    result = subtract(amygdala, amygdala)
    np.testing.assert_allclose(result.probabilities, amygdala.mean_map, atol=1e-7)
    assert result.terms["weight"].tolist() == [0]
    assert result.terms["count"].tolist() == [0]


def test_sums_have_no_order(amygdala, motor):
    first, second = add(amygdala, motor), add(motor, amygdala)
    np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-7)
    assert set(first.terms["term"]) == set(second.terms["term"])


def test_one_alone_is_nearly_itself(amygdala):
    total = np.abs(combine([amygdala], [1]).probabilities - amygdala.probabilities).sum()
    assert total <= 2 * SHARE


def test_a_difference_is_what_the_first_has_more(model):
    both = model.encode("amygdala and motor cortex")
    result = subtract(both, model.encode("amygdala"))
    places = model.partition_.region_of([(-38, -24, 56), (-22, -4, -18)])
    more, less = result.probabilities[places] / both.probabilities[places]
    assert more > 1 > less


def test_terms_and_their_places(amygdala, motor):
    result = subtract(amygdala, motor)
    assert result.text == f"{amygdala.text}\n− {motor.text}"
    assert set(result.terms["term"]) == {"amygdala", "motor cortex"}
    rows = result.terms.set_index("term")
    assert rows.loc["motor cortex", "weight"] < 0
    assert rows.loc["motor cortex", "count"] == -1
    for term, spans in rows["where"].items():
        assert {result.text[start:end] for start, end in spans} == {term}
    assert len(rows.loc["amygdala", "where"]) == 2
    (denied,) = [mention for mention in result.mentions if mention.is_negated]
    assert result.text[denied.start : denied.end] == "visual cortex"
    assert result.text[slice(*denied.negation_span)] == "not"
    (mark,) = result.mentions.unapplied
    assert result.text[mark.start : mark.end] == "right"
    assert "amygdala" in repr(result.why())
    assert result.similar is None


def test_explanations_add_up(amygdala, motor):
    weights = np.random.default_rng(0).normal(size=len(amygdala.mean_map))
    result = subtract(motor, amygdala)
    found = dict(zip(result.terms["term"], result.source.explain(weights)))
    expected = dict(zip(motor.terms["term"], motor.source.explain(weights)))
    for term, value in zip(amygdala.terms["term"], amygdala.source.explain(weights)):
        expected[term] = expected.get(term, 0) - value
    assert found == pytest.approx(expected)


def test_mixture(amygdala, motor):
    result = mix([amygdala, motor], [3, 1])
    expected = 0.75 * amygdala.probabilities + 0.25 * motor.probabilities
    np.testing.assert_allclose(result.probabilities, expected, atol=1e-7)
    np.testing.assert_allclose(mix([amygdala]).probabilities, amygdala.probabilities, atol=1e-7)


def test_texts_without_terms(model, amygdala):
    nothing = model.encode("liver")
    np.testing.assert_allclose(
        subtract(nothing, nothing).probabilities, nothing.mean_map, atol=1e-7
    )
    result = add(amygdala, nothing)
    assert result.terms["term"].tolist() == ["amygdala"]


@pytest.mark.parametrize("weights", [[1], [-1, 2], [0, 0], [np.nan, 1]])
def test_wrong_weights(amygdala, motor, weights):
    with pytest.raises(FitError, match="expected 2 weights"):
        mix([amygdala, motor], weights)


def test_encodings_of_different_models(amygdala):
    other = Encoder(VoxelGrid(20), "l2", vocabulary=TERMS).fit(make_corpus())
    with pytest.raises(FitError, match="expected encodings of one model"):
        add(amygdala, other.encode("amygdala"))
    with pytest.raises(FitError, match="got none"):
        combine([], [])


# Places that the first text is about and the second is not, as an expert would say.
DIFFERENCES = [
    ("speech production", "speech perception", ["postcentral", "precentral"]),
    ("working memory", "attention", ["middle frontal"]),
    ("left amygdala", "right amygdala", ["left amygdala"]),
    ("semantic memory", "episodic memory", ["angular", "middle temporal"]),
    ("pain", "touch", ["cingulate", "insula"]),
    ("face perception", "place perception", ["right fusiform"]),
    ("finger tapping", "foot movement", ["cerebellar", "left precentral"]),
    ("Parkinson's disease", "Huntington's disease", ["putamen", "substantia nigra"]),
    ("reward anticipation", "punishment", ["putamen", "caudate", "accumbens"]),
    ("Infarct of the left thalamus", "Infarct of the right thalamus", ["left thalamus"]),
]


@pytest.mark.parametrize(("first", "second", "places"), DIFFERENCES)
def test_the_strongest_places_are_what_a_difference_is_about(shipped, first, second, places):
    ours, theirs = shipped.encode(first), shipped.encode(second)
    difference = ours - theirs
    names = difference.regions()["name"][:2].tolist()
    assert any(place in name for place in places for name in names)
    peaks = summarise(difference).peaks
    gain = ours.probabilities - theirs.probabilities
    for peak in peaks:
        assert gain[difference.partition.region_of(np.array([peak.at]))[0]] > 0
    if first != "reward anticipation":  # whose peak is between regions of the atlas
        assert any(place in (peaks[0].name or "") for place in places)
    assert difference.regions()["excess"][:2].min() > 0


def test_a_difference_of_a_sum_is_of_all_that_was_subtracted(model):
    a, b, c = (model.encode(text) for text in ("amygdala", "motor cortex", "visual cortex"))
    together, after = combine([a, b, c], [1, -1, -1]), (a - b) - c
    np.testing.assert_allclose(together.excess, after.excess, atol=1e-6)
    again = a - (b - c)
    assert again.contrast.added == (a, c)
    assert again.contrast.subtracted == (b,)
    assert (a + b).contrast is None


def test_a_picture_of_a_difference_says_what_was_subtracted(shipped):
    ours, theirs = shipped.encode("left amygdala"), shipped.encode("right amygdala and pain")
    assert title_of_picture(ours - theirs) == "left amygdala \N{MINUS SIGN} right amygdala, pain"
    assert title_of_picture(ours) == "left amygdala"
