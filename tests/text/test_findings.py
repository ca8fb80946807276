"""Findings: the places of a report and their roles."""

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.findings import concludes_nothing, find_findings
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.reading.tables import alternatives, read_table, split
from neurowhere.text.roles import CUES

NAMES = [
    "frontal lobe",
    "temporal lobe",
    "parietal lobe",
    "occipital lobe",
    "insula",
    "thalamus",
    "putamen",
    "cerebellum",
    "pons",
    "lateral ventricle",
    "corpus callosum",
    "occipital",
]


@pytest.fixture(scope="module")
def counter():
    categories = dict.fromkeys(NAMES, "anatomy")
    return TermCounter(Vocabulary(NAMES, categories=categories))


def roles(text, counter):
    places = [p for f in find_findings(text, read_mentions(text, counter)) for p in f.places]
    return {(place.words.lower(), place.role, place.side) for place in places}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mass centred in the left insula, extending into the temporal lobe.",
            {("insula", "seat", "left"), ("temporal lobe", "extension", "left")},
        ),
        (
            "Right frontal lobe mass. The right lateral ventricle is compressed.",
            {("frontal lobe", "seat", "right"), ("lateral ventricle", "pressed", "right")},
        ),
        (
            "Left parietal lobe infarct; shift of 6 mm at the level of the thalamus.",
            {("parietal lobe", "seat", "left"), ("thalamus", "level", "left")},
        ),
        (
            "Tumor of the right temporal lobe. The thalamus is normal.",
            {("temporal lobe", "seat", "right"), ("thalamus", "spared", None)},
        ),
        (
            "Lesion in the left frontal lobe abutting the corpus callosum.",
            {("frontal lobe", "seat", "left"), ("corpus callosum", "landmark", "left")},
        ),
        (
            "A left-sided tumour is centered in the frontal lobe.",
            {("frontal lobe", "seat", "left")},
        ),
        (
            "Mass of the left insula. The thalamus, including the pons, is normal.",
            {("insula", "seat", "left"), ("thalamus", "spared", None), ("pons", "spared", None)},
        ),
        (
            "Supratentorial: no infarct, thalamus included. Infarct in the left cerebellum.",
            {("thalamus", "mentioned", None), ("cerebellum", "seat", "left")},
        ),
        (
            "FINDINGS: Loss of differentiation involving the right insula. Hyperdense right M1 "
            "segment.\nIMPRESSION: Acute right MCA territory infarct.",
            {("insula", "seat", "right"), ("m1 segment", "extension", "right")}
            | {("mca", "seat", "right")},
        ),
        (
            "RIGHT HEMISPHERE: Infarct of the right insula. LEFT HEMISPHERE: Old infarct of the "
            "left thalamus.",
            {("insula", "seat", "right"), ("thalamus", "old", "left")},
        ),
        (
            "Right frontal lobe encephalomalacia, unchanged. New bleed in the left thalamus.",
            {("frontal lobe", "old", "right"), ("thalamus", "seat", "left")},
        ),
        (
            "T2 hyperintensity and swelling of the right insula. Punctate susceptibility in the "
            "left thalamus.",
            {("insula", "seat", "right"), ("thalamus", "old", "left")},
        ),
        (
            "Right temporal lobe craniotomy with underlying resection cavity.",
            {("temporal lobe", "seat", "right")},
        ),
        (
            "CT suggested a bleed of the left thalamus. This was an artefact.",
            {("thalamus", "spared", "left")},
        ),
        (
            "In the left insula there is cortical thickening. It does not enhance.",
            {("insula", "seat", "left")},
        ),
        (
            "The lesion in the left thalamus is not swollen; the pons is not swollen.",
            {("thalamus", "seat", "left"), ("pons", "spared", None)},
        ),
        (
            "A 71-year-old with a glioma of the left insula. The thalamus abuts the mass.",
            {("insula", "seat", "left"), ("thalamus", "landmark", "left")},
        ),
        (
            "Infarct of the left thalamus in a man with chronic headache. Old: scar in the pons.",
            {("thalamus", "seat", "left"), ("pons", "old", "left")},
        ),
        (
            "Left temporal lobe contusion opposite a right parietal lobe fracture.",
            {("temporal lobe", "seat", "left"), ("parietal lobe", "level", "right")},
        ),
        (
            "Glioma of the left insula. Physiological uptake is seen in the thalamus.",
            {("insula", "seat", "left"), ("thalamus", "spared", None)},
        ),
        (
            "MRI: left arm weak. Lt hemiparesis. R mesial area: tumour of the temporal lobe.",
            {("temporal lobe", "seat", "right")},
        ),
        (
            "12 mm metastasis in the right cerebellum. Old infarct of the left occipital lobe.",
            {("cerebellum", "seat", "right"), ("occipital lobe", "old", "left")},
        ),
        (
            "Infarct of the left insula. The notes mention a right cerebellum stroke in 2014.",
            {("insula", "seat", "left"), ("cerebellum", "old", "right")},
        ),
        (
            "The thalamus has escaped, as has the putamen. Infarct of the left occipital lobe.",
            {("occipital lobe", "seat", "left"), ("putamen", "spared", None)},
        ),
        (
            "Left frontal lobe glioma; the insula is 16 mm behind the cavity.",
            {("frontal lobe", "seat", "left"), ("insula", "landmark", "left")},
        ),
        (
            "Left insula glioma. Referral to the cerebellum clinic is sensible.",
            {("insula", "seat", "left"), ("cerebellum", "level", "left")},
        ),
        (
            "Mass in the right occipital lobe and old scar in the pons, without previous surgery.",
            {("occipital lobe", "seat", "right"), ("pons", "old", "right")},
        ),
        (
            "Right occipital lobe mass. Plaque of the pons.",
            {("occipital lobe", "seat", "right"), ("pons", "seat", None)},
        ),
        (
            "Bleed of the left insula, nine millimetres. The collection stays out of the putamen.",
            {("insula", "seat", "left"), ("putamen", "spared", None)},
        ),
    ],
)
def test_places_have_roles_and_sides(text, expected, counter):
    assert roles(text, counter) >= expected


