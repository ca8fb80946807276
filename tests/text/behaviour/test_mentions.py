import gzip
import json
import time

import numpy as np
import pytest
from fuzz.alter import ENDS, SPACES
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.counting import count_mentions
from tests.text.passages import (
    has_passages,
    read_passages,
    read_sided,
    score_passages,
    score_sides,
    told_counter,
)
from tests.text.sentences import Score, read_sentences, score, small_vocabulary

from neurowhere._tools.files import shipped_table
from neurowhere.text import TermCounter, TermExtractor, Vocabulary
from neurowhere.text.building.anatomy import build_full
from neurowhere.text.reading.mentions import Mention, Mentions, find_copies, read_mentions
from neurowhere.text.reading.tags import words_of_cues

VOCABULARY = small_vocabulary()
EXTRACTOR = TermExtractor(VOCABULARY, sided=["left insula", "right insula", "left thalamus"])
COUNTER = EXTRACTOR.counter
TEXT = (
    "Left insula and right MCA infarct; no lesion in the left thalamus. Left hand weak; right ear."
)


def test_a_mention_has_its_side_and_its_denial():
    insula, artery, infarct, lesion, thalamus, hand = read_mentions(TEXT, COUNTER)
    assert insula == Mention("insula", 5, 11, "left", (0, 4), None, True)
    assert (artery.term, artery.side) == ("middle cerebral artery", "right")
    assert (infarct.side, infarct.is_negated, infarct.is_structure) == (None, False, False)
    assert lesion.is_negated
    assert (thalamus.side, TEXT[slice(*thalamus.negation_span)]) == ("left", "no")
    assert (hand.term, hand.side, hand.is_crossed, hand.is_structure) == (
        "hand",
        "left",
        True,
        False,
    )
    assert not insula.is_crossed


def test_sides_of_other_things_are_marked():
    (mark,) = read_mentions(TEXT, COUNTER).unapplied
    assert (mark.side, TEXT[mark.start : mark.end]) == ("right", "right")
    assert TEXT[mark.end :] == " ear."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left hand", [("hand", "left", False)]),
        ("the right-hand index finger", [("hand", "right", False), ("finger", "right", True)]),
        ("left lower limb", [("limb", "left", False)]),
        ("finger tapping with the left hand", [("finger", "left", True), ("hand", "left", False)]),
        (
            "left hand, then the right foot and a finger",
            [("hand", "left", False), ("foot", "right", False)],
        ),
        ("left hand. The finger", [("hand", "left", False)]),
        ("stimuli in the right visual field", [("visual field", "right", False)]),
        ("left median nerve stimulation", [("median nerve", "left", False)]),
        ("left and right hand", [("hand", "bilateral", False)]),
        ("left-sided weakness", [("weakness", "left", False)]),
        ("weakness on the left", [("weakness", "left", False)]),
        ("left hand weakness", [("hand", "left", False), ("weakness", "left", True)]),
        ("RUE 2/5, LLE 4/5", [("arm", "right", False), ("leg", "left", False)]),
        ("RUE 5/5, to rue the day", []),
        # no side of a limb
        ("right-handed people", []),
        ("left insula and the hand", []),
        ("left hand, the limb of the insula", [("hand", "left", False), ("limb", "left", True)]),
        ("left hand, anterior limb of the internal capsule", [("hand", "left", False)]),
        ("left, hand", []),
        ("left hand area", []),
        ("left hand knob", []),
    ],
)
def test_sides_of_limbs_are_crossed(text, expected):
    structures = ["insula", "anterior limb of the internal capsule", "median nerve"]
    limbs = ["arm", "finger", "foot", "hand", "leg", "limb", "visual field"]
    terms = [*limbs, "weakness", *structures]
    categories = dict.fromkeys(structures, "anatomy")
    counter = TermCounter(Vocabulary(terms, categories=categories))
    found = [each for each in read_mentions(text, counter).found if each.is_crossed]
    assert [(each.term, each.side, each.side_inherited) for each in found] == expected


