"""Names of the brain's parts: when two are the same, and which say where in the brain."""

import re

from neurowhere.text.clinical.places import ADJECTIVE, SIDES
from neurowhere.text.words import PREFIXES, fold, word_set, words_of

# A name made only of these, of directions and of numbers says nothing of where it is.
GENERIC_WORDS = word_set(
    """
    angle area ascending association axis body boundary brain brodmann bundle center central
    cerebral cerebrum circuit cluster column commissure complex component connection connectivity
    cortex cortical cranial deep descending division domain external face fascicle fasciculus fiber
    field fissure floor formation fossa ganglion gland gray group gyrus head hemisphere hemispheric
    horn human intermediate internal isthmus junction lamina limb line lobe long longitudinal loop
    map matter median mid middle name network neural neuronal neuropil nuclear nucleus organ part
    pathway peduncle plate pole primary process radiation recess region role root secondary segment
    simple standard stem stratum structure subcortical subdivision substance substructure sulcus
    superficial surface system tail tertiary tract transverse triangle tube white whole zone
    """
)
DIRECTION = re.compile(
    r"(?:antero|postero|supero|infero|dorso|ventro|rostro|caudo|medio|latero|mid)*"
    r"(?:anterior|posterior|superior|inferior|lateral|medial|dorsal|ventral|rostral|caudal)"
)
NUMBER = re.compile(r"\d+|[ivx]+")

# A name with one of these is no place in the brain, or one too small for a map.
FOREIGN_WORDS = word_set(
    """
    alpha also arachnoid autonomic axonal barrier cauda cavity cell cervical chief cholinergic
    cistern cochlea cochlear cord covering crest dopamine dopaminergic dynorphin embolus endorphin
    enkephalin epithelium form gaba gamma ghrh glutamate glymphatic hormone hpa hpg hpt inah layer
    lumbar mainly mater meningeal micturition muscle nerve nervous neuron neuropeptide
    neurotransmitter nidopallium noradrenaline norepinephrine opioid other oxytocin peptide
    peripheral phrenic plane plexus purkinje radial respiratory retina sacral scn section seahorse
    serotonergic serotonin skull space spinal spiral sural sympathetic trigger ulnar vagus venous
    vertebra vertebrate vomeronasal
    """
)
# Nouns that end a name; a phrase that begins with one runs on into the next name.
LAST_WORDS = word_set("areas cortex cortices junction lobe region regions sulcus")
# Words that the rules for sides and negation read.
RULED_WORDS = word_set("bilateral bilaterally left right without")
LONGEST_NAME = 6  # words
SHORTEST_WORD = 4  # letters of a word that tells something, in a name of several words
SHORTEST_SINGLE_WORD = 5  # the same for a name of one word
SHORT_NAMES = frozenset(map(fold, word_set("ca1 ca2 ca3 ca4 pons v1 v2 v3 v4 v5 v6")))

