import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.reading.tags import words_of_cues

COUNTER = TermCounter(small_vocabulary())


def states(text):
    """Words of the mentions that are negated, and of those that are not."""
    mentions = read_mentions(text, COUNTER)
    words = [(text[m.start : m.end].lower(), m.is_negated) for m in mentions]
    return (
        [word for word, is_negated in words if is_negated],
        [word for word, is_negated in words if not is_negated],
    )


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        # what follows
        ("no lesion in the thalamus", "lesion thalamus", ""),
        ("Spared: left thalamus, insula", "thalamus insula", ""),
        ("Affected: insula. Not affected: thalamus, pons.", "thalamus pons", "insula"),
        ("R thalamus normal, L thalamus small", "thalamus", "thalamus"),
        ("Controls showed normal responses in the amygdala.", "", "amygdala"),
        ("Left insula: normal activation during fear.", "", "insula fear"),
        ("normal neural recruitment of the insula", "", "insula"),
        ("Normal signal and volume of the amygdala.", "amygdala", ""),
        ("normal metabolism in the thalamus", "thalamus", ""),
        ("Physiologic tracer uptake in the thalamus.", "thalamus", ""),
        ("physiological responses in the thalamus", "", "thalamus"),
        ("Positive in the thalamus, negative in the insula.", "insula", "thalamus"),
        ("Lesion present in the insula, absent in the thalamus", "thalamus", "lesion insula"),
        ("Abnormal in the insula, normal in the pons and thalamus", "pons thalamus", "insula"),
        ("Seen in the insula, lacking in the thalamus.", "thalamus", "insula"),
        ("Nothing was left of the insula after the resection.", "", "insula"),
        ("Nothing remains of the left thalamus", "", "thalamus"),
        ("Nothing abnormal in the thalamus", "thalamus", ""),
        ("NAA: low insula (0.7), thalamus (1.2, within normal limits)", "thalamus", "insula"),
        ("Left insula (0.7), right thalamus (1.2, within normal range)", "thalamus", "insula"),
        ("Thalamus (3.1 ml; normal), insula (1.9 ml, small)", "thalamus", "insula"),
        ("Negative in the thalamus, positive in the insula.", "thalamus", "insula"),
        ("Thalamus, negative in both scans.", "thalamus", ""),
        ("Aphasia, absent in the first exam", "aphasia", ""),
        ("lead tip in the left thalamus, no stroke", "stroke", "thalamus"),
        ("thalamus, no lesion. Insula, no lesion.", "thalamus lesion insula lesion", ""),
        ("a focus in the right insula and no focus in the left", "left", "insula"),
        ("without involvement of the insula", "insula", ""),
        ("no evidence of stroke", "stroke", ""),
        ("no evidence that the insula is involved", "insula", ""),
        ("no e/o infarct", "infarct", ""),
        ("absence of neglect", "neglect", ""),
        ("CT rules out hemorrhage", "hemorrhage", ""),
        ("these findings exclude stroke", "stroke", ""),
        ("she denies weakness", "weakness", ""),
        ("negative for stroke", "stroke", ""),
        ("free of seizures", "seizures", ""),
        ("the lesion spared the hippocampus", "hippocampus", "lesion"),
        ("sparing of the hippocampus", "hippocampus", ""),
        ("hippocampus-sparing atrophy of the insula", "hippocampus", "atrophy insula"),
        ("left hippocampus-sparing lesion", "hippocampus", "lesion"),
        ("a lesion sparing hippocampus", "hippocampus", "lesion"),
        ("the lesion does not involve the insula", "insula", "lesion"),
        ("failed to activate the insula", "insula", ""),
        ("MRI didn't show a lesion", "lesion", ""),
        ("not consistent with stroke", "stroke", ""),
        ("the insula, not the putamen", "putamen", "insula"),
        ("the insula rather than the putamen", "putamen", "insula"),
        ("signs of depression rather than schizophrenia", "schizophrenia", "depression"),
        ("fear rather than a change of memory", "", "fear memory"),
        ("less rather than more activity for language", "", "language"),
        ("fear rather than memory mechanisms", "", "fear memory"),
        ("Unlike the thalamus, the insula responded.", "thalamus", "insula"),
        ("The insula, unlike the thalamus, is small.", "thalamus", "insula"),
        ("The insula responded, in contrast to the thalamus.", "thalamus", "insula"),
        ("Unlike the thalamus and the pons, the insula was active.", "thalamus pons", "insula"),
        ("the insula responded, in contrast to the thalamus, which did not", "thalamus", "insula"),
        ("Unlike the thalamus, the insula did not respond.", "insula", "thalamus"),
        ("In contrast to the pons, which responded to it, the insula rose.", "", "pons insula"),
        ("In contrast to the pons, the role of the insula is unknown.", "", "pons insula"),
        ("In contrast to studies of the pons, the insula responded.", "", "pons insula"),
        ("The insula was not ischemic.", "insula ischemic", ""),
        # corrections
        ("For 'left insula' read 'right insula'.", "insula", "insula"),
        ("'Left insula' should read 'left thalamus'.", "insula", "thalamus"),
        ("Left insula should have been right insula.", "insula", "insula"),
        ("Erratum: left insula should be right thalamus.", "insula", "thalamus"),
        ("'Left insula' was a typing error; it is the right thalamus.", "insula", "thalamus"),
        ("The left insula should be compared with the right thalamus.", "", "insula thalamus"),
        ("The lesion is right insula, not left thalamus.", "thalamus", "lesion insula"),
        ("The right insula (not left thalamus) is small.", "thalamus", "insula"),
        ("Right insula, not only left thalamus, is small.", "", "insula thalamus"),
        ("The lesion seen in the insula is actually in the thalamus.", "insula", "lesion thalamus"),
        ("The thalamus is in fact in the insula.", "", "thalamus insula"),
        ("The lesion in the insula is in fact located in the pons.", "insula", "lesion pons"),
        ("The lesion described as insular is actually pontine.", "insular", "lesion pontine"),
        ("What was called an insular lesion is really in the pons.", "insular", "lesion pons"),
        ("The lesion thought to be in the insula is in the pons.", "insula", "lesion pons"),
        ("The report stated insula; this should read pons.", "insula", "pons"),
        ("The report erroneously states insula; it is in the pons.", "insula", "pons"),
        ("It was described wrongly as insular.", "insular", ""),
        (
            "The lesion described in the thalamus is located in the pons.",
            "",
            "lesion thalamus pons",
        ),
        ("The insula is thought to act on the pons and is in the cortex.", "", "insula pons"),
        ("Wrongly recalled words activated the insula.", "", "insula"),
        ("When words were wrongly reported, the insula responded.", "", "insula"),
        ("The lesion in the left insula is in fact in the right.", "insula", "lesion"),
        ("For the insula we read the signal of the thalamus.", "", "insula thalamus"),
        ("normal hippocampi", "hippocampi", ""),
        ("normal size of the hippocampus", "hippocampus", ""),
        ("preserved hippocampal volume", "hippocampal", ""),
        ("aphasia with preserved comprehension", "comprehension", "aphasia"),
        # lists
        ("no lesion in the thalamus, putamen or caudate", "lesion thalamus putamen caudate", ""),
        ("no aphasia, neglect, or ataxia is seen", "aphasia neglect ataxia", ""),
        ("neither the insula nor the putamen is affected", "insula putamen", ""),
        (
            "Neither the insula nor the putamen shows change. There is a lesion in the thalamus.",
            "insula putamen",
            "lesion thalamus",
        ),
        # the subject before
        ("the hippocampus was spared", "hippocampus", ""),
        ("insula, putamen and caudate are spared", "insula putamen caudate", ""),
        ("insula spared.", "insula", ""),
        ("hemorrhage was ruled out", "hemorrhage", ""),
        ("the insula is normal in size", "insula", ""),
        ("the insula is symmetric and normal", "insula", ""),
        ("the insula and putamen are both within normal limits", "insula putamen", ""),
        ("a lesion was not seen in the pons", "lesion pons", ""),
        ("the pons is not affected by the lesion", "pons", "lesion"),
        ("activity was absent in the insula", "insula", ""),
        ("the insula responded, the putamen did not", "putamen", "insula"),
        ("the insula, not, as was said, at all", "insula", ""),
        ("activation in the insula did not survive correction", "insula", ""),
        # the place that has none of it
        ("thalamus: no abnormality", "thalamus", ""),
        ("the insula shows no abnormal signal", "insula", ""),
        ("in the insula, no abnormality was seen", "insula", ""),
        ("cerebellum without lesions", "cerebellum lesions", ""),
        ("the insular lesion shows no enhancement", "", "insular lesion"),
    ],
)
def test_denials_reach_their_names(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        ("no hemorrhage but a lesion in the pons", "hemorrhage", "lesion pons"),
        ("no hemorrhage, however the insula is swollen", "hemorrhage", "insula"),
        ("no hemorrhage. Lesion in the pons", "hemorrhage", "lesion pons"),
        ("no hemorrhage; lesion in the pons", "hemorrhage", "lesion pons"),
        ("No hemorrhage\nLesion in the pons", "hemorrhage", "lesion pons"),
        ("- no hemorrhage\n- lesion in the pons", "hemorrhage", "lesion pons"),
        ("No hemorrhage in the\npons", "hemorrhage pons", ""),
        ("no lesion in the pons and the insula was swollen", "lesion pons", "insula"),
        ("no aphasia and a lesion of the insula", "aphasia", "lesion insula"),
        ("no lesion that explains the aphasia", "lesion", "aphasia"),
        ("no lesion in the pons in schizophrenia", "lesion pons", "schizophrenia"),
        ("no lesion, with edema", "lesion", "edema"),
        ("no lesion except in the pons", "lesion", "pons"),
        ("apart from a lesion in the pons, the insula is normal", "insula", "lesion pons"),
        ("the striatum is affected except the putamen", "putamen", "striatum"),
        ("the lesion involved the insula and the pons was spared", "pons", "lesion insula"),
        ("lesions that spared the insula impaired memory", "insula", "lesions memory"),
        ("(no lesion in the pons) and edema", "lesion pons", "edema"),
        ("in the absence of neglect, aphasia was severe", "neglect", "aphasia"),
        ("normal memory, the insula was swollen", "", "memory insula"),
        # signs that lead on, and slashes
        ("no hemorrhage -> right thalamic infarct", "hemorrhage", "thalamic infarct"),
        ("hemianopia w/o aphasia ==> left pons", "aphasia", "hemianopia pons"),
        ("no neglect \N{RIGHTWARDS ARROW} infarct", "neglect", "infarct"),
        ("no aphasia = right insula stroke", "aphasia", "insula stroke"),
        ("lead in the thalamus -> no ataxia", "ataxia", "thalamus"),
        ("thalamus => no edema, insula => edema", "thalamus edema", "insula edema"),
        ("thalamus: no edema, insula: edema", "thalamus edema", "insula edema"),
        ("thalamus -> no lesion; insula = normal", "thalamus lesion insula", ""),
        ("no hemorrhage / R thalamic infarct", "hemorrhage", "thalamic infarct"),
        ("no hemorrhage/insular infarct", "hemorrhage", "insular infarct"),
        ("no hemorrhage / edema / infarct", "hemorrhage edema infarct", ""),
        ("no infarct in the thalamus / right putamen", "infarct thalamus putamen", ""),
        ("no lesion in the left/right insula", "lesion insula", ""),
        ("no lesion in the insula (p = 0.3) or pons", "lesion insula pons", ""),
    ],
)
def test_denials_end_where_a_reader_ends_them(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    "text",
    [
        "not only the insula but also the pons",
        "no change in the lesion of the pons",
        "no study has examined the insula",
        "it is not known whether the insula responds",
        "the pons was not spared",
        "a lesion of the pons cannot be excluded",
        "patients with and without aphasia",
        "patients without aphasia",
        "a go/no-go task and the insula",
        "reward or no reward",
        "more reward than no reward",
        "a non-negligible role of the insula",
        "lesion No. 3",
        "no fewer than three lesions",
        "not limited to the insula",
        "normal hippocampal function",
        "unaffected siblings of patients with autism",
        "the left but not the right amygdala",
    ],
)
def test_what_looks_like_a_denial_and_is_none(text):
    assert states(text)[0] == []


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        ("no difference in insula activation", "insula", ""),
        ("no correlation between pain and the insula", "insula", "pain"),
        ("no difference between patients and controls in the insula", "insula", ""),
        ("no increase in insula activity", "insula", ""),
        ("the insula did not differ between groups", "insula", ""),
        ("insula volume was not related to memory", "insula", "memory"),
        ("stimulation of the thalamus had no effect", "thalamus", ""),
        ("the insula (p = 0.4) and the pons (p = 0.001)", "insula", "pons"),
        ("the insula cluster vanished after correction", "insula", ""),
        ("of the insula, pons and thalamus, only the latter survived", "insula pons", "thalamus"),
        ("no increase in the size of the lesion of the pons", "", "lesion pons"),
        ("no progression of the atrophy of the pons", "", "atrophy pons"),
        ("the lesion in the pons is not associated with edema", "", "lesion pons edema"),
        ("no study has examined the insula", "", "insula"),
    ],
)
def test_the_places_of_a_null_result_are_denied(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        # labels and headings
        ("Thalamus, caudate and putamen: normal signal", "thalamus caudate putamen", ""),
        ("Ruled out: stroke, hemorrhage", "stroke hemorrhage", ""),
        ("Pons - normal. Insula - swollen.", "pons", "insula"),
        ("pons (-), insula (+)", "pons", "insula"),
        ("Is the pons affected? No. The insula is.", "pons", "insula"),
        # qualities
        ("the pons is symmetric with normal signal", "pons", ""),
        ("the pons looks fine, insula clear", "pons insula", ""),
        ("there is clear swelling of the pons", "", "pons"),
        ("the pons is not compressed", "pons", ""),
        ("the lesion of the pons is not resected", "", "lesion pons"),
        # what is gone, was wrong or was left out
        ("the edema in the pons has resolved", "edema pons", ""),
        ("the edema in the pons has partly resolved", "", "edema pons"),
        ("the edema in the pons has not resolved", "", "edema pons"),
        ("transient aphasia, resolved within 2 hours", "", "aphasia"),
        ("neglect and aphasia. Both disappeared within minutes.", "", "neglect aphasia"),
        ("neglect and aphasia, since resolved", "", "neglect aphasia"),
        ("his aphasia has resolved", "aphasia", ""),
        ("resolution of the aphasia after 20 minutes", "", "aphasia"),
        ("the edema of the pons and the aphasia have resolved", "edema pons aphasia", ""),
        ("a lesion in the pons was reported; this proved to be wrong", "lesion pons", ""),
        ("the pons was excluded from the analysis", "pons", ""),
        ("patients with lesions of the pons were excluded", "lesions pons", ""),
        ("voxels in the pons were removed", "pons", ""),
        ("the tumor in the pons was removed", "", "tumor pons"),
        # two places
        ("absent in the pons and present in the insula", "pons", "insula"),
        ("present in the insula and absent in the pons", "pons", "insula"),
        ("the lobe, including the insula, is normal", "insula", ""),
        ("the pons, although close to the tumor, is not affected", "pons", "tumor"),
        ("no lesion in the pons or, after all, the insula", "lesion pons insula", ""),
        ("no hemorrhage into the tumor of the pons", "hemorrhage", "tumor pons"),
        # twice
        ("no patient was without atrophy", "", "atrophy"),
        ("neither the pons nor the insula is normal", "", "pons insula"),
        ("I do not think that the pons is spared", "", "pons"),
        ("I do not think that the pons is affected", "pons", ""),
        ("the pons is far from normal", "", "pons"),
        ("recall is impossible without the insula", "", "insula"),
        # contrary to fact
        ("Had the pons been damaged, he would have died", "pons", ""),
        ("not the pons alone but also the insula", "", "pons insula"),
    ],
)
def test_more_ways_to_deny(text, negated, present):
    assert states(text) == (negated.split(), present.split())


