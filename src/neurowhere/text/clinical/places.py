"""Places: the words by which texts name parts of the brain, their sides and what is wrong there."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from neurowhere.text.clinical.reading import Phrases, Reading, Tokens
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import PREFIXES, fold, word_set, words_of

if TYPE_CHECKING:
    from neurowhere.text.vocabulary import Vocabulary

Side = Literal["left", "right", "bilateral"]
SIDES: tuple[Side, ...] = get_args(Side)

SIDE_WORDS: dict[str, Side] = {
    "left": "left",
    "l": "left",
    "lt": "left",
    "lh": "left",
    "right": "right",
    "r": "right",
    "rt": "right",
    "rh": "right",
    "bilateral": "bilateral",
    "bilaterally": "bilateral",
    "bilat": "bilateral",
    "bil": "bilateral",
    "both": "bilateral",
}

LETTERS = frozenset("lr")  # a side only as capitals: "r = 0.3" is none

# An adjective of several lobes, or of what lies between them.
LOBAR = re.compile(
    r"(fronto|parieto|temporo|occipito)+(frontal|parietal|temporal|occipital|insular)"
    r"|opercular|perisylvian"
)
# An adjective of anatomy, by how it ends.
ADJECTIVE = re.compile(
    r"(?!pulvinar)[a-z]{3,}(al|ar|ic|ior|ory|oid)|(pre|sensori|psycho)?motor|fusiform"
)
# What may be wrong with a place: a side reaches the place across it ("left infarct of the pons").
LESION = word_set(
    """
    abnormality abscess atrophy avm bleed bleeding calcification cavernoma contusion cva cyst damage
    edema encephalomalacia focus gbm glioblastoma glioma gliosis hematoma hemorrhage hge
    hyperintensity hypodensity hypometabolism hypoperfusion ich infarct infarction injury ischemia
    lacune lesion mass meningioma metastasis occlusion resection sah sclerosis sdh stroke
    swelling tumor
    """
)
TUMOR = re.compile(r"[a-z]{3,}oma(s|ta)?")
BESIDE = 5  # words between a place and what is wrong with it
OF_PLACES = word_set("area distribution region territory zone zones")
KIND_OF_LESION = word_set(
    "acute brain cerebral chronic enhancing focal hemorrhagic ischemic low-grade malignant non "
    "nonenhancing old traumatic"
)

# Places that a vocabulary may lack: arteries, whose territories have sides, and general words.
PLACES = Phrases(
    {
        "place": """
        aca; aica; ica; m1; m2; mca; pca; pica; sca; anterior cerebral artery; middle cerebral
        artery; posterior cerebral artery; anterior choroidal; anterior choroidal artery; superior
        cerebellar artery; anterior inferior cerebellar artery; posterior inferior cerebellar
        artery; internal carotid artery; internal carotid; carotid; carotid artery; basal ganglia;
        brain; capsular; centrum semiovale; cerebral; cerebrum; corona radiata; cortex; cortical;
        cortices; ganglionic; gray matter; grey matter; gyrus; hemisphere; hemispheric; hemispheres;
        internal capsule; lenticulostriate; lobe; lobes; midbrain; perirolandic; periventricular;
        peduncle; putaminal; striatocapsular; subcortical; sylvian; thalamocapsular; white matter
        """
    }
)
GENERAL_PLACES = word_set(
    "brain cerebral cerebrum cortex cortical gyrus hemisph hemisphere hemispheric lobe matter "
    "subcortical"
)
# Words that make names of structures, and of what is wrong with them, but say nothing of where.
GENERAL_WORDS = (
    GENERAL_PLACES
    | LESION
    | word_set(
        "area gray epilepsy human junction lobule middle nucleus part pole region sulcus white"
    )
)


# Adjectives that say nothing of the brain unless a structure follows: "left visual field".
GENERAL_ADJECTIVE = re.compile(
    r"(?!paracentral|postcentral|precentral).*(anterior|posterior|superior|inferior|medial|lateral|dorsal|ventral|rostral|caudal|central)"
    r"|auditory|facial|gustatory|motor|olfactory|optic|peripheral|sensory|sensorimotor"
    r"|somatosensory|spinal|vestibular|visual|vocal"
)
# Parts of the body, of space and of symptoms that have sides of their own, singular.
NOT_BRAIN = word_set(
    """
    ankle anopia anopsia arm ataxia atrial beating blindness body breast carpal cheek chorea
    clumsiness deafness dexterity droop dystonia ear elbow extinction extremity eye face femoral
    field finger foot gaze hand handed handedness handers hander headache hearing heart hemianopia
    hemianopsia hemibody hemifield hemiparesis hemiplegia hemiplegic hemisensory hemispace hip
    inattention index knee leg limb lip mouth neglect numbness pain palsy paralysis paresis plegia
    ptosis pulmonary quadrant quadrantanopia renal retina retinal seizure shoulder space thumb
    tinnitus toe tongue tremor turn weakness wrist
    """
)
BEFORE_PARTS = word_set("ant anterior eye post posterior")  # "eye field", "posterior limb"
# Of these, those that take an adjective of a lobe along: "left temporal field", "frontal headache".
WHOLLY_NOT_BRAIN = word_set(
    "anopia anopsia field headache hemianopia hemianopsia hemifield pain palsy quadrant "
    "quadrantanopia space"
)
# What one hemisphere serves on the other side of the body, what is done with it, and the words that
# may stand before it.
LIMBS = word_set(
    """
    ankle arm elbow extremity finger foot forearm hand heel hemibody hemifield knee leg limb palm
    shoulder thumb toe wrist
    """
)
# The hand that somebody prefers says nothing of what was moved or hurt: "right-handed", "right hand
# dominant".
HANDED = word_set("footed footedness handed hander handers handedness")
PREFERRED = word_set("dominance dominant preference")
ON_THE = (["on", "the"], ["of", "the"], ["in", "the"])  # before a side, after a sign
BETWEEN_SIDES = word_set("and nor or than versus vs")
OF_CORTEX = word_set("area capsule cortex knob region representation")  # "hand area" is no hand
NERVES = word_set("digital femoral median peroneal radial sciatic sural tibial ulnar")
BY_LIMBS = word_set("grasp grip movement tactile tapping touch vibration vibrotactile")
SIGNS = word_set(
    "ataxia dysmetria hypoesthesia numbness paralysis paresis paresthesia spasticity tingling "
    "weakness"
)
OF_LIMBS = word_set(
    "affected body dominant facial great index lower middle motor paretic ring sensory sided upper "
    "visual"
)
# Words of structures that move and feel a limb: in the other hemisphere, and on its own side.
SERVING = word_set(
    """
    corticospinal motor paracentral postcentral precentral premotor rolandic sensorimotor sma
    somatosensory thalamic thalamus
    """
)
SERVING_OWN = word_set("cerebellar cerebellum")
LIMB_LETTERS: dict[str, tuple[Side, str]] = {
    "rue": ("right", "arm"),
    "lue": ("left", "arm"),
    "rle": ("right", "leg"),
    "lle": ("left", "leg"),
}
# Names that a list does not pass a side to: what lies in the middle, or on the other side.
MIDLINE = word_set(
    """
    acc brainstem callosum cerebellar cerebellum chiasm cingulate dmpfc fornix hypothalamic
    hypothalamus mcc medial medulla midbrain midcingulate mpfc pag pcc pons pontine precuneus sma
    stem subgenual supplementary ventromedial vermis vmpfc vta
    """
)

# Adjectives that say how a finding is and not where: "resolving", "cystic", no "subdural".
HOW = re.compile(
    r"(?!acoustic|hepatic|optic|pelvic|thoracic)[a-z]{3,}(ic|ed|ing|ive|ous|ent)|dense|faint|focal"
    r"|global|lacunar|late|early|major|minimal|minor|multifocal|partial|residual|slight|subtle|subtotal"
)
# Findings of the coverings of the brain, of the skull or of a nerve, which have sides of their own.
OUTSIDE = re.compile(
    r"(?:mening|neur|neurofibr|schwann)i?oma(?:s|ta)?|hygromas?|empyemas?|craniotomy|craniectomy"
    r"|(?!encephal|cerebr|cerebell|ventricul|vascul)[a-z]+itis|sdhs?|edhs?|sah"
)
# What may stand between a side and its name besides adjectives.
FILLERS = word_set(
    """
    acute calcarine chronic deep dominant extensive gray grey hemispheric isolated large lower
    massive mid middle mild moderate new nondominant old paramedian predominant primary recent
    secondary severe side sided small subacute tiny upper white
    """
)
LATERALIZED = word_set("lateralisation lateralised lateralization lateralized")
LINKING = word_set(
    "a appeared appears are be been being is more most remained remains showed shows was were"
)
UP_TO = word_set("just the to")  # before a side of the midline
# From a lesion, activity or a general word to its place.
LEADING = word_set("in of over the to within involving affecting")
LED = LATERALIZED | word_set(
    """
    activation activations activity aspect bank bilaterally border change changes convexity cortex
    deactivation edge engagement half hemisphere hyperactivation hypoactivation loss margin matter
    part portion recruitment rim side signal surface undersurface uptake wall
    """
)

# Words after which, or before which, "left" and "right" are no sides.
AFTER_VERB_LEFT = word_set(
    "a an behind her him his home hospital intact it its me my out over the their them "
    "unchanged unexplained unresolved untouched untreated us with"
)
AFTER_OTHER_RIGHT = word_set(
    "after amount answer answers away before choice choices decision direction moment now "
    "option person place response thing time to way word"
)

# Words that pass a side on within a clause: "in the left hemisphere, the insula and the putamen".
OPENERS = (["in", "the"], ["within", "the"], ["on", "the"])  # before the side of a clause
WHOLES = word_set("hemisphere hemispheres side")
TURNS = word_set("and but whereas while")
INCLUDING = word_set("especially including namely notably particularly")
# From a finding to where else it is: "left insular glioma, with extension into the putamen".
EXTENDING = word_set(
    """
    abutting along compressing continuing displacing effacing encroaching extended extending extends
    extension infiltrates infiltrating infiltration invading involvement involves involving reaches
    reaching spreading tracking
    """
)
TOWARDS = word_set("in into of onto through to toward towards")
TRAILING = word_set("side sided")  # after the side that ends a finding
LISTED = word_set("and or the of both parts part")  # between the names of a list
OTHER = word_set("contralateral contralesional")
RELATED = OTHER | word_set("adjacent adjoining ipsilateral ipsilesional neighboring neighbouring")
CAUSING = word_set("after during following from of to with")  # before the side of a limb or lesion
OPPOSITE: dict[Side, Side] = {"left": "right", "right": "left"}

ABBREVIATIONS = frozenset(["l", "r", "lt", "rt", "lh", "rh", "bil", "bilat"])
HEMISPHERES = frozenset(["lh", "rh"])  # a side only right before a structure: "LH" is a hormone too
CONJUNCTIONS = frozenset(["and", "or", "nor"])
# Words that compare sides ("worse on the left"), what may follow them, and what has less.
COMPARATIVES = word_set("greater higher larger less lower more most smaller stronger weaker worse")
DEGREES = word_set("affected evident extensive intense marked prominent pronounced severe so")
LESSER = word_set("less weaker")
SLIGHTLY = word_set("a bit even far little much somewhat")  # and adverbs in -ly: "much worse on"
FOCUSING = word_set("especially maximal particularly")  # "particularly left insula" is left
MAINLY = FOCUSING | word_set("chiefly largely mainly mostly predominantly primarily")
PREDOMINANT = word_set("predominance predominant")
# The other side.
EXCLUDING = (
    ["but", "not"],
    ["and", "not"],
    ["not"],
    ["rather", "than"],
    ["as", "opposed", "to"],
    ["instead", "of"],
)

Key = tuple[str, ...]  # folded words of a name in alphabetical order


class Attached(NamedTuple):
    """A side of a match, the tokens that say so, and whether it comes from earlier in a list.

    Of two sides, `dominant` is the one that has more: "left greater than right".
    """

    side: Side
    words: Tokens
    is_inherited: bool = False
    dominant: Side | None = None


class Sides(NamedTuple):
    """The sides in a text.

    Attributes
    ----------
    applied : dict
        For each match that has one: the side.
    unapplied : list
        Sides of anything else, and the tokens that say so.
    """

    applied: dict[int, Attached]
    unapplied: list[tuple[Side, Tokens]]


class SideWords:
    """Tells which words of a text are sides, and which of its matches have them."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tokens, self.token, self.gap = reading.tokens, reading.token, reading.gap
        self.last, self.begins, self.finishes = reading.last, reading.begins, reading.finishes

    def is_side(self, i: int) -> bool:
        """Whether a token that looks like a side is one: "L amygdala", not "l" or "RT"."""
        token = self.tokens[i]
        if token in LETTERS:
            return self.reading.written(i).isupper() or self.is_both(i)
        if token in HEMISPHERES:
            is_near = self.gap(i + 1) in (" ", "-", ".", "_")
            return is_near and self.is_structure(self.begins.get(i + 1))
        if token in ("lt", "rt") and not self.gap(i + 1).startswith("."):
            is_pair = {token, self.token(i + 1)} == {"lt", "rt"}  # "rt > lt"
            return i + 1 in self.begins or is_pair  # "RT" is also a reaction time
        return True

    def is_both(self, i: int) -> bool:
        """Whether token i ends "b/l" or "B/L", which is both sides."""
        return self.tokens[max(i - 1, 0) : i + 1] == ["b", "l"] and self.gap(i) == "/"

    def opposite(self, i: int) -> int | None:
        """Token of the other side in "left and right", "L/R", "left greater than right"."""
        j = i + 1
        if self.token(j) in CONJUNCTIONS:
            j += 1 + (self.token(j + 1) == "the" and self.token(j) == "nor")
        else:  # "left more marked than right", "greater on the left than on the right"
            than = j + (self.token(j) in TRAILING)
            than += self.token(than) in ("are", "is", "was", "were")
            than += self.is_slightly(than)
            than += self.token(than) in COMPARATIVES
            than += self.token(than) in DEGREES
            if self.token(than) == "than":
                is_led = self.tokens[than + 1 : than + 3] in OPENERS
                j = than + 1 + (2 if is_led else self.token(than + 1) == "the")
            elif ">" in self.gap(than) or "<" in self.gap(than):
                j = than  # "R slightly > L"
        return j if self.are_opposite(i, j) else None

    def is_slightly(self, i: int) -> bool:
        """Whether token i says by how much a side has more: "much worse", "slightly greater"."""
        word = self.token(i)
        return word in SLIGHTLY or (word.endswith("ly") and word != "bilaterally")

    def excluded(self, i: int) -> int | None:
        """Token of the other side in "left but not right"."""
        for words in EXCLUDING:
            j = i + 1 + len(words)
            if self.tokens[i + 1 : j] == words:
                j += self.token(j) == "the"
                is_other = self.tokens[i] == "bilateral" and self.token(j) in ("left", "right")
                return j if is_other or self.are_opposite(i, j) else None
        return None

    def are_opposite(self, i: int, j: int) -> bool:
        """Whether one of two tokens is left, and the other right."""
        sides = {SIDE_WORDS.get(self.token(i)), SIDE_WORDS.get(self.token(j))}
        is_pair = sides == {"left", "right"} and self.is_side(j)
        return is_pair and not self.gap(j).startswith(": ")  # "weakness on the left: right insula"

    def is_marked(self, words: Tokens) -> bool:
        """Whether a side that qualifies no structure is one: not "the right answer"."""
        token, before, after = (
            self.tokens[words.first],
            self.token(words.first - 1),
            self.token(words.last + 1),
        )
        if token == "both":
            return fold(after) in NOT_BRAIN
        if token in ABBREVIATIONS:
            is_near = self.gap(words.last + 1) in (" ", "-", ". ")
            is_body = fold(after) in NOT_BRAIN or after in FILLERS
            return is_near and (is_body or bool(ADJECTIVE.fullmatch(after)))
        if token == "left":
            return before in ("the", "to") or after not in AFTER_VERB_LEFT
        return token != "right" or after not in AFTER_OTHER_RIGHT

    def is_structure(self, number: int | None) -> bool:
        """Whether a match names a part of the brain: "frontal eye field", not "visual field"."""
        if number is None or not self.reading.is_structure[number]:
            return False
        end = self.last[number]
        head = fold(self.tokens[end])
        if head in LESION:
            return self.reading.first[number] < end  # "cerebral infarction" is a place as well
        return head not in NOT_BRAIN or self.token(end - 1) in BEFORE_PARTS


