"""Abbreviations: what a text defines, what is ambiguous, and when capitals matter."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.abbreviations import ambiguous, definitions

VOCABULARY = Vocabulary(
    [
        "alcohol dependence",
        "alzheimer disease",
        "amygdala",
        "anterior cingulate cortex",
        "anterior insula",
        "inferior frontal gyrus",
        "lateral occipital complex",
        "locus coeruleus",
        "loss of consciousness",
        "magnetic",
        "multiple sclerosis",
        "panic disorder",
        "parkinson disease",
        "posterior cerebral artery",
        "primary visual cortex",
        "supplementary motor area",
        "superior temporal sulcus",
        "v5",
        "vision",
    ],
    {
        "FEF": "inferior frontal gyrus",  # wrong, so that a text's own definition shows
        "hMT": "v5",
        "STS": "superior temporal sulcus",
        "V1": "primary visual cortex",
        "vwf area": "vision",
    },
)
COUNTER = TermCounter(VOCABULARY)


def found(text):
    return [match.term for match in COUNTER.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the anterior insula (AI)", [("AI", "anterior insula")]),
        ("visual word form area (VWFA; Cohen)", [("VWFA", "visual word form area")]),
        ("MS (multiple sclerosis) patients", [("MS", "multiple sclerosis")]),
        ("right inferior frontal gyrus (rIFG)", [("rIFG", "right inferior frontal gyrus")]),
        ("Parkinson's disease (PD)", [("PD", "Parkinson's disease")]),
        ("human motion complex (hMT+)", [("hMT+", "human motion complex")]),
        (
            "bed nucleus of the stria terminalis (BNST)",
            [("BNST", "bed nucleus of the stria terminalis")],
        ),
        ("dopamine transporter (DAT) and (DAT)", [("DAT", "dopamine transporter")]),
        ("twelve patients (six women)", []),
        ("healthy controls (Smith)", []),
        ("amygdala (left)", []),
        ("the cortex. Insula (CI)", []),  # not across the end of a sentence
        ("n = 12 (SD)", []),
        ("((((", []),
    ],
)
def test_definitions_are_found_by_schwartz_and_hearsts_rule(text, expected):
    assert [tuple(definition) for definition in definitions(text)] == expected


@example("A;BB(BB;")
@given(st.text(alphabet="aA bB(),.;I\n", max_size=60))
def test_a_definition_has_the_letters_of_its_short_form_in_order(text):
    for short, long in definitions(text):
        rest = iter(long.lower())
        assert all(letter in rest for letter in short.lower() if letter.isalnum())
        assert long.lower()[0] == short.lower()[0] or not long[0].isalnum()
        assert " ".join(text.split()).count(long)


def test_time_is_linear_in_the_text():
    start = time.process_time()
    assert list(definitions("(" * 200_000)) == []
    assert list(definitions("(Aa " * 50_000)) == []
    assert list(definitions("a" * 200_000 + " (AB)")) == []
    assert len(list(definitions("aa bb (AB) " * 20_000))) == 1
    assert time.process_time() - start < 5


def test_what_a_text_defines_counts_as_what_it_stands_for():
    text = "The anterior insula (AI) responded. AI activation, and the AIs of others"
    assert found(text) == ["anterior insula"] * 3
    assert [text[m.start : m.end] for m in COUNTER.find(text)] == ["anterior insula", "AI", "AIs"]
    assert found("ai activation in the anterior insula (AI); ai") == ["anterior insula"]


def test_a_definition_wins_over_the_vocabulary():
    assert found("FEF") == ["inferior frontal gyrus"]
    text = "focal epileptic firing (FEF) in the amygdala; more FEF"
    assert found(text) == ["amygdala"]


def test_a_definition_of_part_of_a_name_means_the_name():
    text = "right inferior frontal gyrus (rIFG), then rIFG"
    assert found(text) == ["inferior frontal gyrus"] * 2
    assert found("functional magnetic resonance imaging (fMRI) and fMRI") == ["magnetic"]


def test_definitions_hold_in_their_own_text_only():
    texts = ["anterior insula (AI) AI", "AI and machine learning", "AI"]
    counts = COUNTER.count(texts).toarray()[:, VOCABULARY.index("anterior insula")]
    assert counts.tolist() == [2, 0, 0]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("relapsing-remitting MS", ["multiple sclerosis"]),
        ("a delay of 200 ms, with demyelination", []),
        ("MS", ["multiple sclerosis"]),
        ("the MS of the second group of papers", []),
        ("PD patients off levodopa", ["parkinson disease"]),
        ("PD with agoraphobia and anxiety", ["panic disorder"]),
        ("proton density (PD) images", []),
        ("patients with PD", ["parkinson disease"]),
        ("all of the patients with PD who came", []),
        ("AD and amyloid", ["alzheimer disease"]),
        ("AD, drinking and craving", ["alcohol dependence"]),
        ("AD and radial diffusivity in tracts", []),
        ("noradrenergic LC neurons", ["locus coeruleus"]),
        ("LC", ["locus coeruleus"]),
        ("LC was measured in all of the others", []),
        ("left PCA infarct", ["posterior cerebral artery"]),
        ("PCA with 20 components", []),
        ("PCA revealed three factors", []),
        ("cognitive decline in early stage PD", ["parkinson disease"]),
        ("objects in LOC", ["lateral occipital complex"]),
        ("head injury with LOC", ["loss of consciousness"]),
        ("loc. cit., visual objects", []),
        ("ACC", ["anterior cingulate cortex"]),
        ("SMA", ["supplementary motor area"]),
        ("spinal muscular atrophy, SMA", []),
        ("MT", ["v5"]),
        ("we gave them MT and other things", []),
        ("motion in MT and other things", ["v5"]),
    ],
)
def test_ambiguous_ones_are_read_by_what_is_around_them(text, terms):
    assert found(text) == terms


def test_a_name_of_the_vocabulary_is_not_ambiguous():
    counter = TermCounter(Vocabulary(["ms", "multiple sclerosis"]))
    assert [match.term for match in counter.find("MS, relapsing")] == ["ms"]


def test_the_table_has_one_default_at_most_and_every_sense_a_reason():
    plain_words = {"ii", "iii", "impression", "iv", "v", "vi", "vii", "x"}
    for short, senses in ambiguous().items():
        assert sum(sense.default not in ("", "asked") for sense in senses) <= 1, short
        assert all(sense.cues or sense.default or sense.beside for sense in senses), short
        assert {sense.default for sense in senses} <= {"", "yes", "alone", "asked", "beside"}
        is_plain = short in plain_words  # numerals, and what may be a heading
        is_plain |= {sense.default for sense in senses} <= {"", "beside"}  # clipped words
        is_name = short in ("SNr", "Wernicke")
        assert short.upper() == short or is_name or is_plain, short


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("STS and sts", ["superior temporal sulcus"]),
        ("v1, V1", ["primary visual cortex"] * 2),  # one capital and a digit: any case
        ("hMT+ and hmt", ["v5"]),
        ("ACTIVATION OF THE AMYGDALA, STS", ["amygdala"]),  # capitals throughout mean nothing
        ("STS\nACTIVATION OF THE AMYGDALA AND STS\nSTS", [*["superior temporal sulcus"] * 2]),
    ],
)
def test_capitals_of_an_abbreviation_matter(text, terms):
    assert sorted(found(text)) == sorted(terms + ["amygdala"] * ("\n" in text))


def test_an_abbreviation_within_a_longer_name_may_have_any_case():
    vocabulary = Vocabulary(["lobule vi", "subgenual acc"], {"VI": "subgenual acc"})
    counter = TermCounter(vocabulary)
    for text in ("lobule VI", "Lobule vi"):
        assert [match.term for match in counter.find(text)] == ["lobule vi"]
    assert [match.term for match in counter.find("VI and vi, subgenual ACC")] == [
        "subgenual acc",
        "subgenual acc",
    ]


def test_a_letter_for_the_side_does_not_hide_a_name():
    synonyms = {"ifg": "inferior frontal gyrus", "rACC": "rostral acc"}
    counter = TermCounter(Vocabulary(["inferior frontal gyrus", "rostral acc"], synonyms))
    terms = [match.term for match in counter.find("rIFG, lIFG and rACC; RIFG, rBOLD")]
    assert terms == ["inferior frontal gyrus", "inferior frontal gyrus", "rostral acc"]


def test_looking_a_name_up_minds_the_case_too():
    assert VOCABULARY.index("STS") == VOCABULARY.index("superior temporal sulcus")
    assert "sts" not in VOCABULARY
    assert VOCABULARY.suggest("sts") == ["STS"]
    terms = Vocabulary(["ms", "multiple sclerosis"], {"MS": "multiple sclerosis"})
    assert [terms.index("ms"), terms.index("MS")] == [0, 1]


PIECES = st.sampled_from(
    ["anterior insula", "AI", "(AI)", "MS", "relapsing", "(", ")", "AIs", "STS", "BA 44/45", "."]
)


@given(st.lists(st.lists(PIECES, max_size=8).map(" ".join), max_size=4))
def test_counts_are_the_numbers_of_mentions(texts):
    counts = COUNTER.count(texts).toarray()
    assert counts.tolist() == [[found(text).count(term) for term in VOCABULARY] for text in texts]


def test_plain_words_do_not_take_the_place_of_an_abbreviation():
    categories = {"mid": "generic", "monetary incentive delay": "task"}
    counter = TermCounter(Vocabulary(categories, {}, categories))
    assert [match.term for match in counter.find("MID task")] == ["monetary incentive delay"]
    assert [match.term for match in counter.find("the mid part")] == ["mid"]
    named = {"mid": "anatomy", "monetary incentive delay": "task"}
    counter = TermCounter(Vocabulary(named, {}, named))
    assert [match.term for match in counter.find("MID task")] == ["mid"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("there is a new T2 lesion in the R LC", ["locus coeruleus"]),
        ("MRI shows old LC lacunes in this man", ["locus coeruleus"]),
        ("signal change of the brain in LC bilaterally", ["locus coeruleus"]),
        ("the LC saw a man with a left stroke", []),
        ("he left LC in 2015 after a brain injury", []),
        ("the left LC was shown to all of us", []),
    ],
)
def test_a_lesion_or_a_side_tells_that_a_structure_is_meant(text, terms):
    assert found(text) == terms


def test_capitals_are_no_plural_of_a_plain_word_and_have_plurals_themselves():
    categories = {"pre": "generic", "posterior cerebral artery": "anatomy"}
    counter = TermCounter(Vocabulary(categories, {}, categories))
    assert counter.find("PRES") == []
    assert [match.term for match in counter.find("infarcts of PCAs")] == [
        "posterior cerebral artery"
    ]


def test_bi_is_both_sides_of_an_adjective():
    counter = TermCounter(Vocabulary(["thalamic", "lingual"]))
    for text in ("bithalamic infarcts", "bi-thalamic infarcts"):
        assert [(match.term, match.side) for match in counter.find(text)] == [
            ("thalamic", "bilateral")
        ]
    assert counter.find("bilingual children") == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("R thal bleed", ["thalamus"]),
        ("lacunes: L put, L thal, R pons", ["putamen", "thalamus", "pons"]),
        ("temp lobe seizures", ["temporal"]),
        ("old infarct of the R occ", ["occipital"]),
        ("temp 38.5 and a skin rash", []),
        ("She put on weight after the stroke", []),
        ("the lesion in front of the pons", ["pons"]),
        ("an occ visit to the clinic", []),
        ("L temp. ICH and R putam. lacune", ["temporal", "putamen"]),
    ],
)
def test_clipped_words_are_read_beside_a_lesion_or_a_side(text, terms):
    places = ["frontal", "occipital", "pons", "putamen", "temporal", "thalamus"]
    counter = TermCounter(Vocabulary(places, categories=dict.fromkeys(places, "anatomy")))
    assert [match.term for match in counter.find(text)] == terms


@pytest.mark.parametrize(
    ("text", "is_cortex"),
    [
        ("Port wine stain in V1 on the right", False),
        ("Herpes zoster in left V1", False),
        ("the V1 dermatome", False),
        ("Left V1 lesion", True),
        ("Touch activates V1", True),
    ],
)
def test_v1_is_a_branch_of_the_trigeminal_nerve_beside_its_words(text, is_cortex):
    assert ("primary visual cortex" in found(text)) is is_cortex


@pytest.mark.parametrize("text", ["Left M1 stent", "M1 recanalised", "M1 occlusion"])
def test_m1_is_an_artery_beside_words_of_vessels(text):
    counter = TermCounter(Vocabulary(["primary motor cortex"], {"M1": "primary motor cortex"}))
    assert not list(counter.find(text))
