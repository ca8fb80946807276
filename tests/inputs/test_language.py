"""Texts in other languages are told from English ones, and from lists of Latin names."""

import pytest

from neurowhere.inputs import is_foreign

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
ENGLISH = [
    "Fear",
    "amygdala hippocampus insula thalamus putamen caudate",
    "Cortex cerebri, locus coeruleus, nucleus accumbens, substantia nigra pars compacta",
    "Patient with left amygdala lesion and impaired fear recognition.",
    "Broca's aphasia, Gilles de la Tourette syndrome",
    "We compared de novo patients with those of Smith et al. and found no difference.",
    "",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_foreign(text):
    assert is_foreign(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english(text):
    assert not is_foreign(text)


def test_no_real_abstract_is_taken_for_foreign(data):
    from neurowhere import iter_documents

    path = data / "corpus" / "rawtext_linked_dev.jsonl.gz"
    foreign = [document.id for document in iter_documents(path) if is_foreign(document.text)]
    assert len(foreign) <= 2
