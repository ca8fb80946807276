"""What a patient had before is no finding beside what is new."""

import time

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.history import find_history
from neurowhere.text.reading.mentions import read_mentions

STRUCTURES = ["insula", "cerebellar", "thalamic"]


@pytest.fixture(scope="module")
def counter() -> TermCounter:
    return TermCounter(Vocabulary(STRUCTURES))


def sections_of(text: str, counter: TermCounter) -> dict[str, str | None]:
    return {mention.term: mention.section for mention in read_mentions(text, counter)}


@pytest.mark.parametrize(
    "text",
    [
        "hx of L cerebellar infarct 2015. Today: new droop, DWI + in the insula",
        "PMH left cerebellar stroke. Now right insula infarct.",
        "PMH: left cerebellar stroke. Now right insula infarct.",
        "PMH: cerebellar stroke. Now insula infarct. Exam: there is a dense weakness of the face.",
        "s/p left cerebellar resection 2015, now infarct of the insula",
        "Previous right cerebellar bleed in 2015. Acute infarct of the insula.",
        "Known left cerebellar AVM, embolised 2016. Today: infarct of the insula.",
        "Resected right cerebellar metastasis, no recurrence; new lesion of the insula",
        "Left cerebellar glioma, resected in 2015. Now infarct of the insula.",
        "Known old left cerebellar infarct. New right infarct of the insula on DWI.",
        "Acute infarct of the insula in a man with prior cerebellar stroke.",
        "Previous cerebellar infarct and new infarct of the insula.",
        "Cerebellar stroke in 2012. Today acute infarct of the insula.",
        "CVA right cerebellar 2015, now acute infarct of the insula",
        "Acute infarct of the insula, CVA cerebellar in 2015.",
        "Haemorrhage, right cerebellar, 2012. Today: acute infarct of the insula.",
        # a plain heading needs no word for what is new
        "PMH left cerebellar stroke. Right insula infarct.",
        "PMHx L cerebellar bleed. R insula hypodensity.",
        "Past medical history of left cerebellar infarct. MRI shows a lesion of the right insula.",
        "Right insula infarct. PMH: left cerebellar stroke, DM.",
    ],
)
def test_what_is_old_is_no_finding_beside_what_is_new(text: str, counter: TermCounter) -> None:
    found = sections_of(text, counter)
    assert found == {"insula": None, "cerebellar": "history"}


@pytest.mark.parametrize(
    "text",
    [
        "Old left cerebellar infarct.",
        "Resected left cerebellar metastasis, no recurrence.",
        "Resected left cerebellar glioma. New enhancement along the cavity.",
        "Resected left cerebellar metastasis has recurred; new lesion of the insula",
        "Old left cerebellar infarct. No acute infarct.",
        "History of cerebellar contusion with new seizures.",
        "History of left cerebellar infarct.",
        "History of left cerebellar infarct. Right insula infarct.",
        "PMH left cerebellar stroke.",
        "PMH left cerebellar stroke. No other infarct. Left-handed.",
        "PMH left cerebellar stroke. The insula is normal.",
        "PMH left cerebellar stroke. Mother had a stroke.",
        "PMH left cerebellar glioma. The tumour has grown.",
        "Known old left cerebellar infarct.",
        "CT: fresh thalamic haemorrhage on the right, and an old infarct, cerebellar, on the left.",
        "3-day history of cerebellar ataxia, now drowsy with left weakness",
        "History of present illness: new cerebellar ataxia",
        "Previous cerebellar glioma has grown. New thalamic lesion.",
        "A 65 year old man with a cerebellar lesion and new left weakness",
        "Compared to prior MRI, left cerebellar lesion unchanged; new thalamic lesion.",
        "Patients with a history of cerebellar stroke (n = 12) learned new words.",
    ],
)
def test_what_is_present_stays_a_finding(text: str, counter: TermCounter) -> None:
    assert not find_history(text)
    assert sections_of(text, counter)["cerebellar"] is None


@pytest.mark.parametrize(
    "words", ["PMH; ", "new, ", "PMH now ", "PMH new ", "new stroke 2019 ", "stroke 2019 "]
)
def test_history_is_found_in_linear_time(words: str) -> None:
    def seconds(length: int) -> float:
        text = "PMH x. " + words * (length // len(words))
        start = time.process_time()
        find_history(text)
        return time.process_time() - start

    short, long = min(seconds(2500) for _ in range(3)), min(seconds(20_000) for _ in range(2))
    assert long < 24 * max(short, 0.001)  # eight times as long
