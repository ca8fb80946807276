"""Assertions: which names a text denies or leaves open.

"No lesion in the thalamus" and "the hippocampus was spared" deny. A cue denies what follows it, the
subject before it, or both; the words around tell how far. The idea is that of NegEx and ConText
(Chapman et al. 2001; Harkema et al. 2009); the rules are our own, for reports and for abstracts.
What is normal, spared, gone or left out counts as denied, and so do the places of a null result
("no difference in the insula"). What has merely not changed is not.

"Possible glioma of the insula" and "?thalamic" leave open, as far as a denial would reach. So do
open questions ("whether the insula responds"), conditions ("if the pons is involved"), question
marks, and p-values just above the usual threshold.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.clauses import Clauses
from neurowhere.text.clinical.ellipsis import read_tables
from neurowhere.text.clinical.grammar import LONGEST_PHRASE, REACH
from neurowhere.text.clinical.nondenials import Cue
from neurowhere.text.clinical.places import LESION, OPPOSITE, SIDE_WORDS, is_limb
from neurowhere.text.clinical.questions import ASKING, find_asked, find_refuted
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.superseded import SUPERSEDING, Superseded
from neurowhere.text.clinical.unseen import BLURRING, SEEING
from neurowhere.text.matching import NO_TERM
from neurowhere.text.sections import places_of
from neurowhere.text.unknown import is_foreign
from neurowhere.text.words import fold, word_set

LANGUAGE = 10_000  # characters that tell the language of a text
NEAR = 2  # sentences before and after its own that any cue looks at
LEAST_NULL = 0.1  # p-values from here on are null results
INVERTIBLE: tuple[lexicon.Kind, ...] = ("not", "verb", "adjective", "state", "absent")
# Words that may deny something and are no cues.
WITHOUT_CUE = (lexicon.UNREAL | lexicon.SINGLING | lexicon.WRONGLY) | (
    SUPERSEDING | SEEING | {"0", "5"}
)
FULL = "5"  # of 5, as the strength of a limb is graded
SCORE_SIGNS = ("", ":", "=")
SCORE_ENDS = (", ", "/", ")")

# A question mark before a word asks about what follows, one after it about what went before.
QUERY = re.compile(r"(?:^|(?<=[\s(\[,;:/-]))(?:\?+|\+/-|±)\s?(?=[A-Za-z])")
QUERIES = ("?", "+/-", "±")
QUESTION = re.compile(r"(?<=\w)\s?\(?\?")
HYPHENS = ("-", "‐", "‑", "–")
# What a sign spares without a hyphen: "macular sparing hemianopia".
SPARED_SIGNS = word_set("bulbar facial macula macular pupil pupillary")
TREND = 0.05, 0.1  # p-values that are called a trend

AnyCue = TypeVar("AnyCue", Cue, "Hedge", Tokens)


class Denials(NamedTuple):
    """What a text denies, and what it leaves open by denying that it can be excluded.

    Attributes
    ----------
    denied, left_open : dict
        For each match that is: the tokens that say so.
    """

    denied: dict[int, Tokens]
    left_open: dict[int, Tokens]


def attach_denials(reading: Reading, around: Sequence[int] | None = None) -> Denials:
    """Find the matches that a text denies, each with the tokens that deny it.

    With some tokens, only cues near enough to reach them are looked at.
    """
    foreign = _foreign_cues(reading)
    found = sorted([*(Cue(*each) for each in lexicon.CUES.find(reading)), *foreign])
    denying = [cue for cue in found if cue.kind != "idle" and cue.first not in reading.inner]
    reader = _DenialReader(reading, denying)
    reader.ends.update(cue.first for cue in foreign)  # "but" of other languages, too
    result = Denials({}, {})
    for cue in _near(reader.standing(), reading, around):
        is_open = reader.is_left_open(cue)
        into = result.left_open if is_open else result.denied
        for number in reader.denied(cue, is_open=is_open):
            if not cue.first <= reading.first[number] <= cue.last:
                into.setdefault(number, Tokens(cue.first, cue.last))
    for number, i in reader.without_cue(around):
        result.denied.setdefault(number, Tokens(i, i))
    for number, i in reader.taken_up(result.denied):
        result.denied.setdefault(number, Tokens(i, i))
    for number, words in [*_answered(reading), *_normal_where_asked(reading, result.denied)]:
        result.denied.setdefault(number, words)
    return result._replace(denied=read_tables(reading).denied | result.denied)


def _answered(reading: Reading) -> Iterator[tuple[int, Tokens]]:
    """Yield the matches of the questions that a normal scan answers, and the answer."""
    if "?" not in reading.text and reading.where.keys().isdisjoint(ASKING):
        return
    for question, answer in find_refuted(reading.text):
        said = reading.tokens_within(*answer)
        for number in reading.beginning(reading.tokens_within(*question)):
            yield number, Tokens(said.start, said.stop - 1)


def _normal_where_asked(
    reading: Reading, denied: Mapping[int, Tokens]
) -> Iterator[tuple[int, Tokens]]:
    """Yield the matches of a question about a place that the next sentence calls normal."""
    if not denied or ("?" not in reading.text and reading.where.keys().isdisjoint(ASKING)):
        return
    for question in find_asked(reading.text):
        tokens = reading.tokens_within(*question)
        asked = reading.beginning(tokens)
        places = {reading.terms[each] for each in asked if reading.is_structure[each]} - {NO_TERM}
        later = [n for n in range(len(reading.terms)) if reading.first[n] >= tokens.stop]
        named = [number for number in later if reading.terms[number] in places]
        if len(places) != 1 or not named or not all(number in denied for number in named):
            continue
        number = named[0]
        answer = reading.sentence_tokens(reading.sentence_number(reading.first[number]))
        is_next = reading.is_sentence_end(answer.start) and answer.start == tokens.stop
        sides, others = (
            {SIDE_WORDS[reading.tokens[i]] for i in each if reading.tokens[i] in SIDE_WORDS}
            for each in (tokens, answer)
        )
        if (is_next or tokens.stop in answer) and others <= sides:
            yield from ((each, denied[number]) for each in asked)


def _foreign_cues(reading: Reading) -> list[Cue]:
    """Return the cues of other languages, in a text that is in one of them."""
    found = lexicon.FOREIGN_CUES.find(reading)
    if found and not is_foreign(reading.text[:LANGUAGE]):
        found = reading.phrases[lexicon.FOREIGN_CUES] = []  # the language is looked at once
    return [Cue(*each) for each in found]


def _near(cues: list[AnyCue], reading: Reading, around: Sequence[int] | None) -> Iterator[AnyCue]:
    """Yield the cues with one of some tokens in a sentence near theirs; all if none are given."""
    if around is None:
        yield from cues
        return
    sentences = sorted({reading.sentence_number(token) for token in around})
    for cue in cues:
        number = reading.sentence_number(cue.first)
        if bisect_left(sentences, number - NEAR) < bisect_left(sentences, number + NEAR + 1):
            yield cue


class _DenialReader(Superseded):
    """Reads a text around the cues of denial."""

    def denied(self, cue: Cue, *, is_open: bool = False) -> list[int]:
        """Return the matches that a cue denies, or leaves open."""
        if self.is_compound(cue):
            before = self.finishes.get(cue.first - 1)
            return [] if before is None else [before]
        if (
            self.is_part(cue)
            or self.is_condition(cue)
            or self.is_other_side(cue)
            or self.is_inability(cue)
            or self.is_difference(cue)
        ):
            return []
        if not is_open and (self.is_denied(cue) or self.is_wished(cue)):
            return []
        if (colon := self.heading_end(cue)) is not None:
            return self.ahead(colon, is_start=True)
        names = self.bracketed(cue.first, cue.last) or self.inverted(cue) or self.coordinate(cue)
        names = names or self.by_kind(cue)
        words = " ".join(self.tokens[cue.first : cue.last + 1])
        return self.structures(names) if words in lexicon.OF_PLACES_ONLY else names

    def is_compound(self, cue: Cue) -> bool:
        """Whether what is spared stands before a cue, and what is there after it.

        A "pupil-sparing palsy" is a palsy; with a space, only words of signs are read so.
        """
        i, j = cue.first, cue.last + 1
        if self.tokens[i] != "sparing" or i == 0:
            return False
        is_one = self.gap(i) in HYPHENS
        is_joined = is_one or (self.gap(i).isspace() and self.tokens[i - 1] in SPARED_SIGNS)
        return is_joined and j < len(self.tokens) and self.gap(j).isspace()

    def by_kind(self, cue: Cue) -> list[int]:
        """Return the matches that a cue denies by its kind."""
        match cue.kind:
            case "no" | "without":
                return self.by_no(cue)
            case "not":
                return self.by_not(cue)
            case "verb":
                return self.by_verb(cue)
            case "removed":
                return self.by_removal(cue)
            case "adjective":
                return self.by_adjective(cue)
            case "state":
                return self.by_state(cue)
            case "usual":
                return self.by_usual(cue)
            case "absent":
                return self.by_absence(cue)
            case "vain":
                is_whole = self.ends_clause(cue.last + 1)  # "There was none."
                sought = self.sought(cue.first) or (self.posed(cue.first) if is_whole else [])
                return [*sought, *self.where(cue.last + 1)]
            case "unseen":
                return self.by_unseen(cue)
            case _:
                return self.by_exception(cue)

    def heading_end(self, cue: Cue) -> int | None:
        """First token after a cue that is the heading of a list: "Ruled out:", "Not affected:"."""
        if cue.first and not self.is_sentence_end(cue.first):
            return None
        end = cue.last + 1 + (cue.kind == "not" and not self.gap(cue.last + 1).startswith(":"))
        return end if end < len(self.tokens) and self.gap(end).startswith(":") else None

    def inverted(self, cue: Cue) -> list[int]:
        """Return the names after a predicate at the beginning: "Not involved is the pons"."""
        if cue.kind not in INVERTIBLE or not (cue.first == 0 or self.is_sentence_end(cue.first)):
            return []
        j = self.after_not(cue.last + 1) + 1 if cue.kind == "not" else cue.last + 1
        is_verb = self.token(j) in lexicon.BEING and self.is_phrase(j + 1)
        return self.ahead(j + 1) if is_verb else []

    def coordinate(self, cue: Cue) -> list[int]:
        """Return the places of a predicate after a comma: "present in A, absent in the pons"."""
        if cue.kind not in INVERTIBLE or cue.kind == "not" or "," not in self.gap(cue.first):
            return []
        if self.tokens[cue.first] == "in":  # "in none"
            return []
        j = cue.last + (self.tokens[cue.last] not in lexicon.WHERE)  # "lacking in"
        is_where = self.token(j) in lexicon.WHERE and self.token(j) not in ("for", "of")
        return self.structures(self.ahead(j + 1)) if is_where else []

    # ---- exceptions

    def by_exception(self, cue: Cue) -> list[int]:
        """Deny the places that are taken out: "all but the pons", "the pons rather than …"."""
        first, end = self.sentence(cue.first)
        is_more = not lexicon.MORE.isdisjoint(self.tokens[first:end])
        if is_more or self.is_exception(cue):
            return []  # "apart from the pons we also found the insula"
        if self.tokens[cue.first] in lexicon.UNLIKE:
            return self.set_against(cue)
        is_outside = self.tokens[cue.first] == "outside"
        is_aside = "," in self.gap(cue.first)  # "lateral, rather than medial, frontal cortex"
        names = self.ahead(cue.last + 1, within_commas=is_aside or is_outside)
        if self.tokens[cue.first] not in lexicon.RATHER:
            return self.structures(names)
        return self.paired(cue) or self.in_phrase(cue, self.structures(names))

    def paired(self, cue: Cue) -> list[int]:
        """Return the name after a cue, if it is all there is: "dementia rather than depression"."""
        j = cue.last + 1 + self.is_article(cue.last + 1)
        number = self.begins.get(j)
        if number is None or cue.first - 1 not in self.finishes:
            return []
        return [number] if self.ends_clause(self.reading.last[number] + 1) else []

    def set_against(self, cue: Cue) -> list[int]:
        """Return the places after a cue that other places are not like, if no more is said."""
        j = cue.last + 1
        first, end = self.sentence(j)
        comma = next((k for k in range(j, end) if "," in self.gap(k)), end)
        closing = self.list_end(j, end)  # "unlike A, B and C, …"
        comma = comma if closing is None or self.token(closing) in lexicon.RELATIVES else closing
        if self.token(comma) in lexicon.RELATIVES or self.token(comma) == "where":
            return []  # "in contrast to the pons, which responded to pain"
        noun = comma
        while self.is_modifier(noun) and noun not in self.begins:
            noun += 1
        if first == cue.first and not self.is_structure(self.begins.get(noun)):
            return []  # "unlike the pons, the role of the insula is unknown"
        return [number for number in self.heads(j) if self.reading.first[number] < comma]

    def list_end(self, i: int, end: int) -> int | None:
        """First token after a list of places at token i that "and" and a comma close."""
        is_closed = False
        while i < min(end, len(self.tokens)):
            if is_closed and "," in self.gap(i) and self.tokens[i] not in lexicon.CONJUNCTIONS:
                return i
            number = self.begins.get(i)
            is_place = self.is_structure(number)
            is_closed = is_closed or self.tokens[i] in lexicon.CONJUNCTIONS
            if not (is_place or self.is_modifier(i) or self.tokens[i] in lexicon.CONJUNCTIONS):
                return None
            i = self.reading.last[number] + 1 if number is not None and is_place else i + 1
        return None

    # ---- denials without a cue

    def without_cue(self, around: Sequence[int] | None = None) -> Iterator[tuple[int, int]]:
        """Yield the names that other words or signs deny, and the token that does."""
        found = [Tokens(i, i) for i in self.reading.at_words(WITHOUT_CUE)]
        words = [(i, self.tokens[i]) for i, _ in _near(found, self.reading, around)]
        for i, word in words:
            if word in lexicon.UNREAL and self.is_unreal(i):
                start = i + 1 + (self.token(i + 1) == "there")
                yield from ((number, i) for number in self.ahead(start, through_verbs=True))
        for i, word in words:
            yield from ((number, i) for number in self.by_word(i, word))
        for mark in self.reading.minuses:  # "insula (-)", "neglect -ve"
            i = bisect_right(self.reading.bounds[1], mark.start()) - 1
            i -= i not in self.finishes  # "cerebellar signs -ve"
            yield from ((number, i) for number in [self.finishes.get(i)] if number is not None)
        yield from ((number, i) for number, i, p in self.p_values() if p >= LEAST_NULL)
        for first, last, before in lexicon.CORRECTING.find(self.reading):
            yield from ((number, last) for number in self.corrected(first, last, before.split()))

    def taken_up(self, denied: Mapping[int, Tokens]) -> Iterator[tuple[int, int]]:
        """Yield the names of which the same is said as before, if all of those are denied.

        "The insula was intact. So was the pons. The same is true of the thalamus."
        """
        taken: set[int] = set()
        for i in self.reading.at_words(lexicon.SAME):
            first, end = self.sentence(i)
            end = next((j for j in range(first, end) if self.tokens[j] in lexicon.TURNS), end)
            said = (j for j in range(first, end) if j not in self.reading.covered)
            if first == 0 or not all(self.is_of_same(j) for j in said):
                continue
            before = self.names(range(self.sentence(first - 1)[0], first))
            before = self.structures(before) or before
            if before and all(number in denied or number in taken for number in before):
                names = self.names(range(first, end))
                taken.update(names)
                yield from ((number, i) for number in names)

    def is_of_same(self, j: int) -> bool:
        """Whether a token says nothing but that the same is so: "the same was true of"."""
        return self.tokens[j] in lexicon.SAYING_SAME or self.belongs_to_place(j)

    def by_word(self, i: int, word: str) -> list[int]:
        """Return the names that a word at token i denies, though it is no cue."""
        if word == "only":
            return self.dropped(i) or self.refuted(i)
        if word == "instead":
            return self.replaced(i)
        if word == "0":
            return self.by_score(i)
        if word in lexicon.WRONGLY:
            return self.stated(i)
        if word in SUPERSEDING:
            return self.superseded(i)
        if word == FULL:
            return self.by_grade(i)
        names = self.by_artefact(i) if word in lexicon.ARTEFACTS else []
        return names or (self.by_seeing(i) if word in SEEING else [])

    def is_unreal(self, i: int) -> bool:
        """Whether a clause from token i on is contrary to fact: "had the pons been damaged, …"."""
        if i > 0 and self.tokens[i] != "if" and not self.is_sentence_end(i):
            return False
        near = self.tokens[i + 1 : i + LONGEST_PHRASE]
        _, end = self.sentence(i)
        is_would = not lexicon.WOULD.isdisjoint(self.tokens[i:end])
        if self.tokens[i] == "had":
            return is_would or "been" in near
        return is_would and (self.tokens[i] == "were" or "had" in near)

    def dropped(self, i: int) -> list[int]:
        """Return what is gone of a list: "of the pons, insula and cuneus, only the latter …"."""
        first, _ = self.sentence(i)
        names = self.structures(self.names(range(max(first, i - REACH), i)))
        if not names and first:  # "three areas were examined: …. Only the first was thinner"
            names = self.structures(self.names(range(self.sentence(first - 1)[0], first)))
        names = [number for number in names if self.reading.terms[number] != NO_TERM]
        if (rank := self.rank(i + 1)) is not None:
            kept = names[rank : rank + 1 or None]
            return [number for number in names if number not in kept]
        is_choice = self.token(first) in ("of", "among") and "," in self.gap(i)
        is_named = bool(self.structures(self.names(range(i + 1, i + LONGEST_PHRASE))))
        return names if is_choice and is_named else []

    def rank(self, i: int) -> int | None:
        """Rank that begins a clause at token i: "(only) the first of these survived"."""
        i += self.is_article(i)
        j = i + 1 + 2 * (self.token(i + 1) == "of" and self.token(i + 2) in lexicon.THESE)
        return lexicon.ORDINALS.get(self.token(i)) if self.is_past(j) else None

    def replaced(self, i: int) -> list[int]:
        """Return what was supposed and is not so: "the pons was suspected, but … instead"."""
        if not self.ends_clause(i + 1):
            return []
        return self.supposed(i)

    def refuted(self, i: int) -> list[int]:
        """Return what was suspected, where a scan shows only something else at token i.

        "He was referred for a suspected bleed in the pons, but MRI only showed a cyst".
        """
        is_shown = self.token(i + 1) in lexicon.SHOWED or self.token(i - 1) in lexicon.SHOWED
        first, _ = self.sentence(i)
        turn = next((j for j in range(first, i) if self.tokens[j] in ("but", "yet")), first)
        if not is_shown or lexicon.EXAMS.isdisjoint(self.tokens[turn:i]):
            return []
        if turn > first:
            return self.suspected(range(first, turn))
        return self.suspected(range(self.sentence(first - 1)[0], first)) if first else []

    def by_artefact(self, i: int) -> list[int]:
        """Return the subject that an artefact at token i is said of: "is a flow artefact"."""
        near = self.tokens[max(i - LONGEST_PHRASE, 0) : i]
        if not self.closes(i + 1) or not lexicon.DOUBTING.isdisjoint(near):
            return []
        for j in range(i - 1, max(i - LONGEST_PHRASE, -1), -1):
            if self.tokens[j] in lexicon.SAYING:
                return self.subject(j + 1)
            if self.tokens[j] == "to" and self.token(j - 1) in lexicon.DUE:
                return self.subject(j - 1) if self.follows_verb(j - 1) else []
            if self.ends_clause(j + 1) or self.tokens[j] in lexicon.PREPOSITIONS:
                break
        return []

    def corrected(self, first: int, last: int, before: list[str]) -> list[int]:
        """Return the places that a correction takes back: "the lesion in A is in fact in B"."""
        is_where = self.tokens[last] in ("in", "within")
        is_other = is_where and self.is_other_half(first, last)
        if not (is_other or (self.heads if is_where else self.places_ahead)(last + 1)):
            return []
        if not before and self.token(first - 1) in lexicon.PRONOUNS:
            return self.structures(self.meant(first - 1))  # "…; this should read B"
        is_lesion = fold(self.token(first - 1)) in LESION  # "what was called an A lesion is …"
        number = self.finishes.get(first - 1 - is_lesion)
        if number is None or not self.structures([number]):
            return []
        i = self.reading.first[number] - 1
        while self.is_modifier(i):
            i -= 1
        if before == ["thought"]:  # "thought to be in A is in B"
            return [] if lexicon.PRESUMED.isdisjoint(self.tokens[max(i - 3, 0) : i]) else [number]
        return [number] if not before or self.token(i) in before else []

    def is_other_half(self, first: int, last: int) -> bool:
        """Whether a side is corrected to the other: "the right thalamus is in fact in the left"."""
        before = {SIDE_WORDS.get(token) for token in self.tokens[max(first - 3, 0) : first]}
        i = last + 1 + (self.token(last + 1) == "the")
        other = OPPOSITE.get(SIDE_WORDS.get(self.token(i), "bilateral"))
        return other is not None and other in before and self.ends_clause(i + 1)

    def stated(self, i: int) -> list[int]:
        """Return the places that are given in error, as the word at token i tells of a verb."""
        j = i + 1 + (self.token(i + 1) in lexicon.STATED)  # "erroneously states A"
        is_stated = j > i + 1 or self.token(i - 1) in lexicon.STATED
        return self.places_ahead(j) if is_stated and not self.ends_clause(j) else []

    def places_ahead(self, i: int) -> list[int]:
        """Return the structures from token i on, as far as a denial goes."""
        return self.structures(self.ahead(i))

    def by_score(self, i: int) -> list[int]:
        """Return the structure that has a score of 0 at token i: "frontal lobe 0, temporal 3"."""
        number = self.finishes.get(i - 1 - (self.token(i - 1) in lexicon.SCORED))
        if number is None or not self.is_structure(number):
            return []
        is_whole = self.gap(i + 1).startswith(SCORE_ENDS) or self.is_sentence_end(i + 1)
        return [number] if is_whole and self.gap(i).strip() in SCORE_SIGNS else []

    def by_grade(self, i: int) -> list[int]:
        """Return the limb that has full strength at token i: "left arm 3/5, right arm 5/5"."""
        if self.token(i + 1) != FULL or self.gap(i + 1) != "/":
            return []
        before, after = i - 1, i + 2
        while self.token(before) in lexicon.GRADED:
            before -= 1
        while self.token(after) in lexicon.GRADED or self.is_determined(after):
            after += 1
        is_before = "," not in self.gap(i) and not self.is_sentence_end(i)
        number = self.finishes.get(before) if is_before else None
        number = self.begins.get(after) if number is None else number
        if number is None:
            return []
        words = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return [number] if is_limb(words) else []


class Hedge(NamedTuple):
    """Words that may doubt something."""

    first: int
    last: int
    kind: lexicon.Doubt


def attach_hedges(reading: Reading, around: Sequence[int] | None = None) -> dict[int, Tokens]:
    """Find the matches that a text leaves open, as `attach_denials` finds what it denies."""
    found = (Hedge(*each) for each in lexicon.HEDGES.find(reading))
    hedges = [hedge for hedge in found if hedge.kind != "idle"]
    reader = _HedgeReader(reading, {hedge.first for hedge in hedges})
    doubted: dict[int, Tokens] = {}
    for hedge in _near(hedges, reading, around):
        for number in reader.doubted(hedge):
            if not hedge.first <= reading.first[number] <= hedge.last:
                doubted.setdefault(number, Tokens(hedge.first, hedge.last))
    for number, words in [*reader.queried(), *reader.trends()]:
        doubted.setdefault(number, words)
    return doubted


class _HedgeReader(Clauses):
    """Reads a text around its hedges."""

    def doubted(self, hedge: Hedge) -> list[int]:
        """Return the matches that a hedge leaves open."""
        i, j = hedge.first, hedge.last + 1
        if not self.is_hedge(hedge):
            return []
        if "that" in self.tokens[j : j + 2]:  # "it is possible that the thalamus is affected"
            return self.ahead(self.tokens.index("that", j) + 1, through_verbs=True)
        cause = lexicon.CAUSES.at(self.tokens, j) if j < len(self.tokens) else None
        if cause and hedge.kind != "subject":
            return self.ahead(cause[0] + 1)  # "most likely due to a lesion of the pons"
        match hedge.kind:
            case "adjective" if self.is_predicate(i, hedge.last):
                names = self.subject(i) or self.owner(i) or self.antecedents(i)
                return names or self.about(j)
            case "adjective":
                return self.ahead(j) or self.place_before(i) or self.owner(i)
            case "object":
                if self.gap(j).startswith(":"):  # "Differential: …"
                    return self.names(range(j, self.sentence(j)[1]))
                return self.ahead(j, through_verbs=True) or self.said_of(hedge)
            case "clause":
                return self.ahead(j + (self.token(j) == "there"), through_verbs=True)
            case "both" if self.tokens[i] in ("versus", "vs"):
                return [*self.names(range(self.sentence(i)[0], i)), *self.ahead(j)]
            case "either":
                return self.alternatives(j)
            case "both":
                before = self.subject(i) or self.antecedents(i)
                return [*before, *self.ahead(j, through_verbs=True)]
            case _ if self.tokens[i] == "of":  # "of uncertain significance"
                return self.names(range(self.sentence(i)[0], i))
            case _:  # "subject"
                return self.subject(i) or self.antecedents(i)

    def about(self, j: int) -> list[int]:
        """Return what a predicate before token j is about: "inconclusive for the pallidum"."""
        return self.ahead(j + 1) if self.token(j) in ("about", "for", "in", "regarding") else []

    def said_of(self, hedge: Hedge) -> list[int]:
        """Return the subject, where nothing follows an adverb: "thalamus probably involved"."""
        word = self.tokens[hedge.first]
        is_said = word.endswith("ly") or word in lexicon.SAID_OF
        return self.subject(hedge.first) if is_said else []

    def alternatives(self, i: int) -> list[int]:
        """Return the places after "either" at token i − 1, if an "or" stands between them."""
        tokens = range(i, min(i + LONGEST_PHRASE, len(self.tokens)))
        names = self.structures(self.names(tokens))[:2]
        if len(names) < 2:
            return []
        between = self.tokens[self.reading.last[names[0]] + 1 : self.reading.first[names[1]]]
        return names if "or" in between else []

    def is_hedge(self, hedge: Hedge) -> bool:
        """Whether words that look like a hedge are one: not "in May", nor "we could see"."""
        i, j = hedge.first, hedge.last + 1
        match self.tokens[i]:
            case "may":
                is_first = i == 0 or self.is_sentence_end(i)
                is_month = self.reading.written(i)[0].isupper() and not is_first
                return not (is_month or self.token(j).isdigit())
            case "could":
                return self.token(i - 1) not in lexicon.ABLE and self.token(j) != "not"
            case "versus" | "vs":
                around = (*self.tokens[max(i - 2, 0) : i], *self.tokens[j : j + 3])
                return any(fold(token) in LESION or token in lexicon.DIAGNOSES for token in around)
            case "should" if hedge.kind == "clause":
                return i == 0 or self.is_sentence_end(i)
            case "differential":
                return hedge.last > i or ":" in self.gap(j) or "," in self.gap(i)
            case "obscured":  # a sign on CT, unless something obscures: "obscured putamen"
                return self.is_blurred(j) and not self.is_phrase(j)
            case "limited":
                first, _ = self.sentence(i)
                return not lexicon.LOOKING.isdisjoint(self.tokens[first:i])
            case _:
                return True

    def is_blurred(self, j: int) -> bool:
        """Whether a clause with token j − 1 tells what makes it hard to see: "by artefact"."""
        first, end = self.sentence(j - 1)
        return self.token(j) == "by" or not BLURRING.isdisjoint(self.tokens[first:end])

    def queried(self) -> Iterator[tuple[int, Tokens]]:
        """Find what question marks ask about."""
        starts, _ = self.reading.bounds
        text = self.reading.text
        signs = sorted(places_of(QUERIES, text))
        if not signs:
            return
        for mark in filter(None, (QUERY.match(text, start) for start in signs)):
            i = bisect_left(starts, mark.end())
            if i < len(starts):
                for number in self.ahead(i, through_verbs=True, is_start=True) or self.label(i):
                    yield number, Tokens(i, i)
        # A mark may begin two characters before its sign: a space and a bracket.
        begun = sorted({start - back for start in signs for back in (0, 1, 2) if start >= back})
        for mark in filter(None, (QUESTION.match(text, start) for start in begun)):
            i = bisect_left(starts, mark.end())
            first = i - 1 if "(" in mark[0] else self.sentence(i - 1)[0]
            for number in self.finishing(first, i):
                yield number, Tokens(i - 1, i - 1)

    def finishing(self, first: int, end: int) -> list[int]:
        """Return the matches that end within some tokens."""
        return [self.finishes[j] for j in range(first, end) if j in self.finishes]

    def trends(self) -> Iterator[tuple[int, Tokens]]:
        """Yield the structures whose p-values are those of a trend."""
        for number, i, p in self.p_values():
            if TREND[0] <= p < TREND[1]:
                yield number, Tokens(i, i)
