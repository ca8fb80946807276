"""Unknown: the words of a text that a model does not understand, and what kind of text it is."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from neurowhere._tools.files import shipped_lines
from neurowhere.text.abbreviations import definitions
from neurowhere.text.language import LETTERS
from neurowhere.text.reading.lexicon import classes, words_of
from neurowhere.text.reading.tags import words_of_cues
from neurowhere.text.vocabulary import generic_words
from neurowhere.text.words import fold, word_set

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
SHORTEST = 3  # letters of a content word, unless it is written in capitals


@cache
def common_words() -> frozenset[str]:
    """Return the words, folded, that say nothing of a text's subject, as "the" and "however"."""
    return frozenset(map(fold, shipped_lines(__package__, "common.txt")))


CLINICAL = classes("affirming auxiliary exam measure unit lesion left right bilateral")
# Words of reports that tell how something was looked at, and in which units.
REPORTING = word_set(
    """
    angiogram axial biopsy cc cm contrast coronal ct cta ctp dsa dwi ecg echo eeg emg flair gy hpi
    hx iv kg mg ml mm mr mra msec nihss pet pmh ros sagittal sequence spect tesla transverse
    ultrasound unenhanced yo
    """
)


@cache
def clinical_words() -> frozenset[str]:
    """Return the words, folded, by which a text is read: of denials, hedges, sides and exams."""
    known = words_of(*CLINICAL)
    return frozenset(map(fold, known | words_of_cues() | REPORTING | {"sided"}))


class UnknownWord(NamedTuple):
    """A word, and where it stands: ``text[start:end]``."""

    word: str
    start: int
    end: int


def unknown_words(text: str, known: Iterable[tuple[int, int]]) -> list[UnknownWord]:
    """Find the content words of a text that are part of no name that was read.

    Parameters
    ----------
    text : str
    known : iterable of (int, int)
        Where the names are that were read.

    Returns
    -------
    list of UnknownWord
        In the order of the text, each word once. Little words, numbers, words that say nothing of
        where by themselves or by which reports are read, and abbreviations that the text defines
        are left out.

    Examples
    --------
    >>> text = "The amygdala of a quokka, and another quokka in 2019"
    >>> [word for word, *_ in unknown_words(text, [(4, 12)])]
    ['quokka']
    """
    defined = {definition.short for definition in definitions(text)}
    names, place = sorted(known), 0
    found: dict[str, UnknownWord] = {}
    for match in WORD.finditer(text):
        word = match[0]
        if not _is_content(word) or word in defined:
            continue
        start, end = match.span()
        while place < len(names) and names[place][1] <= start:
            place += 1
        if place == len(names) or names[place][0] >= end:
            found.setdefault(fold(word.lower()), UnknownWord(word, start, end))
    return list(found.values())


@lru_cache(maxsize=1 << 15)
def _is_content(word: str) -> bool:
    plain = word.lower().removesuffix("'s").removesuffix("’s")
    if len(word) < SHORTEST and not (len(word) > 1 and word.isupper()):
        return False
    return not (says_nothing(plain) or all(map(says_nothing, plain.split("-"))))


def says_nothing(word: str) -> bool:
    """Whether a word in small letters says nothing of where by itself."""
    plain = fold(word)
    return plain in common_words() or plain in generic_words() or plain in clinical_words()


# ---- kinds of text

# Words by which people are spoken to or of, as in letters, stories and advertisements.
EVERYDAY = re.compile(
    r"\b(?:you|yours?|my|me|he|she|him|his|hers?|please|dear|hello|thanks?)\b", re.I
)
BRAIN = re.compile(
    r"\b(?:brain|cortex|cortical|neur\w+|mri|fmri|patient|participant|subject)", re.I
)


def is_everyday(text: str) -> bool:
    """Whether a text speaks to or of persons.

    >>> is_everyday("He had a fear of flying and took the train"), is_everyday("Fear of flying")
    (True, False)
    """
    return bool(EVERYDAY.search(text))


