"""How far sides reach: over clauses, coordinations and records."""

import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def sides(text):
    """Sides of structures, by the first letters of these, those that are denied in brackets."""
    found = [each for each in read_mentions(text, COUNTER).found if each.is_structure]
    marks = ((each, f"{each.term} {each.side or '?'}") for each in found)
    return [f"({mark})" if each.is_negated else mark for each, mark in marks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On the right we see an infarct of the putamen.", ["putamen right"]),
        ("Pons normal. On the left are lacunes of the putamen.", ["(pons ?)", "putamen left"]),
        (
            "Insula infarct on the right, and on the left there is edema of the putamen.",
            ["insula right", "putamen left"],
        ),
        ("Findings: on the left the insula is swollen.", ["insula left"]),
        ("To the left one sees edema of the insula.", ["insula left"]),
        ("The insula, however, shows an infarct on the left.", ["insula left"]),
        ("The thalamus, moreover, is infarcted on the right.", ["thalamus right"]),
        ("The insula, the pons aside, shows an infarct on the left.", ["insula ?", "pons ?"]),
        # no sides of what follows
        ("On the right answer there is doubt, and the insula is swollen.", ["insula ?"]),
        ("He depends on the right he has to see his insula.", ["insula ?"]),
        ("Weakness on the left there, and an insula infarct.", ["insula ?"]),
        ("Infarct of the pons. On the left, weakness.", ["pons ?"]),
    ],
)
def test_a_side_that_begins_a_clause_needs_no_comma(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The stroke involves the insula but not the putamen, on the right.",
            ["insula right", "(putamen right)"],
        ),
        ("Infarct of the thalamus and putamen, left.", ["thalamus left", "putamen left"]),
        ("Thalamus and putamen atrophic, left.", ["thalamus left", "putamen left"]),
        ("thalamus + putamen, left", ["thalamus left", "putamen left"]),
        (
            "Edema of the insula, putamen, and caudate nucleus, right side",
            ["insula right", "putamen right", "caudate nucleus right"],
        ),
        # of the last place alone
        ("Insula, left, and putamen, right.", ["insula left", "putamen right"]),
        ("insula, putamen, right; thalamus", ["insula ?", "putamen right", "thalamus ?"]),
        ("the left insula and putamen, right", ["insula left", "putamen right"]),
        ("insula but not putamen on the right", ["insula ?", "(putamen right)"]),
        ("Infarct of the insula and putamen, left untreated.", ["insula ?", "putamen ?"]),
    ],
)
def test_a_side_after_a_comma_ends_a_coordination(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Activity in the insula was strongly left-lateralised.", ["insula left"]),
        (
            "left-lateralized in the insula and right-lateralized in the putamen",
            ["insula left", "putamen right"],
        ),
        ("The insula and putamen were right-lateralised.", ["insula right", "putamen right"]),
        ("Insula responses were lateralised to the left.", ["insula left"]),
        ("Insula activity showed a left lateralisation.", ["insula left"]),
        # nothing of the place before
        ("The insula responded and language was left-lateralised.", ["insula ?"]),
        ("Language is left-lateralised, unlike the insula.", ["(insula ?)"]),
        ("The insula, as speech, is lateralised.", ["insula ?"]),
    ],
)
def test_what_is_lateralised(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "left putamen, along the thalamus and the insula",
            ["putamen left", "thalamus left", "insula left"],
        ),
        (
            "Infarct of the thalamus on the left, also involving the putamen",
            ["thalamus left", "putamen left"],
        ),
        ("insula (right), putamen (both sides)", ["insula right", "putamen bilateral"]),
        ("insula lesions, both sides", ["insula bilateral"]),
        # another place
        ("left putamen along with the thalamus", ["putamen left", "thalamus ?"]),
        ("weakness on the left, involving the arm; insula infarct", ["insula ?"]),
        ("the insula is on both lists", ["insula ?"]),
    ],
)
def test_lists_that_go_on(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lacune in the pons, right of midline.", ["pons right"]),
        ("Infarct of the thalamus just to the left of the midline", ["thalamus left"]),
        ("Pons infarct slightly right of the midline", ["pons right"]),
        ("Insula: left normal, right cortical infarct.", ["(insula left)", "insula right"]),
        ("Left insula normal, right small old infarct.", ["(insula left)", "insula right"]),
        # no sides of the place
        ("Midline shift to the left, pons intact.", ["(pons ?)"]),
        ("Left insula normal, right thalamus infarct.", ["(insula left)", "thalamus right"]),
        ("Left insula normal, right old weakness.", ["(insula left)"]),
    ],
)
def test_sides_of_the_midline_and_of_states(text, expected):
    named = [each for each in sides(text) if "cort" not in each]
    assert named == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Lesion 1 - side: left; site: insula. Lesion 2 - side: right; site: putamen, thalamus",
            ["insula left", "putamen right", "thalamus right"],
        ),
        (
            "Location: insula. Laterality: left. Size: 9 mm\nLocation: putamen. Laterality: right.",
            ["insula left", "putamen right"],
        ),
        ("Side = R\nType = glioma\nRegion = thalamus", ["thalamus right"]),
        ("Structure: insula, hemisphere: bilateral", ["insula bilateral"]),
        ("Glioma of the insula. Side: left.", ["insula left"]),
        ("Laterality: right. Infarct of the insula. Pons normal.", ["insula right", "(pons ?)"]),
        # no sides of the place
        ("Dominant side: right. Location: insula.", ["insula ?"]),
        ("Side: left arm weak. Site: insula.", ["insula ?"]),
        ("Side: left. Site: right insula. Comment: pons normal.", ["insula right", "(pons ?)"]),
        ("Wrong side: left. Site: insula", ["insula ?"]),
    ],
)
def test_records_have_keys_and_values(text, expected):
    named = [each for each in sides(text) if "hemisphere" not in each]
    assert named == expected


