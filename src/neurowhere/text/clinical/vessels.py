"""Vessels: words that tell of an artery or of its territory, and what they do not tell of where.

Studies that speak of aneurysms found what the frontal lobes do after one of the anterior
communicating artery. "Basilar artery aneurysm" is not there: beside a vessel, such words and the
vessel's own weigh nothing, and the rules of its territory are all that tells where.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurowhere.text.clinical.places import is_beside_lesion
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import read_table
from neurowhere.text.words import fold, word_set

if TYPE_CHECKING:
    from neurowhere.text.clinical.mentions import Mention

# Words that tell of the territory of an artery, and those that tell of the vessel alone.
VASCULAR = word_set(
    "cva distribution embolic embolism embolus hypoperfusion infarct infarcted infarction ischemia "
    "ischemic lvo mcao occluded occlusion occlusive penumbra stroke syndrome territory "
    "thrombectomy thrombosis thrombus tia"
)
# A vessel that blood flows through, or that lies where it may.
OPEN = word_set(
    "loop looping open patent recanalisation recanalised recanalization recanalized reopened stent "
    "stented stenting"
)
VESSEL = OPEN | word_set(
    "aneurysm aneurysmal atheroma atherosclerosis atherosclerotic bifurcation calcification "
    "calcified caliber clipped clipping coiled coiling dissection doppler ectasia endarterectomy "
    "fenestration flow hypoplasia hypoplastic narrowed narrowing patency plaque stenosed "
    "stenosis stenotic tortuous vasospasm velocity"
)
TORN = word_set("dissected dissecting dissection")
# What is wrong with a vessel, and tells of no territory by itself.
DISEASED = TORN | word_set(
    "aneurysm aneurysmal clipped clipping coiled coiling fenestration stenosis stenotic"
)
# What is usual or harmless in a vessel, which tells of nothing beyond it.
VARIANT = OPEN | word_set(
    "aplasia aplastic azygos codominant dominant duplicated duplication fetal foetal hypoplasia "
    "hypoplastic plaque tortuous"
)
SMALL = word_set("aplasia aplastic hypoplasia hypoplastic")  # of a segment and no cortex: "A1"
CAROTID = "carotid"  # which is a term by itself
NOTED = DISEASED | VARIANT | {CAROTID}
LONGEST_ITEM = 12  # tokens
# What an abbreviation may stand for otherwise, in a text that says so.
OTHERWISE = {
    "pca": ["principal", "component"],
    "ica": ["independent", "component"],
    "sca": ["spinocerebellar", "ataxia"],
}
ARTICLES = word_set("a an of the")  # which a text that is the name of an artery may have beside it


def weigh_vessels(reading: Reading, mentions: "list[Mention]") -> "list[Mention]":
    """Give no weight to the names of arteries that are diseased, nor to what is wrong with them."""
    within = {i for words in vessel_words(reading) for i in range(words.first, words.last + 1)}
    if not within:
        return mentions
    is_within = ({*range(*span)} <= within for span in _spans(reading))
    return [
        each._replace(weight=0.0) if is_vessel else each
        for each, is_vessel in zip(mentions, is_within, strict=True)
    ]


def _spans(reading: Reading) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each match: the first, and the one after the last."""
    return ((first, last + 1) for first, last in zip(reading.first, reading.last, strict=True))


def vessel_words(reading: Reading) -> list[Tokens]:
    """Find the names of arteries that are diseased or all of a text, and what is wrong with them.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["aneurysm"]))
    >>> vessel_words(counter.read("Basilar artery aneurysm"))
    [Tokens(first=0, last=1), Tokens(first=2, last=2)]
    >>> vessel_words(counter.read("Infarct after clipping of a basilar artery aneurysm"))
    []
    """
    return list(_vessel_words(reading))


