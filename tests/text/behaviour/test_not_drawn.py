"""What a text names and does not find: what became normal, was not seen, or is known of all."""

import pytest
from tests.text.counting import implied_structures
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import PRESSED_WEIGHT, read_mentions

COUNTER = TermCounter(small_vocabulary())


def denied(text):
    """Words of the mentions that are denied."""
    return [text[m.start : m.end].lower() for m in read_mentions(text, COUNTER) if m.is_negated]


# ---- what became normal


@pytest.mark.parametrize(
    "text",
    [
        "Insular hyperactivity normalised with remission.",
        "Before therapy the pons was hyperactive; its response returned to normal afterwards.",
        "Patients had a larger insula than controls, which had normalized by the second visit.",
        "They showed an excess in the thalamus that returned to baseline once they slept.",
        "Normalization of thalamic blood flow predicts recovery.",
    ],
)
def test_what_became_normal_was_not_so(text):
    assert denied(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The swelling of the insula has normalised since May.",
        "Signal in the insula is now back to normal.",
        "Diffusion in the insula and the pons has returned to normal.",
        "Interval normalisation of the insula.",
        "The insula is normal after treatment.",
        "Activity of the insula had normalised, whereas the pons stayed hyperactive.",
        "The oedema of the insula resolved after treatment.",
    ],
)
def test_what_is_normal_now_is_denied(text):
    assert "insula" in denied(text)


# ---- what could not be assessed


@pytest.mark.parametrize(
    "text",
    [
        "Beam hardening precludes reliable assessment of the pons and the left insula.",
        "The insula could not be adequately evaluated owing to movement.",
        "Coverage of the posterior fossa and insula was incomplete.",
        "Insula: not assessed.",
        "The caudate is normal; the insula is partly imaged.",
        "Metal artefact overlying the left insula. Infarct in the pons.",
        "Streaks from the clip obscure the insula.",
        "The right insula is marred by susceptibility artefact.",
        "The insula is not within the field of view.",
    ],
)
def test_what_could_not_be_assessed_is_no_finding(text):
    assert "insula" in denied(text)
    assert "infarct" not in denied(text)


@pytest.mark.parametrize(
    "text",
    [
        "The infarct of the insula is not well seen on CT.",
        "Evaluation of the insular lesion is limited.",
        "Assessment of the insula is limited, and a small infarct could be missed.",
        "The insula is obscured by a hemorrhage.",
        "The insula is distorted by the tumor.",
        "The lesion is limited to the insula.",
        "Involvement of the insula could not be assessed.",
        "Evaluation of the insula was not limited.",
        "The role of the insula has not been assessed.",
        "Poor evaluation of fear in the insula.",
        "Possible artefact in the insula.",
        "Changes in the insula were assessed with MRI.",
    ],
)
def test_findings_that_are_seen_badly_are_not_denied(text):
    assert denied(text) == []


# ---- what is so in general


def left_out(text):
    """Words of the mentions that are no findings."""
    mentions = read_mentions(text, COUNTER)
    return [text[m.start : m.end].lower() for m in mentions if m.status == "not_finding"]


@pytest.mark.parametrize(
    "text",
    [
        "Hypoxia preferentially damages the insula.",
        "She is known to have an infarct of the insula. MRI: lesion in the pons.",
        "CT: bleed in the insula, which is commonly caused by trauma. He has edema.",
        "The pattern of insular atrophy is typically seen in autism. He has a lesion.",
        "Pain typically involves the insula. Lesions of the pons were seen in 12 participants.",
        "The patient has fear. The insula is usually involved in fear. CT is normal.",
    ],
)
def test_what_a_text_is_about_is_read(text):
    assert left_out(text) == []


# ---- what a lesion presses on


def weights(text):
    """Weights of the structures of a text."""
    return {m.term: m.weight for m in read_mentions(text, COUNTER) if m.is_structure}


@pytest.mark.parametrize(
    "text",
    [
        "Glioma of the insula with mass effect upon the pons.",
        "An insular tumor, effacement of the pons and displacement of the thalamus.",
        "The tumor of the insula indents the left pons and thalamus.",
        "Insular hemorrhage. The pons is compressed and the thalamus displaced.",
    ],
)
def test_what_a_lesion_presses_on_weighs_little(text):
    assert weights(text)["pons"] == PRESSED_WEIGHT
    assert weights(text)["insula"] == 1
    assert "pons" in [m.term for m in read_mentions(text, COUNTER).present]


@pytest.mark.parametrize(
    "text",
    [
        "Compression of the pons.",
        "A tumor of the brain displaces the pons.",
        "Infarcts of the insula and the pons with mass effect.",
        "No tumor of the insula; the pons is compressed by an aneurysm.",
        "The pons responded more than the insula to compression of the hand.",
        "Insular tumor, compression of nerves; infarct of the pons.",
    ],
)
def test_other_places_weigh_fully(text):
    assert weights(text)["pons"] == 1


# ---- horns of the ventricles


def implied(text):
    """Structures that rules point to, and the terms that are read beside them."""
    vocabulary = Vocabulary(["frontal", "frontal lobe", "occipital", "lateral ventricle", "insula"])
    mentions = read_mentions(text, TermCounter(vocabulary))
    ventricles = [each for each in implied_structures(mentions) if each.term == "lateral ventricle"]
    return [each.side for each in ventricles], [m.term for m in mentions.present]


@pytest.mark.parametrize(
    ("text", "sides", "terms"),
    [
        ("Boxcar frontal horns.", ["bilateral"], []),
        ("Blood in the left occipital horn.", ["left"], []),
        ("The frontal and occipital horns are wide.", ["bilateral"], []),
        ("The right frontal horn is dilated, the insula swollen.", ["right"], ["insula"]),
        ("The frontal horns are normal; left frontal lobe infarct.", [], ["frontal lobe"]),
        ("Frontal glioma near the insula.", [], ["frontal", "insula"]),
        ("occipital seizures with a horn sounding", [], ["occipital"]),
    ],
)
def test_horns_are_of_the_ventricles(text, sides, terms):
    assert implied(text) == (sides, terms)


# ---- other languages


@pytest.mark.parametrize(
    "text",
    [
        "Kein Nachweis eines Infarkts im linken Thalamus.",
        "Infarkt der linken Insula ohne Beteiligung des Thalamus.",
        "Der Thalamus ist nicht betroffen, die Insula hingegen schon.",
        "Aucune anomalie du thalamus gauche. Lésion de l'insula.",
        "Pas de lésion du thalamus, mais un infarctus de l'insula est visible.",
        "Lesione dell'insula sinistra senza coinvolgimento del thalamus.",
        "Sin evidencia de lesiones en el thalamus izquierdo.",
    ],
)
def test_other_languages_deny(text):
    assert "thalamus" in denied(text)
    assert "insula" not in denied(text)


@pytest.mark.parametrize(
    "text",
    [
        "Infarkt im linken Thalamus, keine Blutung.",
        "Eine Läsion des Thalamus ist nicht auszuschließen.",
        "L'infarctus du thalamus est visible sans œdème.",
        "Original sin and guilt activated the thalamus.",
        "The faux pas of the thalamus, sans serif.",
        "MA students, aber nicht in the thalamus",
    ],
)
def test_words_of_other_languages_deny_little_else(text):
    assert denied(text) == []