def is_limb(words: Sequence[str]) -> bool:
    """Whether a name speaks of a limb, of its nerve, or of a visual field.

    >>> is_limb(["finger", "tapping"]), is_limb(["visual", "field"]), is_limb(["field"])
    (True, True, False)
    >>> is_limb(["median", "nerve"]), is_limb(["hand", "area"])
    (True, False)
    """
    folded = [fold(word) for word in words]
    if folded == ["visual", "field"] or (folded[-1] == "nerve" and folded[0] in NERVES):
        return True
    return not LIMBS.isdisjoint(folded) and OF_CORTEX.isdisjoint(folded)


def limb_sign(name: str) -> int:
    """Return −1 for a structure that serves limbs of the other side, 1 for those of its own side.

    >>> limb_sign("primary motor cortex"), limb_sign("cerebellum"), limb_sign("amygdala")
    (-1, 1, 0)
    """
    words = words_of(name)
    if not SERVING_OWN.isdisjoint(words):
        return 1
    return 0 if SERVING.isdisjoint(words) else -1


def with_limbs(reading: Reading, vocabulary: "Vocabulary") -> Reading:
    """Read the letters of a limb as its name: "RUE 2/5" is weakness of the right arm.

    Full strength ("RUE 5/5") says nothing.
    """
    letters = {i: LIMB_LETTERS[reading.tokens[i]] for i in reading.at_words(LIMB_LETTERS.keys())}
    limbs = {
        i: (side, vocabulary.index(name))
        for i, (side, name) in letters.items()
        if name in vocabulary
        and reading.written(i).isupper()
        and not (reading.tokens[i + 1 : i + 3] == ["5", "5"] and reading.gap(i + 2) == "/")
    }
    if not limbs:
        return reading
    more = reading.with_names(
        terms=[*reading.terms, *(term for _, term in limbs.values())],
        first=[*reading.first, *limbs],
        last=[*reading.last, *limbs],
        is_structure=[*reading.is_structure, *(False for _ in limbs)],
    )
    return replace(more, sided={**reading.sided, **{i: side for i, (side, _) in limbs.items()}})


