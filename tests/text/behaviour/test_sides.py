import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

STRUCTURES = [
    "amygdala",
    "caudate nucleus",
    "cerebellum",
    "cerebral hemisphere",
    "frontal",
    "frontal eye field",
    "hippocampal",
    "hippocampus",
    "insula",
    "left cerebral hemisphere",
    "middle cerebral artery",
    "middle frontal gyrus",
    "motor",
    "motor cortex",
    "precentral",
    "pulvinar",
    "superior temporal gyrus",
    "temporal lobe",
    "thalamus",
    "visual",
    "visual cortex",
    "hand",
    "visual field",
]
OTHERS = ["neglect", "parieto occipital", "stroke"]
COUNTER = TermCounter(
    Vocabulary(
        [*STRUCTURES, *OTHERS],
        {"MCA": "middle cerebral artery", "thalamic": "thalamus"},
        dict.fromkeys(STRUCTURES, "anatomy"),
    )
)


LEFT = [("insula", "left"), ("thalamus", "left")]


def sides(text):
    return [(match.term, match.side) for match in COUNTER.find(text) if match.side]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the name that follows
        ("left amygdala", [("amygdala", "left")]),
        ("the Right Amygdala", [("amygdala", "right")]),
        ("bilateral thalami", [("thalamus", "bilateral")]),
        ("left-sided frontal lesions", [("frontal", "left")]),
        ("right acute frontal infarct", [("frontal", "right")]),
        ("right large old frontal infarct", [("frontal", "right")]),
        ("right precentral infarct", [("precentral", "right")]),
        ("right paramedian thalamic infarct", [("thalamus", "right")]),
        ("right parieto-occipital infarct", [("parieto occipital", "right")]),
        ("left-lateralised frontal activity", [("frontal", "left")]),
        ("the left side of the thalamus", [("thalamus", "left")]),
        ("left posterior superior temporal gyrus", [("superior temporal gyrus", "left")]),
        ("left inferior and middle frontal gyri", [("middle frontal gyrus", "left")]),
        ("left frontal and temporal lobes", [("frontal", "left"), ("temporal lobe", "left")]),
        ("left hippocampal volume", [("hippocampal", "left")]),
        ("left visual cortex", [("visual cortex", "left")]),
        ("right frontal eye fields", [("frontal eye field", "right")]),
        ("left amygdala/hippocampus", [("amygdala", "left"), ("hippocampus", "left")]),
        ("left amygdala & hippocampus", [("amygdala", "left"), ("hippocampus", "left")]),
        ("left amygdala + hippocampus", [("amygdala", "left"), ("hippocampus", "left")]),
        ("left amygdala + right insula", [("amygdala", "left"), ("insula", "right")]),
        ("L & R amygdala", [("amygdala", "bilateral")]),
        ("b/l amygdala", [("amygdala", "bilateral")]),
        (
            "Bilat. frontal infarcts, bil insula",
            [("frontal", "bilateral"), ("insula", "bilateral")],
        ),
        ("frontal infarcts, L>R. Insula swollen", [("frontal", "bilateral")]),
        # a label
        ("Cerebellum: small right infarct.", [("cerebellum", "right")]),
        ("Thalamus: tiny left lacune. Insula: clear.", [("thalamus", "left")]),
        ("left amygdala, right insula", [("amygdala", "left"), ("insula", "right")]),
        ("right pulvinar, bilateral insula", [("pulvinar", "right"), ("insula", "bilateral")]),
        ("bilaterally in the cerebellum", [("cerebellum", "bilateral")]),
        ("left MCA territory", [("middle cerebral artery", "left")]),
        # across a lesion or activity, to its place
        ("left-sided infarct of the thalamus", [("thalamus", "left")]),
        ("right lacunar infarcts in the thalamus", [("thalamus", "right")]),
        ("bilateral activation in the insula", [("insula", "bilateral")]),
        ("on the left in the insula", [("insula", "left")]),
        # along a list
        ("left insula and thalamus", [("insula", "left"), ("thalamus", "left")]),
        (
            "left insula, thalamus, and hippocampus",
            [("insula", "left"), ("thalamus", "left"), ("hippocampus", "left")],
        ),
        ("left insula and the thalamus", [("insula", "left")]),
        ("left insula, thalamus", [("insula", "left"), ("thalamus", "left")]),
        (
            "left insula, thalamus and right amygdala",
            [("insula", "left"), ("amygdala", "right")],
        ),
        ("pulvinar, left insula and thalamus", [("insula", "left")]),
        ("left insula and cerebellum", [("insula", "left")]),
        ("left insula and thalamus bilaterally", [("insula", "left"), ("thalamus", "bilateral")]),
        ("left parietal neglect, left frontal lesion", [("frontal", "left")]),
        # one side and not the other
        ("the left but not the right amygdala", [("amygdala", "left")]),
        ("the left, but not right, amygdala", [("amygdala", "left")]),
        # abbreviations
        ("L amygdala and R hippocampus", [("amygdala", "left"), ("hippocampus", "right")]),
        ("Rt. hippocampus; lt. insula", [("hippocampus", "right"), ("insula", "left")]),
        ("L. amygdala", [("amygdala", "left")]),
        ("RT insula", [("insula", "right")]),
        # both
        ("right and left amygdala", [("amygdala", "bilateral")]),
        ("left or right amygdala", [("amygdala", "bilateral")]),
        ("left/right thalamus", [("thalamus", "bilateral")]),
        ("L and R insula", [("insula", "bilateral")]),
        ("left greater than right thalamus", [("thalamus", "bilateral")]),
        ("thalamus lesions, left more than right", [("thalamus", "bilateral")]),
        ("insula (L>R)", [("insula", "bilateral")]),
        ("both amygdalae", [("amygdala", "bilateral")]),
        ("both cerebral hemispheres", [("cerebral hemisphere", "bilateral")]),
        # the name that precedes
        ("amygdala (left)", [("amygdala", "left")]),
        ("amygdala (R), insula", [("amygdala", "right")]),
        ("amygdala, left; insula", [("amygdala", "left")]),
        ("the thalamus bilaterally", [("thalamus", "bilateral")]),
        ("thalamus on the right side", [("thalamus", "right")]),
        ("thalamus lesion on the right", [("thalamus", "right")]),
        ("the thalami were spared bilaterally", [("thalamus", "bilateral")]),
        ("Amygdala: left lesion", [("amygdala", "left")]),
        ("Amygdala_L", [("amygdala", "left")]),
        ("Amygdala L -22 -4 -18", [("amygdala", "left")]),
        # in the name
        ("left cerebral hemisphere", [("left cerebral hemisphere", "left")]),
    ],
)
def test_sides_go_to_the_name_that_they_qualify(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the contralateral cerebellum after left stroke", [("cerebellum", "right")]),
        ("ipsilateral cerebellum with right-hand movements", [("cerebellum", "right")]),
        (
            "Ataxia of the left arm. Infarct in the ipsilateral cerebellum.",
            [("cerebellum", "left")],
        ),
        ("Left and right arms moved; the contralateral cerebellum.", []),
        ("the contralateral thalamus, and the right cerebellum", [("cerebellum", "right")]),
    ],
)
def test_what_a_contralateral_place_is_related_to(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Right-handed subjects moved the left hand; contralateral thalamus.", "right"),
        ("Left-handers. The right foot was moved. The ipsilateral thalamus.", "right"),
        ("Right hand dominant; left arm movement; contralateral thalamus", "right"),
        ("Right-handedness. Left hand: ipsilateral thalamus", "left"),
        ("Right hand; contralateral thalamus", "left"),
        ("Right-handed subjects; contralateral thalamus", None),
    ],
)
def test_the_preferred_hand_is_not_what_a_contralateral_place_is_related_to(text, expected):
    assert sides(text) == ([("thalamus", expected)] if expected else [])


