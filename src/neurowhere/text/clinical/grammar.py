"""Grammar: the verbs, phrases and sentences of a reading."""

from collections.abc import Iterable

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import ADJECTIVE, GENERAL_WORDS, LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.words import fold

LONGEST_PHRASE = 10  # tokens of a phrase
LONGEST_SENTENCE = 100  # tokens that are looked at before and after a token


class Grammar:
    """Tells the verbs, phrases and sentences of a reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tokens, self.token, self.gap = reading.tokens, reading.token, reading.gap
        self.begins, self.finishes = reading.begins, reading.finishes
        self.is_sentence_end = reading.is_sentence_end

    def names(self, tokens: Iterable[int]) -> list[int]:
        """Return the matches that begin at some tokens."""
        return [number for j in tokens for number in self.reading.beginning.get(j, ())]

    def is_phrase(self, j: int) -> bool:
        """Whether a noun phrase begins at token j, with nothing before it."""
        if j >= len(self.tokens) or self.ends_clause(j) or self.tokens[j] == "bilaterally":
            return False
        return j in self.begins or self.is_modifier(j) or self.tokens[j] in lexicon.QUALITIES

    def is_predicate(self, first: int, last: int) -> bool:
        """Whether the words between two tokens, both included, say something of a subject."""
        j = last + 1
        if self.is_phrase(j) or (
            self.token(j) in ("by", "to") and self.token(j + 1) not in lexicon.TESTS
        ):
            return False
        return self.follows_verb(first) or self.closes(j)

    def follows_verb(self, i: int) -> bool:
        """Whether a verb of being stands before token i, across adverbs."""
        return self.token(self.before_adverbs(i)) in lexicon.BEING

    def follows_subject(self, i: int) -> bool:
        """Whether a verb, or the subject itself, stands before token i: "oedema (has) resolved"."""
        i = self.before_adverbs(i)
        if i < 0:
            return False
        token = self.tokens[i]
        is_noun = i in self.finishes or token in lexicon.QUALITIES or fold(token) in LESION
        return is_noun or token in lexicon.LINKS or token in lexicon.CONJUNCTIONS

    def before_adverbs(self, i: int) -> int:
        """Last token before i that is no adverb."""
        tokens = range(i - 1, max(i - 1 - LONGEST_PHRASE, -1), -1)
        return next((j for j in tokens if not self.is_adverb(j)), -1)

    def closes(self, j: int) -> bool:
        """Whether a predicate ends before token j."""
        return self.ends_clause(j) or self.token(j) in lexicon.AFTER_PREDICATE

    def belongs_to_place(self, j: int) -> bool:
        """Whether a token may stand in a phrase that names places and nothing else."""
        token = self.tokens[j]
        return (
            self.is_modifier(j)
            or token in lexicon.QUALITIES
            or token in lexicon.CONJUNCTIONS
            or token in lexicon.PREPOSITIONS
            or token == "bilaterally"
        )

    def is_modifier(self, j: int) -> bool:
        """Whether a token is a determiner, a side or an adjective of anatomy."""
        token = self.token(j)
        if token in lexicon.NOUNS or token == "bilaterally":
            return False
        return self.is_determined(j) or bool(ADJECTIVE.fullmatch(token))

    def is_finding(self, j: int) -> bool:
        """Whether a token tells that something is wrong, done or seen: "infarct", "increased"."""
        token = self.tokens[j]
        if token in lexicon.OF_PLACES or token in lexicon.QUALITIES:
            return False
        return fold(token) in LESION or bool(lexicon.FINDING.match(token))

    def is_article(self, j: int) -> bool:
        """Whether a token is an article or another determiner."""
        return self.token(j) in lexicon.DETERMINERS

    def is_determined(self, j: int) -> bool:
        """Whether a token is a determiner or a side."""
        return self.token(j) in lexicon.DETERMINERS or self.token(j) in SIDE_WORDS

    def is_function(self, j: int) -> bool:
        """Whether a token is a verb, a preposition or the like rather than a noun."""
        token = self.tokens[j]
        is_small = token in lexicon.PREPOSITIONS or token in lexicon.WHERE
        is_small = is_small or token in lexicon.AFTER_PREDICATE or token in lexicon.AUXILIARIES
        return is_small or token in lexicon.STOPS or self.is_adverb(j) or self.is_verb(j)

    def is_link(self, j: int) -> bool:
        """Whether a token may stand between a subject and what is said of it."""
        return self.token(j) in lexicon.LINKS or self.is_adverb(j)

    def is_verb(self, j: int) -> bool:
        """Whether a token is a finite verb, or looks like a past that has a subject or object."""
        token = self.tokens[j]
        if token in lexicon.FINITE or not token.endswith("ed"):
            return token in lexicon.FINITE
        return self.token(j + 1) in lexicon.DETERMINERS or self.is_structure(
            self.finishes.get(j - 1)
        )

    def is_past(self, j: int) -> bool:
        """Whether token j is a verb, or looks like a past after a subject."""
        is_in = j < len(self.tokens) and not self.ends_clause(j)
        return is_in and (self.is_verb(j) or self.tokens[j].endswith("ed"))

    def is_adverb(self, j: int) -> bool:
        """Whether a token is an adverb, by its end or from a list."""
        token = self.token(j)
        return token in lexicon.ADVERBS or (token.endswith("ly") and token != "bilaterally")

    def structures(self, names: list[int]) -> list[int]:
        """Return those of some names that are structures."""
        return [number for number in names if self.is_structure(number)]

    def is_structure(self, number: int | None) -> bool:
        """Whether a match names a place, and nothing that is wrong with it."""
        if number is None or not self.reading.is_structure[number]:
            return False
        return fold(self.tokens[self.reading.last[number]]) not in LESION

    def is_general(self, number: int) -> bool:
        """Whether a match says nothing of where in the brain: "normal cortex"."""
        tokens = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return all(fold(token) in GENERAL_WORDS for token in tokens)

    def ends_clause(self, j: int) -> bool:
        """Whether nothing of the clause is left at token j."""
        return self.is_sentence_end(j) or not (self.gap(j).isspace() or self.gap(j) == "-")

    def sentence(self, i: int) -> tuple[int, int]:
        """First token of the sentence of token i, and the first after it."""
        first, end = i, i + 1
        while first > max(0, i - LONGEST_SENTENCE) and not self.is_sentence_end(first):
            first -= 1
        while end < min(len(self.tokens), i + LONGEST_SENTENCE) and not self.is_sentence_end(end):
            end += 1
        return first, end
