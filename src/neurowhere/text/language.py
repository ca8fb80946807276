"""Language: whether a text is in another language than English."""

import re
from collections import Counter
from functools import lru_cache

from neurowhere.text.words import cuts, runs_of, word_set

LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_ALONE = bytes(code if chr(code).isalpha() else ord(" ") for code in range(128)) * 2
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
    n_english, n_little = (sum(times[word] for word in times.keys() & some) for some in COUNTED)
    n_little -= min(times["et"], times["al"])  # authors of references: "Roth et al."
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