def test_the_preferred_hand_is_not_the_one_that_moves():
    counter = TermCounter(Vocabulary(["hand", "insula"], categories={"insula": "anatomy"}))
    found = read_mentions("Right hand dominant; left hand movement.", counter).found
    assert [mention.side for mention in found] == [None, "left"]


@pytest.mark.parametrize(
    "text",
    [
        "amygdala",
        "the right answer about the amygdala",
        "he left the amygdala alone",
        "the amygdala left us puzzled",
        "Amygdala: lacune\nLeft eye: normal",
        "Amygdala: lacune\n\nLeft orbit: normal",
        "LH: 5.2 IU/l. Amygdala.",
        "He left. Amygdala activity",
        "left\n\nAmygdala",
        "L-dopa and the amygdala",
        "r = 0.3, amygdala",
        "l amygdala",
        "faster RT, amygdala",
        "both amygdala and hippocampus",
        "both hippocampi and amygdalae",
        "left hand",
        "left visual field",
        "right hemianopia",
        "left motor weakness",
        "left neglect and the thalamus",
        "right-handed subjects, amygdala",
        "left stroke",
        "left temporal hemianopia",
        "left frontal headache",
        "both frontal and hippocampal",
        "left lesion\nAmygdala normal",
        "amygdala left the room",
        "hippocampus, left the scanner",
    ],
)
def test_other_uses_of_the_words_move_nothing(text):
    assert sides(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a clause that begins with a side
        ("On the left, atrophy of the insula", [("insula", "left")]),
        ("He left. On the right, only the insula.", [("insula", "right")]),
        ("Left: insula, thalamus. Right: hippocampus.", [*LEFT, ("hippocampus", "right")]),
        ("Left MCA: insula, thalamus.", [("middle cerebral artery", "left"), *LEFT]),
        ("Left ICA: insula; thalamus. Right: hippocampus.", [*LEFT, ("hippocampus", "right")]),
        ("Left ICA occlusion: insula. Thalamus.\nHippocampus", LEFT),
        ("Left ICA: insula, thalamus; hippocampus: normal", LEFT),
        ("Left ICA: insula, thalamus. Hippocampus.", LEFT),
        ("a weak hand; in the left hemisphere the insula and the thalamus responded", LEFT),
        # a list that ends with one
        ("the insula and the thalamus of the left hemisphere", LEFT),
        ("the insula and thalamus on the left", LEFT),
        ("the insula, right thalamus on the left", [("thalamus", "right")]),
        ("thalamus and insula on both sides", [("thalamus", "bilateral"), ("insula", "bilateral")]),
        # parts
        ("left temporal lobe, including the insula", [("temporal lobe", "left"), LEFT[0]]),
        # the same side and the other
        ("right hand: contralateral insula", [("insula", "left")]),
        ("left hand; contralateral insula", [("insula", "right")]),
        ("left arm weak, ipsilateral cerebellum", [("cerebellum", "left")]),
        # in order
        (
            "insula and thalamus, on the left and right, respectively",
            [("insula", "left"), ("thalamus", "right")],
        ),
        (
            "left and right insula and thalamus, respectively",
            [("insula", "left"), ("thalamus", "right")],
        ),
        (
            "left and right hemisphere lesions of the insula and the thalamus, respectively",
            [("insula", "left"), ("thalamus", "right")],
        ),
        ("left and right insula in pain and itch respectively", [("insula", "bilateral")]),
        ("neither the left nor the right insula", [("insula", "bilateral")]),
        # what ends a finding
        ("insula infarct left", [("insula", "left")]),
        ("insula - right, thalamus infarct left side.", [("insula", "right"), LEFT[1]]),
        ("insula lesion on right", [("insula", "right")]),
        ("insula right 2019", [("insula", "right")]),
        ("insula on the left side, thalamus on the right side", [LEFT[0], ("thalamus", "right")]),
        # in brackets
        ("(L) insula infarct, (R) thalamus normal", [LEFT[0], ("thalamus", "right")]),
        ("insula (L), thalamus (R)", [LEFT[0], ("thalamus", "right")]),
        ("insula (left) thalamus (left)", LEFT),
        ("infarct of [L] insula", [LEFT[0]]),
        # compared
        ("insula signal greater on the left than on the right", [("insula", "bilateral")]),
        # in relation to another side
        ("right hand: contralateral insula, thalamus and cerebellum", LEFT),
        (
            "right foot: contralateral insula, ipsilateral thalamus",
            [LEFT[0], ("thalamus", "right")],
        ),
        ("insula contralateral to the right arm", [LEFT[0]]),
        ("insula ipsilateral to the left lesion", [LEFT[0]]),
        # what extends
        ("left insula, extending", [("insula", "left")]),
        ("left insula glioma extending into the thalamus", LEFT),
        ("left insula with extension to the cerebellum and thalamus", LEFT),
        ("left insula infiltrating the right thalamus", [LEFT[0], ("thalamus", "right")]),
        # lines that a side heads
        ("Left:\nInsula: small\nThalamus: small\nRight:\nInsula", [*LEFT, ("insula", "right")]),
        ("LEFT HEMISPHERE:\nInsula\nthalamus\n\nHippocampus", LEFT),
        ("Left side:\nInsula, thalamus\nOther:\nHippocampus", LEFT),
        ("LH: insula, thalamus", LEFT),
        ("Bilaterally, the insula responded.", [("insula", "bilateral")]),
        # sides of two sentences are no pair
        ("The midline is shifted to the right. The left insula is compressed.", [LEFT[0]]),
        ("The mass is on the right. The left insula and thalamus are displaced.", LEFT),
        ("left-predominant insula atrophy", [("insula", "bilateral")]),
    ],
)
def test_clauses_give_sides_to_their_places(text, expected):
    named = [(term, side) for term, side in sides(text) if "hemisphere" not in term]
    assert named == expected


