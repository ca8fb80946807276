"""Lexicon: the phrases that deny or leave open, and the words that tell how far they go.

Phrases are the rows of ``cues.csv`` and ``hedges.csv``, with alternatives in braces. A row has the
kind of its phrases and, for denials, whether they deny places alone or are of another language.
What a kind denies is told where it is read (`scopes`, `assertions`).
"""

import re
from itertools import product
from typing import Literal, TypeVar, get_args

from neurowhere._tools.files import shipped_table
from neurowhere.text.clinical.reading import Phrases
from neurowhere.text.words import word_set

Kind = Literal[
    "no",
    "without",
    "not",
    "verb",
    "removed",
    "adjective",
    "usual",
    "state",
    "absent",
    "vain",
    "except",
    "unseen",
    "idle",
]
Doubt = Literal["adjective", "object", "both", "either", "clause", "subject", "idle"]
AnyKind = TypeVar("AnyKind", bound=str)


def read_phrases(
    table: str, kinds: tuple[AnyKind, ...], *, is_foreign: bool = False
) -> tuple[Phrases[AnyKind], frozenset[str]]:
    """Read the phrases of a table by their kind, and those that deny places alone.

    Those of other languages are read by themselves.
    """
    phrases: dict[AnyKind, list[str]] = {kind: [] for kind in kinds}
    of_places: list[str] = []
    for row in shipped_table(__package__, table):
        if (row.get("only") == "foreign") != is_foreign:
            continue
        kind = next(kind for kind in kinds if kind == row["kind"])
        phrases[kind] += alternatives(row["words"])
        of_places += alternatives(row["words"]) if row.get("only") == "places" else []
    lists = {kind: "; ".join(some) for kind, some in phrases.items() if some}
    return Phrases(lists), frozenset(of_places)


def alternatives(words: str) -> list[str]:
    """Spell out the phrases that a row stands for.

    >>> alternatives("{free|clear} of"), alternatives("spar{ed|ing}")
    (['free of', 'clear of'], ['spared', 'sparing'])
    """
    parts = [part.split("|") for part in re.split(r"[{}]", words)]
    return [" ".join("".join(choice).split()) for choice in product(*parts)]


CUES, OF_PLACES_ONLY = read_phrases("cues.csv", get_args(Kind))
FOREIGN_CUES, _ = read_phrases("cues.csv", get_args(Kind), is_foreign=True)
# What a hedge doubts: what follows or else the subject ("adjective"), what follows ("object"), both
# of them, the places between "either" and "or", a clause, or the subject.
HEDGES, _ = read_phrases("hedges.csv", get_args(Doubt))

NOT = word_set("cannot hardly neither never nobody none nor not rarely seldom t")
# Phrases that deny the cue that follows them.
NEVER = Phrases(
    {"not": "no one; no means; far from; anything but; nothing but; less than; rather than"}
)
# "rather than", "as opposed to": never exceptions to a denial, and of one phrase only.
RATHER = word_set("as instead lieu place rather")
UNLIKE = word_set("in unlike")  # "unlike", "in contrast to": what is so of the rest is not so here
EXCLUDING = word_set("exclude excluded excludes excluding exclusion out")  # if denied, a hedge
# Findings of which little is left are still there: "has only partly resolved".
PARTLY = word_set(
    "almost ameliorated gradually incomplete incompletely largely less mostly near nearly only "
    "part partial partially partly slowly some somewhat"
)

# ---- what "not" says depends on the word after it