def test_words_within_a_name_deny_nothing():
    counter = TermCounter(Vocabulary(["absence of seizure", "thalamus"]))
    assert not any(mention.is_negated for mention in read_mentions("absence of seizure", counter))


def test_the_place_of_the_denial_is_given():
    text = "Infarct, with sparing of the insula"
    mention = next(iter(mention for mention in read_mentions(text, COUNTER) if mention.is_negated))
    assert text[slice(*mention.negation_span)] == "sparing of"


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        """
        no not without spared normal except but and or , . ; : ( ) the in of was is with thalamus
        insula lesion left right bilaterally MCA patients rather than never
        """,
    )
)


@settings(deadline=None)
@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_any_order_of_words_can_be_read(text):
    mentions = read_mentions(text, COUNTER)
    for mention in mentions:
        if mention.is_negated:
            words = re.findall(r"\w+", text[slice(*mention.negation_span)].lower())
            assert words_of_cues().issuperset(words)


@settings(deadline=None)
@given(st.lists(WORDS, max_size=15).map(" ".join))
def test_a_denial_stays_in_its_sentence(text):
    after = read_mentions(f"No hemorrhage. {text}", COUNTER).found[1:]
    alone = read_mentions(text, COUNTER).found
    assert [m.is_negated for m in after] == [m.is_negated for m in alone]


