"""Words that a model does not know, and texts in other languages."""

import json
import lzma
from pathlib import Path

import pytest

from neurowhere.text.language import is_foreign
from neurowhere.text.unknown import (
    is_code,
    is_everyday,
    is_lettered,
    is_numbered,
    is_science,
    unknown_words,
)

CASES = Path(__file__).parents[2] / "benchmarks" / "cases"


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("However, 12 wombats had XQ.", [], ["wombats", "XQ"]),
        ("the amygdala of a quokka", [(4, 12)], ["quokka"]),
        ("A quokka and two quokkas", [], ["quokka"]),
        ("it was then seen again in 2019", [], []),
        ("PMH: unlikely. CT: 3 mm, 2 cm, right-sided, unremarkable; denies", [], []),
        ("quokka-sided, well-zorbed", [], ["quokka-sided", "well-zorbed"]),
        ("", [], []),
    ],
)
def test_content_words_outside_of_names(text, known, expected):
    found = unknown_words(text, known)
    assert [word.word for word in found] == expected
    assert all(text[start:end] == word for word, start, end in found)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("lesion of the amygdala and hipocampus", ["hipocampus"]),
        ("Gerstmann syndrome", []),  # a rule knows it
    ],
)
def test_what_a_model_does_not_know(shipped, text, unknown):
    encoding = shipped.encode(text)
    assert [word.word for word in encoding.unknown] == unknown


def test_abbreviations_that_the_text_defines_are_known_by_what_they_stand_for():
    text = "zorbulous insula (ZI); the ZI and QX"
    assert [word.word for word in unknown_words(text, [])] == ["zorbulous", "insula", "QX"]


FOREIGN = [
    "Der Patient zeigt eine Blutung in der linken Amygdala und im Thalamus nach dem Sturz.",
    "Le patient présente une lésion de l'insula gauche avec une aphasie de Broca.",
    "El paciente tiene una lesión en la amígdala izquierda y en el hipocampo.",
    "Il paziente ha una lesione della corteccia motoria con emiparesi nella parte destra.",
    "De patiënt heeft een laesie van de linker hippocampus met geheugenverlies.",
    "O paciente tem uma lesão na amígdala esquerda e não fala.",
    "У пациента поражение миндалины и гиппокампа",
    "患者的左侧杏仁核受损",
]
NOTES = [
    "Läsion linker Thalamus",
    "Infarkt links thalamisch",
    "Schlaganfall mit Aphasie",
    "Kopfschmerzen und Schwindel",
    "Verdacht auf Hirninfarkt",
    "rechtsseitige Hemiparese, Sprachstörung",
    "Keine Blutung, kein Infarkt",
    "lésion du thalamus gauche",
    "AVC sylvien gauche",
    "patient avec aphasie",
    "femme de 65 ans, céphalées",
    "lesión talámica derecha",
    "infarto cerebral izquierdo",
    "dolor y miedo",
    "paciente con afasia",
    "infarto talamico sinistro",
    "perdita di memoria",
    "lesão talâmica esquerda",
    "bloeding in de linker hersenhelft",
    "Die Aktivierung im Hippocampus war reduziert.",
    "Die Insula ist aktiv",
    "Der Hippocampus war in der Gruppe atrophisch",
    "Le thalamus est normal.",
    "L'insula est intacte",
    "El hipocampo es normal",
    "Los ganglios basales son normales",
    "Il talamo è normale",
    "O tálamo é normal",
]
ENGLISH = [
    "Fear",
    "Ménière's disease",
    "Guillain-Barré syndrome, déjà vu, naïve",
    "a gene links memory to aging",
    "patient in crisis",
    "L M1 occlusion",
    "LE weakness est. 2 years",
    "Han Chinese with de novo epilepsy, cold war era",
    "veterans of la Drang war",
    "Cornelia de Lange syndrome",
    "en coup de sabre",
    "L'Hermitte sign",
    "die hard fans in war",
    "La Belle indifférence",
    "amygdala hippocampus insula thalamus putamen caudate",
    "Cortex cerebri, locus coeruleus, nucleus accumbens, substantia nigra pars compacta",
    "Patient with left amygdala lesion and impaired fear recognition.",
    "Broca's aphasia, Gilles de la Tourette syndrome",
    "We compared de novo patients with those of Smith et al. and found no difference.",
    "",
]