# Subject and place are denied: "a lesion was not seen in the pons".
SEEN = word_set(
    """
    apparent appreciable appreciated borne confirmed corroborated demonstrable demonstrated
    detectable detected discernible documented encountered evident found identifiable identified
    imaged noted observed obvious present replicated reproduced seen substantiated supported
    verified visible visualised visualized
    """
)
# What reports call normal beside a lesion: "left caudate lacune ventricles normal".
BESIDES = word_set(
    """
    aca arteries artery basilar bones calvaria calvarium carotid carotids cistern cisterns globes
    ica mastoids mca orbits pca remainder remaining rest sella sinus sinuses skull sulci ventricle
    ventricles ventricular vertebral vertebrals vessel vessels
    """
)
OCCURRING = word_set("appeared arose developed occurred occurs was were")
CANNOT = word_set("cannot impossible unable")
# The subject is denied, whatever it is: "aphasia was not significant".
STATES = word_set(
    """
    abnormal activated affected atrophic compromised damaged engaged enhance enlarged impaired
    implicated infarcted infiltrated injured involved lesioned participate reach react recruited
    respond significant survive
    """
)
# The subject is denied where the object is a lesion: "this signal does not represent a lesion".
REPRESENTING = word_set("amount constitute correspond denote mean represent signify")
REAL = word_set("abnormal anything disease genuine pathologic pathological pathology real true")
# Seen before or not, it is there now: "not seen on the prior study".
BEFORE = word_set("comparison earlier former initial last older preceding previous prior")
# The object is denied, and the subject if it is a place: "the pons did not show a lesion".
SHOWING = word_set("demonstrate display exhibit harbor harbour have reveal show")
# The object is denied, whatever it is; of other verbs only where it is a place.
HAVING = word_set(
    "compatible consistent contain detect develop experience find identify indicative observe "
    "replicate report see suffer suggestive"
)
# Places are denied, before and after: "amygdala volume did not correlate with that of the insula".
RELATING = word_set(
    """
    activate alter associated change contribute correlate correlated covary deactivate decrease
    differ different differentiate discriminate distinguish exceed fire increase interact linked
    predict predicted predictive relate related track vary
    """
)
RELATING_TO = word_set("across between both from of to two")  # last words of such states
FALSE = word_set("false incorrect mistaken unfounded untenable wrong")  # cancel what they deny
# The object is denied if it is a place: "does not depend on the hippocampus".
NEEDING = word_set("depend need rely require")
# All that follows is denied: "I do not think that the pons is affected".
OPINIONS = word_set("believe feel suppose suspect think")
# The subject is denied: "this is no longer thought to be so".
HELD = word_set("believed credible held suspected tenable thought")
# The subject is left out, with the people who have it: "patients with neglect were not enrolled".
OMITTED = word_set(
    "acquired admitted analysed analyzed covered eligible enrolled included sampled scanned"
)
# Nothing is denied.
IDLE = word_set(
    """
    abate absolute adapt addressed all allow alone already always analysable answer as ascertained
    assessed assume attenuate attributable available aware based because belong categorically
    certain claim clear collected commented conclude confined confounded confuse confused considered
    controlled convinced corrected decay decided decline defined definitive delivered deny described
    designed determined diminish disappear discussed distinguished doubt doubted due easy employed
    enough entirely equally escape establish established evaluated evenly every exactly examined
    exclude excluded exclusive exclusively explained explore explored extinguish fade feasible fully
    generalize guarantee habituate ideal identical ignore ignored imply improve informed intact
    intended interpreted investigate investigated isolated judged just known limited manipulated
    matched mean measured mentioned mere merely miss missed modeled modelled more necessarily new
    normal normalise normalize only optimal overlap overlook overlooked overstate overstated
    performed permit possible preclude presented preserved primarily provided quantified recorded
    recover regress remit representative resolve resolved restricted rule ruled separated shared
    shrink simply sole solely spared specific straightforward studied subside sufficient sure
    surprising surprisingly targeted tested told trained treated unaffected uncommon understood
    unexpected unexpectedly uniform uniformly unique unlike unremarkable unusual used useful vanish
    visited wane well
    """
)
# After "not … until" or "not … alone" what is said holds all the same.
HOLDING = word_set("until unless alone solely exclusively")

# ---- phrases and clauses

