"""Unknown: the words of a text that a model does not understand, and texts that are not English."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from neurowhere._tools.files import shipped_lines
from neurowhere.text.abbreviations import definitions
from neurowhere.text.reading.lexicon import words_of
from neurowhere.text.vocabulary import generic_words
from neurowhere.text.words import cuts, fold, word_set

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
SHORTEST = 3  # letters of a content word, unless it is written in capitals


@cache
def common_words() -> frozenset[str]:
    """Return the words, folded, that say nothing of a text's subject, as "the" and "however"."""
    return frozenset(map(fold, shipped_lines(__package__, "common.txt")))


# Words of reports and notes that tell how something was looked at, and in which units.
REPORTING = word_set(
    """
    angiogram axial biopsy cc cm contrast coronal ct cta ctp dsa dwi ecg echo eeg emg flair gy hpi
    hx iv kg mg ml mm mr mra msec nihss pet pmh ros sagittal sequence spect tesla transverse
    ultrasound unenhanced yo
    """
)


CLINICAL_CLASSES = (
    *("affirming", "auxiliary", "exam", "measure", "unit", "lesion", "left", "right"),
    *("bilateral", "misspelt-left", "misspelt-right", "misspelt-bilateral"),
)


@cache
def clinical_words() -> frozenset[str]:
    """Return the words, folded, by which a text is read: of denials, hedges, sides and exams."""
    phrases = (lexicon.CUES.words, lexicon.HEDGES.words, lexicon.AFFIRMING, lexicon.AUXILIARIES)
    measured = (lexicon.EXAMS, lexicon.MEASURES, lexicon.UNITS, REPORTING)
    sides = (SIDE_WORDS.keys(), lexicon.MISSPELT_SIDES.keys(), LESION, {"sided"})
    return frozenset(fold(word) for words in (*phrases, *measured, *sides) for word in words)


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
    found: dict[str, UnknownWord] = {}
    for word in _outside(text, sorted(known)):
        if word.word not in defined and _is_content(word.word):
            found.setdefault(fold(word.word.lower()), word)
    return list(found.values())


def _outside(text: str, known: list[tuple[int, int]]) -> Iterator[UnknownWord]:
    """Yield the words that overlap with none of the known places."""
    place = 0
    for match in WORD.finditer(text):
        while place < len(known) and known[place][1] <= match.start():
            place += 1
        if place == len(known) or known[place][0] >= match.end():
            yield UnknownWord(match[0], match.start(), match.end())


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
CODE_WITHIN = 2000  # characters from the start in which code is looked for


def is_code(text: str) -> bool:
    """Whether a text is a program.

    >>> is_code("for i in range(3): print(memory[i])"), is_code("memory for words (n = 3)")
    (True, False)
    """
    return bool(CODE.search(text, 0, CODE_WITHIN))


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
    is_elsewhere = bool(words) and all(word in IN_BOTH for word in words)
    return is_elsewhere and bool(ORGAN.search(text)) and not OF_BRAIN.search(text)


# ---- language

LETTERS = re.compile(r"[^\W\d_]+")
ACCENT = re.compile("[äöüßàâçéèêëîïôùûœáíóúñãõìòåøăąćęłńśźżğışčďěňřšťůž]")
# Endings of nouns and adjectives that are English in no word: "Aphasie", "thalamisch", "lesión".
ENDING = re.compile(
    "[^\\W\\d_]+(?:ungen|ierung|iert|störung|keit|ische?[nrs]?|phasie|lepsie|pathie|logie|plegie|parese"
    "|parésie|sklerose|sión|ción|siones|ciones|zione|zioni|ità|são|ção|ções|heid|euse"
    "|seitige?[nrs]?)"
)