@pytest.mark.parametrize("text", [*FOREIGN, *NOTES])
def test_foreign(text):
    assert is_foreign(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english(text):
    assert not is_foreign(text)


def test_no_real_title_is_taken_for_foreign(data):
    import pandas as pd

    table = pd.read_csv(data / "corpus" / "neuroquery_dev_metadata.tsv.gz", sep="\t")
    assert [title for title in table["title"] if is_foreign(title)] == []


def test_no_english_document_is_taken_for_foreign(data):
    names = ("title", "abstract", "body", "text")
    n_texts, foreign = 0, []
    for path in sorted((data / "unlabelled").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                text = "\n\n".join(document[name] for name in names if document.get(name))
                foreign += [text[:100]] if is_foreign(text) else []
                n_texts += 1
    assert n_texts > 10_000
    assert foreign == []


@pytest.mark.parametrize("name", ["queries_seen", "queries_unseen", "queries_fresh"])
def test_no_english_query_is_taken_for_foreign(name):
    lines = (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
    assert lines
    assert [query for query in map(json.loads, lines) if is_foreign(query["query"])] == []


def test_no_real_abstract_is_taken_for_foreign(data):
    from neurowhere import iter_documents

    path = data / "corpus" / "rawtext_linked_dev.jsonl.gz"
    foreign = [document.id for document in iter_documents(path) if is_foreign(document.text)]
    assert len(foreign) <= 2


@pytest.mark.parametrize(
    ("text", "everyday", "science"),
    [
        ("She felt happy and sad when the children left", True, False),
        ("Please pay attention to the color of the wires", True, False),
        ("What happens in my brain when I fall in love", True, True),
        ("The patient says that his speech is slurred", True, True),
        ("Participants judged faces", False, True),
        ("Fear of flying", False, False),
        ("the hippocampus", False, False),  # no "hi", "he" or "me" within words
    ],
)
def test_texts_of_everyday_life_and_of_science(text, everyday, science):
    assert (is_everyday(text), is_science(text)) == (everyday, science)


@pytest.mark.parametrize(
    "text",
    [
        "def encode(text): return model(text)",
        "SELECT * FROM memory WHERE left = 1",
        "import numpy as np; x = np.array([1, 2])",
        "for i in range(10): attention[i] = 0",
        "const memory = new Map(); memory.clear();",
    ],
)
def test_programs(text):
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "We select memory from a list (n = 3); the function f(x) is linear.",
        "Let us import the model. For each subject, the range (10) was printed.",
        "BOLD = baseline; activation in the insula (left); p < 0.05",
    ],
)
def test_texts_are_no_programs(text):
    assert not is_code(text)


@pytest.mark.parametrize(
    ("text", "end", "lettered", "numbered"),
    [
        ("AD 1066", 2, True, True),
        ("M1 motorway", 2, True, False),
        ("SMA 12 mm", 3, True, False),
        ("DLPFC 1066", 5, False, True),
        ("hip pain", 3, False, False),
    ],
)
def test_abbreviations_that_may_be_of_something_else(text, end, lettered, numbered):
    assert is_lettered(text, [(0, end)]) == lettered
    assert is_numbered(text, [(0, end)]) == numbered


@pytest.mark.parametrize(
    "text",
    [
        "SMA Solar Technology",
        "SN 1987A",
        "AD 1066",
        "M1 motorway",
        "V2 rocket",
        "the PPA contract was signed",
        "SELECT * FROM memory WHERE left = 1",
        "All participants were right-handed.",
        "fMRI",
    ],
)
def test_what_is_not_of_the_brain_has_no_good_support(shipped, text):
    assert shipped.encode(text).support.level != "good"


@pytest.mark.parametrize(
    "text", ["SMA activation", "M1", "left V1 lesion", "AD and MCI", "PPA responds to scenes"]
)
def test_abbreviations_of_the_brain_keep_their_support(shipped, text):
    assert shipped.encode(text).support.level == "good"
