import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())
RIGHT_NORMAL = [("right", "denied"), ("left", "affirmed")]
LEFT_NORMAL = [("left", "denied"), ("right", "affirmed")]


def structures(text):
    """Terms of structures, with their sides and what is said of them."""
    found = read_mentions(text, COUNTER).found
    return [(m.term, m.side, m.status) for m in found if m.is_structure]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The right hippocampus is normal, the left is atrophic.", RIGHT_NORMAL),
        ("The right hippocampus is normal. The left is atrophic.", RIGHT_NORMAL),
        ("Hippocampus: right normal, left atrophic.", RIGHT_NORMAL),
        ("HIPPOCAMPUS: Right: normal volume. Left: atrophy.", RIGHT_NORMAL),
        ("R hippocampus: normal. L: atrophic.", RIGHT_NORMAL),
        ("No evidence of left hippocampal lesion; the right one is infarcted.", LEFT_NORMAL),
        ("The right hippocampus is infarcted, while the left was spared.", LEFT_NORMAL[::-1]),
        ("Hippocampus: left atrophic, right normal.", RIGHT_NORMAL[::-1]),
        ("Left hippocampus - normal; right - infarct", LEFT_NORMAL),
        ("HIPPOCAMPUS:\nRight: normal.\nLeft: small.", RIGHT_NORMAL),
        ("Hippocampi\nR: normal\nL: sclerosis", RIGHT_NORMAL),
        ("left hippocampus and its right homologue", [("left", "affirmed"), ("right", "affirmed")]),
        (
            "the left hippocampus and its homologue on the right",
            [("left", "affirmed"), ("right", "affirmed")],
        ),
        ("The right hippocampus is small; the left is not.", LEFT_NORMAL[::-1]),
        (
            "The right hippocampus measures 3.9 ml; the left measures 2.1 ml and is atrophic.",
            [("right", "affirmed"), ("left", "affirmed")],
        ),
    ],
)
def test_a_side_alone_takes_up_the_structure(text, expected):
    assert structures(text) == [("hippocampus", *each) for each in expected]


@pytest.mark.parametrize(
    "text",
    [
        "Right hippocampus normal, left weakness.",  # of the body
        "Right hippocampus normal. Left dysmetria.",
        "The right hippocampus is normal, the right answer is known.",
        "The right hippocampus is normal, and left side of no other place is.",
        "The right hippocampus is normal.\nThe left hand is weak, the right is not.",
        "The right hippocampus is normal.\n\nThe left is unknown.",  # another paragraph
        "The right hippocampus is normal and she left is all we know.",
    ],
)
def test_other_sides_take_up_nothing(text):
    assert structures(text) == [("hippocampus", "right", "denied")]


@pytest.mark.parametrize(
    "other",
    [
        "vestibular schwannoma",
        "subdural haematoma",
        "arachnoid cyst",
        "meningioma",
        "mastoiditis",
        "craniotomy",
    ],
)
def test_a_finding_outside_of_the_brain_is_of_no_structure(other):
    text = f"Left hippocampal infarct and right {other}."
    assert structures(text) == [("hippocampus", "left", "affirmed")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left superior and middle temporal gyri", ["superior", "middle"]),
        ("left superior, middle and inferior temporal gyrus", ["superior", "middle", "inferior"]),
        ("left superior and very middle temporal gyrus", ["middle"]),
        ("the left is superior and the middle temporal gyrus", ["middle"]),
    ],
)
def test_half_a_name_is_read_with_the_rest(text, expected):
    terms = [f"{word} temporal gyrus" for word in ("superior", "middle", "inferior")]
    vocabulary = Vocabulary([*terms, "superior"], categories=dict.fromkeys(terms, "anatomy"))
    found = read_mentions(text, TermCounter(vocabulary)).found
    named = [each for each in found if each.is_structure]
    assert [each.term for each in named] == [f"{word} temporal gyrus" for word in expected]
    if len(expected) > 1:
        assert {each.side for each in named} == {"left"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("genu, body and splenium of the corpus callosum", ["genu", "body", "splenium"]),
        ("the genu and splenium of the corpus callosum", ["genu", "splenium"]),
        ("her body and the splenium of the corpus callosum", ["splenium"]),
    ],
)
def test_parts_share_the_name_after_them(text, expected):
    terms = [f"{part} of corpus callosum" for part in ("genu", "body", "splenium")]
    vocabulary = Vocabulary([*terms, "genu"], categories=dict.fromkeys(terms, "anatomy"))
    found = read_mentions(text, TermCounter(vocabulary)).found
    assert [each.term for each in found] == [f"{part} of corpus callosum" for part in expected]


def test_a_plural_takes_up_all_of_a_list():
    found = structures("The right thalamus and hippocampus are normal; the left are small.")
    names = ["thalamus", "hippocampus"]
    assert sorted(found) == sorted(
        [(name, "right", "denied") for name in names]
        + [(name, "left", "affirmed") for name in names]
    )


def test_lines_below_several_names_are_of_all_of_them():
    found = structures("Thalamus and hippocampus:\nLeft: normal\nRight: infarct\n\nPons: normal")
    assert [(term, side) for term, side, _ in found] == [
        ("thalamus", "left"),
        ("hippocampus", "left"),
        ("thalamus", "right"),
        ("hippocampus", "right"),
        ("pons", None),
    ]


