"""One pipeline reads texts: `predict`, `encode` and `encode_many` agree, and a corpus does not."""

from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from tests.studies import make_corpus, small_model

from neurowhere import Corpus, Document, Encoder, default_atlas, summarise
from neurowhere.exceptions import DataWarning, ReadingError, TextError
from neurowhere.learn import LogLinear
from neurowhere.model.text_model import CHUNK_ENCODED
from neurowhere.text.reading.mentions import read_mentions

TEXTS = [
    "left amygdala",
    "no amygdala, but the right visual cortex",
    "motor cortex",
    "nothing that is known",
    "",
]


@pytest.fixture(scope="module", params=["l2", "likelihood"])
def model(request):
    return small_model(request.param)


def test_predictions_of_texts_are_those_of_their_encodings(model):
    predicted = model.predict(TEXTS)
    for text, row in zip(TEXTS, predicted):
        np.testing.assert_allclose(row, model.encode(text).probabilities, rtol=1e-5, atol=1e-9)
    amygdala = model.predict(["amygdala"])[0]
    assert np.abs(predicted[0] - amygdala).sum() / 2 > 0.1  # the side moves the map


def test_switches_are_parameters_of_the_estimator(model):
    plain = model.encode("no amygdala; left visual cortex", negation=False, sides=False)
    options = {**model.get_params(), "negation": False, "sides": False}
    other = Encoder(**options).fit(make_corpus())
    np.testing.assert_allclose(
        other.predict(["no amygdala; left visual cortex"])[0], plain.probabilities, rtol=1e-5
    )
    assert set(other.encode("no amygdala").uses) == {"amygdala"}
    assert not other.encode("no amygdala", negation=True).uses


def test_a_corpus_is_counted_as_in_training(model):
    texts = ["no amygdala", "left visual cortex"]
    corpus = Corpus.from_documents(
        Document(str(i), {"body": text}, np.empty((0, 3)), "MNI") for i, text in enumerate(texts)
    )
    plain = model.predict(["amygdala", "visual cortex"])
    np.testing.assert_allclose(model.predict(corpus), plain, rtol=1e-5)


def test_many_are_encoded_in_order_and_as_they_come(model):
    taken = []
    texts = (taken.append(i) or TEXTS[i % len(TEXTS)] for i in range(CHUNK_ENCODED + 7))
    encodings = model.encode_many(texts)
    first = next(encodings)
    assert len(taken) == CHUNK_ENCODED
    every = [first, *encodings]
    assert [encoding.text for encoding in every[:5]] == TEXTS
    for encoding in every[-5:]:
        alone = model.encode(encoding.text)
        np.testing.assert_allclose(encoding.probabilities, alone.probabilities, rtol=1e-5)
        assert encoding.uses == alone.uses


MISSING = [None, float("nan"), pd.NA, b"amygdala", 7]


def test_a_missing_text_has_a_problem_and_stops_no_other(model):
    series = pd.Series(["left amygdala", *MISSING, "motor cortex"], dtype=object)
    with pytest.warns(DataWarning, match="expected a text as a str, got .* at position") as told:
        encodings = list(model.encode_many(series))
    assert len(told) == len(MISSING)
    assert [bool(encoding.problem) for encoding in encodings] == [False, *[True] * 5, False]
    assert encodings[2].problem == "expected a text as a str, got nan, a missing value"
    assert all(encoding.is_mean_map for encoding in encodings[1:-1])
    assert summarise(encodings[1]).problem == encodings[1].problem
    for encoding in encodings[::6]:
        alone = model.encode(encoding.text)
        np.testing.assert_allclose(encoding.probabilities, alone.probabilities, rtol=1e-5)


@pytest.mark.parametrize("text", MISSING)
def test_what_has_no_room_for_a_problem_refuses_a_missing_text(model, text):
    for ask in (
        model.predict,
        model.transform,
        lambda texts: model.score(texts, [[[0, 0, 0]]] * 2),
    ):
        with pytest.raises(TextError, match=r"expected a text as a str, got .* at position 1;"):
            ask(["amygdala", text])


def test_a_fault_of_ours_stops_no_other_text_and_quotes_none(model, monkeypatch, caplog):
    text, expected = "amygdala of a patient", list(model.encode_many(TEXTS))

    def fail(words, *arguments, **options):
        if words == text:
            raise IndexError(words)
        return read_mentions(words, *arguments, **options)

    monkeypatch.setattr("neurowhere.model.reading.read_mentions", fail)
    failed, *others = model.encode_many([text, *TEXTS])
    for one, other in zip(others, expected):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-5)
        assert (one.problem, one.text) == (None, other.text)
    assert "IndexError at test_reading_pipeline.py" in failed.problem
    assert sha256(text.encode()).hexdigest()[:12] in failed.problem
    assert caplog.messages == [failed.problem]
    assert "patient" not in failed.problem
    with pytest.raises(ReadingError, match="IndexError at"):
        model.encode(text)


