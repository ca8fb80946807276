"""Contradictions on sides: what is one, and the many reports with two sides that have none."""

import pytest

from neurowhere.text.contradictions import find_contradictions
from neurowhere.text.findings import find_findings
from neurowhere.text.reading.mentions import read_mentions


@pytest.fixture
def contradictions(shipped):
    def find(text):
        mentions = read_mentions(text, shipped.extractor_.counter)
        return find_contradictions(text, find_findings(text, mentions))

    return find


CLEAN = {
    "a symptom on the other side": "Indication: left hemiparesis.\n\nFindings: 3 cm enhancing mass "
    "in the right frontal lobe. The left frontal lobe is normal.\n\nImpression: Right frontal "
    "glioma, explaining the left hemiparesis.",
    "shift to the other side": "FINDINGS: Large right temporal haematoma with 8 mm leftward "
    "midline shift, compression of the right lateral ventricle, and dilatation of the left "
    "temporal horn. The left uncus is normal.\nIMPRESSION: Right temporal haemorrhage, shift to "
    "the left.",
    "two lesions of a lobe": "FINDINGS: 1. A 12 mm metastasis in the left frontal lobe. 2. A 9 mm "
    "metastasis in the right frontal lobe. 3. A 5 mm lesion in the left cerebellar hemisphere.\n"
    "IMPRESSION: Three metastases; the largest is in the left frontal lobe.",
    "an old lesion on the other side": "HISTORY: Right frontal stroke in 2015.\nFINDINGS: "
    "Restricted diffusion in the left precentral gyrus. Encephalomalacia in the right middle "
    "frontal gyrus, unchanged.\nIMPRESSION: Acute infarct of the left frontal lobe. Old right "
    "frontal infarct.",
    "a request that tells of an old lesion": "HISTORY: Previous left frontal stroke.\nFINDINGS: "
    "Mass in the right frontal lobe. The left frontal lobe is normal.\nIMPRESSION: Right frontal "
    "glioma.",
    "another name in the conclusion": "FINDINGS: Mass in the left insula, extending into the "
    "frontal operculum and the putamen. Developmental venous anomaly in the right frontal lobe.\n"
    "IMPRESSION: Left frontoinsular glioma.",
    "an accident long ago": "FINDINGS: Infarct of the right thalamus. Left temporal lobe: normal. "
    "A left temporal contusion is recorded in his notes after an accident; no gliosis remains.\n"
    "IMPRESSION: Right thalamic infarct.",
    "a shunt on the other side": "FINDINGS: Resection cavity in the right temporal lobe. Right "
    "frontotemporal craniotomy.\nIMPRESSION: No recurrence of the right temporal glioma. A left "
    "frontal shunt is unchanged.",
    "compared with the other side": "FINDINGS: Uptake in the left temporal lobe is reduced "
    "relative to the right. The right temporal lobe takes up tracer normally.\nCONCLUSION: Left "
    "temporal hypometabolism.",
    "both sides": "FINDINGS: Hippocampal atrophy on both sides, left greater than right. The right "
    "amygdala is small.\nIMPRESSION: Temporal atrophy, predominantly left.",
    "plaques on both sides": "FINDINGS: New plaque in the left frontal white matter. Further "
    "plaques in the right frontal and both parietal lobes, unchanged.\nIMPRESSION: One new plaque "
    "in the left frontal lobe.",
    "no second lesion": "FINDINGS: Enhancing lesion in the right occipital lobe. No second lesion "
    "in the right occipital lobe.\nIMPRESSION: Right occipital metastasis.",
    "parts that are normal": "FINDINGS: Cavernoma in the left middle temporal gyrus. The left "
    "hippocampus and the left temporal pole are normal. Right temporal lobe normal.\nIMPRESSION: "
    "Left temporal cavernoma.",
    "the rest of a lobe": "FINDINGS: Contusion of the left temporal pole. The rest of the left "
    "temporal lobe is normal.\nIMPRESSION: Left temporal contusion.",
    "halves of a row": "Left hemisphere: left insula inactive; left frontal normal.\nScalp EEG: "
    "low-voltage fast, right frontal.\nImpression: right frontal focus.",
    "a sinus": "FINDINGS: There is a 2 cm meningioma at the right frontal convexity compressing "
    "the right frontal lobe. Left frontal lobe is unremarkable.\nIMPRESSION: Right frontal "
    "meningioma. Left frontal mucocele.",
    "a fracture": "FINDINGS: Contusion of the right inferior frontal gyrus, contrecoup to the left "
    "parietal fracture. Left parietal lobe normal.\nIMPRESSION: Right frontal contusion.",
    "an earlier scan": "FINDINGS: The right thalamus shows restricted diffusion (14 mm). No "
    "diffusion abnormality in the left thalamus. An older CT had described a left thalamic "
    "hypodensity, which was artefact.\nIMPRESSION: Acute right thalamic infarct.",
    "what has resolved": "Compared to 2019 the right frontal metastasis has disappeared. There "
    "is a new 7 mm metastasis in the left frontal lobe.\nConclusion: New left frontal metastasis; "
    "complete response of the right frontal one.",
    "spread to the other side": "Ictal SPECT: hyperperfusion of the right temporal lobe. The left "
    "temporal lobe is normal. Propagation to the left temporal lobe is seen late.\nConclusion: "
    "right temporal focus.",
    "language on the other side": "FINDINGS: Left insular glioma with extension to the left "
    "temporal stem. The right temporal lobe is normal.\nIMPRESSION: Left insular glioma. "
    "Functional MRI: language is in the right temporal lobe.",
    "crossed diaschisis": "FINDINGS: Hypometabolism of the left frontal lobe and of the right "
    "cerebellar hemisphere (crossed diaschisis). The left cerebellar hemisphere is normal.\n"
    "IMPRESSION: Left frontal hypometabolism.",
    "an artery": "61M, R hemiparesis, aphasia.\nMRI: acute infarct L insula + L frontal operculum. "
    "R frontal nil.\nImp: L MCA infarct.",
    "one lesion on each side": "FINDINGS: Haemorrhage in the left thalamus, 2 cm. Haemorrhage in "
    "the right putamen, 1 cm. The right thalamus and the left putamen are normal.\nIMPRESSION: "
    "Left thalamic and right putaminal haemorrhage.",
    "subdural on the other side": "FINDINGS: Left frontal contusion, 14 mm. Right frontal subdural "
    "haematoma, 6 mm. Right occipital fracture.\nIMPRESSION: Left frontal contrecoup contusion and "
    "right subdural haematoma.",
    "nothing is wrong": "FINDINGS: The left frontal lobe is normal. The right frontal lobe is "
    "normal.\nIMPRESSION: Normal brain.",
    "a target and a threshold": "Target: left DLPFC (stimulated, 3000 pulses). The right motor "
    "cortex gave the resting motor threshold.\nSummary: treatment of the left DLPFC.",
    "columns of sides": "Region | Left | Right\nFrontal lobe | 3 cm mass | normal\nTemporal lobe | "
    "normal | normal\nImpression | left frontal mass",
    "in another order": "FINDINGS: There are lesions in the right parietal lobe (14 mm) and in the "
    "left parietal lobe (8 mm).\nIMPRESSION: Two parietal metastases, the larger on the right.",
}


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN)
def test_a_report_that_agrees_with_itself_is_left_alone(contradictions, text):
    assert contradictions(text) == []


