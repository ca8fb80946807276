"""Names: the phrases of a text, as the vocabulary has found them and as they are meant.

Half a name is completed ("superior and middle frontal gyri"), a word that is of another organ is
left out ("parietal pleura"), places that the vocabulary lacks are added, and so are names with one
letter wrong beside a side or a lesion.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from neurowhere.text.lookalikes import slips
from neurowhere.text.matching import NO_TERM
from neurowhere.text.reading.document import Document, Name, Span
from neurowhere.text.reading.lexicon import is_beside_lesion, side_of
from neurowhere.text.reading.tags import HALF, LIMB, LOBES, SIDE, At, Found
from neurowhere.text.unknown import says_nothing

if TYPE_CHECKING:
    from neurowhere.text.counter import TermCounter

OF_BRAIN = re.compile(r"brain|cerebr|cerebell|crani|encephal|intracran|neur|subcortical")
OF_VENTRICLES = re.compile(
    r"bleed|blood|choroid|cranial|csf$|cta?$|ependym|evd$|ha?emorrh|horn|hydroceph|intraventr|ivh$"
    r"|mass$|midline|mri?$|periventr|shift|shunt|stroke|sulc|tumou?r"
)
SHORTEST, BEGINNING = 7, 3  # letters of a misspelt name, and of its ends of which one is right
CAPSULE = "internal capsule"
LIMBS = {"ant": "anterior", "post": "posterior"}
LIMBS |= {name: name for name in LIMBS.values()}


def complete(document: Document, counter: "TermCounter", at: At) -> Document:
    """Return a text with its names as they are meant, by the phrases of the tables in it."""
    limbs = [i for i in document.having(LIMB) if _is_of_capsule(document, i)]
    names = _replaced(document.names, _half_names(document, counter))
    names = _replaced(names, (Name(*span, NO_TERM, False) for span in _others(document, at)))
    names = _replaced(names, (_limb(document, counter, i) for i in limbs))
    misspelt = [*_misspelt(document, counter)]
    if misspelt or names is not document.names:
        misspelt_at = frozenset(name.first for name in misspelt)
        document = document.renamed([*names, *misspelt], misspelt_at)
    for spans, is_structure in ((at["places"], True), (at["implied"], False)):
        if free := _free(document, spans, is_structure):
            document = document.renamed([*document.names, *free])
    return document


def _replaced(names: list[Name], new: Iterable[Name]) -> list[Name]:
    """Return names with new ones in place of those within them."""
    found = list({name.first: name for name in new}.values())
    ends = {i: name.end for name in found for i in range(name.first, name.end)}
    kept = (name for name in names if name.end > ends.get(name.first, 0))
    return [*kept, *found] if found else names


def is_place_name(name: Name) -> bool:
    """Whether a name is a structure of the vocabulary."""
    return name.is_structure and name.term != NO_TERM


# ---- half a name


def _half_names(document: Document, counter: "TermCounter") -> Iterator[Name]:
    """Yield the names that share the end of another: "superior and middle frontal gyri"."""
    words, begins = document.words, document.begins
    index = counter.vocabulary.index
    for i in document.having(HALF):
        spelt: list[tuple[int, int, str]] = []
        if words[i] not in LOBES and i + 1 in begins:
            spelt = [(j, j + 1, name) for j, name in _before_conjunction(document, i)]
        elif words[i] in LOBES and _lacks_gyrus(document, i):
            spelt = [(i - 1, i + 1, f"{words[i - 1]} {words[i]} {LOBES[words[i]]}")]
        for first, end, name_ in spelt:
            if (term := counter.term_of(name_)) is not None:
                yield Name(first, end, index(term), True)


def _lacks_gyrus(document: Document, i: int) -> bool:
    """Whether the adjective of a lobe at token i stands for a gyrus: "superior frontal"."""
    is_level = i > 0 and "level" in document.kinds[i - 1] and document.gaps[i] == " "
    if not is_level or i - 1 in document.inner or i not in document.begins:
        return False
    is_last = document.names[document.begins[i]].end == i + 1
    return is_last and "no-gyrus" not in document.kinds_at(i + 1)


def _before_conjunction(document: Document, i: int) -> Iterator[tuple[int, str]]:
    """Yield the words before a conjunction that share the end of the name after it."""
    name = document.names[document.begins[i + 1]]
    if not name.is_structure or name.end - name.first < 2:
        return
    own = document.kinds[name.first] & {"direction", "part"}
    rest = " ".join(document.words[name.first + 1 : name.end])
    j = i - 1
    while own and j >= 0 and own & document.kinds[j] and document.gaps[j + 1] in (" ", ", "):
        yield j, f"{document.words[j]} {rest}"
        if document.gaps[j] != ", ":
            return
        j -= 1


# ---- what is of something else


def _others(document: Document, at: At) -> Iterator[Span]:
    """Yield the phrases that are of something else than their words say."""
    begins, names = document.begins, document.names
    within: set[int] = set()
    for first, end, _ in at["elsewhere"]:
        if first not in begins or names[begins[first]].end < end:
            first += side_of(document.words[first]) is not None  # "right-handed" has a side
            within.update(range(first, end))
            yield first, end
    yield from (
        (first, end) for first, end in _of_organs(document, at["beside"]) if first not in within
    )
    yield from ((first, end) for first, end, _ in at["fixed"])


def _of_organs(document: Document, at: Sequence[Found]) -> Iterator[Span]:
    """Yield the words that are of another organ by the words of their sentence."""
    shared = {i: others for i, _, others in at if i not in document.inner}
    has_no_brain = cache(partial(_has_no_brain, document, shared))
    is_of_brain = cache(partial(_is_of_brain, document, shared=shared))
    here, words, organs = range(0), set[str](), cache(partial(_organs, document))
    for i, others in shared.items():
        if i not in here:  # a sentence is looked through once, however many of its words ask
            here = _wide_sentence(document, i)
            words = set(document.words[here.start : here.stop])
        if others.isdisjoint(words) or is_of_brain(here):
            continue
        said = others & organs(here)
        if said and (not all(map(side_of, said)) or has_no_brain()):
            yield i, i + 1


def _organs(document: Document, tokens: range) -> set[str]:
    """Return the words of a sentence that may be of other organs."""
    return {document.words[j] for j in tokens if "disease" not in document.kinds_at(j + 1)}


def _has_no_brain(document: Document, shared: Container[int]) -> bool:
    everything = range(len(document.words))
    is_said = any(map(OF_VENTRICLES.match, document.words))
    return not is_said and not _is_of_brain(document, everything, shared)


def _wide_sentence(document: Document, i: int) -> range:
    """Tokens of a sentence; a semicolon ends none here."""
    number = last = document.sentence_of(i)
    sentences, gaps = document.sentences, document.gaps
    while number > 0 and ";" in gaps[sentences[number][0]]:
        number -= 1
    while last + 1 < len(sentences) and ";" in gaps[sentences[last + 1][0]]:
        last += 1
    return range(sentences[number][0], sentences[last][1])


def _is_of_brain(document: Document, tokens: range, shared: Container[int]) -> bool:
    """Whether some tokens have a word of the brain, or a structure that nothing else has."""
    begins, names = document.begins, document.names
    return any(
        OF_BRAIN.match(document.words[i])
        or (i in begins and i not in shared and is_place_name(names[begins[i]]))
        for i in tokens
    )


# ---- names that are added


def _limb(document: Document, counter: "TermCounter", i: int) -> Name:
    """Return "anterior limb" as that of the internal capsule, of nothing where that is named."""
    near = document.words[i + 1 : i + 6]
    if near[:1] == ["of"] and "capsule" in near:
        return Name(i - 1, i + 1, NO_TERM, False)
    limb = f"{LIMBS[document.words[i - 1]]} limb {CAPSULE}"
    term = counter.term_of(limb) or counter.term_of(CAPSULE)
    return Name(i - 1, i + 1, NO_TERM if term is None else counter.vocabulary.index(term), True)


def _is_of_capsule(document: Document, i: int) -> bool:
    """Whether "limb" at token i may be one of the internal capsule."""
    is_other = i in document.inner or "no-capsule" in document.kinds_at(i + 1)
    is_named = i > 0 and document.words[i - 1] in LIMBS
    return is_named and not is_other and _is_of_lesion(document, i)


def _is_of_lesion(document: Document, i: int) -> bool:
    """Whether the sentence of a token names a lesion, a scan or a structure elsewhere."""
    first, end = document.sentences[document.sentence_of(i)]
    others = [j for j in range(first, end) if j not in (i - 1, i)]
    return any(
        not {"lesion", "exam"}.isdisjoint(document.kinds[j])
        or (j in document.begins and document.names[document.begins[j]].is_structure)
        for j in others
    )


def _misspelt(document: Document, counter: "TermCounter") -> Iterator[Name]:
    """Yield the names with one letter wrong, after a side or beside a lesion."""
    end = len(document.words)
    near = {j for i in document.having(SIDE) for j in range(i + 1, min(i + 4, end))}
    for i in sorted(near):
        if _may_be_misspelt(document, counter, i):
            word, names = document.words[i], counter.long_structures.items()
            alike = {term for name, term in names if _is_alike(word, name)}
            if len(alike) == 1:
                yield Name(i, i + 1, alike.pop(), True)


def _may_be_misspelt(document: Document, counter: "TermCounter", i: int) -> bool:
    """Whether token i is a long word that nothing knows, beside a side or a lesion."""
    word = document.words[i]
    if len(word) < SHORTEST or counter.knows(word) or document.kinds[i] - {"modifier"}:
        return False
    if i in document.covered:
        return False
    is_beside = any(side_of(w) for w in document.words[max(i - 2, 0) : i])
    is_beside = is_beside or is_beside_lesion(document.words, i, i)
    return is_beside and word.isalpha() and not says_nothing(word)


def _is_alike(word: str, name: str) -> bool:
    """Whether a word is a name with one letter wrong."""
    is_near = name[0] == word[0] and abs(len(name) - len(word)) <= 1
    is_same = name[:BEGINNING] == word[:BEGINNING] or name[-BEGINNING:] == word[-BEGINNING:]
    return is_near and is_same and slips(word, name) == 1


def _free(document: Document, found: Sequence[Found], is_structure: bool) -> list[Name]:
    """Return names for phrases that are longer than the names within them, or that have none."""
    covered, names = document.covered, document.names
    new = [Name(first, end, NO_TERM, is_structure) for first, end, _ in found]
    return [
        name
        for name in new
        if all(
            _is_within(names[covered[i]], name) for i in range(name.first, name.end) if i in covered
        )
    ]


def _is_within(name: Name, other: Name) -> bool:
    """Whether a name is part of a longer place."""
    is_part = other.first <= name.first and name.end <= other.end
    return other.is_structure and is_part and name[:2] != other[:2]
