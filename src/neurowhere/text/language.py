"""Language: whether a text is in another language than English."""

import re
from collections import Counter
from functools import cache, lru_cache

from neurowhere.text.reading.tables import TEXT, read_table
from neurowhere.text.words import cuts, runs_of

LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_ALONE = bytes(code if chr(code).isalpha() else ord(" ") for code in range(128)) * 2
ACCENT = re.compile("[äöüßàâçéèêëîïôùûœáíóúñãõìòåøăąćęłńśźżğışčďěňřšťůž]")
# Endings of nouns and adjectives that are English in no word: "Aphasie", "thalamisch", "lesión".
ENDING = re.compile(
    "[^\\W\\d_]+(?:ungen|ierung|iert|störung|keit|ische?[nrs]?|phasie|lepsie|pathie|logie|plegie|parese"
    "|parésie|sklerose|sión|ción|siones|ciones|zione|zioni|ità|são|ção|ções|heid|euse"
    "|seitige?[nrs]?)"
)

ELIDED = re.compile(r"\b[cdjlmnst]['’](?=[^\W\d_]{3})", re.IGNORECASE)  # "l'insula", "d'une"
FEWEST_WORDS = 5  # for little words alone to tell
FEW = 2  # words of another language, which a name may have: Gilles de la Tourette
# Evidence for another language in a short text; English words count against it as telling ones.
OF_A_TELLING_WORD, OF_AN_ENDING, OF_A_LITTLE_WORD, OF_AN_ACCENT = 1.5, 0.75, 0.5, 0.5
ENOUGH = 2.0


@cache
def words_of_languages() -> dict[str, frozenset[str]]:
    """Return the words that tell English from other languages, by their class.

    "little" and "telling" words are of other languages; so are the words of "verb", of which those
    of "english-verb" are English words or names as well. "shared" words are English and others.
    """
    rows = read_table("neurowhere.text.reading", "languages", {"class": TEXT, "words": TEXT})
    return {row["class"]: frozenset(row["words"].split()) for row in rows}


def words_of_letters(text: str) -> list[str]:
    """Return the runs of letters in a text.

    >>> words_of_letters("T1 of the naïve_brain"), words_of_letters("l'insula")
    (['T', 'of', 'the', 'naïve', 'brain'], ['l', 'insula'])
    """
    return runs_of(text, _LETTERS_ALONE, LETTERS)


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
        words = words_of_letters(text[start:end].lower())
        if not text.isascii():
            letters = "".join(words)
            n_letters += len(letters)
            n_ascii += len(letters.encode("ascii", "ignore"))
        times.update(words)
    if n_ascii * 2 < n_letters:
        return True
    known = words_of_languages()
    n_english = sum(times[word] for word in times.keys() & known["english"])
    n_little = sum(times[word] for word in times.keys() & known["little"])
    n_little -= min(times["et"], times["al"])  # authors of references: "Roth et al."
    if times.total() >= FEWEST_WORDS and n_little > max(n_english, FEW):
        return True
    if times.keys().isdisjoint(known["english"] - known["shared"]) and _is_foreign_sentence(text):
        return True
    enough = max(ENOUGH, OF_A_TELLING_WORD * n_english)
    is_possible = OF_A_TELLING_WORD * len(times) >= enough  # no word is more evidence
    return is_possible and sum(map(_evidence, times)) >= enough


def _is_foreign_sentence(text: str) -> bool:
    """Whether a text without English words has a verb of another language, and little words.

    A little word alone may be of a name ("Cornelia de Lange"); abbreviations tell nothing.
    """
    known = words_of_languages()
    words = {word.lower() for word in LETTERS.findall(text) if not word.isupper() or len(word) == 1}
    signs = {word for word in words if _evidence(word) or word == "die"} | {*ELIDED.findall(text)}
    is_verb = any(signs - {verb} for verb in words & known["verb"])
    return is_verb or any(len(signs - {verb}) > 1 for verb in words & known["english-verb"])


@lru_cache(maxsize=1 << 14)
def _evidence(word: str) -> float:
    """Return how much a word speaks for another language than English."""
    known = words_of_languages()
    if word in known["telling"]:
        return OF_A_TELLING_WORD
    if word in known["little"]:
        return OF_A_LITTLE_WORD
    of_ending = OF_AN_ENDING if ENDING.fullmatch(word) else 0
    has_accent = not word.isascii() and ACCENT.search(word)
    return of_ending + (OF_AN_ACCENT if has_accent else 0)