def test_a_side_that_is_inherited_says_so():
    text = "left insula, thalamus and hippocampus; right thalamus"
    inherited = [mention.side_inherited for mention in read_mentions(text, COUNTER)]
    assert inherited == [False, True, True, False]


def test_a_side_at_the_end_of_a_sentence_is_of_no_place():
    mentions = read_mentions("Tremor began on the right. Insula 24.", COUNTER)
    assert [mention.side for mention in mentions] == [None]
    assert [mark.side for mark in mentions.unapplied] == ["right"]


def test_a_vocabulary_without_categories_has_sides_for_all_terms():
    counter = TermCounter(Vocabulary(["amygdala"]))
    assert counter.find("left amygdala")[0].side == "left"


@pytest.mark.parametrize(
    "text",
    [
        "Left-hemisphere regions, namely the insula and the thalamus",
        "several left hemispheric areas: insula and thalamus",
        "left hemisphere structures such as the insula and the thalamus",
        "a left-lateralized network of the insula and the thalamus",
        "A left-lateralised reading network, comprising the insula and the thalamus",
        "left-sided regions (insula, thalamus)",
        "only on the left side: insula and thalamus",
        "Seen only on the left: insula, thalamus",
    ],
)
def test_the_side_of_a_group_is_that_of_its_places(text):
    assert [each for each in sides(text) if each[0] != "cerebral hemisphere"] == LEFT