def sides_of_limbs(
    reading: Reading, unapplied: Iterable[tuple[Side, Tokens]]
) -> dict[int, Attached]:
    """Find the limbs, visual fields and signs that have a side, by match: "left index finger".

    Other limbs, and what is done with them, share it if their sentence has but one: "finger
    tapping with the left hand".
    """
    sides = {words.last: Attached(side, words) for side, words in unapplied}
    sides |= {i: Attached(side, Tokens(i, i)) for i, side in reading.sided.items()}
    if not sides:
        return {}
    limbs: dict[int, Attached] = {}
    by_sentence: dict[int, list[Attached]] = {}
    for i, limb in sides.items():
        number = _limb_beside(reading, i)
        if number is not None:
            if i - 2 in sides and reading.token(i - 1) in BETWEEN_SIDES:
                limb = limb._replace(side="bilateral")  # "left and right hand"
            limbs[number] = limb
            by_sentence.setdefault(reading.sentence_number(i), []).append(limb)
    for sentence, near in by_sentence.items():
        is_one = len({limb.side for limb in near}) == 1
        for number in reading.beginning(reading.sentence_tokens(sentence) if is_one else ()):
            if is_served(reading, number):
                limbs.setdefault(number, near[0]._replace(is_inherited=True))
    return limbs