def more(text):
    """Sides of structures, and those that have more."""
    found = read_mentions(text, COUNTER).found
    return [(each.side, each.dominant) for each in found if each.is_structure]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stronger responses in right than left insula", "right"),
        ("R>>L insula atrophy", "right"),
        ("atrophy of the insula, left more marked than right", "left"),
        ("Atrophy, left greater than right, of the insula.", "left"),
        ("insula bilaterally, L > R", "left"),
        ("bilateral insula atrophy, most pronounced on the right", "right"),
        ("Lesions of the insula on both sides, worse on the left.", "left"),
        ("mainly left insula infarcts", "left"),
        ("small insula, especially the left", "left"),
        ("Bilateral insula lesions with right-sided predominance", "right"),
        ("insula atrophy with right predominance", "right"),
        ("insula activation (L < R)", "right"),
        ("less activation in left than right insula", "right"),
        ("atrophy of the insula, much worse on the right than on the left", "right"),
        ("insula atrophy, considerably more marked on the left than the right", "left"),
        ("insula atrophy, R slightly > L", "right"),
        ("insula atrophy, left slightly greater than right", "left"),
        ("bilateral insula edema, a little worse on the left", "left"),
        ("Bilateral insula lesions, far less marked on the left", "right"),
    ],
)
def test_of_two_sides_one_may_have_more(text, expected):
    assert more(text) == [("bilateral", expected)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left and right insula", ("bilateral", None)),
        ("especially the left insula", ("left", None)),
        ("the insula, particularly the left-hand one", (None, None)),
        ("left rather than right insula", ("left", None)),
        ("insula activity lower on the left than on the right", ("bilateral", None)),
        ("weakness, worse on the left; insula infarct", (None, None)),
        ("weakness, much worse on the left; insula infarct", (None, None)),
        ("insula activity slightly lower on the left than on the right", ("bilateral", None)),
        ("more insula activity in left than right hand movements", (None, None)),
        ("the insula on the left", ("left", None)),
    ],
)
def test_other_sides_have_no_more_than_each_other(text, expected):
    assert more(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left hypodense thalamus", ["thalamus left"]),
        ("Left swollen putamen.", ["putamen left"]),
        ("right T2-bright hippocampus", ["hippocampus right"]),
        ("left markedly atrophic hippocampus", ["hippocampus left"]),
        ("the right non-enhancing, swollen insula", ["insula right"]),
        ("right nearly completely destroyed CT-dense putamen", ["putamen right"]),
        ("left shrunken and gliotic hippocampus", ["hippocampus left"]),
        ("left 3.5 x 2 cm thalamus hematoma", ["thalamus left"]),
        # no adjectives
        ("left handed patients with thalamus lesions", ["thalamus ?"]),
        ("left hand amygdala task", ["amygdala ?"]),
        ("press the left button, amygdala", ["amygdala ?"]),
        ("the right choice activates amygdala", ["amygdala ?"]),
        ("he left after thalamus surgery", ["thalamus ?"]),
        ("infarct on the left compressing thalamus", ["thalamus ?"]),
        ("right and wrong, amygdala", ["amygdala ?"]),
        ("right non-insula regions", ["insula ?"]),
        ("left swollen because putamen", ["putamen ?"]),
        ("left foo bar baz putamen", ["putamen ?"]),
    ],
)
def test_a_side_crosses_words_that_say_how_a_place_is(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Infarct, left: thalamus, hippocampus", ["thalamus left", "hippocampus left"]),
        ("Infarct on the right: insula, putamen", ["insula right", "putamen right"]),
        ("Left-sided findings: putamen and insula", ["putamen left", "insula left"]),
        ("Findings on the right side: amygdala, insula", ["amygdala right", "insula right"]),
        ("Hemorrhage (R): thalamus", ["thalamus right"]),
        (
            "Stroke on the left (insula, putamen); thalamus",
            ["insula left", "putamen left", "thalamus ?"],
        ),
        ("Atrophy, right: insula. Left: amygdala", ["insula right", "amygdala left"]),
        # sides of the body
        ("Hemiparesis, left: infarct of the insula", ["insula ?"]),
        ("Left-sided weakness: insula infarct", ["insula ?"]),
        ("Weakness on the left: right insula infarct", ["insula right"]),
        ("Symptoms on the left: tremor, insula lesion", ["insula ?"]),
    ],
)
def test_a_finding_with_a_side_heads_a_list(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "PCA territory infarct, left",
        "MCA distribution stroke (left)",
        "Infarct of the left anterior choroidal territory",
        "Infarct in the ACA territory, left",
    ],
)
def test_territories_have_sides(text):
    mentions = read_mentions(text, COUNTER)
    assert [mention.side for mention in mentions.rule_based] == ["left"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("right anterior choroidal territory (thalamus, amygdala)", "thalamus amygdala"),
        ("Right MCA occlusion. The insula and putamen are hypodense.", "insula putamen"),
        ("Acute stroke on the right. Thalamus and insula are affected.", "thalamus insula"),
        ("hyperdense right MCA sign, swollen insula, obscured putamen", "insula putamen"),
        ("Right MCA stroke with left hemiparesis. The insula is hypodense.", "insula"),
        ("Right MCA infarct with swollen insula", "insula"),
        ("Right putamen glioma. The insula is infiltrated.", "putamen insula"),
    ],
)
def test_the_side_of_a_lesion_is_carried_on(text, expected):
    named = [each for each in sides(text) if "artery" not in each]
    assert named == [f"{name} right" for name in expected.split()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Right MCA occlusion. The left insula is swollen.", ["insula left"]),
        ("Right MCA occlusion. Both insulae are hypodense.", ["insula bilateral"]),
        ("Right MCA occlusion. The pons is hypodense.", ["pons ?"]),
        ("Right MCA occlusion. Old thalamus lacune.", ["thalamus ?"]),
        ("Right MCA occlusion. Insula responses were measured.", ["insula ?"]),
        ("Right MCA occlusion. The insula is not affected.", ["(insula ?)"]),
        ("Right MCA occlusion.\n\nThe insula is hypodense.", ["insula ?"]),
        ("No right MCA occlusion. The insula is hypodense.", ["insula ?"]),
        ("Stroke, weakness on the left. The insula is hypodense.", ["insula ?"]),
        ("Patients with right MCA stroke. The insula was affected.", ["insula ?"]),
        ("The right MCA is occluded and dense, unlike the insula.", ["(insula ?)"]),
        ("Right putamen glioma. The insula is swollen.", ["putamen right", "insula ?"]),
    ],
)
def test_other_places_have_sides_of_their_own(text, expected):
    assert [each for each in sides(text) if "artery" not in each] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hippocampus left normal, right atrophic", ["(hippocampus left)", "hippocampus right"]),
        ("amygdala right enlarged, left normal", ["amygdala right", "(amygdala left)"]),
        ("insula right normal and left infarcted", ["(insula right)", "insula left"]),
        # no states of both
        ("The insula left small gaps, right?", ["insula ?"]),
    ],
)
def test_states_of_both_sides_follow_a_name(text, expected):
    assert sides(text) == expected


