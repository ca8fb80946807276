"""Words: which tokens are forms of one word, and which words make a name."""

import re
from functools import lru_cache

from neurowhere.text.tokens import plain


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as one string."""
    return frozenset(words.split())


# Words that may stand inside a name without breaking it: "nucleus of the solitary tract" is the
# name "nucleus solitary tract". Pronouns, verbs and negations do break a name.
SKIPPED = word_set("a an and as at between by during for from in into of on or than the to with")
# Single characters are words only where they number a region: "lobule V", "area 4".
NUMBERS = frozenset("0123456789ivx")

# Prefixes written joined, hyphenated or apart: prefrontal, pre-frontal, pre frontal.
PREFIXES = word_set(
    """
    ante antero baso bi bulbo caudo cerebello cerebro cervico cingulo cortico cranio dento dorso
    endo extra fronto hemi hippocampo hyper hypo infero infra inter intra juxta latero limbo medio
    meso meta mid mono multi myelo neo neuro nigro non occipito olivo orbito pallido para parieto
    peri ponto post postero pre pro retro reticulo rostro rubro semi sensori septo spino somato
    striato sub subiculo super supero supra temporo thalamo trans ultra vaso ventro vestibulo visuo
    """
)
SHORTEST_REST = 4  # letters that must follow a prefix for it to be cut off
LONGEST_ABBREVIATION = 6  # characters of a word whose capitals have a meaning
# "n" in "n-back", "L" in "L-DOPA"; the "s" of a possessive is none.
_TIED_LETTER = re.compile(r"(?<![\w'’])([A-RT-Za-rt-z])[-\u2010\u2011](?=\w)")


def is_skipped(token: str) -> bool:
    """Whether a token may stand inside a name without breaking it, as "of" and "'s" do."""
    return token in SKIPPED or (len(token) == 1 and token not in NUMBERS)


def words_of(name: str) -> tuple[str, ...]:
    """Words of a name, without those that are skipped.

    A single letter is a word where a hyphen ties it to the next one.

    >>> words_of("Heschl's gyrus"), words_of("Nucleus of the solitary tract"), words_of("n-back")
    (('heschl', 'gyrus'), ('nucleus', 'solitary', 'tract'), ('n', 'back'))
    """
    return tuple(word.lower() for word in cased_words_of(name))


def cased_words_of(name: str) -> tuple[str, ...]:
    """Words of a name as `words_of` gives them, but abbreviations as they are written.

    >>> cased_words_of("MS lesion"), cased_words_of("Broca's Area V1")
    (('MS', 'lesion'), ('broca', 'area', 'v1'))
    """
    tied = _TIED_LETTER.findall(name)
    tokens = plain(name, keep_case=True).split()
    return tuple(
        token if is_abbreviation(token) else token.lower()
        for token in tokens
        if not is_skipped(token.lower()) or token in tied
    )


def is_abbreviation(word: str) -> bool:
    """Whether the case of a word matters: at least two capitals in six characters or fewer.

    >>> [is_abbreviation(word) for word in ("MS", "GPi", "V1", "Down", "CORTEX", "AMYGDALA")]
    [True, True, False, False, True, False]
    """
    return len(word) <= LONGEST_ABBREVIATION and sum(map(str.isupper, word)) > 1


def other_splits(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the spellings of a name that differ by a joined or split prefix.

    >>> other_splits(("prefrontal", "cortex")), other_splits(("fronto", "parietal", "network"))
    ([('pre', 'frontal', 'cortex')], [('frontoparietal', 'network')])
    """
    spellings = []
    for i, word in enumerate(words):
        if word in PREFIXES and i + 1 < len(words):
            spellings.append((*words[:i], word + words[i + 1], *words[i + 2 :]))
        spellings += [
            (*words[:i], word[:cut], word[cut:], *words[i + 1 :])
            for cut in range(2, len(word) - SHORTEST_REST + 1)
            if word[:cut] in PREFIXES
        ]
    return spellings