WORDS = "amygdala insula arm face hand memory pain read speak speech vision word"
ANATOMY = dict.fromkeys(("amygdala", "insula"), "anatomy")
FACULTIES = TermCounter(Vocabulary(WORDS.split(), categories=ANATOMY))


def test_a_quality_may_be_a_term_of_the_vocabulary():
    counter = TermCounter(Vocabulary(["insula", "volume"], categories={"insula": "anatomy"}))
    for text in ("Normal insula volume.", "normal volume of the insula"):
        (insula,) = (each for each in read_mentions(text, counter) if each.term == "insula")
        assert insula.is_negated, text


@pytest.mark.parametrize(
    "text",
    [
        "He cannot move his left arm.",
        "unable to speak",
        "Inability to read words.",
        "She does not feel her right hand.",
        "He no longer recognises faces.",
        "Doesn't recognise faces any more.",
        "no longer able to read",
        "She can't find words.",
        "The patient couldn't read.",
        "Patients were unable to form a memory.",
        "failure to recognise a face",
        "loss of vision",
        "no movement of the left arm, no feeling in her hand",
        "He has no memory of it.",
        "She had no speech.",
        "can move the arm",
    ],
)
def test_what_somebody_cannot_do_is_a_finding(text):
    mentions = read_mentions(text, FACULTIES)
    assert [each.status for each in mentions] == ["affirmed"] * len(mentions)
    assert len(mentions) > 0