def test_what_a_cell_says_is_normal_is_no_seat(counter):
    text = "Left insula | 19 mm haemorrhage\nLeft putamen | Not affected\nPons: normal signal"
    found = roles(text, counter)
    assert ("insula", "seat", "left") in found
    assert {role for words, role, _ in found if words in ("putamen", "pons")} == {"spared"}


def test_a_row_of_a_table_has_its_lesion_and_its_size_in_another_cell(counter):
    text = "Site | Size | T1\nLeft insula | 8 x 7 x 7 | bright\nRight putamen | rim | 2 cm mass"
    text += "\nRight thalamus | old plaque, 9 mm\nCavity site .... right frontal lobe"
    found = roles(text, counter)
    seats = {(words, side) for words, role, side in found if role == "seat"}
    assert seats == {("insula", "left"), ("putamen", "right"), ("frontal lobe", "right")}
    assert ("thalamus", "old", "right") in found


def test_a_heading_speaks_for_its_line(counter):
    text = "Left insula mass.\nIncidental findings: A 4 mm nodule is in the right thalamus.\n"
    found = roles(text + "Negative findings. 4 mm shift, putamen.", counter)
    assert {role for words, role, _ in found if words == "putamen"} == {"spared"}


def test_what_a_lesion_involves_is_a_seat_although_the_end_denies_others(counter):
    text = "Acute left MCA infarct involving the insula. No lesion in the thalamus."
    assert ("insula", "seat", "left") in roles(text, counter)


@pytest.mark.parametrize(
    "text",
    [
        "Slowing over the left temporal lobe was asked for.\nIMPRESSION: Normal MRI of the brain.",
        "Insula: thin. The thalamus was seen.\nIMPRESSION: No intracranial metastasis.",
    ],
)
def test_a_report_that_concludes_nothing_has_no_seat(counter, text):
    text = f"FINDINGS: The putamen was seen, as was the pons. {text}"
    assert concludes_nothing(*_read(text, counter))
    assert not any(finding.seats for finding in find_findings(*_read(text, counter)))
    before = text[: text.index("IMPRESSION")]
    assert not concludes_nothing(*_read(before, counter))
    assert any(finding.seats for finding in find_findings(*_read(before, counter)))


def test_a_conclusion_with_a_lesion_says_that_something_is_wrong(shipped):
    text = "FINDINGS: It involves the left insula.\nIMPRESSION: Glioma without midline shift."
    read = _read(text, shipped.extractor_.counter)
    assert not concludes_nothing(*read)
    assert [place.words for finding in find_findings(*read) for place in finding.seats] == [
        "insula"
    ]


def _read(text, counter):
    return text, read_mentions(text, counter)


def test_a_volume_is_a_size(counter):
    (finding,) = find_findings(*_read("Bleed of 4.2 mL in the left putamen.", counter))
    assert finding.size_mm == pytest.approx(20.0, abs=0.1)


def test_first_place_is_the_seat_where_no_place_has_a_cue_of_one(counter):
    text = "The lesion involves the left insula. It spreads to the putamen."
    assert {role for words, role, _ in roles(text, counter) if words == "insula"} == {"seat"}


def test_an_impression_without_a_seat_has_it_where_it_mentions_a_place(counter):
    text = "FINDINGS: Lesion of the left insula.\nIMPRESSION: stable, left putamen as before."
    places = [p for f in find_findings(text, read_mentions(text, counter)) for p in f.seats]
    assert {place.words for place in places} == {"insula", "putamen"}