# British to American, first the parts of words that change wherever they stand. Folding is for
# comparison only, so a rule may be wider than English as long as it confuses no two words.
_SPELLINGS = [
    (re.compile(pattern), american)
    for pattern, american in [
        (r"(?<=[a-z])(?:ae|oe)(?=[a-z]{2}|a$)|^(?:ae|oe)(?=[a-z]{4})", "e"),
        (r"(?<=[a-z][bdilmnptv])our(?=$|s$|ed$|al|ally$|ing|ist|less|hood)", "or"),
        (r"(?<=[a-z]{3})is(?=ation|ing$|ed$|e$|es$|er$|ers$)", "iz"),
        (r"(?<=[a-z]{3})ys(?=ing$|ed$|e$|er$)", "yz"),
        (r"(?<=[a-z]{2}[bntv])re(?=$|s$)", "er"),
        (r"(?<=[bcdnsuv]el|[gnv]al)l(?=ing|ed$|er)", ""),
        (r"^grey", "gray"),
        (r"^scept", "skept"),
        (r"sulph", "sulf"),
        (r"artefact", "artifact"),
        (r"ageing$", "aging"),
        (r"gramme(?=s?$)", "gram"),
        (r"(?<=[a-z]{2})logue(?=s?$)", "log"),
        (r"(?<=[cfl])ence(?=s?$)", "ense"),
        (r"gement", "gment"),
        (r"(?<=ma)mm(?=illar)", "m"),
        (r"neurone", "neuron"),
    ]
]
_BRITISH = re.compile("|".join(pattern.pattern for pattern, _ in _SPELLINGS))
_IRREGULAR = {
    "aches": "ache",
    "appendices": "appendix",
    "bases": "basis",
    "axes": "axis",
    "cerebella": "cerebellum",
    "cerebra": "cerebrum",
    "children": "child",
    "claustra": "claustrum",
    "corpora": "corpus",
    "criteria": "criterion",
    "crura": "crus",
    "feet": "foot",
    "foramina": "foramen",
    "ganglia": "ganglion",
    "genua": "genu",
    "headaches": "headache",
    "lenses": "lens",
    "matrices": "matrix",
    "men": "man",
    "mice": "mouse",
    "opercula": "operculum",
    "phenomena": "phenomenon",
    "plana": "planum",
    "putamina": "putamen",
    "septa": "septum",
    "spectra": "spectrum",
    "striata": "striatum",
    "tegmenta": "tegmentum",
    "vermes": "vermis",
    "women": "woman",
    # Words that end as plurals do, and are none: "pars" is not several "par".
    **{
        word: word
        for word in word_set(
            """
            ados aids alias atlas bias canvas caps downs gas herpes lens mays means mini news
            pancreas pars pons psts sans series species stokes whereas
            """
        )
    },
    **{f"{word}s": word for word in word_set("calorie cookie die genie lie movie selfie tie")},
}
# Endings of plurals and of their singulars; the first that fits is used.
_PLURALS = {
    **{f"{stem}ices": f"{stem}ex" for stem in ("ap", "cort", "ind", "vert", "vort")},
    **{
        f"{stem}ses": f"{stem}sis"
        for stem in word_set("aly are bo cho cri gno hy lero pto rho sta steno the uro")
    },
    **{f"{ending}es": ending for ending in ("ch", "sh", "ss", "x")},
    **{ending: ending for ending in ("is", "ss", "us")},
    "ies": "y",
    "i": "us",
    "ae": "a",
    "s": "",
}
SHORTEST_PLURAL = 4  # letters: "ms" and "ads" are not plurals


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Key shared by the forms of a word: singular and plural, British and American.

    >>> [fold(word) for word in ("gyri", "cortices", "tumours", "haemorrhages", "grey", "pons")]
    ['gyrus', 'cortex', 'tumor', 'hemorrhage', 'gray', 'pons']
    """
    if len(word) < SHORTEST_PLURAL or not word.isalpha():
        return word
    return _american(_singular(word))


def _american(word: str) -> str:
    if not _BRITISH.search(word):
        return word
    for pattern, american in _SPELLINGS:
        word = pattern.sub(american, word)
    return word


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for plural, singular in _PLURALS.items():
        if word.endswith(plural):
            return word[: -len(plural)] + singular
    return word