# Little words, and words of notes and reports, that are English and nothing else.
ENGLISH = word_set(
    """
    about after all an and are as at be been between both but by can did during for from had has
    have he her his how if in into is it its left may memory my no not of on only or our patient
    patients right she showed shows side since some studies study than that the their them there
    these they this to was we were what when where which while who with without woman you
    """
)
# Little words of German, Dutch, French, Spanish, Italian, Portuguese and the languages of the North
# that English texts do not have; "in", "die", "war", "an" and "no" tell nothing.
LITTLE = word_set(
    """
    aan af après att au auch auf aus aux av avant avec bei beim che com como con da dans das de
    degli dei del della delle dem den depuis der des desde det di diese dopo dos du durch een ein
    eine einem einen einer eines el elle em en entre er es est et fue für ha han har het hun ich il
    im ist je kein keine la las le les links lo los mais med mit muy más na nach nachdem nel nella
    nicht niet nulla não och oder og ohne om os ou par pas pero peu por pour que qui sans se sein
    seit sem senza sich sie sin sind sobre som sont su sul sur til till um uma un una und une unter
    van vom von voor vor wegen wie wird y zonder zu zum zur è été
    """
)
# Sides, people, organs and complaints, as notes have them.
TELLING = word_set(
    """
    anfall anfälle angst anni anos ans avc avec años befund beidseitig beidseits beroerte bilatéral
    bilatérale bloeding blutung cefalea cerebro cerveau cervello crises céphalée céphalées cérebro
    debilidad debolezza derecha derecho destra destro direita direito doente dolor dolore donna dor
    douleur douleurs droit droite démence emorragia esquerda esquerdo faiblesse femme fraqueza
    gangstörung gauche gedächtnis geheugen gehirn hemorragia herdbefund hersenen hirn hirninfarkt
    hombre homem homme hémiparésie hémorragie ictus infarctus infarkt infarto izquierda izquierdo
    jährige jähriger kein keine kopfschmerz kopfschmerzen langage lenguaje lesione lesiones lesioni
    lesión lesão lesões linguagem linguaggio linke linken linker linkes linksseitig linkszijdig
    lähmung läsion läsionen lésion lésions mareo medo memória miedo mujer mulher mémoire paciente
    pacientes patientin patiënt paura paziente pazienti perdita perte peur pijn pérdida rechte
    rechten rechter rechtes rechts rechtsseitig rechtszijdig schlaganfall schmerz schmerzen
    schwindel schwäche sinistra sinistro sprache sprachstörung sylvien taal uomo verdacht vertige
    vertiges vrouw zwakte épilepsie
    """
)
# Verbs of these languages, and those of them that are English words or names as well.
VERBS = word_set(
    """
    es está están estaba est foi foram fue fueron fut haben hatte hatten ist mostra mostró muestra
    montre montrait ont sind son sono sont são tiene têm waren werd wird wurde wurden zeigt zeigte
    zijn è é était étaient
    """
)
ENGLISH_VERBS = word_set("era eran ha han hat tem war")
SHARED = word_set("an in is me no on")  # English words that other languages have, too
ELIDED = re.compile(r"\b[cdjlmnst]['’](?=[^\W\d_]{3})", re.IGNORECASE)  # "l'insula", "d'une"
COUNTED = (ENGLISH, LITTLE)
FEWEST_WORDS = 5  # for little words alone to tell
FEW = 2  # words of another language, which a name may have: Gilles de la Tourette
# Evidence for another language in a short text; English words count against it as telling ones.
OF_A_TELLING_WORD, OF_AN_ENDING, OF_A_LITTLE_WORD, OF_AN_ACCENT = 1.5, 0.75, 0.5, 0.5
ENOUGH = 2.0


def is_foreign(text: str) -> bool:
    """Whether the letters, or the words of a text, are not English.

    >>> is_foreign("Der Patient hat eine Läsion der linken Amygdala und des Thalamus.")
    True
    >>> is_foreign("Läsion linker Thalamus")
    True
    >>> is_foreign("locus coeruleus, substantia nigra, pars opercularis, la belle indifference")
    False
    >>> is_foreign("мозг и память")
    True
    """
    n_letters = n_ascii = 0
    times: Counter[str] = Counter()
    for start, end in cuts(text):
        words = LETTERS.findall(text[start:end].lower())
        letters = "".join(words)
        n_letters += len(letters)
        n_ascii += len(letters.encode("ascii", "ignore"))
        times.update(words)
    if n_ascii * 2 < n_letters:
        return True
    n_english, n_little = (sum(times[word] for word in times.keys() & some) for some in COUNTED)
    if times.total() >= FEWEST_WORDS and n_little > max(n_english, FEW):
        return True
    if times.keys().isdisjoint(ENGLISH - SHARED) and _is_foreign_sentence(text):
        return True
    enough = max(ENOUGH, OF_A_TELLING_WORD * n_english)
    is_possible = OF_A_TELLING_WORD * len(times) >= enough  # no word is more evidence
    return is_possible and sum(map(_evidence, times)) >= enough


def _is_foreign_sentence(text: str) -> bool:
    """Whether a text without English words has a verb of another language, and little words.

    A little word alone may be of a name ("Cornelia de Lange"); abbreviations tell nothing.
    """
    words = {word.lower() for word in LETTERS.findall(text) if not word.isupper() or len(word) == 1}
    signs = {word for word in words if _evidence(word) or word == "die"} | {*ELIDED.findall(text)}
    is_verb = any(signs - {verb} for verb in words & VERBS)
    return is_verb or any(len(signs - {verb}) > 1 for verb in words & ENGLISH_VERBS)


@lru_cache(maxsize=1 << 14)
def _evidence(word: str) -> float:
    """Return how much a word speaks for another language than English."""
    if word in TELLING:
        return OF_A_TELLING_WORD
    if word in LITTLE:
        return OF_A_LITTLE_WORD
    of_ending = OF_AN_ENDING if ENDING.fullmatch(word) else 0
    has_accent = not word.isascii() and ACCENT.search(word)
    return of_ending + (OF_AN_ACCENT if has_accent else 0)