@pytest.mark.parametrize(
    "text",
    [
        "We could not see the insula.",
        "We do not see a lesion of the insula.",
        "The patient did not find the amygdala.",
        "I do not feel that the amygdala is affected.",
        "unable to detect the insula",
        "no memory deficit, no pain in the arm",
        "no vision loss",
        "He does not have pain.",
    ],
)
def test_what_nobody_finds_is_denied(text):
    mentions = read_mentions(text, FACULTIES)
    assert {each.status for each in mentions} == {"denied"}


@pytest.mark.parametrize(
    "text", ["No patient was unable to speak.", "None of them was unable to read words."]
)
def test_what_nobody_is_unable_to_do_is_no_deficit(text):
    assert {each.status for each in read_mentions(text, FACULTIES)} == {"denied"}


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        # a predicate that shares its subject with another, or has no verb
        ("the pons is midline and not effaced", "pons", ""),
        ("the insula was exposed and was not entered", "insula", ""),
        ("the insula beneath it is displaced, although not invaded", "insula", ""),
        ("thalamus not enlarged", "thalamus", ""),
        ("the lesion abuts, but does not invade, the insula", "insula", "lesion"),
        # the place that has a quality, in any words
        ("the insula shows a normal gyral pattern", "insula", ""),
        ("sections of the insula disclosed a normal number of neurons", "insula", ""),
        ("the remaining thalamus is without enhancement", "thalamus", ""),
        ("the insula is however normal", "insula", ""),
        ("the signal in the thalamus described in May is not confirmed", "thalamus", ""),
        ("elsewhere, including the thalamus, diffusion is normal", "thalamus", ""),
        # what shares a predicate
        ("the insula is normal, and so is the thalamus", "insula thalamus", ""),
        # what is taken up from before
        ("We saw the insula and the thalamus. Both were intact.", "insula thalamus", ""),
        ("We saw the insula and the thalamus. All two were normal.", "insula thalamus", ""),
        ("Of the insula and the thalamus, the latter was normal", "thalamus", "insula"),
        ("pain points to the insula, but MRI ruled out a lesion there", "insula lesion", "pain"),
        ("The insula was intact bilaterally. So was the pons.", "insula pons", ""),
        ("The insula was not involved. The same is true of the pons.", "insula pons", ""),
        (
            "no lesion in the insula; so too for the left pons, but aphasia",
            "lesion insula pons",
            "aphasia",
        ),
        ("No aphasia. The same goes for neglect. Likewise the pons.", "aphasia neglect pons", ""),
        ("The insula was swollen. So was the pons.", "", "insula pons"),
        (
            "The insula was intact, the pons swollen. So was the thalamus.",
            "insula",
            "pons thalamus",
        ),
        ("The insula was intact. So we turned to the pons.", "insula", "pons"),
        # what a thought that is not borne out is of
        ("The idea that the insula serves reading was not supported.", "insula", "reading"),
        # what patients are not aware of, and what they say of themselves
        ("The patient denied that his left hand had a weakness", "", "hand weakness"),
        ("The patient denies that he has seizure or pain", "seizure pain", ""),
        ("We deny that the insula is swollen", "insula", ""),
        # where people are alike
        ("binding was comparable between groups in the insula", "insula", ""),
        # what is set against the rest
        ("the insula showed no response, in contrast to the thalamus", "insula", "thalamus"),
        ("apart from the insula, which is bright, no structure is abnormal", "", "insula"),
        (
            "unlike the pons, insula and putamen, the thalamus was active",
            "pons insula putamen",
            "thalamus",
        ),
        ("unlike the pons, the insula and thalamus were active", "pons", "insula thalamus"),
        (
            "the thalamus, unlike the pons, the insula, or the putamen, was active",
            "pons insula putamen",
            "thalamus",
        ),
        # "any" is within the denial
        ("he was not left with any deficit of the insula", "insula", ""),
        # other things that are not denied
        ("patients with stroke of the insula were matched for age", "", "stroke insula"),
        ("loss of the normal signal in the insula", "", "insula"),
        ("the insula responded to 'intact' stimuli", "", "insula"),
        ("smaller than normal volumes of the insula", "", "insula"),
        ("with respect to the insula", "", "insula"),
        ("the response of the insula did not habituate", "", "insula"),
        ("the insula in refugees without a history of stroke", "", "insula stroke"),
    ],
)
def test_scopes_do_not_hang_on_the_words(text, negated, present):
    assert states(text) == (negated.split(), present.split())