def test_places_that_are_no_terms_keep_their_side():
    text = "No infarct in the left PICA territory, but in the right PICA territory."
    left, right = read_mentions(text, COUNTER).places
    assert (left.term, left.side, left.is_negated) == ("PICA", "left", True)
    assert (right.term, right.side, right.is_negated) == ("PICA", "right", False)


def test_terms_within_a_place_are_still_mentions():
    vocabulary = Vocabulary(["artery", "cerebral", "thalamus"], categories={"thalamus": "anatomy"})
    mentions = read_mentions("left posterior cerebral artery", TermCounter(vocabulary))
    assert [mention.term for mention in mentions] == ["cerebral", "artery"]
    assert [place.side for place in mentions.places] == ["left"]


def test_an_empty_text_mentions_nothing():
    mentions = read_mentions("", COUNTER)
    assert mentions == Mentions((), (), ())
    assert len(mentions) == 0
    assert count_mentions(mentions, EXTRACTOR).nnz == 0


# Counts


def test_negated_mentions_are_not_counted():
    mentions = read_mentions(TEXT, COUNTER)
    row = count_mentions(mentions, EXTRACTOR).toarray()[0]
    counted = {EXTRACTOR.terms[i]: row[i] for i in np.flatnonzero(row)}
    terms = ["insula", "middle cerebral artery", "infarct", "hand", "left insula"]
    assert counted == dict.fromkeys(terms, 1)
    everything = count_mentions(mentions, EXTRACTOR, with_negated=True)
    assert (everything != EXTRACTOR.counts([TEXT])).nnz == 0


def test_counts_have_the_weight_of_a_body():
    extractor = TermExtractor(VOCABULARY, {"body": 0.5})
    text = "insula, insula and thalamus"
    counts = count_mentions(read_mentions(text, extractor.counter), extractor)
    assert counts.dtype == np.float32
    assert (counts != extractor.counts([text])).nnz == 0
    assert counts.sum() == 1.5


PARTS = ["insula", "left insula", "right insulae", "left thalamus", "hand", "left", "and", ",", "."]


PIECES = st.sampled_from([*PARTS, *VOCABULARY.terms[::7]])


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12, unique=True).map(" ".join))  # copies are not counted
def test_counts_are_those_of_the_extractor_where_nothing_is_denied(text):
    mentions = read_mentions(text, COUNTER)
    assert not any(mention.is_negated for mention in mentions)
    (counts,), (expected,) = (
        each.toarray() for each in (count_mentions(mentions, EXTRACTOR), EXTRACTOR.counts([text]))
    )
    plain = slice(len(VOCABULARY))
    np.testing.assert_array_equal(counts[plain], expected[plain])
    assert (counts >= expected).all()  # "left insula infarct; insula": both are on the left


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join)))
def test_mentions_are_the_matches_of_the_counter(text):
    mentions = read_mentions(text, COUNTER)
    found = [
        (m.term, m.start, m.end, None, None, None)
        if m.is_crossed
        else (m.term, m.start, m.end, m.side, *(m.side_span or (None, None)))
        for m in mentions
    ]
    assert found == COUNTER.find(text)


def test_without_negation_nothing_is_denied_neither_terms_nor_places():
    text = "No left PICA infarct, no thalamus."
    mentions = read_mentions(text, COUNTER, negation=False)
    everything = [*mentions.found, *mentions.places]
    assert [mention.term for mention in mentions.places] == ["PICA"]
    assert not any(mention.is_negated for mention in everything)
    assert all(mention.is_negated for mention in read_mentions(text, COUNTER).places)