def test_a_model_that_fails_on_nothing_at_all_is_no_fault_of_a_text(model, monkeypatch):
    def fail(*_, **__):
        raise IndexError

    monkeypatch.setattr("neurowhere.model.reading.read_mentions", fail)
    with pytest.raises(IndexError):
        list(model.encode_many(TEXTS))


def test_encodings_add_and_subtract(model):
    fear, motor = model.encode("amygdala"), model.encode("motor cortex")
    both = fear + motor
    assert list(both.uses) == ["amygdala", "motor cortex"]
    assert (both - motor).uses["motor cortex"].weight == pytest.approx(0)
    with pytest.raises(TypeError):
        fear + 1


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("left MCA infarct", {"Insula_L", "Frontal_Inf_Oper_L", "Frontal_Inf_Tri_L"}),
        ("left PCA infarct", {"Calcarine_L", "Lingual_L", "Cuneus_L"}),
        ("left hemianopia", {"Calcarine_R", "Cuneus_R", "Lingual_R"}),
    ],
)
def test_no_term_of_the_vocabulary_silences_a_rule(shipped, text, regions):
    summary = summarise(shipped.encode(text))
    assert all(rule.applied for rule in summary.rules)
    assert regions & {region.region for region in summary.regions[:3]}


def test_markup_is_no_text_and_mentions_stay_where_they_are(shipped):
    text = "<p>No mass.</p><p>The <b>left</b>&nbsp;<i class='x'>insula</i> &amp; <b>pons</b></p>"
    encoding = shipped.encode(text)
    sides = {text[each.start : each.end]: each.side for each in encoding.mentions.found}
    assert sides["insula"] == "left"
    assert "pons" in sides
    assert encoding.unknown == []


def test_the_cells_of_a_pasted_table_are_read(shipped):
    rows = [("Region", "Right", "Left"), ("Hippocampus", "atrophic", "normal")]
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    text = "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
    (mention,) = [each for each in shipped.encode(text).mentions if each.is_structure]
    assert (mention.side, mention.status) == ("right", "affirmed")


def test_the_name_of_a_kind_of_part_says_nothing_of_where(shipped):
    """ "Lobe" alone was learned from studies of the temporal lobe; "fontal lobe" is not there."""
    assert shipped.encode("lobe").support.level == "none"
    misspelt = shipped.encode("Left fontal lobe abscess")
    assert misspelt.support.level == "weak"
    assert [unknown.word for unknown in misspelt.unknown] == ["fontal"]
    regions = misspelt.regions(default_atlas()).set_index("region")["ratio"]
    assert regions["Hippocampus_L"] < 2.5


def test_a_query_may_be_an_extra_word_alone_and_is_weak(shipped):
    assert shipped.encode("palatable").support.level == "weak"
    assert shipped.encode("palatable").regions()["region"].head(3).str.startswith("Insula").any()
    assert shipped.encode("a palatable young expert in delivery").support.level == "none"
    assert shipped.encode("human").support.level == "none"


@pytest.mark.parametrize(
    ("lay", "term"),
    [
        ("thirsty", "thirst"),
        ("falling in love", "romantic love"),
        ("dizzy", "dizziness"),
        ("anxious", "anxiety"),
        ("can't smell my coffee", "anosmia"),  # no denial of a smell
    ],
)
def test_everyday_words_stand_for_terms(shipped, lay, term):
    assert term in list(shipped.encode(lay).terms["term"][:2])  # a rule may stand before it


def test_faint_structures_without_a_side_are_left_out_of_its_sum(shipped, monkeypatch):
    runs = "".join(f"In run {'i' * n} the left amygdala was seen again. " for n in range(1, 400))
    text = f"{runs} Slices went from the frontal lobe to the cortex."
    read = shipped.read([text], shipped.reader)
    n_structures = len(read.counted.balance(read.features, np.zeros(1))[0])
    seen = []

    def shifts(self, X, structures, *others):
        seen.append(len(structures.entries))
        return original(self, X, structures, *others)

    original = LogLinear.shifts
    monkeypatch.setattr(LogLinear, "shifts", shifts)
    fast = shipped.encode(text).probabilities
    monkeypatch.setattr("neurowhere.model.prediction.FAINT", 0.0)
    whole = shipped.encode(text).probabilities
    assert seen[0] < seen[1] == n_structures
    assert np.abs(fast - whole).sum() / 2 < 0.005
