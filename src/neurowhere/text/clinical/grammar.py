"""Grammar: the words by which a text denies something, those that tell how far, and their kinds."""

import re
from collections.abc import Iterable
from typing import Literal

from neurowhere.text.clinical.places import ADJECTIVE, LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Phrases, Reading
from neurowhere.text.words import fold, word_set

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
    "idle",
]

CUES: Phrases[Kind] = Phrases(
    {
        # deny what follows, also as the subject of a clause: "no lesion was seen"
        "no": """
            no; none; nil; zero; nowhere; nothing; nothing wrong; nothing amiss; neither; nor;
            hardly any; scarcely any; barely any; hardly a; scarcely a; little or no; few or no;
            little to suggest; little to support; little to indicate; not so the; not so in; not so
            for
        """,
        # deny their object
        "without": """
            without; w o; absence of; lack; lack of; lacks; lacked; lacking; free of; free from;
            clear of; devoid of; denies; denied; denying; deny; rule out; rules out; ruling out;
            exclude; excludes; excluding; exclusion of; negative for; neg for; spares; spare;
            sparing of; preservation of; excluded if they had; excluded because of; excluded for;
            excluded due to; instead of; in place of; in lieu of; argues against; argue against;
            argued against; arguing against; speaks against; spoke against; evidence against;
            militates against; counts against; points against; tells against; weighs against;
            is against; was against; are against; inconsistent with; incompatible with;
            null result in; null results in; null finding in; null findings in;
            negative findings in; kept out of; stayed out of; disproves; refutes; avoids; avoiding;
            respects; respecting; bypasses; bypassing; short of; away from; distant from;
            remote from; separate from; separated from; resolution of; disappearance of;
            normalization of; normalisation of; clearance of; resorption of; the null for;
            missed the; stopped before; stops before; stopping before; ended before; ends before;
            the null in; the null hypothesis for; the null hypothesis in
        """,
        # deny by the word that follows
        "not": """
            not; cannot; never; fail to; fails to; failed to; failing to; failure to; unable to;
            inability to; hardly; scarcely; aren t; can t; couldn t; didn t; doesn t; don t; hadn t;
            hasn t; haven t; isn t; wasn t; weren t; won t; wouldn t; wrong to; incorrect to;
            mistaken to
        """,
        # deny their object, or the subject where none follows: "spared the pons", "pons spared"
        "verb": """
            spared; sparing; excluded; ruled out; avoided; respected; discarded; omitted;
            masked out; left out; bypassed; skirted; circumvented
        """,
        # deny the subject where data are left out: "voxels in the pons were removed"
        "removed": "removed; dropped; eliminated",
        # deny the structure that they qualify, or the subject: "normal pons", "the pons is normal"
        "adjective": """
            normal; unremarkable; intact; preserved; maintained; unaffected; uninvolved; undamaged;
            unimpaired; untouched; unlesioned; nonlesioned; non lesioned; within normal limits; wnl;
            within the normal range; within normal range; within the reference range;
            within reference range; within reference limits; in the normal range;
            in the reference range; age appropriate; appropriate for age; as expected for age;
            unlikely; improbable; implausible
        """,
        # like them before something that is measured: "of the usual size", "the expected number"
        "usual": "expected; usual; ordinary; equal; identical; appropriate",
        # deny the subject: "the pons is clear", "the lesion has resolved", "this was wrong"
        "state": """
            clear; clean; null; dispensable; fine; ok; okay; good; healthy; nad; neg; negative;
            undisturbed; unharmed; uninjured; unscathed; unchanged from baseline; inactive; silent;
            quiescent; symmetric; symmetrical; inconspicuous; nonsignificant; non significant;
            insignificant; undetectable; unresponsive; indistinguishable; comparable between;
            comparable across; comparable to; similar between; similar across; equivalent between;
            equivalent across; equal in both; equal between; equal across; equal in the two;
            identical in both; identical in the two; identical between; identical across;
            similar in both; similar in the two; comparable in both; comparable in the two;
            the same in both; the same in the two; the same across; the same between; alike in both;
            normally formed; normally developed; normally positioned; normally placed;
            normally situated; normally sited; normally myelinated; normally perfused;
            normally pigmented; normally aerated; normally aligned; normally folded;
            normally populated; normally configured; normally shaped; normally sized;
            normally represented; well formed; well developed; well defined; well delineated;
            well differentiated; well populated; well pigmented; well myelinated; well maintained;
            clearly defined; sharply defined; crisply defined; clearly delineated;
            clearly demarcated; uneventful; innocent; blameless; uncompromised; uninfiltrated;
            outside the field of view; outside the scanned volume; outside the imaging volume;
            out of the field of view; escaped; escaped injury; escaped damage; escaped involvement;
            escaped infarction; escaped unscathed; short of significance;
            short of statistical significance; only before correction; only without correction;
            unrelated to; independent of; unresponsive to; insensitive to; indistinguishable from;
            abandoned; withdrawn; reabsorbed; resorbed; resolved; cleared; disappeared; vanished;
            recovered; subsided; remitted; abated; gone; settled; ceased; stopped; nonexistent;
            non existent; patent; unaltered; normalised; normalized; returned to normal;
            returned to baseline; back to normal; incorrect; wrong; false; mistaken; erroneous;
            unfounded; untenable; disproved; disproven; refuted; retracted; discounted; dismissed;
            rejected; spurious; artefactual; artifactual; an artefact; an artifact; a misdiagnosis;
            a misreading; in error; a false positive; at chance; ns; n s; a mistake; a misnomer;
            a normal variant; an anatomical variant; an overcall; a pseudolesion; beyond the scan;
            beyond the field of view; abolished; eradicated; evaporated; gone away; faded away;
            melted away; left alone; left unharmed; gone down; died down; settled down; healed;
            been revised; been overturned; overturned; superseded; no longer stands;
            no longer holds; no longer tenable; no longer applies; no better than chance;
            no different from chance; no higher than chance; at chance level; at chance levels;
            equally active in both; equally active across; equally strong in both;
            equally strong across; equally engaged in both; cut off; out of coverage;
            barely responded; barely reacted; remained at baseline; stayed at baseline;
            remained at baseline levels; lost after correction; lost when; lost once
        """,
        # deny what is absent, and where: "activity was absent in the insula"
        "absent": """
            absent; lacking in; is lacking; was lacking; are lacking; were lacking; no longer;
            in none; in no; in 0 of
        """,
        # deny what was looked for: "plaques were sought in the pons, in vain"
        "vain": """
            in vain; to no avail; without success; unsuccessfully; without result; found none;
            found nothing; saw none; saw nothing; detected none; observed none; met with none;
            none was found; none were found; none was seen; none were seen; none found; none seen;
            none was detected; none were detected; none was there; there was none; there were none;
            there is none; there are none; came up empty; drew a blank
        """,
        # deny structures, unless they are exceptions to another denial
        "except": """
            except; excepting; except for; apart from; aside from; other than; save for; save that;
            save in; save the; bar a; bar an; bar the; barring; but for; exception of; exclusive of;
            outside; outside of; rather than; as opposed to; all but; everything but; everywhere but
        """,
        # look like cues and are none
        "idle": """
            no doubt; no question; no fewer; no less; no matter; no more; no one; no sooner; no
            wonder; no surprise; no coincidence; no exception; no small; no go; no think; no
            previous; no published; no consensus; no denying; no other than; none other than;
            nothing but; nothing other than; nothing short of; no way; no means; in no way; with and
            without; with or without; with without; not without; without doubt; without question;
            without exception; without fail; whether or not; or not; if not; why not; not least; not
            to mention; not unlike; not uncommonly; not infrequently; not uncommon; not infrequent;
            not the only; cannot be denied; cannot be overlooked; cannot be ignored; cannot be
            overstated; not be denied; not be overlooked; not be ignored; not be overstated; not
            negligible; not trivial; not insignificant; not inconsiderable; if any; few if any; not
            in isolation; without delay; without complication; without complications; without
            difficulty; without incident; without hesitation; without warning; without contrast;
            without gadolinium; without sedation; without help; without prompting; without further;
            without prejudice; no reason to doubt; no reason to question; no cause to doubt; no
            grounds to doubt; no need to doubt; no hesitation; no difficulty in; no longer in doubt;
            lacked power; lack of power; lacked the power; lack of statistical power; no accident;
            no stranger; no secret; no less than; not previously; never previously; not formerly;
            not hitherto; not heretofore; not originally; not initially; never before
        """,
    }
)
NOT = word_set("cannot hardly neither never nobody none nor not rarely seldom t")
# Phrases that deny the cue that follows them.
NEVER = Phrases(
    {"not": "no one; no means; far from; anything but; nothing but; less than; rather than"}
)
# "rather than", "as opposed to": never exceptions to a denial, and of one phrase only.
RATHER = word_set("as instead lieu place rather")
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
# The subject is left out, with the people who have it: "patients with neglect were not enrolled".
OMITTED = word_set("acquired analysed analyzed covered enrolled included sampled scanned")
# Nothing is denied.
IDLE = word_set(
    """
    absolute all alone already always answer as assessed assume attributable because categorically
    certain claim clear conclude confined confuse confused convinced definitive deny doubt doubted
    due entirely equally escape establish established evaluated evenly every exactly examined
    exclude excluded exclusive exclusively explained explored fully identical ignore ignored imply
    intact investigated isolated just known limited mean mere merely miss missed modulated more
    necessarily necessary new normal only overlook overlooked overstate overstated preserved
    primarily required resolved restricted rule ruled shared simply sole solely spared specific
    studied sufficient sure surprising surprisingly tested unaffected uncommon understood unexpected
    unexpectedly uniform uniformly unique unlike unremarkable unusual well
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
    "all also best both ever later once otherwise quite rather since soon still then very"
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
    exhibits found interpreted judged left out play played plays proved proven regarded reported
    reveal revealed reveals show showed shows there thought treated turned viewed with yield yielded
    yields
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
    "and as at bilaterally but by following in on over since throughout with within"
)
TESTS = word_set("angiography biopsy ct eeg imaging mr mri")  # may exclude something
NOUNS = word_set("arousal removal retrieval withdrawal")  # that end like adjectives
PRONOUNS = word_set("it this these they that both neither none")
OPENING = word_set("how if that to what when where whether which why")  # after "it is unclear"
INCLUDING = word_set("especially including incl ie namely notably particularly specifically such")

# A denial ends at these.
STOPS = word_set(
    """
    account accounting accounts after although because before besides beyond but causing compared
    despite due during elsewhere explain explaining explains followed he hence however if instead it
    nevertheless nonetheless now only outside owing relative responsible she since so suggesting
    than then there therefore they though thus unlike until versus vs we when where whereas whether
    which while who whom whose yet
    """
)
TURNS = word_set("although because but whereas which while who")  # the stops before a clause
STOPS_AFTER_COMMA = word_set("compatible consistent indicating leaving suggestive with")
# It goes on at "that" after the first of these, at "with" after the second.
EVIDENCE = word_set(
    "demonstrate evidence imply indicate indication proof show sign signs suggest suggestion "
    "support"
)
# What is looked for, rather than said of a lesion that is there: "no trace of the glioma".
TRACES = EVIDENCE | word_set("appearance recurrence remnant residue residuum return trace")
COMPANIONS = word_set(
    "amiss associated compatible concordant consistent contact interfere problem problems wrong"
)
RESPONSES = word_set("activation activity reaction response responses sensitivity")
# An item of a list that begins with one of these is said to be there: "no bleed, mild atrophy".
AFFIRMING = word_set(
    """
    chronic dense extensive known marked mild minor moderate old persistent persisting possible
    above abundant frequent numerous positive present probable prominent severe stable subtle
    suspected unchanged widespread
    """
)

# A result that is null denies places and nothing else: "no difference in the insula".
NULL = re.compile(
    r"(?:differ|correlat|interact|modulat|predict)\w*|associations?|(?:in|de)creases?|effects?"
    r"|asymmetr(?:y|ies)|reductions?|relations?|relationships?"
)
# No change of what is there, and no study of it, deny nothing.
CHANGE = re.compile(r"adaptation|deterioration|growth|habituation|progress|progression|worsening")
STUDY = re.compile(r"data|literature|reports?|research|stud(?:y|ies)")
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
ANSWERS = word_set("no none nil zero")  # may stand alone after a name
AFTER_STATE = word_set("after for from when")
# What is measured of a structure: "the volume of the hippocampus is normal".
MEASURES = word_set(
    """
    appearance appearances architecture attenuation binding bulk caliber calibre color colour
    configuration contour cytoarchitecture density diameter differentiation diffusion enhancement
    flow intensity lamination metabolism morphology myelination number numbers outline perfusion
    pigmentation position shape signal size sizes symmetry thickness uptake volume volumes weight
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
EXAMS = word_set("angiogram biopsy ct eeg examination imaging mr mri pet scan scans")
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
UNAFFECTED = word_set("intact maintained preserved unaffected unaltered")
FORMED = word_set("clearly crisply normally sharply well")
GONE = word_set("cleared disappeared evaporated gone resolved vanished")
WOULD = word_set("could might would")
SINGLING = word_set("instead only")
SAYING = BEING | word_set("represent represented represents reflect reflected reflects")
THESE = word_set("these them those which")
ABOLISHING = word_set("abolished")
ARTEFACTS = word_set("artefact artefacts artifact artifacts pseudolesion voluming")
DOUBTING = word_set("could may might possibly probably unlikely") | NOT
DUE = word_set("attributable attributed due secondary")
# Words that may deny something and are no cues.
WITHOUT_CUE = UNREAL | SINGLING | ARTEFACTS | {"0"}
# What may stand between a structure and its quality: "is symmetric, with normal signal".
NEUTRAL = word_set(
    "has keep keeps maintain maintained maintains of retain retained retains symmetric symmetrical "
    "with"
)


# ---- kinds of words

LONGEST_PHRASE = 10  # tokens of a phrase
LONGEST_SENTENCE = 100  # tokens that are looked at before and after a token


class Grammar:
    """Tells the verbs, phrases and sentences of a reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tokens, self.token, self.gap = reading.tokens, reading.token, reading.gap
        self.begins, self.finishes = reading.begins, reading.finishes
        self.is_sentence_end = reading.is_sentence_end

    def names(self, tokens: Iterable[int]) -> list[int]:
        """Return the matches that begin at some tokens."""
        return [number for j in tokens for number in self.reading.beginning.get(j, ())]

    def is_phrase(self, j: int) -> bool:
        """Whether a noun phrase begins at token j, with nothing before it."""
        if j >= len(self.tokens) or self.ends_clause(j) or self.tokens[j] == "bilaterally":
            return False
        return j in self.begins or self.is_modifier(j) or self.tokens[j] in QUALITIES

    def is_predicate(self, first: int, last: int) -> bool:
        """Whether the words between two tokens, both included, say something of a subject."""
        j = last + 1
        if self.is_phrase(j) or (self.token(j) in ("by", "to") and self.token(j + 1) not in TESTS):
            return False
        return self.follows_verb(first) or self.closes(j)

    def follows_verb(self, i: int) -> bool:
        """Whether a verb of being stands before token i, across adverbs."""
        return self.token(self.before_adverbs(i)) in BEING

    def follows_subject(self, i: int) -> bool:
        """Whether a verb, or the subject itself, stands before token i: "oedema (has) resolved"."""
        i = self.before_adverbs(i)
        if i < 0:
            return False
        token = self.tokens[i]
        is_noun = i in self.finishes or token in QUALITIES or fold(token) in LESION
        return is_noun or token in LINKS or token in CONJUNCTIONS

    def before_adverbs(self, i: int) -> int:
        """Last token before i that is no adverb."""
        tokens = range(i - 1, max(i - 1 - LONGEST_PHRASE, -1), -1)
        return next((j for j in tokens if not self.is_adverb(j)), -1)

    def closes(self, j: int) -> bool:
        """Whether a predicate ends before token j."""
        return self.ends_clause(j) or self.token(j) in AFTER_PREDICATE

    def belongs_to_place(self, j: int) -> bool:
        """Whether a token may stand in a phrase that names places and nothing else."""
        token = self.tokens[j]
        return (
            self.is_modifier(j)
            or token in QUALITIES
            or token in CONJUNCTIONS
            or token in PREPOSITIONS
            or token == "bilaterally"
        )

    def is_modifier(self, j: int) -> bool:
        """Whether a token is a determiner, a side or an adjective of anatomy."""
        token = self.token(j)
        if token in NOUNS or token == "bilaterally":
            return False
        return self.is_determined(j) or bool(ADJECTIVE.fullmatch(token))

    def is_article(self, j: int) -> bool:
        """Whether a token is an article or another determiner."""
        return self.token(j) in DETERMINERS

    def is_determined(self, j: int) -> bool:
        """Whether a token is a determiner or a side."""
        return self.token(j) in DETERMINERS or self.token(j) in SIDE_WORDS

    def is_function(self, j: int) -> bool:
        """Whether a token is a verb, a preposition or the like rather than a noun."""
        token = self.tokens[j]
        is_small = token in PREPOSITIONS or token in AFTER_PREDICATE or token in AUXILIARIES
        return is_small or token in STOPS or self.is_adverb(j) or self.is_verb(j)

    def is_link(self, j: int) -> bool:
        """Whether a token may stand between a subject and what is said of it."""
        return self.token(j) in LINKS or self.is_adverb(j)

    def is_verb(self, j: int) -> bool:
        """Whether a token is a finite verb, or looks like a past that has a subject or object."""
        token = self.tokens[j]
        if token in FINITE or not token.endswith("ed"):
            return token in FINITE
        return self.token(j + 1) in DETERMINERS or self.is_structure(self.finishes.get(j - 1))

    def is_past(self, j: int) -> bool:
        """Whether token j is a verb, or looks like a past after a subject."""
        is_in = j < len(self.tokens) and not self.ends_clause(j)
        return is_in and (self.is_verb(j) or self.tokens[j].endswith("ed"))

    def is_adverb(self, j: int) -> bool:
        """Whether a token is an adverb, by its end or from a list."""
        token = self.token(j)
        return token in ADVERBS or (token.endswith("ly") and token != "bilaterally")

    def structures(self, names: list[int]) -> list[int]:
        """Return those of some names that are structures."""
        return [number for number in names if self.is_structure(number)]

    def is_structure(self, number: int | None) -> bool:
        """Whether a match names a place, and nothing that is wrong with it."""
        if number is None or not self.reading.is_structure[number]:
            return False
        return fold(self.tokens[self.reading.last[number]]) not in LESION

    def ends_clause(self, j: int) -> bool:
        """Whether nothing of the clause is left at token j."""
        return self.is_sentence_end(j) or not (self.gap(j).isspace() or self.gap(j) == "-")

    def sentence(self, i: int) -> tuple[int, int]:
        """First token of the sentence of token i, and the first after it."""
        first, end = i, i + 1
        while first > max(0, i - LONGEST_SENTENCE) and not self.is_sentence_end(first):
            first -= 1
        while end < min(len(self.tokens), i + LONGEST_SENTENCE) and not self.is_sentence_end(end):
            end += 1
        return first, end