def is_of_handedness(reading: Reading, i: int) -> bool:
    """Whether the side at token i tells which hand is preferred: "right-handed"."""
    after = reading.token(i + 1)
    return after in HANDED or (after == "hand" and reading.token(i + 2) in PREFERRED)


def _limb_beside(reading: Reading, i: int) -> int | None:
    """Limb or sign at the side of token i: after it and its adjectives, or before it."""
    if is_of_handedness(reading, i):
        return None
    if reading.tokens[i] in LIMB_LETTERS:
        return reading.begins.get(i)
    for j in range(i + 1, i + 4):
        if reading.gap(j) not in (" ", "-"):
            break
        if (number := _served_at(reading, reading.begins.get(j))) is not None:
            return number
        if reading.token(j) not in OF_LIMBS:
            break
    if reading.tokens[max(i - 2, 0) : i] in ON_THE:  # "weakness on the left"
        return _served_at(reading, reading.finishes.get(i - 3))
    return None


def _served_at(reading: Reading, number: int | None) -> int | None:
    """Return a match if it is a limb or a sign."""
    return number if number is not None and is_served(reading, number, SIGNS) else None


def is_served(reading: Reading, number: int, others: Collection[str] = BY_LIMBS | SIGNS) -> bool:
    """Whether a match is a limb, or one of some other words; "hand area" is none."""
    end = reading.last[number] + 1
    words = reading.tokens[reading.first[number] : end]
    if reading.is_structure[number] or fold(reading.token(end)) in OF_CORTEX:
        return False
    return is_limb(words) or any(word in others for word in words)