CONTRADICTORY = {
    "findings against impression": (
        "FINDINGS: 3 cm mass in the [right angular gyrus].\nIMPRESSION: [Left parietal glioma].",
        ("parietal", "right", "left"),
    ),
    "clipped words": (
        "CTH:\n- [L ant temp contusions], 29x22 mm.\nImp: [evolving R temp contusions].",
        ("temporal", "left", "right"),
    ),
    "rows of a table": (
        "[Left thalamus | 8 mm lesion, ring enhancement]\nRight thalamus | normal\n"
        "[Impression | One active plaque, right thalamus]",
        ("thalamus", "left", "right"),
    ),
    "the other lesion is normal": (
        "FINDINGS: 9 mm haemorrhage in the [left cerebellar hemisphere]. Pons normal. "
        "[The left cerebellar hemisphere is normal].",
        ("cerebellum", "left", None),
    ),
    "one of two sentences": (
        "FINDINGS: A mass lies in the [right frontal lobe]. The right frontal lobe is normal. "
        "The left superior frontal gyrus is infiltrated.\nIMPRESSION: [Left frontal glioma].",
        ("frontal", "right", "left"),
    ),
}


@pytest.mark.parametrize(("marked", "expected"), CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_both_sentences_are_quoted(contradictions, marked, expected):
    parts = marked.replace("]", "[").split("[")
    text = "".join(parts)
    (found,) = contradictions(text)
    assert (found.lobe, found.side, found.other_side) == expected
    assert parts[1] in text[slice(*found.where)]
    assert parts[3] in text[slice(*found.other_where)]


def test_a_lobe_is_told_once_and_each_lobe_is(contradictions):
    text = (
        "FINDINGS: Infarcts of the left insula, 2 cm, and of the right occipital lobe, 1 cm. Left "
        "insular ribbon lost.\nIMPRESSION: Infarct of the right insula and of the left occipital "
        "lobe."
    )
    assert {each.lobe for each in contradictions(text)} == {"insula", "occipital"}


@pytest.mark.parametrize(
    "text",
    [
        "ADDENDUM: the lesion is on the RIGHT, not left as stated. FINDINGS: Left insula mass.",
        "The side stated in the first report was incorrect.\n\nFINDINGS: Left insula mass.",
    ],
)
def test_an_addendum_takes_a_side_back(contradictions, text):
    (found,) = contradictions(text)
    assert (found.lobe, found.side, found.other_side) == ("insula", "left", "right")
