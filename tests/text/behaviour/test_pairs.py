import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def structures(text):
    """Terms of structures that a text affirms, with their sides."""
    found = read_mentions(text, COUNTER).present
    return [(m.term, m.side) for m in found if m.is_structure]


@pytest.mark.parametrize(
    "text",
    [
        "Weak on the left.\nRight insular infarct.",
        "Weak on the left\nRight insular infarct.",
        "Midline shift to the left. Right insular mass.",
        "Power 3/5 on the left. Right insular haemorrhage on CT.",
        "weakness on the left, right insular bleed",
        "weakness on the left and right insular bleed",
        "weak on the left right insular bleed",
        "nil on left; Rt insula bleed",
        "hemiparesis (L), R insular lacune",
        "Hemiparesis left; right insular bleed",
        "hemiparesis left, right insular infarct",
        "Motor deficit: left. Right insular bleed.",
        "Facial droop on the L. R insular infarct.",
        "Numb on the left - right insular lacune",
        "Stimuli were presented on the left. Right insula was activated.",
        "No infarct on the left. Right insula infarcted.",
    ],
)
def test_a_side_that_ends_a_phrase_is_not_that_of_the_next(text):
    assert structures(text) == [("insula", "right")]


@pytest.mark.parametrize(
    "text",
    [
        "left/right insula",
        "left and right insula",
        "L+R insula",
        "left & right insula",
        "left, right insula",
        "lesions of the left, right insula",
        "shows acute left, right insular infarcts",
        "insula (left, right)",
        "insula (L/R)",
        "insula, left, right",
        "insula on the left and right",
        "insula on the left, right and in the midline",
        "activation on the left and right insula",
        "infarct left/right insula",
        "infarct left>right insula",
    ],
)
def test_two_sides_of_one_place_are_both(text):
    assert structures(text) == [("insula", "bilateral")]


@pytest.mark.parametrize(
    "text",
    [
        "Acute left and old right insular infarcts.",
        "Severe right and mild left insular atrophy.",
        "Left old and right new insular infarct",
        "A large left and a small right insular metastasis",
        "Two left and three right insular lesions",
        "Resolving R and enhancing L insular lesions",
    ],
)
def test_two_sides_with_adjectives_of_their_own_are_of_one_noun(text):
    assert structures(text) == [("insula", "bilateral")]


@pytest.mark.parametrize(
    "text",
    [
        "Weak left arm and old right insular infarct",
        "Numb on the left and acute right insular infarct",
        "Left vestibular and right insular lesion",
    ],
)
def test_a_noun_between_two_sides_has_the_first(text):
    assert structures(text) == [("insula", "right")]


def test_each_of_two_sides_has_its_own_place():
    text = "thalamic infarct left, right insular bleed"
    assert structures(text) == [("thalamus", "left"), ("insula", "right")]


@pytest.mark.parametrize(
    "text", ["insula enlarged (L), R normal", "insula atrophic on L, R normal", "insula (L), R nl"]
)
def test_a_side_in_brackets_closes_what_is_said_of_it(text):
    assert structures(text) == [("insula", "left")]


def compared(text):
    found = read_mentions(text, COUNTER).present
    return {(m.side, m.dominant) for m in found if m.is_structure}


@pytest.mark.parametrize(
    "text",
    [
        "reduced uptake L insula >> R insula",
        "right insula < left insula",
        "atrophy of the left insula more than the right insula",
        "activation was greater in the left insula than in the right insula",
        "the right insula was less active than the left insula",
        "atrophy of the left insula more than the right",
        "reduced uptake in the right insula less than on the left",
        "atrophy of the left insula, and to a lesser extent the right.",
        "atrophy of the left insula, less so on the right",
        "left insula > right",
        "bilateral insular lesions, left larger",
        "bilateral insular lesions, the left worse.",
    ],
)
def test_one_of_two_sides_has_more(text):
    assert compared(text) == {("bilateral", "left")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left insula > right thalamus", {("left", None), ("right", None)}),
        ("values were lower in left insula than right insula", {("left", None), ("right", None)}),
        ("bilateral insular lesions, left larger arm", {("bilateral", None)}),
        ("the left insula is smaller than the right", {("left", None)}),
        ("left insular infarct rather than the right", {("left", None)}),
        ("left insula (p < 0.05), right insula", {("left", None), ("right", None)}),
        ("left insula, more than a stroke, right insula", {("left", None), ("right", None)}),
    ],
)
def test_other_comparisons_are_of_no_side(text, expected):
    assert compared(text) == expected


@pytest.mark.parametrize(
    ("text", "dominant"),
    [
        ("Atrophy of the right and, to a lesser extent, the left insula.", "right"),
        ("Activation of the right, and to a lesser degree the left, insula.", "right"),
        ("Atrophy in the right and, less so, in the left insula.", "right"),
        ("Activity was higher in the right compared with the left insula.", "right"),
        ("Activity in the right relative to the left insula was increased.", "right"),
        ("Greater activation in the right vs. left insula", "right"),
        ("Responses in the right were stronger than in the left insula.", "right"),
        ("Less activity in the right compared with the left insula", "left"),
        ("Right versus left insula resections", None),
    ],
)
def test_sides_of_one_noun_are_set_against_each_other(text, dominant):
    (mention,) = [m for m in read_mentions(text, COUNTER) if m.term == "insula"]
    assert (mention.side, mention.dominant) == ("bilateral", dominant)


@pytest.mark.parametrize(
    "text",
    [
        "The right (but not left) insula was active.",
        "The right (not left) insula was active.",
        "Right as opposed to left insula volume predicted anxiety.",
        "The right instead of the left insula was active.",
    ],
)
def test_the_other_side_is_excluded(text):
    assert structures(text) == [("insula", "right")]


@pytest.mark.parametrize(
    ("text", "dominant"),
    [
        ("There is asymmetry of the insulae, with the right being smaller.", "right"),
        ("The insulae are asymmetric, right smaller.", "right"),
        ("Both insulae are small, the right more so.", "right"),
        ("Asymmetric insulae, the right is slightly smaller and brighter.", "right"),
        ("Bilateral insular change, with the right more affected.", "right"),
        ("Right-predominant bilateral insular signal change.", "right"),
        ("Atrophy is worse on the right, especially in the insula.", "right"),
        ("Atrophy is more marked on the right, in particular of the insula.", "right"),
        ("Both insulae are infarcted, the right arm more so.", None),
        ("Bilateral insular lacunes, the right ventricle is larger.", None),
        ("Bilateral insular lacunes; both arms are weak, the right more so.", None),
    ],
)
def test_one_of_a_pair_has_more(text, dominant):
    mentions = [m for m in read_mentions(text, COUNTER) if m.term == "insula"]
    assert {mention.dominant for mention in mentions} == {dominant}


def test_both_sides_are_compared_with_something_else():
    text = "Bilateral compared with heterosexual insula activity"
    assert [term for term, _ in structures(text)] == ["insula"]


def test_what_a_rule_implies_has_more_on_the_same_side():
    counter = TermCounter(Vocabulary(["mesial temporal sclerosis"]))
    mentions = read_mentions("L>R mesial temporal sclerosis", counter)
    assert {mention.dominant for mention in mentions.rule_based} == {"left"}