def side_of_name(name: str) -> Side | None:
    """Side that a name itself begins with.

    >>> side_of_name("left cerebral hemisphere"), side_of_name("amygdala")
    ('left', None)
    """
    return without_side(name)[1]


def without_side(name: str) -> tuple[str, Side | None]:
    """Words of a name after the side that it begins with, and that side.

    >>> without_side("the left amygdala"), without_side("amygdala")
    (('amygdala', 'left'), ('amygdala', None))
    """
    words = words_of(name)
    if words and words[0] in SIDES:
        return " ".join(words[1:]), SIDE_WORDS[words[0]]
    return name, None


def joined_words(name: str) -> tuple[str, ...]:
    """Words of a name without its side, prefixes joined: "fronto parietal" is "frontoparietal"."""
    words: list[str] = []
    for word in words_of(name):
        if word in SIDES:
            continue
        if words and words[-1] in PREFIXES:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


def form_of(name: str) -> tuple[str, ...]:
    """Folded words of a name, in their order."""
    return tuple(map(fold, joined_words(name)))


def key_of(name: str) -> Key:
    """Folded words in alphabetical order: "cortex, auditory" is "auditory cortex"."""
    return tuple(sorted(form_of(name)))


def is_place(name: str, structures: Collection[str] = ()) -> bool:
    """Whether a name is a general place, or made of structures and words of direction.

    >>> is_place("white matter"), is_place("left frontal gyri", ["frontal"]), is_place("stroke")
    (True, True, False)
    >>> is_place("parieto-occipital")
    True
    """
    words = list(words_of(name))
    found = PLACES.at(words, 0)
    if (found and found[0] == len(words) - 1) or LOBAR.fullmatch("".join(words)):
        return True
    parts = [fold(word) for word in words]
    return any(part in structures or part in GENERAL_PLACES for part in parts) and all(
        part in structures or part in GENERAL_WORDS or word in SIDES or ADJECTIVE.fullmatch(word)
        for part, word in zip(parts, words, strict=True)
    )