def test_an_impression_may_begin_within_a_line(counter):
    text = "MRI of the brain. The scan is good. A mass lies in the left insula. Conclusion: glioma."
    assert not any(
        p.is_concluded for f in find_findings(text, read_mentions(text, counter)) for p in f.places
    )
    text += " Left insula glioma."
    places = [p for f in find_findings(text, read_mentions(text, counter)) for p in f.places]
    assert [place.is_concluded for place in places] == [False, True]


def test_lobes_joined_by_a_hyphen_are_one_place(counter):
    text = "There is a left temporo-occipital mass."
    (finding,) = find_findings(text, read_mentions(text, counter))
    assert [place.words for place in finding.seats] == ["temporo-occipital"]


def test_sizes_and_layers_of_seats(counter):
    text = "4.2 x 3.1 cm mass in the deep white matter of the left frontal lobe."
    (finding,) = find_findings(text, read_mentions(text, counter))
    (seat,) = finding.seats
    assert (finding.size_mm, seat.size_mm, seat.depth) == (42.0, 42.0, "deep")


@pytest.mark.parametrize(
    ("text", "size_mm"),
    [
        ("Left temporal lobe glioblastoma with mass effect and 4 mm midline shift.", None),
        ("Small infarct of the left putamen with 3 mm shift.", None),
        ("Left cerebellum mass, tonsillar descent of 6 mm.", None),
        ("5 mm herniation caused by a 2 cm tumor of the right temporal lobe.", 20.0),
        ("Left insula glioma, cortical thickness 9 mm, displacement of 12 mm.", None),
        ("Right frontal lobe glioma with midline shift, measuring 4.2 cm.", 42.0),
        ("Right frontal lobe glioma that measures some 4.2 cm with shift of 5 mm.", 42.0),
        ("Left thalamus bleed 18 mm, MLS 24 mm.", 18.0),
    ],
)
def test_a_size_is_that_of_the_lesion_and_not_of_a_shift(counter, text, size_mm):
    finding = find_findings(*_read(text, counter))[0]
    assert finding.size_mm == size_mm
    assert {seat.size_mm for seat in finding.seats} == {size_mm}


@pytest.mark.parametrize(
    "verb", ["pressing on", "pushing against", "bearing down on", "which weighs upon", "leaning on"]
)
def test_what_a_lesion_presses_on_is_no_seat(counter, verb):
    text = f"2 cm meningioma over the right parietal lobe, {verb} the insula. No edema."
    expected = {("parietal lobe", "seat", "right"), ("insula", "pressed", "right")}
    assert roles(text, counter) == expected


def test_what_the_impression_says_is_marked(counter):
    text = "FINDINGS: Mass in the left insula.\nIMPRESSION: Left insula glioma."
    places = [p for f in find_findings(text, read_mentions(text, counter)) for p in f.seats]
    assert [place.is_concluded for place in places] == [False, True]


def test_a_text_without_places_has_no_finding(counter):
    assert find_findings("", read_mentions("", counter)) == []
    assert find_findings("Chest is clear.", read_mentions("Chest is clear.", counter)) == []


def test_each_cue_has_one_role_at_a_place():
    """A phrase stands in one row: another would never be found."""
    seen = {}
    for row in read_table("neurowhere.text", "roles", CUES):
        for item in split(row["words"]):
            for phrase in alternatives(item):
                seen.setdefault(phrase, []).append(row)
    twice = {phrase: rows for phrase, rows in seen.items() if len(rows) > 1}
    assert not twice


def test_what_something_is_pressed_by_is_the_seat(counter):
    text = "No infarct. The lateral ventricle is effaced by a right frontal lobe glioma."
    found = roles(text, counter)
    assert ("frontal lobe", "seat", "right") in found
    assert {role for words, role, _ in found if words == "lateral ventricle"} == {"pressed"}


def test_an_old_lesion_is_the_seat_where_there_is_no_other(counter):
    text = "No acute infarct. Chronic gliosis in the right frontal lobe."
    assert ("frontal lobe", "seat", "right") in roles(text, counter)


@pytest.mark.parametrize(
    "words",
    [
        "The insula is in keeping with age.",
        "The insula appears as it should.",
        "The insula is disease free.",
        "Insula exempt from disease.",
        "Normal: insula, putamen.",
        "Unaffected: insula",
        "Regular depiction of the insula.",
        "Normal tracer uptake is seen in the insula.",
        "The insula on the left, including its posterior end, is spared.",
    ],
)
def test_more_words_say_that_a_place_is_normal(counter, words):
    found = roles(f"2 cm mass in the left frontal lobe.\n{words}\n", counter)
    assert {role for name, role, _ in found if name.startswith("insula")} == {"spared"}


def test_a_normal_study_has_no_seat_although_an_old_lesion_was_known(counter):
    text = "Prior | CT: right frontal lobe subdural\nInsula | no lesion\nBottom line | Normal study"
    assert not any(each.seats for each in find_findings(*_read(text, counter)))
    old = text.replace("Normal study", "no acute lesion")
    assert any(each.seats for each in find_findings(*_read(old, counter)))