@pytest.mark.parametrize(
    ("text", "status", "weight"),
    [
        ("lesion in the thalamus", "affirmed", 1),
        ("no lesion in the thalamus", "denied", 0),
        ("possible lesion in the thalamus", "hedged", 0.5),
        ("Technique: thalamus.\nFindings: normal.", "not_finding", 0),
        ("Technique: no thalamus.\nFindings: normal.", "not_finding", 0),
        ("no possible lesion in the thalamus", "denied", 0),
    ],
)
def test_a_mention_has_a_status_and_a_weight(text, status, weight):
    mention = read_mentions(text, COUNTER, hedge_weight=0.5).found[-1]
    assert (mention.term, mention.status, mention.weight) == ("thalamus", status, weight)
    assert mention.is_present == (weight > 0)


# The hand-written sentences


def total(counter):
    return sum((score(sentence, counter) for sentence in SENTENCES), Score())


SENTENCES = read_sentences()


def test_there_are_many_sentences_of_both_kinds():
    sources = [sentence.source for sentence in SENTENCES]
    assert sources.count("report") > 100 < sources.count("abstract")
    assert len({sentence.text for sentence in SENTENCES}) == len(SENTENCES) > 300


def test_negations_and_sides_are_read_well():
    result = total(COUNTER)
    assert result.not_found == 0
    assert min(result.negation.precision, result.negation.recall) > 0.97, result.failures
    assert min(result.side.precision, result.side.recall) > 0.97, result.failures
    assert result.unapplied.recall > 0.9, result.failures


# Passages by others


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("seen", 0.98, 0.98),
        ("second", 0.97, 0.97),
        ("own", 0.97, 0.95),
        ("unseen", 0.94, 0.88),
        ("final", 0.95, 0.95),
        ("third", 0.9, 0.85),
    ],
)
def test_passages_are_read_well(name, precision, recall):
    if not has_passages(name):
        pytest.skip(f"no passages called {name}")
    passages = read_passages(name)
    tallies, n_right = score_passages(passages, told_counter(passages))
    assert tallies["denied"].precision > precision
    assert tallies["denied"].recall > recall
    given = {target.status for passage in passages for target in passage.targets}
    asked = [tally for status, tally in tallies.items() if status in given]
    assert min(tally.precision for tally in asked) > min(0.9, recall)
    assert n_right > 0.88 * sum(len(passage.targets) for passage in passages)


@pytest.mark.parametrize(("name", "recall"), [("seen", 0.98), ("unseen", 0.8)])
def test_sides_of_passages_are_read_well(name, recall):
    passages = read_sided(name)
    sides, inherited = score_sides(passages, told_counter(passages))
    assert sides.precision > 0.95
    assert sides.recall > recall
    assert inherited.precision > 0.8


def test_a_sentence_that_is_copied_counts_once():
    note = "Eating and drinking, walks with a frame; the insula as before. "
    copied = read_mentions(note * 20 + "Thalamic lesion.", COUNTER)
    once = read_mentions(note + "Thalamic lesion.", COUNTER)
    counts, expected = (count_mentions(each, EXTRACTOR).toarray() for each in (copied, once))
    np.testing.assert_array_equal(counts, expected)
    assert sum(each.term == "insula" for each in copied.present) == 20


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("12/03/2024 08:00", "13/03/2024 20:15"),
        ("5.3.2024", "6.3.2024"),
        ("5 March 2024:", "6 March 2024, 9:00 am:"),
        ("Day 3:", "Day 4:"),
        ("Monday", "Tuesday"),
    ],
)
def test_copies_of_a_note_may_have_other_dates(first, second):
    note = "Insular infarct. Walks with a frame and the help of one; thalamus as before. Alert."
    mentions = read_mentions(f"{first} {note}\n{second} {note} New lesion of the pons.", COUNTER)
    names = ["insula", "thalamus", "pons"]
    weights = [sum(each.weight for each in mentions if each.term.startswith(n[:5])) for n in names]
    assert weights[1:] == [1, 1]


