import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.document import find_tables
from neurowhere.text.reading.mentions import read_mentions

STRUCTURES = ["amygdala", "hippocampus", "insula", "pons", "putamen", "thalamus"]
COUNTER = TermCounter(Vocabulary(STRUCTURES))


def said(text):
    """Side and status of each structure."""
    return {m.term: (m.side, m.status) for m in read_mentions(text, COUNTER).found}


AFFIRMED, DENIED = "affirmed", "denied"
ROWS = {"hippocampus": ("right", AFFIRMED), "amygdala": ("bilateral", DENIED)}


@pytest.mark.parametrize(
    "text",
    [
        "Region | Right | Left\nHippocampus | atrophic | normal\nAmygdala | normal | normal",
        "| Region | L | R |\n|---|:-:|---|\n| Hippocampus | normal | small |\n"
        "| Amygdala | normal | no lesion |",
        "| | Right | Left |\n| Hippocampus | atrophic | normal |\n| Amygdala | intact | intact |",
        "Region\tRight\tLeft\nHippocampus\tatrophic\tnormal\nAmygdala\tnormal\tnormal",
        "\tR\tL\r\nHippocampus\tatrophic\tnormal\r\nAmygdala\tnormal\tunremarkable\r\n",
        "Region        Right      Left\nHippocampus   atrophic   normal\n"
        "Amygdala      normal     normal",
        "Side | Hippocampus | Amygdala\nRight | atrophic | normal\nLeft | normal | normal",
        "Region | Right side | Left side\nHippocampus | small, no edema | normal\n"
        "Amygdala | no mass, no edema | normal",
        "Hippocampus | R: atrophic | L: normal\nAmygdala | R: normal | L: normal",
        "Region | Left | Right | Remark\nHippocampus | normal | normal but small | old\n"
        "Amygdala | normal | normal | motion",
        "Region | Left score | Right score\nHippocampus | 0 | 3\nAmygdala | 0 | 0",
        "Region | Left | Right\nHippocampus | - | +\nAmygdala | - | –",
        "Region | Left | Right\nHippocampus | ✗ | ✓\nAmygdala | ✗ | no",
        "Region\tLeft\tRight\nHippocampus\tn/a\tyes\nAmygdala\tN\t(-)",
        "Region | Left | Right\nHippocampus | N | infarct\nAmygdala | N | N",
        "Region | R hemisphere | L hemisphere\nHippocampus | small | normal\n"
        "Amygdala | normal | normal",
        "Region   Rt hemi   Lt hemi\nHippocampus   ++   -\nAmygdala   -   -",
        "Side | Hippocampus | Amygdala\nRight hemisphere | + | -\nLeft hemisphere | - | -",
    ],
)
def test_columns_have_the_sides_of_their_heads(text):
    assert said(text) == ROWS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hippocampus | atrophic | normal", (None, AFFIRMED)),
        ("Hippocampus | normal | normal", (None, DENIED)),
        ("Hippocampus\tnormal", (None, DENIED)),
        ("Right hippocampus | atrophic", ("right", AFFIRMED)),
        ("Right hippocampus\tnormal\n", ("right", DENIED)),
        ("Finding | Place | Side\nAtrophy | hippocampus | left", ("left", AFFIRMED)),
        ("No lesion | hippocampus | left", ("left", DENIED)),
        ("Region | Left | Right\nHippocampus | 3.1 | 2.9", ("bilateral", AFFIRMED)),
        ("Region | Left | Right\nHippocampus | lesion | -", ("left", AFFIRMED)),
        ("Hippocampus | - | -", (None, DENIED)),
        ("L hippocampus | -", ("left", DENIED)),
        ("Hippocampus | - | small on the left", (None, AFFIRMED)),
        ("-\tSmall left hippocampus.", ("left", AFFIRMED)),
        ("Region | N\nHippocampus | 12", (None, AFFIRMED)),
        ("1.\tThe hippocampus is normal.", (None, DENIED)),
        ("1.\tSmall left hippocampus.\n2.\tNormal otherwise.", ("left", AFFIRMED)),
        ("The  left  hippocampus  is  normal.", ("left", DENIED)),
        ("Lesion of the left\n\thippocampus", ("left", AFFIRMED)),
        ("Small hippocampus; no mass; no shift\nNormal otherwise", (None, AFFIRMED)),  # prose
    ],
)
def test_rows_of_cells(text, expected):
    assert said(text) == {"hippocampus": expected}


