import pytest

from neurowhere.text.words import fold, other_splits, words_of


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