@pytest.mark.parametrize(
    "text",
    [
        "Left-hemisphere patients had activity in the insula and the thalamus",
        "left-lateralized network strength correlated with the insula",
        "The left network, and also the insula, was active",
        "Left hand areas (insula)",
        "left median nerve system: thalamus",
        "left-handed participants: a network of the insula",
        "weakness only on the left side: insula infarct",
        "Left-hemisphere regions were spared. Insula: atrophy",
        "insula; weak on the left",
    ],
)
def test_a_side_that_is_of_no_group_goes_to_no_list(text):
    assert [each for each in sides(text) if each[0] != "cerebral hemisphere"] == []


def test_a_place_of_a_group_keeps_its_own_side():
    text = "a left-lateralized network of the thalamus and the right insula"
    assert sides(text) == [("thalamus", "left"), ("insula", "right")]


def test_only_anatomy_has_sides_where_categories_are_known():
    categories = {"amygdala": "anatomy", "stroke": "disease"}
    counter = TermCounter(Vocabulary(["amygdala", "stroke"], categories=categories))
    assert [match.side for match in counter.find("left stroke, left amygdala")] == [None, "left"]


def test_the_place_of_the_side_is_given():
    text = "insula and thalamus (L)"
    match = COUNTER.find(text)[1]
    assert text[match.side_start : match.side_end] == "L"