def test_a_misspelt_word_may_stand_before_a_lesion():
    assert sides("insular cortx lesion on left") == ["insula left"]
    assert sides("putamen acut infarct, right") == ["putamen right"]
    assert sides("hippocampal sclerossis right") == ["hippocampus right"]
    assert sides("insula and lesion on left") == ["insula ?"]
    assert sides("the insula looks right") == ["insula ?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Infarct of the dominant temporal lobe.", ["temporal lobe left"]),
        ("Glioma of the nondominant parietal lobe", ["parietal lobe right"]),
        ("resection of the non-dominant insula and putamen", ["insula right", "putamen right"]),
        ("Right-handed. In the dominant hemisphere, the insula is infarcted.", ["insula left"]),
        ("Stroke in the language-dominant hemisphere (insula)", ["insula left"]),
        # sides of its own
        ("left dominant insula, right dominant putamen", ["insula left", "putamen right"]),
        # not of the hemisphere of language, or that is on the right
        ("Left-handed. Infarct of the dominant temporal lobe.", ["temporal lobe ?"]),
        ("right hemisphere dominant; infarct of the dominant insula", ["insula ?"]),
        (
            "the dominant mass is in the thalamus; a dominant lesion of the insula",
            ["thalamus ?", "insula ?"],
        ),
        ("autosomal dominant insula epilepsy", ["insula ?"]),
        ("Tapping with the dominant hand activated the putamen.", ["putamen ?"]),
    ],
)
def test_the_dominant_hemisphere_is_the_left_one(text, expected):
    places = [mark for mark in sides(text) if "hemisphere" not in mark]
    assert places == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The right hemisphere shows a small infarct in the thalamus.", ["thalamus right"]),
        ("Left hemisphere demonstrates gliosis of the insula.", ["insula left"]),
        ("MRI: the left hemisphere has lesions of the insula and pons", ["insula left", "pons ?"]),
        ("The left hemisphere is intact, the insula is infarcted.", ["insula ?"]),
        ("Who has a left hemisphere has an insula.", ["insula ?"]),
    ],
)
def test_a_hemisphere_shows_what_it_has(text, expected):
    places = [mark for mark in sides(text) if "hemisphere" not in mark]
    assert places == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thalami: R caudate signal change", ["thalamus right", "caudate nucleus right"]),
        ("Basal ganglia: left putamen bleed.", ["basal ganglia left", "putamen left"]),
        (
            "Basal ganglia: L putamen bleed, R normal",
            ["basal ganglia left", "putamen left", "(putamen right)"],
        ),
        (
            "Basal ganglia: L putamen bleed and right capsular infarct",
            ["basal ganglia ?", "putamen left"],
        ),
    ],
)
def test_what_heads_its_parts_has_their_side(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Right-sided stroke with infarction of the insula. The contralateral side was intact.",
            ["insula right"],
        ),
        ("Glioma on the left, in the insula.", ["insula left"]),
        ("Right MCAO produced infarcts in the putamen.", ["putamen right"]),
        ("Rats with MCAO on the left had infarcts of the putamen.", ["putamen left"]),
        ("After left stroke the contralateral thalamus was small.", ["thalamus right"]),
        # other lesions, and people of whom only some have it
        ("Left stroke with a second lesion of the insula", ["insula ?"]),
        ("After left stroke, patients with lesions of the insula were worse.", ["insula ?"]),
    ],
)
def test_a_lesion_with_a_side_has_its_place_after_it(text, expected):
    assert sides(text) == expected