def test_what_cannot_be_excluded_stays_open():
    mentions = read_mentions("pain cannot be excluded; cannot exclude the insula", FACULTIES)
    assert [each.status for each in mentions] == ["hedged", "hedged"]


@pytest.mark.parametrize(
    ("text", "is_denied"),
    [
        ("DWI negative in pons", True),
        ("FLAIR is clean in the pons.", True),
        ("DWI neg in pons, pos in insula", True),
        ("DWI negative infarct in the pons", False),
        ("DWI-negative stroke in the pons", False),
        ("The correlation was negative in the pons.", False),
    ],
)
def test_a_sequence_that_is_negative_in_a_place_denies_it(text, is_denied):
    vocabulary = ["pons", "DWI", "negative", "infarct", "correlation"]
    categories = {"pons": "anatomy"}
    found = read_mentions(text, TermCounter(Vocabulary(vocabulary, categories=categories)))
    assert [each.is_negated for each in found if each.term == "pons"] == [is_denied]


def test_no_other_side_denies_what_has_it():
    assert states("right neglect, no left hemianopia") == states("neglect, no hemianopia")
    assert states("Right neglect. Not left hemianopia.") == states("Neglect. Not hemianopia.")
    assert states("left but not right insula") == states("left insula")


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        # what is even may be wrong on both sides
        ("Symmetric restricted diffusion in the thalami.", "", "thalami"),
        ("Symmetric enhancement of the hippocampus and medial thalami.", "", "hippocampus thalami"),
        ("Symmetric increased T2 signal of the insula", "", "insula"),
        ("Symmetric low attenuation in the thalamus", "", "thalamus"),
        ("Symmetric markedly reduced uptake in the insula", "", "insula"),
        ("Symmetric tracer uptake in the insula", "insula", ""),
        ("Thalami are symmetric, without restricted diffusion.", "thalami", ""),
        # a scan may be normal where seizures begin
        ("Right insular seizures (MRI negative).", "", "insular seizures"),
        ("Left thalamic onset on SEEG, MRI unremarkable", "", "thalamic"),
        ("Insular epilepsy with unremarkable MRI", "", "insular epilepsy"),
        ("Insular epilepsy, PET and MRI negative", "", "insular epilepsy"),
        ("MRI of the insula normal", "insula", ""),
        ("Insula, MRI normal", "insula", ""),
        # a device may be well placed
        ("The electrode is well positioned in the right thalamus.", "", "thalamus"),
        ("Left thalamus lead properly placed, right lead in the insula", "", "thalamus insula"),
        ("The tip is satisfactory in the right thalamus.", "", "thalamus"),
        ("The thalami are normally positioned.", "thalami", ""),
        # a subject that is no name
        ("The insular lesion has evolved and the hygroma has gone.", "", "insular lesion"),
        ("The insular lesion has evolved and the hygroma resolved.", "", "insular lesion"),
        ("The insular lesion has grown while the hygroma has resolved.", "", "insular lesion"),
        ("The insular lesion was small and has resolved.", "insular lesion", ""),
        # headings of lists
        ("Infarct of the insula L. Not infarcted: thalamus R.", "thalamus", "infarct insula"),
        ("Affected: insula L. Spared: thalamus R, pons.", "thalamus pons", "insula"),
        ("No lesion in: insula L, thalamus R.", "lesion insula thalamus", ""),
        ("No lesion: the insula bled.", "lesion", "insula"),
        # what was not seen, and margins
        ("Insula not well seen due to beam hardening.", "insula", ""),
        ("Insula suboptimally visualized secondary to motion.", "insula", ""),
        ("Left insula margin: gliosis only, negative for tumor.", "insula tumor", ""),
        ("Left insula margin: tumor, no edema.", "edema", "insula tumor"),
    ],
)
def test_what_else_is_normal_denies_no_lesion(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        ("I looked for an insular lesion and did not see one.", "insular lesion", ""),
        ("The GP suspected a thalamic infarct. There was none.", "thalamic infarct", ""),
        ("She suspected an infarct of the pons. I did not find one.", "infarct pons", ""),
        ("Is the question whether the pons is swollen? The answer is no.", "pons", ""),
        ("We asked whether the pons is swollen. The answer was negative.", "pons", ""),
        ("A suspected insular lesion, but MRI only showed the pons.", "insular lesion", "pons"),
        ("The insula was suspected, but CT showed only the pons.", "insula", "pons"),
        (
            "CT was read as an insular lesion, but MRI showed only the pons.",
            "insular lesion",
            "pons",
        ),
        ("He suspected a lesion of the insula. MRI only showed the pons.", "lesion insula", "pons"),
        ("He was worried about the left insula; CT showed none.", "insula", ""),
        # a normal scan answers the question
        ("Query insular lesion, scan unremarkable.", "insular lesion", ""),
        ("?right thalamic stroke. CT normal.", "thalamic stroke", ""),
        ("Referred for possible insular lesion; no abnormality was found.", "insular lesion", ""),
        ("Suspected thalamic hemorrhage. CT: no bleed.", "thalamic hemorrhage", ""),
        ("Clinical question: insular lesion? MRI brain normal.", "insular lesion", ""),
        ("Insular lesion was suspected. CT and MRI were normal.", "insular lesion", ""),
        ("Suspected insular stroke with aphasia. CT normal.", "insular stroke", "aphasia"),
        ("Query insular lesion. Normal MRI, EEG normal.", "insular lesion", ""),
        ("Insular stroke? MRI normal.", "insular stroke", ""),
        ("Insular stroke with aphasia? CT normal.", "insular stroke", "aphasia"),
        ("Left thalamic hemorrhage? CT head unremarkable.", "thalamic hemorrhage", ""),
        ("Was it an insular stroke? The MRI says no.", "insular stroke", ""),
        ("Working diagnosis: insular stroke. MRI brain normal.", "insular stroke", ""),
        ("Suspected lesion of the left insula. MRI: insula normal.", "lesion insula insula", ""),
        # nothing refutes it
        ("Suspected lesion of the left insula. Right insula normal.", "insula", "lesion insula"),
        ("Lesion of the left insula. MRI: thalamus normal.", "thalamus", "lesion insula"),
        ("Insular epilepsy? MRI normal.", "", "insular epilepsy"),
        ("How is he? Insular stroke. CT normal.", "", "insular stroke"),
        ("Insular stroke? CT normal. MRI confirms it.", "", "insular stroke"),
        ("Possible insular stroke; no bleed.", "", "insular stroke"),
        ("Suspected insular stroke. CT normal. MRI confirms it.", "", "insular stroke"),
        ("Possible insular stroke on MRI. CT normal.", "", "insular stroke"),
        ("Suspected insular epilepsy. MRI normal.", "", "insular epilepsy"),
        ("Query insular lesion. The pons is normal.", "pons", "insular lesion"),
        ("Query insular lesion, MRI normal apart from it.", "", "insular lesion"),
        ("Possible insular stroke. Chest x-ray normal.", "", "insular stroke"),
        ("Normal CT. Probable insular stroke.", "", "insular stroke"),
        ("He suspected an insular lesion. There was one.", "", "insular lesion"),
        ("CT showed an insular lesion, but MRI showed only the pons.", "", "insular lesion pons"),
        ("I looked for an insular lesion and saw one.", "", "insular lesion"),
    ],
)
def test_a_suspicion_that_is_refuted_is_denied(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        ("Although previous studies reported the insula, we found the pons.", "insula", "pons"),
        ("Unlike earlier reports of the insula, our data showed the pons.", "insula", "pons"),
        ("Previous studies implicated the insula; here we found the pons.", "insula", "pons"),
        ("We expected the insula but found the pons.", "insula", "pons"),
        ("We hypothesized the insula; the pons was active instead.", "insula", "pons"),
        ("Although the insula was hypothesised, only the pons was active.", "insula", "pons"),
        # no contrast, or both hold
        ("Previous studies reported the insula. We found the pons.", "", "insula pons"),
        ("In line with previous studies of the insula, we found the pons.", "", "insula pons"),
        ("Although earlier work reported the insula, we also found the pons.", "", "insula pons"),
        ("We expected the insula but found stronger effects in the pons.", "", "insula pons"),
        ("We predicted the insula but expected to find the pons.", "", "insula pons"),
        ("Although prior studies showed the insula, we studied the pons.", "", "insula pons"),
        ("We expected the insula, but found the insula and the pons.", "", "insula insula pons"),
    ],
)
def test_a_finding_elsewhere_denies_what_was_expected(text, negated, present):
    assert states(text) == (negated.split(), present.split())