CONJUNCTIONS = word_set("and or nor")
ARTICLES = word_set("a an")
INDEFINITE = ARTICLES | {"any"}
DETERMINERS = ARTICLES | word_set(
    "all any both each either her his its my our the their these this your"
)
PREPOSITIONS = word_set("among at between by during for from in into of on over to within")
INTRODUCING = PREPOSITIONS | word_set(
    "after although before despite if since whether while with without"
)
BEING = word_set(
    """
    appear appeared appears are be been is look looked looks remain remained remains seem seemed
    seems stay stayed was were
    """
)
AUXILIARIES = BEING | word_set(
    """
    being both can completely could did do does entirely fully had has have largely may might must
    otherwise partially quite relatively should still to will would
    """
)
# Adverbs that do not end in -ly.
ADVERBS = word_set(
    "again all also best both ever however later likewise nevertheless nonetheless now once "
    "otherwise quite rather since soon still then therefore thus too very"
)
SINGULAR = word_set("appears does has is remains seems was")
FINITE = word_set(
    """
    activated appear appeared appears are became becomes can cannot caused causes contributes could
    demonstrated demonstrates depends did do does engaged exhibited exhibits extended extends fails
    had has have impairs included includes increased involved involves is leads led looked looks may
    might occurred occurs plays predicted produces proved proves reduces reflects remain remained
    remains requires responded responds reveal revealed reveals seem seemed seems should show showed
    shows spared spares suggests supports survived survives underlies was were will would
    """
)
UNDERGOING = word_set("completed performed received took underwent")  # verbs right after a comma
LINKS = AUXILIARIES | word_set(
    """
    bear bears bore carried carries carry considered contained contains contributed contributes
    deemed demonstrate demonstrated demonstrates display displayed displays exhibit exhibited
    exhibits found interpreted judged left made out play played plays proved proven regarded
    reported reveal revealed reveals show showed shows there thought treated turned viewed with
    yield yielded yields
    """
)
# Verbs before "as": "should be regarded as tentative".
REGARDED = word_set(
    "classed classified considered dismissed described graded interpreted labelled labeled rated "
    "read regarded reported scored seen taken treated viewed"
)
# Pasts that do not end in -ed and begin a predicate after "and".
PASTS = word_set("became began begun fell grew grown risen rose shrank shrunk shrunken spread")
AFTER_PREDICATE = word_set(
    "across among and as at between bilaterally but by despite during following in irrespective on "
    "over regardless since throughout with within without"
)
TESTS = word_set(
    "angiography biopsy ct eeg examination imaging mr mri scan study"
)  # may exclude something
NOUNS = word_set("arousal removal retrieval withdrawal")  # that end like adjectives
PRONOUNS = word_set("it this these they that both neither none")
OPENING = word_set("how if that to what when where whether which why")  # after "it is unclear"
INCLUDING = word_set("especially including incl ie namely notably particularly specifically such")

# A denial ends at these.
STOPS = word_set(
    """
    account accounting accounts after although because before besides beyond but causing compared
    despite due during elsewhere explain explaining explains followed he hence however if instead it
    nevertheless nonetheless now only owing relative responsible she since so suggesting
    than then there therefore they though thus unlike until versus vs we when where whereas whether
    which while whilst who whom whose yet
    """
)
TURNS = word_set(
    "after although because before but if once since though unless until when where whereas which "
    "while whilst who"
)  # the stops before a clause
STOPS_AFTER_COMMA = word_set("compatible consistent indicating leaving suggestive with")
# It goes on at "that" after the first of these, at "with" after the second.
EVIDENCE = word_set(
    "demonstrate evidence implies imply indicate indicates indication proof show shows sign signs "
    "suggest suggested suggestion suggests support"
)
# What is looked for, rather than said of a lesion that is there: "no trace of the glioma".
TRACES = EVIDENCE | word_set("appearance recurrence remnant residue residuum return trace")
COMPANIONS = word_set(
    "amiss associated compatible concordant consistent contact interfere problem problems wrong"
)
RESPONSES = word_set("activation activity reaction response responses sensitivity")
# These are there if they are normal; normal activity may be that of an EEG or a PET.
RESPONDING = word_set(
    "activation activations deactivation engagement reactivity recruitment response responses"
)
# An item of a list that begins with one of these is said to be there: "no bleed, mild atrophy".
AFFIRMING = word_set(
    """
    chronic dense extensive known marked mild minor moderate old persistent persisting possible
    above abundant frequent numerous pos positive present probable prominent severe stable subtle
    suspected unchanged widespread
    """
)

# A result that is null denies places and nothing else: "no difference in the insula".
NULL = re.compile(
    r"(?:differ|correlat|interact|modulat|predict)\w*|associations?|(?:in|de)creases?|effects?"
    r"|asymmetr(?:y|ies)|bearing|consequences?|contributions?|impact|influences?|preferences?"
    r"|reductions?|relations?|relationships?"
)
# No change of what is there, and no study of it, deny nothing.
CHANGE = re.compile(r"adaptation|deterioration|growth|habituation|progress|progression|worsening")
STUDY = re.compile(r"data|literature|reports?|research|stud(?:y|ies)")
BEFORE_CHANGE = word_set("further interval")