def is_lesion(term: str) -> bool:
    """Whether a term says what is wrong or what was done, and not where.

    >>> [is_lesion(term) for term in ("infarction", "traumatic brain injury", "multiple sclerosis")]
    [True, True, False]
    >>> is_lesion("deep brain stimulation")
    True
    """
    words = term.split()
    if words[-1:] == ["stimulation"] and words[0] in ("deep", "magnetic", "transcranial"):
        return True
    return not LESION.isdisjoint(words) and set(words) <= LESION | KIND_OF_LESION


def is_beside_lesion(tokens: Sequence[str], first: int, last: int) -> bool:
    """Whether what is wrong with a place stands right after its name, or leads to it.

    >>> is_beside_lesion("old BG lacunes".split(), 1, 1)
    True
    >>> is_beside_lesion("a new lesion in the right BG".split(), 6, 6)
    True
    >>> is_beside_lesion("the GP saw a man with a stroke".split(), 1, 1)
    False
    """
    after = (word.lower() for word in tokens[last + 1 : last + BESIDE])
    for word in after:
        if is_lesion_word(word):
            return True
        if not (word in KIND_OF_LESION or word in OF_PLACES or ADJECTIVE.fullmatch(word)):
            break
    is_led = False
    for word in (token.lower() for token in tokens[max(first - 1 - BESIDE, 0) : first][::-1]):
        if is_lesion_word(word):
            return is_led
        is_led |= word in LEADING
        if not (is_led or word in SIDE_WORDS or word in FILLERS or word == "b"):
            return False
    return False


def is_lesion_word(word: str) -> bool:
    """Whether a word says what is wrong: "infarcts", "glioma"."""
    return fold(word) in LESION or bool(TUMOR.fullmatch(word))


def tells_how(word: str) -> bool:
    """Return whether an adjective says how a finding is, and nothing of where.

    >>> [tells_how(word) for word in ("old", "cystic", "subdural", "vestibular")]
    [True, True, False, False]
    """
    return word in FILLERS or word in KIND_OF_LESION or bool(HOW.fullmatch(word))


def is_general(name: str) -> bool:
    """Whether a name says nothing of where in the brain.

    >>> is_general("cerebral white matter"), is_general("brain injury"), is_general("thalamus")
    (True, True, False)
    """
    return all(fold(word) in GENERAL_WORDS for word in words_of(name))


def with_places(reading: Reading) -> Reading:
    """Add the places that no structure and no other name covers, as matches without a term."""
    covered = {
        i: (first, last)
        for first, last, term, is_structure in zip(
            reading.first, reading.last, reading.terms, reading.is_structure, strict=True
        )
        if is_structure or term == NO_TERM
        for i in range(first, last + 1)
    }
    places = []
    for first, last, _ in PLACES.find(reading):
        names = {covered[i] for i in range(first, last + 1) if i in covered}
        # "cerebral" may be a structure of the vocabulary within "middle cerebral artery"
        if all(
            first <= start and end <= last and end - start < last - first for start, end in names
        ):
            places.append(Tokens(first, last))
    return reading.with_matches(places)