@pytest.mark.parametrize(
    ("text", "negated", "present"),
    [
        # null results, by the place after them
        ("The effect was not significant in the left amygdala.", "amygdala", ""),
        ("Changes were nonsignificant in the thalamus.", "thalamus", ""),
        ("The effect was not significant for the insula or the pons.", "insula pons", ""),
        ("Effects were not significant in the insula but were in the pons.", "insula", "pons"),
        ("The effect was not significant in patients in the insula.", "insula", ""),
        ("The effect was not significant in patients with insula damage.", "", "insula"),
        ("The effect was not significant, and the insula was active.", "", "insula"),
        # a difference between groups, or by what was done
        ("Activity in the amygdala was abolished by propranolol.", "", "amygdala"),
        ("Thalamus responses were absent in depressed patients.", "", "thalamus"),
        ("The response of the insula was missing in older adults.", "", "insula"),
        ("Atrophy of the thalamus, absent in controls, was found.", "", "thalamus"),
        ("Lesions of the thalamus, not seen in healthy adults, were found.", "", "thalamus"),
        ("Insula activation was absent in the placebo group.", "", "insula"),
        # nobody has it, or only a correction took it away
        ("Activity in the amygdala was abolished by controlling for age.", "amygdala", ""),
        ("Activity in the amygdala was abolished.", "amygdala", ""),
        ("Thalamus responses were absent in all patients.", "thalamus", ""),
        ("Thalamus responses were absent in patients and controls.", "thalamus", ""),
        ("Thalamus responses were absent in the subjects.", "thalamus", ""),
        ("A lesion of the thalamus was absent in depressed patients.", "lesion thalamus", ""),
        ("Responses were absent in the thalamus of patients.", "thalamus", ""),
    ],
)
def test_null_results_and_differences(text, negated, present):
    found = states(text)
    places = ("amygdala", "insula", "lesion", "pons", "thalamus")
    kept = [[word for word in words if word in places] for words in found]
    assert kept == [negated.split(), present.split()]
