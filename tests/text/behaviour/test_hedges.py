import pytest
from tests.text.counting import count_mentions
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, TermExtractor, Vocabulary
from neurowhere.text.reading.mentions import HEDGE_WEIGHT, read_mentions

COUNTER = TermCounter(small_vocabulary())


def hedged(text):
    return [m.term for m in read_mentions(text, COUNTER) if m.status == "hedged"]


@pytest.mark.parametrize(
    "text",
    [
        "possible lesion",
        "Possible swelling of the pons",
        "involvement of the pons is suspected",
        "the pons is possibly affected",
        "pons probably involved",
        "the pons may be involved",
        "a lesion of the pons cannot be excluded",
        "cannot rule out a small change in the pons",
        "the pons was not entirely excluded",
        "r/o bleeding in the pons",
        "MRI to exclude bleeding in the pons",
        "?pons",
        "Pons: ? small change",
        "swelling of the pons?",
        "changes of the pons (?)",
        "changes +/- pons",
        "whether the pons is involved",
        "if the pons is involved, he will know",
        "it is conceivable that the pons is affected",
        "findings suspicious for a change in the pons",
        "I am not convinced that the pons is swollen",
        "evaluation of the pons is limited, and a lesion might be missed",
        "artefact vs. true change in the pons, infarct",
        "a trend in the pons",
        "effects in the pons (p = 0.07)",
        "changes in the pons of uncertain significance",
        "the differential diagnosis includes the pons",
        "It was seen in the pons. This is uncertain.",
        "a focus in the pons, which may be artifactual",
        "bright spot in the pons, possibly artefactual",
        "the oedema of the pons may have resolved",
        "the change in the pons is probably an artefact",
        "nystagmus would suggest a change in the pons if present",
        "nystagmus would indicate a change in the pons",
    ],
)
def test_what_a_text_leaves_open_is_hedged(text):
    assert "pons" in hedged(text) or hedged(text) == ["lesion"]


@pytest.mark.parametrize(
    "text",
    [
        "the pons is affected",
        "in May 2019 the pons was affected",
        "nystagmus indicates a change in the pons",
        "we could see the pons",
        "no doubt the pons is affected",
        "faces versus houses in the pons",
        "the lesion is limited to the pons",
        "changes in the pons (p = 0.01)",
        "possible swelling. The pons is affected",
        "no possible lesion in the pons",  # denied
        "on either side of the pons",
        "compatible with a lesion of the pons",
    ],
)
def test_what_looks_like_a_hedge_and_is_none(text):
    assert "pons" not in hedged(text)


def test_alternatives_are_open():
    assert hedged("either the pons or the insula is affected") == ["pons", "insula"]
    assert hedged("the pons and the insula are affected") == []


def test_the_place_of_the_hedge_is_given():
    text = "Swelling of the insula, and possible swelling of the pons"
    pons = read_mentions(text, COUNTER).found[-1]
    assert text[slice(*pons.hedge_span)] == "possible"


def test_a_hedged_mention_weighs_less_if_asked_to():
    extractor = TermExtractor(small_vocabulary())
    text = "Possible lesion in the pons; the insula is swollen; no change in the thalamus."
    weights = {m.term: m.weight for m in read_mentions(text, extractor.counter)}
    assert weights["pons"] == weights["insula"] == 1
    mentions = read_mentions(text, extractor.counter, hedge_weight=HEDGE_WEIGHT)
    assert {m.term: m.weight for m in mentions}["pons"] == HEDGE_WEIGHT
    counts = count_mentions(mentions, extractor).toarray()[0]
    assert counts[extractor.vocabulary.index("pons")] == HEDGE_WEIGHT
    assert counts[extractor.vocabulary.index("insula")] == 1


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Loss of the insula on the right, obscured putamen", ["affirmed", "affirmed"]),
        ("Insula swollen, the putamen is obscured", ["affirmed", "affirmed"]),
        ("Obscured right putamen and insula", ["affirmed", "affirmed"]),
        ("Putamen obscured by artefact, infarct of the insula", ["denied", "affirmed"]),
        ("Motion: the putamen is obscured", ["denied"]),
    ],
)
def test_an_obscured_nucleus_is_a_sign_and_doubts_nothing(text, status):
    counter = TermCounter(Vocabulary(["insula", "putamen"]))
    assert [mention.status for mention in read_mentions(text, counter)] == status