PEOPLE = word_set(
    """
    adolescents adults animals athletes boys carriers cases children controls drinkers females
    girls group groups individuals infants inpatients listeners males men mice monkeys
    musicians neonates newborns outpatients parents participant participants patients people
    persons rats readers refugees relatives siblings smokers soldiers speakers students
    subjects survivors teenagers those twins users veterans volunteers women youth youths
    """
)
NUMBERS = word_set(
    """
    eight eighteen eleven fifteen fifty five forty four fourteen nine nineteen one others seven
    seventeen six sixteen ten thirteen thirty three twelve twenty two
    """
)
# What is left out of an analysis, and from where.
DATA = PEOPLE | word_set(
    "areas channels clusters components data datasets electrodes images regions rois runs scans "
    "signal signals trials voxels"
)
ANALYSES = word_set(
    "analyses analysis average comparison dataset mask model models sample statistics study"
)
# What remains of a list: "only the latter survived correction".
ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "latter": -1, "last": -1}
SURVIVING = word_set("held persisted reached remained significant survived withstood")
INTO = word_set("into to toward towards")  # another place follows
UNREAL = word_set("had if were")  # may begin what is contrary to fact
ANSWERS = word_set("no none nil nothing zero")  # may stand alone after a name
AFTER_STATE = word_set("after for from when")
# What is measured of a structure: "the volume of the hippocampus is normal".
MEASURES = word_set(
    """
    appearance appearances architecture attenuation binding bulk caliber calibre color colour
    configuration contour cytoarchitecture density diameter differentiation diffusion enhancement
    flow intensity lamination metabolism morphology myelination number numbers outline perfusion
    pigment pigmentation position shape signal size sizes symmetry thickness uptake volume volumes
    weight
    """
)
QUALITIES = MEASURES | word_set(
    """
    appearing area areas body cortex cortices gray grey head internal lobe lobes looking matter
    nuclei nucleus region regions sided sized structure structures tail territory tracer white
    """
)
# What a structure is examined by: "sections of the pons show no plaques".
EXAMINED = word_set(
    """
    biopsies biopsy contacts electrode electrodes examination frozen histology inspection mapping
    recording recordings sample samples sampling section sections slices specimen specimens
    stimulation
    """
)
OF_PLACES = RESPONSES | EXAMINED
# Edges of what was resected, and what they may be free of: "frontal margin: no tumor".
MARGINS = word_set("margin margins")
TUMORS = word_set("cancer disease glioma malignancy neoplasm neoplastic tumor tumour")
UNITS = word_set("centile cm cm3 grade ml mm mm3 percentile score suv suvr")
# What such an examination does: "stimulation of the pons evoked no movement".
YIELDING = word_set(
    "caused disclosed elicited evoked gave induced produced provoked revealed showed yielded"
)
SEEKING = word_set(
    "checked expected hypothesised hypothesized inspected looked looking predicted reported "
    "searched searching sought"
)
SUPPOSED = word_set(
    """
    assumed believed considered expected feared localise localised localize localized pointed
    points question queried suggested suggests suspected suspicion thought worried
    """
)
# What asks for something that the next clause or sentence may refute.
SUSPECTING = word_set(
    """
    asked believed feared looked presumed question queried query searched sought suspect suspected
    suspects suspicion thought wondered whether worried
    """
)
SHOWED = word_set("demonstrated disclosed found reveals revealed showed shows")
EXAMS = word_set(
    "angiogram biopsy ct cta dwi eeg examination flair gre imaging mr mra mri pet scan scans swi"
)
# What is said of an effect, and not of its place: "the effect in the pons was unaffected".
EFFECT = word_set(
    "association associations correlation correlations effect effects finding relation "
    "relationship relationships result"
)
# Verbs that tell what causes something, whose denial is none of the cause.
EXPLAINING = word_set(
    "account accounted accounts cause caused causes causing driven drove explain explained "
    "explains relevant responsible"
)
UNLIKELY = word_set("implausible improbable unlikely")
UNAFFECTED = word_set("intact maintained preserved unaffected unaltered unimpaired")
# What is put somewhere, and how that is said: "the lead is well placed in the pons".
DEVICES = word_set(
    """
    cannula catheter catheters clip clips coil coils contact contacts drain electrode electrodes
    lead leads needle needles probe probes shunt shunts stent stents tip tips wire wires
    """
)
PLACED = word_set(
    "aligned excellent good perfect place placed position positioned satisfactory sited situated"
)
FORMED = word_set("clearly crisply normally sharply well")
GONE = word_set(
    "ceased cleared disappeared evaporated gone healed recovered resolved stopped subsided vanished"
)
GOING = word_set("disappearance resolution")
# Words of an attack, and signs that are of their place even if they are gone with it.
ATTACK = word_set(
    """
    attack attacks brief briefly episode episodes h hour hours hr hrs min mins minute minutes
    seconds spell spells spontaneously tia tias transient transiently
    """
)
DEFICIT = re.compile(
    r"(?:hemi|mono|quadri|para|tetra)?(?:pares[ei]s|plegi)|[a-z]*anop[is]|(?:a|dys)(?:phasi|lexi)"
    r"|(?:dys|an)arthri|a(?:gnosi|graphi|mnesi|praxi|taxi)|neglect|numb|weak|droop|drift|diplopi"
    r"|vertigo|pals(?:y|ies)|paralys|hemisensory|hemia?na?esthesi|para?esthesi|tingling|dysmetri"
    r"|ptosis|nystagm|dysphagi|extinction"
)
# What became normal was not so; it is gone if it is so now: "has normalised", "is back to normal".
NORMALISED = word_set("back normalised normalized restored returned reverted")
PRESENT = word_set("are has have is now")
STAYING = word_set("persist persisted persists remain remained remains stay stayed stays")
WOULD = word_set("could might would")
SINGLING = word_set("instead only")
SAYING = BEING | word_set("represent represented represents reflect reflected reflects")
THESE = word_set("these them those which")
ABOLISHING = word_set("abolished eliminated erased nullified removed")
ARTEFACTS = word_set("artefact artefacts artifact artifacts pseudolesion voluming")
MAYBE = word_set(
    "could favored favoured likely may maybe might perhaps possible possibly presumably probable "
    "probably"
)
DOUBTING = NOT | MAYBE | {"unlikely"}
DUE = word_set("attributable attributed due secondary")
# What stands between a place and the one that it is corrected to, by the words before the first.
_SHOULD_BE = "{should|ought to} {be|have been} "
_IN_FACT = "{is|was} {in fact|actually|really} "
CORRECTING = Phrases(
    {
        "for": "read",  # "for 'left pons' read 'right pons'"
        # "should be left caudate", also if another side stood before: the side is part of it
        "": "; ".join(["should read", *alternatives(_SHOULD_BE + "{|in }{|the }{left|right}")]),
        "as called in of within": "; ".join(
            alternatives(_IN_FACT + "{|located |situated |centred |centered }{in|within}")
            + alternatives("{actually|really} {lies|lay} {in|within}")
        ),
        "as called": "; ".join(alternatives(_IN_FACT + "{|a |an |the }")),
        "thought": "; ".join(alternatives("{is|was} {|located |situated |found }{in|within}")),
    }
)
# What a place is said to be before it is corrected, and that it is said in error.
PRESUMED = word_set("assumed believed presumed supposed thought")
WRONGLY = word_set("erroneously incorrectly mistakenly wrongly")
STATED = word_set(
    """
    attributed called describe described describes gave gives labeled labelled listed localised
    localized located named placed read reads recorded report reported reports said says state
    stated states
    """
)
# What may stand between a structure and its quality: "is symmetric, with normal signal".
OWNING = word_set(
    """
    contains display displayed displays exhibit exhibited exhibits gave give gives has have keep
    keeps kept maintain maintained maintains measure measured measures of possess possesses record
    recorded records retain retained retains return returned returns symmetric symmetrical with
    yield yielded yields
    """
)
LISTING = word_set(
    "areas at below following in involving of on regions sites structures within"
)  # a colon and a list follow
# What tells that something is wrong, done or seen, by how it begins or ends.
FINDING = re.compile(
    r"(?:hyper|hypo|dys|mal|micro)[a-z]{5,}|[a-z]+(?:oma|omata|omas|itis|osis|ectomy|otomy)$"
    r"|(?:abnorm|abscess|activ|ablat|alter|atroph|bleed|cavit|calcif|chang|compress|contus|cyst"
    r"|damag|deactiv|decreas|defect|deficit|degener|demyel|deterior|differ|dilat|disconn|displac"
    r"|disord|disrupt|dysfunc|edema|oedema|effac|elevat|encephal|engag|enhanc|enlarg|expan|gliosis"
    r"|ha?emorrh|ha?emat|impair|implant|improv|increas|infarct|infiltrat|inflam|injur|invad|invas"
    r"|isch|lacun|lesion|loss|lower|modul|necro|patholog|plaque|recruit|reduc|remov|resect|rupt"
    r"|scar|shrink|shrunk|smaller|larger|stroke|surg|swell|swoll|thicken|thinn|tumou?r|weak|widen)"
)
# What is wrong where a scan may be normal: "left insular epilepsy, MRI negative".
EPILEPTIC = re.compile(
    r"discharg|epilep|ictal|seiz|slowing|spik|(?:onset|origin|waves?|m?tle|[fop]le)$"
)
WHERE = word_set(
    "across along around at beneath for from in near of on over through throughout under within"
)
# What is normal of a place: "normal MRI of the pons".
MEASURED = (MEASURES | EXAMS | RESPONSES) | word_set(
    "appearances course findings function pattern ratio ratios readings recordings study"
)
ALIKE = word_set(
    "alike comparable equal equally equivalent identical indistinguishable matched similar the well"
)
LOSING = word_set("absence disruption effacement lack loss obliteration reduction")
EVEN = word_set("equal homogeneous ordinary symmetric symmetrical")  # say that all is well
# What is wrong with what is even: "symmetric restricted diffusion".
INVOLVING = word_set("affecting in into involving of within")  # before where a lesion is
DEVIATING = word_set(
    "bright dark deficient diminished faint high intense low poor restricted restriction"
)
ENHANCING = word_set("choroid dura falx infundibulum pituitary plexus sinus sinuses stalk")
LIKEWISE = word_set("as likewise neither nor similarly so")
SAME = word_set("ditto likewise same similarly so")  # what is so was said before
SAYING_SAME = (SAME | BEING) | word_set(
    "also applied applies can did do does for goes held hold holds said to too true went with"
)
THERE = word_set("here there thereof")  # stand for a place
SCORED = word_set("rating score sign signs")  # "parietal signs 0"
GRADED = word_set("at graded in is motor of power strength was")  # beside a strength of 5/5
UNSURE = PEOPLE | (DOUBTING - NOT)
FAILING = word_set("fail failed failing fails")
# What a diagnosis is called that may be dropped.
INVOLVING = word_set("affecting in into involving of within")  # before where a lesion is
THOUGHTS = word_set(
    "claim diagnosis hypothesis idea impression label notion possibility suspicion theory"
)
# What begins a phrase that is set against the rest: "unlike the caudate, the putamen …".
AGAINST = word_set(
    "after although apart aside barring before besides beyond compared contrary despite except "
    "following other relative save unlike whereas while"
)
CONTRAST = word_set("addition comparison contrast")  # after "in": the same
ALTHOUGH = word_set("albeit although but though yet")  # may begin a predicate without a subject
LATER = word_set("previous previously prior since")
RELATIVES = word_set("that which who")
TESTED = word_set("clean good neg negative satisfactory")  # "negative study of the pons"
PHYSIOLOGIC = word_set("physiologic physiological")
LACKING = word_set("lacked lacks neg negative")  # are said of a place that has none
BARE = word_set("bereft clear devoid free void without")  # the same after a place: "pons without"
REQUIRED = word_set(
    "critical crucial essential important indispensable necessary needed required vital"
)
SHOWN = word_set("demonstrated displayed exhibited harbored harboured revealed shown")
ANY = word_set("any anything anywhere either")
# What a subject is made of that takes up another: "both", "all of these areas".
RESUMING = PRONOUNS | word_set(
    """
    all areas area each four lobe lobes nuclei nucleus of part parts region regions site sites
    structure structures such the them three those two
    """
)
MORE = word_set("additional additionally also further moreover")  # after "apart from"