def test_names_that_are_made_of_structures_have_sides_too():
    names = {"frontal": "anatomy", "gyrus": "", "frontal gyri": "", "frontal epilepsy": "disease"}
    counter = TermCounter(Vocabulary([*names, "frontal plan"], categories=names))
    text = "left frontal gyri, left frontal epilepsy, left frontal plan"
    assert [match.side for match in counter.find(text)] == ["left", "left", None]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("rIFG", ["right"]),
        ("lIFG and rIFG", ["left", "right"]),
        ("rIFG and the amygdala", ["right", None]),
        ("L-IFG, R IFG", ["left", "right"]),
        ("lh amygdala, RH amygdala, lh.amygdala", ["left", "right", "left"]),
        ("right inferior frontal gyrus (rIFG); the rIFG", ["right", "right"]),
        # no sides
        ("rostral inferior frontal gyrus (rIFG); the rIFG", [None, None]),
        ("LH and the amygdala; RH. Amygdala", [None, None]),
        ("rifg amygdala", [None]),
    ],
)
def test_sides_in_abbreviations(text, sides):
    vocabulary = Vocabulary(
        ["inferior frontal gyrus", "amygdala", "rifg"],
        {"IFG": "inferior frontal gyrus"},
        {"inferior frontal gyrus": "anatomy", "amygdala": "anatomy", "rifg": "extra"},
    )
    found = TermCounter(vocabulary).find(text)
    assert [match.side for match in found if match.term != "rifg"] == sides


def test_a_name_of_its_own_is_no_side():
    vocabulary = Vocabulary(
        ["orbitofrontal cortex", "lateral orbitofrontal cortex"],
        {"OFC": "orbitofrontal cortex", "lOFC": "lateral orbitofrontal cortex"},
    )
    (match,) = TermCounter(vocabulary).find("lOFC")
    assert (match.term, match.side) == ("lateral orbitofrontal cortex", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a bleed in the right half of the thalamus", {"thalamus": "right"}),
        ("a mass at the left lateral margin of the thalamus", {"thalamus": "left"}),
        ("the right convexity of the insula", {"insula": "right"}),
        ("Stimuli at the left edge of the screen activated the insula.", {}),
        ("the anterior aspect of the left insula", {"insula": "left"}),
        ("lesion of the right insula; the adjacent amygdala is swollen", "right"),
        ("left insula infarct with swelling of the neighbouring hippocampus", "left"),
        ("the insula is adjacent to the left hippocampus", {"hippocampus": "left"}),
    ],
)
def test_parts_and_neighbours_have_the_side(text, expected):
    found = {mention.term: mention.side for mention in read_mentions(text, COUNTER)}
    if isinstance(expected, str):
        assert set(found.values()) - {None} == {expected}
        assert all(found.get(term, expected) == expected for term in STRUCTURES)
    else:
        assert {term: side for term, side in found.items() if side} == expected


def test_an_artery_has_the_side_of_its_sentence():
    text = "Encephalomalacia of the right insula from a remote MCA stroke"
    (mention,) = read_mentions(text, COUNTER).rule_based
    assert {structure.side for structure in mention.implied} == {"right"}