@pytest.mark.parametrize(
    "text",
    [
        "Thalamus; pons; insula",  # one line
        "infarct; thalamus\npons; insula",  # one semicolon
        "side: left; site: insula; pons\nside: right; site: pons; insula",  # keys and values
        "a small infarct of the pons; insula; pons\nthe insula was seen well; pons; insula",
    ],
)
def test_other_semicolons_make_no_table(text):
    assert find_tables(text) == []


def test_rows_may_begin_with_a_side():
    text = "Left | insula | infarct\nRight | putamen | normal"
    assert said(text) == {"insula": ("left", AFFIRMED), "putamen": ("right", DENIED)}


def test_places_in_a_cell_have_the_side_of_its_column():
    text = "Seen | Right | Left\nEdema | insula and putamen | thalamus"
    right, left = ("right", AFFIRMED), ("left", AFFIRMED)
    assert said(text) == {"insula": right, "putamen": right, "thalamus": left}


def test_hemispheres_are_findings_in_rows_and_not_in_headers():
    counter = TermCounter(Vocabulary(["hemisphere", "insula"]))
    rows = read_mentions("Right hemisphere | normal\nLeft hemisphere | infarct", counter)
    assert [(m.side, m.status) for m in rows] == [("right", DENIED), ("left", AFFIRMED)]
    header = "Region | Right hemisphere | Left hemisphere\nInsula | + | -"
    assert [m.term for m in read_mentions(header, counter)] == ["insula"]


def test_limbs_have_sides_of_the_body_and_findings_have_none():
    counter = TermCounter(Vocabulary(["hand", "aphasia", "pons"], {}, {"pons": "anatomy"}))
    text = "Sign | Right | Left\nHand | weak | normal\nAphasia | + | -"
    hand, aphasia = read_mentions(text, counter)
    assert (hand.side, hand.is_crossed) == ("right", True)
    assert (aphasia.side, aphasia.status) == (None, AFFIRMED)


def test_what_follows_a_table_is_no_row():
    text = "Region | Left | Right\nInsula | normal | small\n\nThe pons is swollen; thalamus normal."
    assert said(text) == {
        "insula": ("right", AFFIRMED),
        "pons": (None, AFFIRMED),
        "thalamus": (None, DENIED),
    }


@pytest.mark.parametrize(
    "text",
    [
        *("", "|", "||\n||", "\t", "a  b", "  left  right", "|\n|a|\n\t\tb"),
        "Side | Pons | Insula\nLeft | + | - | -",
    ],
)
def test_odd_tables_are_read(text):
    assert all(0 <= a <= b <= len(text) for t in find_tables(text) for row in t for a, b in row)
    read_mentions(text, COUNTER)


def test_a_bar_in_prose_makes_no_table():
    prose = "We found the insula in every one of the subjects that we saw. " * 5
    assert find_tables(f"{prose}|t| > 2. {prose}") == []


def test_sides_that_head_columns_are_applied():
    text = "Region | Right | Left\nInsula | infarct | normal\nThalamus | normal | infarct"
    structures = ["insula", "thalamus"]
    counter = TermCounter(Vocabulary(structures, categories=dict.fromkeys(structures, "anatomy")))
    assert read_mentions(text, counter).unapplied == ()


@pytest.mark.parametrize(
    "text",
    [
        "Thalamus - L: lacune, R: normal",
        "The right thalamus is normal; that of the left is atrophic.",
        "The right thalamus is normal. That on the left is atrophic.",
    ],
)
def test_one_side_of_a_structure_is_normal(text):
    mentions = read_mentions(text, COUNTER).found
    assert {m.side for m in mentions if m.status == AFFIRMED} == {"left"}