# ---- hedges

# What is likely, though not certain, to be the cause.
CAUSES = Phrases(
    {
        "cause": """
            due to; secondary to; related to; attributable to; caused by; because of; owing to; a
            result of; the result of; a consequence of; the consequence of; explained by; owed to;
            attributed to
        """
    }
)
SAID_OF = word_set("a maybe perhaps")  # "showed a trend", "is perhaps small"
ABLE = word_set("he i one patient she they we who you") | word_set("participants patients subjects")
LOOKING = word_set(
    "assessment delineation depiction evaluation interpretation view visualisation visualization"
)
# What two diagnoses are called, between which a text does not decide: "artefact vs. lesion".
DIAGNOSES = word_set(
    """
    artefact artifact demyelination disease dysplasia encephalitis gliosis ischemic necrosis
    neoplasm partial progression pseudoprogression recurrence seizure
    """
)
# Sides as they are typed wrongly, in forms that are no words of their own.
_TYPED = """
right: rigth rihgt rght irght rigt rright rightt
left: lefft letf leftt lfet elft lleft
bilateral: bilatral bilaterl bilateal billateral bilaterial bilataral bilteral biltaeral
bilaterally: bilateraly bilatrally billaterally bilaterly
"""
MISSPELT_SIDES = {
    wrong: side
    for side, forms in (line.split(":") for line in _TYPED.split("\n") if line)
    for wrong in forms.split()
}