def test_a_name_that_ends_with_its_adjective_has_the_side():
    counter = TermCounter(
        Vocabulary(["anterior cingulate"], {"cingulate gyrus, anterior": "anterior cingulate"})
    )
    (mention,) = read_mentions("glioma of the left cingulate gyrus, anterior third", counter)
    assert mention.side == "left"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the place that tells again where a lesion is
        ("L frontal lesion, insula region", ["left", "left"]),
        ("L frontal non-enhancing lesion, anterior insula area, no edema", ["left", "left"]),
        ("L frontal lesion, insula", ["left", None]),
        # places before "contralateral to"
        ("insula/thalamus contralateral to the left hand", ["right", "right"]),
        ("insula and thalamus ipsilateral to the left hand", ["left", "left"]),
        ("insula, thalamus contralateral to the left hand", [None, "right"]),
        ("left insula/thalamus contralateral to the left hand", ["left", "left"]),
    ],
)
def test_a_second_place_has_the_side_of_the_first(text, expected):
    found = read_mentions(text, COUNTER).found
    assert [m.side for m in found if m.term in ("frontal", "insula", "thalamus")] == expected


@pytest.mark.parametrize("name", ["third ventricle", "4th ventricle", "cerebral aqueduct"])
def test_what_is_there_once_has_no_side(name):
    counter = TermCounter(Vocabulary([name, "lateral ventricle"]))
    found = read_mentions(f"left {name} and right lateral ventricle", counter).found
    assert [mention.side for mention in found] == [None, "right"]


def test_a_point_after_a_clipped_word_ends_no_sentence():
    vocabulary = Vocabulary(["amygdala", "hippocampus", "atrophy"])
    text = "Bilat. hippoc. atrophy, Lt>Rt; Rt amyg. nl. Hippoc. atrophy. Amygdala small."
    found = read_mentions(text, TermCounter(vocabulary)).found
    assert [(each.term, each.status) for each in found if each.term != "atrophy"] == [
        ("hippocampus", "affirmed"),
        ("amygdala", "denied"),
        ("hippocampus", "affirmed"),
        ("amygdala", "affirmed"),
    ]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("The right homologue of the insula was active.", "right"),
        ("the right-hemisphere homologue of the left insula", "right"),
        ("the right hemispheric homologues of the left insula", "right"),
        ("insula homologue in the right hemisphere", "right"),
        ("the contralateral homologue of the left insula", "right"),
        ("The right amygdala, the homologue of the insula, was active.", "right"),
        ("the right homologous area of the insula", "right"),
        ("the macaque homologue of the right insula", "right"),
        ("the mouse homologue of the insula", None),
        ("the right amygdala and the homologue of the insula", None),
    ],
)
def test_a_homologue_has_a_side_of_its_own(text, side):
    found = read_mentions(text, COUNTER).found
    assert {mention.side for mention in found if mention.term == "insula"} == {side}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Right-lateralised language activation", ["right"]),
        ("Language was right-lateralised.", ["right"]),
        ("Language lateralized to the right.", ["right"]),
        ("Right language dominance", ["right"]),
        ("Left-lateralised face processing in left-handers", ["left"]),
        ("Weakness lateralised to the right; language was impaired.", []),
        ("Tinnitus lateralised to the right.", []),
        ("Symptoms lateralised to the left.", []),
        ("Right hand dominance", []),
        ("Right-lateralised insula activation during language", []),  # the insula has it
        ("Language was not lateralised.", []),
    ],
)
def test_a_function_has_the_hemisphere_that_it_is_lateralised_to(text, expected):
    assert [place.side for place in read_mentions(text, COUNTER).places] == expected


def test_a_lateralisation_is_denied():
    (place,) = read_mentions("Language was not right-lateralised.", COUNTER).places
    assert not place.is_present


def test_a_note_that_begins_with_a_side_is_a_list():
    counter = TermCounter(Vocabulary(["insula", "thalamus", "putamen", "anterior thalamus"]))
    for text in ("Left thalamus, anterior putamen", "Left thalamus, putamen, insula."):
        found = [mention for mention in read_mentions(text, counter) if mention.is_structure]
        assert [(mention.term, mention.side) for mention in found][:2] == [
            ("thalamus", "left"),
            ("putamen", "left"),
        ]