@pytest.mark.parametrize(
    "control",
    [
        "the contralateral hemisphere served as control.",
        "The contralateral hemisphere was used as reference.",
        "Values were normalised to the contralateral white matter.",
    ],
)
def test_half_a_brain_that_serves_as_control_has_no_side(control):
    found = read_mentions(f"Right-sided stroke. {control}", COUNTER)
    assert not [each for each in (*found.found, *found.places) if each.side]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thalamus lesion (by ultrasound) on the left", ["thalamus left"]),
        ("Right epidural hematoma over the insula", ["insula right"]),
        (
            "The left electrode lies in the putamen, the right in the thalamus.",
            ["putamen left", "thalamus right"],
        ),
        ("The left lead is in the putamen.", ["putamen left"]),
        ("Right craniotomy for an insula glioma", ["insula right"]),
        (
            "Right thalamus infarct with hemorrhage of the putamen",
            ["thalamus right", "putamen right"],
        ),
        ("Right craniotomy. Infarct of the thalamus.", ["thalamus ?"]),
        ("The right electrode was broken; infarct of the thalamus.", ["thalamus ?"]),
        ("Right thalamus infarct with a glioma of the pons", ["thalamus right", "pons ?"]),
    ],
)
def test_the_side_of_an_operation_or_a_device_is_that_of_its_place(text, expected):
    assert sides(text) == expected