def is_science(text: str) -> bool:
    """Whether a text speaks of the brain, or of those whose brains are studied."""
    return bool(BRAIN.search(text))


# Statements of program code, which a text of words does not have.
CODE = re.compile(
    r"\bdef \w+\(.*?\)\s*(?:->.*?)?:|\bfrom [\w.]+ import \w|\bimport \w+ as \w+\b"
    r"|^\s*import \w+;?\s*$|\bfor \w+ in range\(|\b(?:console\.log|printf?)\("
    r"|\bSELECT\b.+?\bFROM\b|\b(?:INSERT INTO|DELETE FROM)\b"
    r"|\b(?:const|let|var) \w+ ?=|\bfunction\b ?\w*\(.*?\) ?\{|#include ?<"
    r"|\b(?:public|private|static) (?:class|int|void)\b|\bwhile \(.*?\) ?\{|\w\(\);",
    re.M,
)
# One of these stands in every such statement; most texts have none, which is found out fast.
MARKS_OF_CODE = (
    *("{", "def ", "import ", "range(", "console.log(", "print(", "printf(", "SELECT", "INTO "),
    *("DELETE ", "#include", "();", "const ", "let ", "var ", "public ", "private ", "static "),
)
CODE_WITHIN = 2000  # characters from the start in which code is looked for


def is_code(text: str) -> bool:
    """Whether a text is a program.

    >>> is_code("for i in range(3): print(memory[i])"), is_code("memory for words (n = 3)")
    (True, False)
    """
    head = text[:CODE_WITHIN]
    return any(mark in head for mark in MARKS_OF_CODE) and bool(CODE.search(head))


LETTERED = 3  # letters of an abbreviation that other subjects have as well
NUMBER = re.compile(r" \d{3,}")


def is_lettered(text: str, places: Iterable[tuple[int, int]]) -> bool:
    """Whether all names of a text are abbreviations that may as well be of something else.

    >>> is_lettered("M1 motorway", [(0, 2)]), is_lettered("M1 and insula", [(0, 2), (7, 13)])
    (True, False)
    """
    names = [text[start:end] for start, end in places]
    return bool(names) and all(len(name) <= LETTERED and not name.islower() for name in names)


def is_numbered(text: str, places: Iterable[tuple[int, int]]) -> bool:
    """Whether a name of a text has a year or another number: "AD 1066", "SN 1987A"."""
    return any(NUMBER.match(text, end) for _, end in places)


# Words of other organs, and those that these share with the brain.
ORGAN = re.compile(
    r"\b(?:adrenal|aort(?:a|ic)|atrial|bladder|breast|bronch\w+|cardi(?:ac|o\w+)|echocardi\w+|ejection"
    r"|hearts?|hepat(?:ic|o\w+)|hypokine(?:sis|tic)|kidneys?|livers?|lungs?|mitral|myocardi\w+|ovar\w+"
    r"|pancrea\w+|pericardi\w+|pleura\w*|pneumon\w+|prostat\w+|pulmonary|renal|spleen|thymus"
    r"|thyroid\w*|uter(?:us|ine)|ventricular septal)\b",
    re.I,
)
IN_BOTH = word_set("atrium lobe lobes nodule nodules septal septum ventricle ventricles")
OF_BRAIN = re.compile(r"\b(?:brain|cerebr|cerebell|cortical|crani|intracran|neur)", re.I)


def is_of_organ(text: str, places: Iterable[str]) -> bool:
    """Whether a text names another organ, and no place that only the brain has.

    >>> is_of_organ("Right lower lobe pneumonia", ["lobe"]), is_of_organ("small lobe", ["lobe"])
    (True, False)
    >>> is_of_organ("insula and heart rate", ["insula"]), is_of_organ("heart rate", [])
    (False, False)
    """
    words = [word for place in places for word in LETTERS.findall(place.lower())]
    is_elsewhere = bool(words) and IN_BOTH.issuperset(words)
    return is_elsewhere and bool(ORGAN.search(text)) and not OF_BRAIN.search(text)