def test_a_number_that_is_no_date_makes_another_sentence():
    text = (
        "The lesion of the insula measures 12 mm now.\nThe lesion of the insula measures 15 mm now."
    )
    assert find_copies(text) == []


def test_what_is_said_twice_in_other_words_counts_twice():
    text = "The insula is swollen and the thalamus bright. So the insula is swollen."
    assert sum(m.weight for m in read_mentions(text, COUNTER) if m.term == "insula") == 2


PIECES = """
insula thalamus lesion left right PCA hemianopia respectively contralateral , . ; : ( ) ? Technique:
Findings: (p=0.07) (-) the in of was it this which
"""
LISTED = shipped_table("neurowhere.text.reading", "words.csv")
WORDS = sorted(
    {"\n", *PIECES.split(), *words_of_cues(), *(w for row in LISTED for w in row["words"].split())}
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join))
def test_any_words_can_be_read(text):
    mentions = read_mentions(text, COUNTER)
    for mention in (*mentions, *mentions.places, *mentions.rule_based):
        assert 0 <= mention.start < mention.end <= len(text)


@pytest.mark.parametrize("words", ["unlike", "insula in contrast to"])
def test_a_text_may_end_before_what_a_place_is_set_against(words):
    assert not any(mention.is_negated for mention in read_mentions(words, COUNTER))


REPEATED = """
no; not; may; if; normal; very; fully normal; insula and; insula,; the insula was not; left insula;
left; on the left, insula; insula bilaterally; left contralateral; left and right, respectively;
insula including; ?insula; insula?; (p = 0.2); insula (p = 0.07); insula (-); History:; insula:;
only the first; had insula been; PCA; left PCA stroke; neither nor; no insula without; either
insula; right hemiparesis, left hemianopia.; left insula infarct.; BG lacune L>R; ataxia of the left
arm.; numb right face, left body.; bilateral insula, worse on the left,; left MCA infarct.
"""