def test_a_side_may_head_other_structures():
    text = "Left hippocampus: infarct. Right: thalamus infarct."
    expected = [("hippocampus", "left", "affirmed"), ("thalamus", "right", "affirmed")]
    assert structures(text) == expected


def test_sides_that_are_taken_up_are_marked_as_applied():
    mentions = read_mentions("The right insula is normal. Left: atrophy.", COUNTER)
    assert not mentions.unapplied
    assert [m.start for m in mentions.found] == sorted(m.start for m in mentions.found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left thalamic stroke with thalamic pain.", ["left", "left"]),
        ("Infarct of the left insula. The insula is swollen.", ["left", "left"]),
        ("Astrocytoma of the right thalamus, now resected; thalamic aphasia.", ["right", "right"]),
        # no lesion, or not of one side alone
        ("Left thalamic activity; the thalamus responded.", ["left", None]),
        (
            "Left thalamic stroke. The right thalamus is normal. Thalamic pain.",
            ["left", "right", None],
        ),
        ("Left thalamic stroke, both thalami small; thalamic pain", ["left", "bilateral", None]),
        ("No left thalamic stroke, but there is thalamic pain.", ["left", None]),
        ("Left insula infarct. The insula is otherwise normal.", ["left", None]),
        ("Left insula infarct. The rest of the insula is swollen.", ["left", None]),
        ("Left thalamic infarct. The thalami enhance.", ["left", None]),
        ("Thalamic pain after left thalamic stroke.", [None, "left"]),
    ],
)
def test_later_mentions_have_the_side_of_the_lesion(text, expected):
    assert [side for _, side, _ in structures(text)] == expected


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("Both hippocampi were examined; the right one only is atrophic.", ["right"]),
        ("Both hippocampi were seen. Only the right is affected.", ["right"]),
        ("The hippocampi were imaged; the right alone has an infarct.", ["right"]),
        ("Both hippocampi are small, but only the right is sclerotic.", ["bilateral", "right"]),
        ("Both hippocampi have lesions; only the right one enhances.", ["bilateral", "right"]),
        ("The hippocampus was examined; only the right hand moved.", [None]),
        ("Both hippocampi were examined; only the right hand moved.", ["bilateral"]),
    ],
)
def test_one_of_a_pair_may_be_affected_alone(text, sides):
    assert [side for _, side, _ in structures(text)] == sides


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left superior frontal meningioma", [("superior frontal gyrus", "left")]),
        ("right inferior parietal infarct", [("inferior parietal lobule", "right")]),
        (
            "activation in left middle temporal and superior frontal",
            [("middle temporal gyrus", "left"), ("superior frontal gyrus", "left")],
        ),
        ("superior frontal activation", [("superior frontal gyrus", None)]),
        ("left superior frontal craniotomy", [("frontal", "left")]),
        ("tumor of the superior frontal lobe", [("frontal lobe", None)]),
        ("left anterior frontal tumor", [("frontal", "left")]),
    ],
)
def test_a_gyrus_may_be_named_by_its_adjectives(text, expected):
    assert [(term, side) for term, side, _ in structures(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Activation in the right and in the left hippocampus.",
        "Both in the right and in the left hippocampus, binding was reduced.",
        "Lesions of the right as well as the left hippocampus.",
        "Not only the right but also the left hippocampus is small.",
        "The seizure spread from the right to the left hippocampus.",
        "Electrodes were implanted in the right and later in the left hippocampus.",
        "An infarct in the right and a bleed in the left hippocampus.",
        "A cavernoma in the right and another in the left hippocampus.",
        "Volume was increased in the right but decreased in the left hippocampus.",
        "Connectivity between right and contralateral hippocampus.",
        "Lesions: three in the right, one in the left hippocampus.",
        "Microbleeds: 4 right, 2 left hippocampus.",
        "An infarct in the right, a bleed in the left hippocampus.",
    ],
)
def test_the_first_of_two_sides_has_the_noun_of_the_second(text):
    assert structures(text) == [
        ("hippocampus", "right", "affirmed"),
        ("hippocampus", "left", "affirmed"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Weakness on the right and an infarct in the left hippocampus.",
        "Numbness in the right and a bleed in the left hippocampus.",
        "He turned to the right and then the left hippocampus was resected.",
        "Targets were in the right and responses recorded in the left hippocampus.",
        "He was right and the left hippocampus was damaged.",
        "Weakness on the right, one lesion in the left hippocampus.",
        "Numbness in the right, a bleed in the left hippocampus.",
        "Cues were shown to the right and the left hippocampus was active.",
    ],
)
def test_a_side_of_something_else_has_not_the_noun_of_the_next(text):
    assert structures(text) == [("hippocampus", "left", "affirmed")]


@pytest.mark.parametrize("joint", [" but none", ", none"])
def test_two_sides_of_a_noun_are_denied_by_themselves(joint):
    text = f"An infarct in the right{joint} in the left hippocampus."
    assert structures(text) == [
        ("hippocampus", "right", "affirmed"),
        ("hippocampus", "left", "denied"),
    ]
