"""Cues: the words by which a text denies something, and those that tell how far."""

import re
from typing import Literal

from neurowhere.text.clinical.reading import Phrases
from neurowhere.text.words import word_set

Kind = Literal["no", "without", "not", "verb", "adjective", "absent", "except", "rather", "idle"]

CUES: Phrases[Kind] = Phrases(
    {
        # deny what follows, also as the subject of a clause: "no lesion was seen"
        "no": "no; none; nil; nothing; neither; nor",
        # deny their object
        "without": """
            without; w o; absence of; lack of; lacks; lacked; lacking; free of; free from; clear of;
            devoid of; denies; denied; denying; deny; rules out; rule out; ruling out; r o;
            excludes; excluding; exclude; exclusion of; negative for; neg for; spares; spare;
            sparing of; preservation of; excluded if they had; excluded because of; excluded for;
            excluded due to; instead of; argues against; argue against; speaks against
        """,
        # deny by the word that follows
        "not": """
            not; cannot; never; fail to; fails to; failed to; failing to; failure to; aren t; can t;
            couldn t; didn t; doesn t; don t; hadn t; hasn t; haven t; isn t; wasn t; weren t
        """,
        # deny their object, or the subject where none follows: "spared the pons", "pons spared"
        "verb": "spared; sparing; excluded; ruled out",
        # deny the structure that they qualify, or the subject: "normal pons", "the pons is normal"
        "adjective": """
            normal; unremarkable; intact; preserved; unaffected; uninvolved; undamaged; unimpaired;
            untouched; within normal limits; wnl; unlikely
        """,
        # deny what is absent, and where: "activity was absent in the insula"
        "absent": "absent; no longer",
        # deny structures, unless they are exceptions to another denial
        "except": """
            except; excepting; apart from; aside from; other than; save for; with the exception of
        """,
        "rather": "rather than",
        # look like cues and are none
        "idle": """
            no doubt; no fewer; no less; no matter; no more; no one; no sooner; no wonder; no go;
            no think; no previous; no published; no consensus; no reason; with and without;
            with or without; with without; not without; whether or not; or not; if not; why not
        """,
    }
)
NOT = word_set("cannot not t")

# ---- what "not" says depends on the word after it

# Subject and place are denied: "a lesion was not seen in the pons".
SEEN = word_set(
    "apparent appreciated demonstrated detectable detected evident found identified noted observed "
    "obvious present seen visible visualised visualized"
)
# The subject is denied: "the pons was not affected by the lesion".
STATES = word_set(
    """
    abnormal activated affected atrophic compromised damaged engaged enhance enlarged implicated
    impaired infarcted infiltrated injured involved lesioned participate reach react recruited
    respond significant survive
    """
)
# The object is denied, and the subject if it is a place: "the pons did not show a lesion".
SHOWING = word_set("demonstrate display exhibit have reveal show")
# The object is denied, whatever it is; of other verbs only where it is a place.
HAVING = word_set(
    "compatible consistent contain detect develop experience find identify indicative observe "
    "report see suffer suggestive"
)
# Nothing is denied.
IDLE = word_set(
    """
    all alone already alter always as associated assume attributable because change changed claim
    clear conclude confined correlate correlated depend differ different due entirely established
    every examined exclude excluded exclusively explained fully intact investigated just known
    limited merely modulate modulated more necessarily necessary normal only predict preserved
    related replicate required restricted rule ruled shared simply solely spared specific studied
    sufficient surprisingly tested unaffected understood unique unlike unremarkable well yet
    """
)

# ---- phrases and clauses

CONJUNCTIONS = word_set("and or nor")
ARTICLES = word_set("a an")
DETERMINERS = ARTICLES | word_set("all any both each either her his its our the their these this")
PREPOSITIONS = word_set("among at between by during for from in into of on over to within")
INTRODUCING = PREPOSITIONS | word_set("after although before despite since while with without")
BEING = word_set(
    "appear appeared appears are be been is look looks remain remained remains seem seems was were"
)
AUXILIARIES = BEING | word_set(
    """
    being both can completely could did do does entirely fully had has have largely may might
    otherwise partially quite relatively seemed still to
    """
)
SINGULAR = word_set("appears does has is remains seems was")
FINITE = word_set(
    """
    activated appear appeared appears are became becomes can cannot caused causes contributes could
    demonstrated demonstrates depends did do does exhibited exhibits extended extends fails had has
    have impairs included includes increased involved involves is leads led may might occurred
    occurs plays predicted produces reduces remain remained remains requires responded responds
    reveal revealed reveals seem seemed seems show showed shows spared spares suggests supports
    underlies was were would
    """
)
UNDERGOING = word_set("completed performed received took underwent")  # verbs right after a comma
LINKS = AUXILIARIES | word_set(
    """
    considered contained contains deemed demonstrate demonstrated demonstrates display displayed
    displays exhibit exhibited exhibits found judged reported reveal revealed reveals show showed
    shows there thought with
    """
)
AFTER_PREDICATE = word_set("and as at bilaterally but in on with")
TESTS = word_set("angiography biopsy ct eeg imaging mr mri")  # may exclude something

# A denial ends at these.
STOPS = word_set(
    """
    account accounting after although because before but causing compared despite due during
    explain explaining explains followed he hence however if instead it nevertheless nonetheless now
    only owing relative responsible she since so suggesting than then there therefore they though
    thus unlike until versus vs we when where whereas which while who whom whose yet
    """
)
STOPS_AFTER_COMMA = word_set("compatible consistent indicating suggestive with")
# It goes on at "that" after the first of these, at "with" after the second.
EVIDENCE = word_set("evidence indication proof sign signs suggestion")
COMPANIONS = word_set("associated compatible concordant consistent contact interfere")
RESPONSES = word_set("activation activity reaction response responses sensitivity")

# Statements of science that deny no place: "no difference in", "no study has", "no change of".
COMPARING = re.compile(
    r"(?:differ|correlat|interact|modulat|predict)\w*|associations?|(?:in|de)creases?|effects?"
    r"|adaptation|asymmetr(?:y|ies)|habituation|progress|progression|reductions?|relations?|relationships?|worsening"
    r"|data|literature|reports?|research|stud(?:y|ies)"
)
BEFORE_CHANGE = word_set("any appreciable further interval no relevant significant substantial")

PEOPLE = word_set(
    """
    adolescents adults boys carriers cases children controls females girls group groups individuals
    males men participants patients people persons relatives siblings students subjects survivors
    those users veterans volunteers women youth youths
    """
)
NUMBERS = word_set(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty others
    """
)
# What is measured of a structure: "the volume of the hippocampus is normal".
QUALITIES = word_set(
    """
    appearance appearing architecture area areas body configuration contour cortex cortices density
    diameter gray grey head intensity lobe lobes looking matter metabolism morphology nuclei nucleus
    perfusion region regions sided signal size sized structure tail territory thickness volume
    volumes white
    """
)