@pytest.mark.parametrize("words", [*map(str.strip, REPEATED.split(";")), "", "left ", "a |"])
def test_a_text_is_read_in_linear_time(words):
    def seconds(length):
        text = (words + " ") * (length // len(words + " "))
        start = time.process_time()
        read_mentions(text, COUNTER)
        return time.process_time() - start

    seconds(1000)
    short, long = min(seconds(2000) for _ in range(3)), min(seconds(16_000) for _ in range(2))
    assert long < 24 * max(short, 0.001)  # eight times as long


@pytest.mark.data
def test_they_are_read_as_well_with_the_full_vocabulary(data):
    result = total(TermCounter(build_full(data / "vocabulary")))
    assert result.not_found < 10
    assert min(result.negation.precision, result.negation.recall) > 0.95, result.failures
    assert min(result.side.precision, result.side.recall) > 0.95, result.failures


@pytest.mark.data
def test_few_terms_of_real_abstracts_are_negated(data):
    counter = TermCounter(build_full(data / "vocabulary"))
    with gzip.open(
        data / "corpus" / "rawtext_linked_dev.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        documents = [json.loads(line) for _, line in zip(range(200), lines)]
    mentions = [read_mentions(document.get("abstract") or "", counter) for document in documents]
    found = [mention for text in mentions for mention in text]
    assert len(found) > 5000
    assert 0.002 < np.mean([mention.is_negated for mention in found]) < 0.03


def test_generic_words_are_neither_denied_nor_hedged_findings():
    vocabulary = Vocabulary(
        ["human", "open", "thalamus", "lesion"],
        categories={"human": "generic", "open": "generic", "lesion": "generic"},
    )
    text = "No open human thalamus; possible human lesion."
    mentions = read_mentions(text, TermCounter(vocabulary))
    assert [(each.term, each.status) for each in mentions] == [
        ("thalamus", "denied"),
        ("human", "affirmed"),
        ("lesion", "hedged"),  # may be wrong with a brain
    ]
    assert len(mentions) == 3
    assert [each.term for each in mentions.found] == [
        "open",
        "human",
        "thalamus",
        "human",
        "lesion",
    ]
    assert [each.term for each in mentions.present] == ["human", "lesion"]


def test_generic_words_are_listed_where_there_is_nothing_else():
    mentions = read_mentions(
        "no human", TermCounter(Vocabulary(["human"], {}, {"human": "generic"}))
    )
    assert [(each.term, each.status) for each in mentions] == [("human", "denied")]


@pytest.mark.parametrize(
    ("text", "unapplied"),
    [
        ("left homonymous hemianopia", []),
        ("dense right hemiparesis", []),
        ("hemianopia to the left", []),
        ("no left neglect", []),
        ("right facial droop", []),
        ("right peripheral facial weakness", ["right"]),  # no rule: it is of the nerve
        ("left hand numb, right hemianopia", []),  # the side of a limb is applied as one
        ("left ear numb, right hemianopia", ["left"]),
    ],
)
def test_sides_that_a_rule_crosses_are_applied(text, unapplied):
    assert [mark.side for mark in read_mentions(text, COUNTER).unapplied] == unapplied


@pytest.mark.parametrize(
    "text",
    [
        "Left thalamus: normal. Right thalamus: hemorrhage.",
        "Left thalamus - normal. Right insula infarct.",
        "Left: thalamus normal. Right: hemorrhage of the thalamus.",
    ],
)
def test_a_side_is_denied_though_the_next_sentence_has_the_other(text):
    first, *others = [m for m in read_mentions(text, COUNTER).found if m.is_structure]
    assert first.is_negated
    assert others
    assert not any(mention.is_negated for mention in others)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("left hand 3/5, right hand 5/5", [False, True]),
        ("right hand 5/5 left hand 4/5", [True, False]),
        ("strength 5/5 in the left hand, 3/5 in the right hand", [True, False]),
        ("Power: left hand is 5/5.", [True]),
        ("left hand 5-/5", [False]),
        ("left hand rated 5/5 for pain", [False]),
        ("Power 5/5 in both hands", [True]),
        ("hand 5/5 throughout", [True]),
    ],
)
def test_a_limb_of_full_strength_is_denied(text, denied):
    counter = TermCounter(Vocabulary(["hand", "pain"]))
    mentions = read_mentions(text, counter)
    assert [m.is_negated for m in mentions if m.term == "hand"] == denied


@pytest.mark.parametrize("word", ENDS)
def test_a_text_may_begin_and_end_in_any_word_and_white_space(shipped, word):
    for space in SPACES:
        for text in (
            f"{space}{word}",
            f"{word}{space}",
            f"{space}{word} amygdala{space}{word}{space}",
        ):
            mentions = read_mentions(text, shipped.extractor_.counter)
            spans = [(each.start, each.end) for each in (*mentions, *mentions.rule_based)]
            assert all(0 <= start < end <= len(text) for start, end in spans)
            assert not any(text[start:end] != text[start:end].strip() for start, end in spans)


# Of these, reading took the square of the length; `benchmarks/mutations.py` found them.
LONG = [
    "nucleus posterior limb\n",
    "hemiparesis and spared., ",
    "MCA ",
    "greater face ",
    "face cortex; ",
    "L>R, ",
    "L\n",
]
FEW, MANY = 5_000, 40_000  # characters


@pytest.mark.slow
@pytest.mark.parametrize("piece", LONG)
def test_reading_takes_time_in_proportion_to_the_length(shipped, piece):
    def seconds(length):
        start = time.process_time()
        read_mentions(f"lAI and greater {piece * length}"[:length], shipped.extractor_.counter)
        return time.process_time() - start

    few, many = (min(seconds(length) for _ in range(2)) for length in (FEW, MANY))
    assert many < 1.4 * (MANY / FEW) * few  # it was 1.6 to 8.3 times
