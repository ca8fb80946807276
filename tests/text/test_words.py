import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.text.words import (
    fold,
    other_splits,
    plain,
    plain_with_origin,
    token_spans,
    without_markup,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Fronto–Parietal", ["fronto", "parietal"]),  # en dash
        ("fronto\u2010parietal\u2011area \u2212 x", ["fronto", "parietal", "area", "x"]),
        ("amyg\u00addala", ["amygdala"]),  # soft hyphen
        ("Huntington’s", ["huntington", "s"]),
        ("ﬁbre ﬂow", ["fibre", "flow"]),  # ligatures
        ("Ménière, Ménie\u0300re", ["meniere", "meniere"]),  # composed and combining
        ("Sjögren Ørsted Łódź Straße", ["sjogren", "orsted", "lodz", "strasse"]),
        ("mm² Ⅳ", ["mm2", "iv"]),
        ("zero\u200bwidth\u200djoined", ["zero", "widthjoined"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
        ("e\x01f\x00g", ["e", "f", "g"]),
        ("", []),
    ],
)
def test_plain_tokens(text, tokens):
    assert plain(text).split() == tokens


def test_other_scripts_keep_their_words_apart():
    words = plain("мозг Мозг мозга 脑").split()
    assert words[0] == words[1] != words[2]
    assert len(set(words)) == 3


def test_cut_words_are_mended_only_if_known():
    known = {"hippocampus"}.__contains__
    text = "hippo-\ncampus Hippo-\r\n  Campus fronto-\nparietal "
    text += "hippo\u00ad\ncampus hippo\u2010\ncampus"
    tokens = plain(text, known).split()
    assert tokens == [*["hippocampus"] * 2, "fronto", "parietal", *["hippocampus"] * 2]


@given(st.text())
def test_origin_agrees_with_plain_and_points_into_the_text(text):
    known = {"ab", "bc"}.__contains__
    tokens, origin = plain_with_origin(text, known)
    assert tokens == plain(text, known, keep_case=True)
    assert tokens.isascii()
    if origin is None:
        assert len(tokens) == len(text)
    else:
        assert len(origin) == len(tokens)
        assert (np.diff(origin) >= 0).all()
        assert not len(origin) or (origin[0] >= 0 and origin[-1] < len(text))


@given(st.text(alphabet="ab -\n\u00ad\ufb01é", max_size=30))
def test_token_spans_are_the_tokens(text):
    tokens = plain(text)
    starts, ends = token_spans(tokens)
    spans = zip(starts, ends, strict=True)
    assert [tokens[start:end] for start, end in spans] == tokens.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("BA 44/45", "BA 44 ba45"),
        ("BA44, 45 and 47", "BA44 ba45 and ba47"),
        ("Brodmann's areas 44 and 45", "Brodmann s areas 44 and ba45"),
        ("areas 9, 46, or 10", "areas 9 ba46 or ba10"),
        ("BA 9/46d", "BA 9 ba46"),
        ("BA 6-8", "BA 6 ba8"),
        ("BA 40, 12 mm", "BA 40 12 mm"),
        ("BA 40, 12 patients", "BA 40 12 patients"),
        ("BA 6 10 4 52", "BA 6 10 4 52"),  # a row of a table
        ("BA 6, -10, 4", "BA 6 10 4"),
        ("area under 12, 13", "area under 12 13"),
    ],
)
def test_areas_that_share_a_name_get_one_each(text, tokens):
    assert plain(text, keep_case=True).split() == tokens.split()
    cased, origin = plain_with_origin(text, bool)
    assert cased.split() == tokens.split()
    if origin is not None:
        starts, ends = token_spans(cased)
        spans = [
            (origin[start], origin[end - 1] + 1) for start, end in zip(starts, ends, strict=True)
        ]
        for token, (start, end) in zip(cased.split(), spans, strict=True):
            assert text[start:end].startswith(token.removeprefix("ba"))


def test_lines_in_capitals_are_put_in_lower_case():
    text = "VWFA\nLEFT MCA INFARCT, OLD\nMS lesions"
    assert plain(text, keep_case=True) == "VWFA\nleft mca infarct, old\nMS lesions".translate(
        {ord("\n"): " ", ord(","): " "}
    )


@pytest.mark.parametrize(
    "forms",
    [
        "gyrus gyri",
        "cortex cortices cortexes",
        "nucleus nuclei",
        "sulcus sulci",
        "hippocampus hippocampi",
        "thalamus thalami",
        "lobe lobes",
        "amygdala amygdalae amygdalas",
        "ganglion ganglia",
        "putamen putamina",
        "matrix matrices",
        "analysis analyses",
        "thrombosis thromboses",
        "disease diseases",
        "response responses",
        "artery arteries",
        "branch branches",
        "headache headaches",
        "tumor tumour tumors tumours",
        "behavior behaviour behaviours",
        "behavioral behavioural",
        "hemorrhage haemorrhage haemorrhages",
        "ischemic ischaemic",
        "edema oedema",
        "cesarean caesarean",
        "pediatric paediatric",
        "gray grey",
        "fiber fibre fibres",
        "center centre",
        "lateralized lateralised",
        "organization organisation",
        "analyze analyse",
        "labeled labelled",
        "aging ageing",
        "coeruleus ceruleus",
        "mammillary mamillary",
        "neuron neurone neurones",
        "dialog dialogue dialogues",
        "movie movies",
        "calorie calories",
    ],
)
def test_forms_of_a_word_fold_together(forms):
    assert len({fold(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "pons pon's",
        "ad ads",
        "ms m",
        "contour control",
        "hour hor",
        "down downs",
        "mini minus",
        "poem pem",
        "filled filed",
        "aids aid",
        "pars par",
        "psts pst",
        "bias bia",
        "news new",
        "lens len",
    ],
)
def test_different_words_stay_different(words):
    first, second = words.split()
    assert fold(first) != fold(second)


def test_folding_twice_changes_nothing_more_in_plurals():
    for word in ("gyri", "cortices", "tumours", "amygdalae", "haemorrhages"):
        assert fold(fold(word)) == fold(word)


def test_words_of_a_name_leave_out_articles_and_possessives():
    assert words_of("The nucleus of Meynert's basal forebrain") == (
        "nucleus",
        "meynert",
        "basal",
        "forebrain",
    )
    assert words_of("lobule V") == ("lobule", "v")
    assert words_of("of the") == ()


def test_prefixes_split_and_join():
    assert ("pre", "frontal") in other_splits(("prefrontal",))
    assert ("prefrontal",) in other_splits(("pre", "frontal"))
    assert other_splits(("amygdala",)) == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<b>left</b> insula<br/>Pons", "left insula pons"),
        ("M&eacute;ni&egrave;re&#39;s disease", "meniere s disease"),
        ("<span style='a:b'>insula</span>&nbsp;&lt; pons", "insula pons"),
        ("a <b> c", "a b c"),  # one sign alone is none
        ("AT&T; R&D; insula", "at t r d insula"),
        ("p < 0.05 & q > 2", "p 0 05 q 2"),
    ],
)
def test_tags_and_entities_become_blank(text, tokens):
    blank = without_markup(text)
    assert len(blank) == len(text)
    assert plain(blank).split() == tokens.split()
