"""Words of the brain that mean something else beside others."""

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

PLACES = ["caudate nucleus", "insula", "lobe", "nodule", "parietal"]
COUNTER = TermCounter(
    Vocabulary(
        [*PLACES, "hand", "handed", "memory", "rest", "uncinate fasciculus", "vermis"],
        synonyms={"caudate": "caudate nucleus", "uncinate": "uncinate fasciculus"},
        categories=dict.fromkeys(PLACES, "anatomy"),
    )
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Thickening of the parietal pleura", []),
        ("antibodies against parietal cells", []),
        ("hypertrophy of the caudate lobe", []),
        ("a memory card for the camera", []),
        ("nodule in the lung and thyroid nodules", []),
        ("On the other hand, the insula was active", ["insula"]),
        ("nodule of the right upper lobe", ["nodule"]),
        ("parietal cortex, caudate head and hand", ["parietal", "caudate nucleus", "hand"]),
        ("the parietal lobe and a pleural effusion", ["parietal", "lobe"]),
        ("memory for cards", ["memory"]),
        ("the rest of the brain", []),
        ("activity at rest", ["rest"]),
        ("subependymal nodules", []),
        ("uncinate process of the pancreas", []),
        ("FA of the uncinate", ["uncinate fasciculus"]),
        ("the vermis of a worm", []),
        ("the vermis", ["vermis"]),
        ("All participants were right-handed.", []),
        ("Left-handed participants moved the hand", ["hand"]),
    ],
)
def test_words_that_mean_something_else_are_not_read(text, terms):
    assert [mention.term for mention in read_mentions(text, COUNTER)] == terms


def test_a_side_does_not_move_the_map_to_the_lobe_of_another_organ():
    assert not read_mentions("nodule in the right upper lobe", COUNTER).places


def test_a_term_that_is_the_whole_phrase_stays():
    counter = TermCounter(Vocabulary(["visual", "visual arts"]))
    assert [mention.term for mention in read_mentions("the visual arts", counter)] == [
        "visual arts"
    ]


@pytest.mark.parametrize(
    ("text", "is_brain"),
    [
        ("medullary oedema in the left femoral condyle", False),
        ("medullary infarct of the femur", False),
        ("Bone marrow: medullary edema", False),
        ("lesion of the medullary cavity", False),
        ("left medullary infarct, femoral access", True),
        ("Tibia intact. Left medullary infarct", True),
    ],
)
def test_bones_have_a_medulla(text, is_brain):
    counter = TermCounter(Vocabulary(["medulla"], synonyms={"medullary": "medulla"}))
    assert bool(list(read_mentions(text, counter))) == is_brain


def test_organs_have_a_medulla_and_a_genus_is_a_fish():
    counter = TermCounter(Vocabulary(["hippocampus", "medulla"]))
    assert not list(read_mentions("the medulla of the kidney; the genus Hippocampus", counter))
    assert len(read_mentions("infarct of the lateral medulla; the hippocampus", counter)) == 2


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Right inferior frontal sinus opacification", []),
        ("left superior parietal scalp laceration", []),
        ("superior temporal artery bypass", []),
        ("left occipital lymph node", []),
        ("the river Pons near the island of Insula", []),
        ("ARM Cortex-M4 microcontroller", []),
        ("Vision statement of the company", []),
        ("the motor of my car", []),
        ("Lhermitte's sign; vital signs stable", []),
        ("diminished pinprick over the face", []),
        (
            "inferior frontal and superior parietal activity",
            ["inferior frontal", "superior parietal"],
        ),
        ("occipital activity, no lymph node", ["occipital"]),
        ("a boat to the island; insula and pons", ["insula", "pons"]),
        ("arm cortex", ["arm", "cortex"]),
        ("vision for action", ["vision"]),
        ("signs of atrophy in the motor system", ["sign", "motor"]),
        ("sign language, the face area", ["sign", "face"]),
    ],
)
def test_other_organs_and_objects_are_not_of_the_brain(text, terms):
    places = ["cortex", "inferior frontal", "insula", "occipital", "pons"]
    places += ["superior parietal", "superior temporal"]
    words = ["arm", "face", "motor", "sign", "vision"]
    vocabulary = Vocabulary([*places, *words], categories=dict.fromkeys(places, "anatomy"))
    mentions = read_mentions(text, TermCounter(vocabulary))
    assert [mention.term for mention in mentions] == terms


SHARED = TermCounter(
    Vocabulary(
        structures := ["cortex", "frontal", "medulla", "pons", "pulvinar", "ventricle"],
        categories=dict.fromkeys(structures, "anatomy"),
    )
)


@pytest.mark.parametrize(
    "text",
    [
        "The adrenal cortex secretes cortisol, the medulla secretes adrenaline.",
        "Hair consists of a cuticle, a cortex and a medulla",
        "lymph node with cortex and medulla",
        "renal cortex and medulla",
        "The lymph node has a cortex; its medulla is fatty.",
        "The pulvinar of the hip on ultrasound",
        "Left ventricle dilated",
        "Left ventricle hypertrophy, aortic stenosis",
        "Chest X-ray, frontal and lateral views",
        "The frontal system will bring rain",
    ],
)
def test_a_word_is_of_another_organ_in_a_sentence_of_that_organ(text):
    assert not list(read_mentions(text, SHARED))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Renal failure, infarct of the medulla", ["medulla"]),
        ("Adrenal insufficiency and a lesion of the pons and medulla", ["pons", "medulla"]),
        ("Kidneys normal. Infarct of the medulla.", ["medulla"]),
        ("Blood in the left ventricle", ["ventricle"]),
        ("Left ventricle enlarged. Lesion of the pons.", ["ventricle", "pons"]),
        ("Left ventricle enlarged on CT head", ["ventricle"]),
    ],
)
def test_a_word_is_of_the_brain_beside_something_of_it(text, terms):
    assert [mention.term for mention in read_mentions(text, SHARED)] == terms