def _vessel_words(reading: Reading) -> Iterator[Tokens]:
    noted = [(i, fold(reading.tokens[i])) for i in _tokens_in(reading, NOTED)]
    diseased = [i for i, word in noted if word in DISEASED]
    sentences = {reading.sentence_number(i) for i in diseased}
    vascular: set[int] = set()
    if diseased:
        vascular.update(map(reading.sentence_number, _tokens_in(reading, VASCULAR)))
    named: set[int] = set()
    variants = {reading.sentence_number(i) for i, word in noted if word in VARIANT}
    for first, last, name in read_table().phrases.find(reading):
        tokens = Tokens(first, last)
        entry = read_table().entries[name]
        if entry.kind != "artery" or not is_written(reading, tokens):
            continue
        number = reading.sentence_number(first)
        is_variant = number in variants and is_harmless(reading, tokens)
        if entry.needs == "vessel" and first == last:  # "M1" may be the motor cortex
            is_small = is_variant and is_harmless(reading, tokens, SMALL)
            yield from (tokens for _ in range(is_small))
            continue
        is_diseased = number in sentences and number not in vascular
        if is_diseased or is_variant or is_bare(reading, tokens):
            yield tokens
        if is_diseased:
            named.add(number)
    yield from (Tokens(i, i) for i in diseased if reading.sentence_number(i) in named)
    alone = [Tokens(i, i) for i, word in noted if word == CAROTID]
    if alone and _has_lesion(reading):
        yield from (each for each in alone if is_harmless(reading, each, VARIANT | DISEASED))


def _has_lesion(reading: Reading) -> bool:
    """Whether something is wrong with a structure of a text."""
    names = zip(reading.first, reading.last, reading.is_structure, strict=True)
    tokens = reading.tokens
    return any(is_place and is_beside_lesion(tokens, *name) for *name, is_place in names)


def _tokens_in(reading: Reading, words: frozenset[str]) -> list[int]:
    """Return the tokens that are a form of some words; each distinct word is looked at once."""
    return reading.at_words([word for word in reading.where if fold(word) in words])


def is_written(reading: Reading, tokens: Tokens) -> bool:
    """Whether some tokens are written as a name is: abbreviations in capitals."""
    words = reading.tokens[tokens.first : tokens.last + 1]
    if " ".join(words) not in read_table().abbreviations:
        return True
    start, end = reading.span(tokens)
    is_numbered = words[-1][-1].isdigit()  # "M1" has but one capital
    return any(map(str.isupper, reading.text[start + (not is_numbered) : end]))


def is_harmless(reading: Reading, tokens: Tokens, variants: frozenset[str] = VARIANT) -> bool:
    """Whether a vessel is said to have a variant, and its territory to have nothing.

    Only the words beside the name tell, up to a comma: "left thalamic infarct, fetal right PCA".
    """
    sentence = reading.sentence_tokens(reading.sentence_number(tokens.first))
    lowest = max(sentence.start, tokens.first - LONGEST_ITEM)
    highest = min(sentence.stop, tokens.last + LONGEST_ITEM)
    before = range(tokens.first, lowest, -1)
    first = next((i for i in before if "," in reading.gap(i)), lowest)
    after = range(tokens.last + 1, highest)
    end = next((i for i in after if "," in reading.gap(i)), highest)
    words = {fold(word) for word in reading.tokens[first:end]}
    number = tokens.last + 1
    is_narrow = reading.token(number).isdigit() and reading.gap(number + 1).startswith("%")
    is_said = is_narrow or not words.isdisjoint(variants)  # "L ICA 50%"
    return is_said and words.isdisjoint(VASCULAR)


def is_bare(reading: Reading, tokens: Tokens) -> bool:
    """Whether a text is the name of an artery and nothing else, which may mean nothing else."""
    name = Counter(reading.tokens[tokens.first : tokens.last + 1])
    # By distinct words: the first that is neither an article nor of the name ends it.
    is_alone = all(word in ARTICLES or word in name for word in reading.where)
    is_once = all(len(reading.where[word]) == n for word, n in name.items() if word not in ARTICLES)
    return is_alone and is_once and reading.tokens[tokens.last] not in OTHERWISE