# Names of one structure that share no word, or that a text gives as an adjective.
SAME = {
    "brain stem": "brainstem",
    "amygdaloid complex": "amygdala",
    "anterior cingulate": "anterior cingulate cortex",
    "calcarine fissure": "calcarine sulcus",
    "cerebellar vermis": "vermis",
    "corpus striatum": "striatum",
    "cortex insula": "insula",
    "globus pallidus externus": "external globus pallidus",
    "globus pallidus internus": "internal globus pallidus",
    "hemisphere": "cerebral hemisphere",
    "inferior olivary nucleus": "inferior olive",
    "insular cortex": "insula",
    "insular lobe": "insula",
    "lateral globus pallidus": "external globus pallidus",
    "lenticular nucleus": "lentiform nucleus",
    "medial globus pallidus": "internal globus pallidus",
    "mediodorsal nucleus thalamus": "mediodorsal thalamic nucleus",
    "medulla": "medulla oblongata",
    "midcingulate": "midcingulate cortex",
    "middle cingulate cortex": "midcingulate cortex",
    "nucleus caudatus": "caudate nucleus",
    "nucleus tractus solitarius": "nucleus of the solitary tract",
    "opercular part of inferior frontal gyrus": "pars opercularis",
    "orbital medial prefrontal cortex": "medial orbitofrontal cortex",
    "orbital part of inferior frontal gyrus": "pars orbitalis",
    "orbital prefrontal cortex": "orbitofrontal cortex",
    "pallidum": "globus pallidus",
    "periaqueductal gray matter": "periaqueductal gray",
    "pineal body": "pineal gland",
    "posterior cingulate": "posterior cingulate cortex",
    "precuneus cortex": "precuneus",
    "pulvinar nucleus": "pulvinar",
    "putamen nucleus": "putamen",
    "rectal gyrus": "gyrus rectus",
    "straight gyrus": "gyrus rectus",
    "thalamus pulvinar": "pulvinar",
    "transverse temporal gyrus": "heschl gyrus",
    "triangular part of inferior frontal gyrus": "pars triangularis",
    "ventral medial prefrontal cortex": "ventromedial prefrontal cortex",
}
ADJECTIVES = {
    "amygdalar": "amygdala",
    "caudate": "caudate nucleus",
    "cerebellar": "cerebellum",
    "callosal": "corpus callosum",
    "fusiform": "fusiform gyrus",
    "hippocampal": "hippocampus",
    "hypothalamic": "hypothalamus",
    "insular": "insula",
    "pallidal": "globus pallidus",
    "parahippocampal": "parahippocampal gyrus",
    "parahippocampus": "parahippocampal gyrus",
    "pontine": "pons",
    "precentral": "precentral gyrus",
    "postcentral": "postcentral gyrus",
    "striatal": "striatum",
    "thalamic": "thalamus",
}
# Adjectives that name a part of the brain of their own.
LOBES = word_set(
    """
    cingulate extrastriate frontal fronto-parietal frontopolar limbic occipital occipito-parietal
    occipito-temporal orbitofrontal parietal perisylvian prefrontal premotor retrosplenial
    subgenual temporal temporo-parietal
    """
)
ABBREVIATIONS = {
    "acc": "anterior cingulate cortex",
    "atl": "anterior temporal lobe",
    "dlpfc": "dorsolateral prefrontal cortex",
    "dmpfc": "dorsomedial prefrontal cortex",
    "eba": "extrastriate body area",
    "ffa": "fusiform face area",
    "ifg": "inferior frontal gyrus",
    "ipl": "inferior parietal lobule",
    "ips": "intraparietal sulcus",
    "itg": "inferior temporal gyrus",
    "lgn": "lateral geniculate nucleus",
    "mca": "middle cerebral artery",
    "mcc": "midcingulate cortex",
    "mfg": "middle frontal gyrus",
    "mpfc": "medial prefrontal cortex",
    "mtg": "middle temporal gyrus",
    "mtl": "medial temporal lobe",
    "nacc": "nucleus accumbens",
    "ofc": "orbitofrontal cortex",
    "pag": "periaqueductal gray",
    "pcc": "posterior cingulate cortex",
    "pfc": "prefrontal cortex",
    "ppa": "parahippocampal place area",
    "ppc": "posterior parietal cortex",
    "sfg": "superior frontal gyrus",
    "sma": "supplementary motor area",
    "spl": "superior parietal lobule",
    "stg": "superior temporal gyrus",
    "sts": "superior temporal sulcus",
    "tpj": "temporoparietal junction",
    "vlpfc": "ventrolateral prefrontal cortex",
    "vmpfc": "ventromedial prefrontal cortex",
    "vta": "ventral tegmental area",
}
# Names that texts use and no list has, or only lists of generic ones.
MORE_NAMES = (
    "anterior temporal lobe",
    "cerebral hemisphere",
    "extrastriate body area",
    "parahippocampal place area",
)
BRODMANN_AREAS = [*range(1, 14), *range(16, 48), 52]  # those that atlases of humans show

Key = tuple[str, ...]  # folded words of a name in alphabetical order


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


def _is_generic(word: str) -> bool:
    return bool(word in GENERIC_WORDS or DIRECTION.fullmatch(word) or NUMBER.fullmatch(word))


def is_telling(name: str) -> bool:
    """Whether a name is made of more than generic words and short codes."""
    words = form_of(name)
    telling = [word for word in words if not _is_generic(word)]
    if not telling or len(words) > LONGEST_NAME or not FOREIGN_WORDS.isdisjoint(words):
        return False
    shortest = SHORTEST_SINGLE_WORD if len(words) == 1 else SHORTEST_WORD
    if len(words) == 1 and ADJECTIVE.fullmatch(words[0]):
        return False
    return any(len(word) >= shortest or word in SHORT_NAMES for word in telling)


def ends_in_noun(name: str) -> bool:
    """Whether a name ends in a noun such as "gyrus"; "cortex auditory" does not."""
    return form_of(name)[-1] in GENERIC_WORDS


def is_run_on(phrase: str) -> bool:
    """Whether a phrase joins one name to the next: "insula and inferior", less its "and".

    >>> is_run_on("insula inferior"), is_run_on("cortex amygdala"), is_run_on("inferior insula")
    (True, True, False)
    """
    words = words_of(phrase)
    first, last = words[0], words[-1]
    ends_in_direction = last == "middle" or DIRECTION.fullmatch(last)
    return len(words) > 1 and bool(first in LAST_WORDS or ends_in_direction)
