"""Grammar: the verbs, phrases and sentences of a reading, and how far a word reaches in them.

This is a grammar of a few word lists and no parser: it knows where sentences, clauses and lists
end, and which names of a reading are within them. Each question looks at a bounded number of
tokens, so that a text is read in linear time.
"""

import re
from bisect import bisect_right
from collections.abc import Collection

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import ADJECTIVE, FILLERS, GENERAL_WORDS, LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.words import fold

LONGEST_PHRASE = 10  # tokens of a phrase
LONGEST_SENTENCE = 100  # tokens that are looked at before and after a token
REACH = 30  # tokens after a cue
LONGEST_ITEM = 15  # tokens between a conjunction and the verb that makes a clause of it
LONGEST_ASIDE = 15  # tokens between two commas
CLOSING = frozenset(["or", "nor"])  # before the last item of a list that is denied
OPENING = lexicon.CONJUNCTIONS | {"with", "that", "as", "to"}  # may begin something else
# Words that may end what is said.
TURNING = (
    OPENING
    | lexicon.STOPS
    | lexicon.PRONOUNS
    | lexicon.PREPOSITIONS
    | lexicon.FINITE
    | {"beyond", "by", "elsewhere", "in", "or"}
)
DASH = re.compile(r"\s[-–—]+\s")
# Signs that lead on to something else: "no bleed -> infarct", "no neglect = frontal".
SIGN = re.compile(r"[→⇒➔➜⟶⟹]|[-–—=~]+>|(?:^|(?<=[^<>=]))=+(?=\s|$)")


class Grammar:
    """Finds the names of a reading that stand after a cue in its clause.

    Parameters
    ----------
    reading : Reading
    ends : collection of int
        Tokens at which whatever went before ends, such as other cues.
    """

    def __init__(self, reading: Reading, ends: Collection[int] = ()) -> None:
        self.reading = reading
        self.tokens, self.token, self.gap = reading.tokens, reading.token, reading.gap
        self.begins, self.finishes = reading.begins, reading.finishes
        self.names = reading.beginning
        self.is_sentence_end = reading.is_sentence_end
        self.ends = ends

    # ---- words, phrases and sentences

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
        if j in self.reading.sided:
            return False  # "the left was spared", not "was left alone"
        return self.token(j) in lexicon.LINKS or self.is_adverb(j)

    def is_verb(self, j: int) -> bool:
        """Whether a token is a finite verb, or looks like a past that has a subject or object."""
        token = self.tokens[j]
        if token in lexicon.FINITE or not token.endswith("ed") or token in LESION:  # "a bleed"
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
        ends = self.reading.sentence_ends
        number = bisect_right(ends, i)
        first = max(ends[number - 1] if number else 0, min(i, max(0, i - LONGEST_SENTENCE)))
        longest = min(len(self.tokens), i + LONGEST_SENTENCE)
        return first, max(i + 1, min(ends[number] if number < len(ends) else longest, longest))

    # ---- what follows a word

    def ahead(
        self,
        i: int,
        *,
        through_verbs: bool = False,
        within_commas: bool = False,
        is_start: bool = False,
    ) -> list[int]:
        """Return the names from token i to the end of what a cue before it speaks of.

        Whatever parts token i from the cue is an end as well, unless something starts there.
        """
        end = i
        limit = min(len(self.tokens), i + REACH)
        has_place = False
        is_subject = self.token(i - 1) in lexicon.OPENING  # "that the pons and the insula respond"
        depth = 0  # of brackets
        while end < limit:
            if depth >= 0 and self.goes_on(end):
                number = self.begins.get(end)
                has_place = has_place or self.is_structure(number)
                end = end + 1 if number is None else self.reading.last[number] + 1
                continue
            if (gap := self.gap(end)) != " ":
                depth += gap.count("(") - gap.count(")")
                end = self.aside_end(end) or end  # "in the pons or, after correction, the insula"
            is_first = is_start and end == i
            if not is_first and (depth < 0 or self.is_end(end)):
                break
            is_subject = is_subject and not self.is_verb(end)
            is_listed = is_subject or (self.tokens[end] == "or" and not self.names(range(i, end)))
            is_listed = is_listed or self.is_particle(end, i)
            if end > i and not is_listed and self.is_other(end, within_commas):
                break
            if end > i and not through_verbs and self.is_verb(end):
                break
            if self.tokens[end] in lexicon.PREPOSITIONS and self.leads_away(end, has_place):
                break
            number = self.begins.get(end)
            has_place = has_place or self.is_structure(number)
            end = end + 1 if number is None else self.reading.last[number] + 1
        return self.names(range(i, end))

    def goes_on(self, j: int) -> bool:
        """Whether nothing about token j can end what is said, as is so of most tokens."""
        token = self.tokens[j]
        is_usual = token not in TURNING and not token.endswith("ed")
        return is_usual and self.reading.gaps[j] == " " and j not in self.ends

    def rest(self, j: int) -> list[int]:
        """Return the structures of what is left of a clause at token j: "in any voxel of …"."""
        end = j
        while end < min(j + REACH, len(self.tokens)) and not self.is_end(end):
            if end > j and (self.is_verb(end) or self.is_other(end, within_commas=False)):
                break
            if self.tokens[end] in lexicon.CONJUNCTIONS and self.leads_away(end, has_place=True):
                break
            end += 1
        return self.structures(self.names(range(j, end)))

    def after_people(self, i: int) -> list[int]:
        """Return what is said of people: "no difference between patients and controls in …"."""
        for j in range(i, min(i + REACH, len(self.tokens))):
            if self.is_end(j) or "," in self.gap(j):
                return []
            before = self.tokens[j - 1]
            is_null = before in lexicon.PEOPLE or bool(lexicon.NULL.fullmatch(before))
            if self.tokens[j] in ("in", "within") and is_null:
                return self.ahead(j + 1)
        return []

    # ---- ends

    def is_particle(self, j: int, i: int) -> bool:
        """Whether token j belongs to the verb at token i: "not communicating with the pons"."""
        return j == i + 1 and self.tokens[j] == "with" and self.tokens[i].endswith("ing")

    def is_end(self, j: int) -> bool:
        """Whether what is said ends at token j, wherever it began."""
        token, gap = self.tokens[j], self.gap(j)
        if token == "elsewhere" and self.token(j + 1) in lexicon.INCLUDING:
            return False  # "none elsewhere, including the pons"
        if self.is_aside_pronoun(j):
            return False
        if token in lexicon.STOPS or j in self.ends or self.is_contrast(j):
            return True
        if ":" in gap and self.tokens[j - 1] in lexicon.LISTING:
            return False  # "no lesion in the following: pons, insula", "no lesion in: pons"
        if gap == " ":
            return False
        if self.is_sentence_end(j) or ":" in gap or DASH.search(gap):
            return True
        return self.is_led_on(j) or ("/" in gap and self.is_alternative(j))

    def is_led_on(self, j: int) -> bool:
        """Whether a sign before token j leads on to something else: "no bleed -> infarct"."""
        is_sign = bool(SIGN.search(self.gap(j)))
        return is_sign and not self.tokens[j].isdigit()  # not "p = 0.3"

    def is_alternative(self, j: int) -> bool:
        """Whether a slash before token j ends a denial: "no bleed / left thalamic infarct".

        What follows has a side or names a lesion in a place, and what goes before does neither: "no
        lesion of the left / right insula" and "no mass / shift" are lists.
        """
        first, end = self.sentence(j)
        before = range(max(first, j - LONGEST_PHRASE), j)
        if any(self.is_side_word(k) for k in before) or self.structures(self.names(before)):
            return False
        number = self.begins.get(j)
        if number is None or not self.is_structure(number):
            return self.is_side_word(j)
        lesion = self.reading.last[number] + 1
        return lesion < end and fold(self.tokens[lesion]) in LESION

    def is_sided(self, j: int) -> bool:
        """Whether a finding with a side begins at token j: "no bleed, left thalamic infarct".

        No place stands before it, and the list does not end with "or": "no bleed, left thalamic
        infarct or mass" denies all of it.
        """
        if not self.is_side_word(j):
            return False
        first, end = self.sentence(j)
        if not CLOSING.isdisjoint(self.tokens[j:end]):
            return False
        start = max(first, j - LONGEST_PHRASE)
        start = max((k for k in range(start, j) if k in self.ends), default=start)  # the last "no"
        before = self.names(range(start, j))
        noun = j + 1
        while self.token(noun) in FILLERS or (self.is_modifier(noun) and noun not in self.begins):
            noun += 1
        number = self.begins.get(noun)
        if number is None or not self.is_structure(number) or self.structures(before):
            return False
        lesion = self.reading.last[number] + 1
        return lesion < end and self.gap(lesion) == " " and self.is_finding(lesion)

    def is_side_word(self, j: int) -> bool:
        """Whether a token is a side, as far as the word tells."""
        return self.tokens[j] in SIDE_WORDS or j in self.reading.sided

    def is_aside_pronoun(self, j: int) -> bool:
        """Whether token j is in a phrase such as "beyond it", which ends nothing."""
        if self.tokens[j] == "beyond":
            return self.token(j + 1) in lexicon.PRONOUNS
        if self.tokens[j] not in lexicon.PRONOUNS:
            return False
        before = self.token(j - 1)
        return before in lexicon.WHERE or before == "beyond"

    def is_contrast(self, j: int) -> bool:
        """Whether something is set against the rest at token j: "in contrast to the caudate"."""
        return self.tokens[j] in ("by", "in") and self.token(j + 1) in lexicon.CONTRAST

    def is_other(self, j: int, within_commas: bool) -> bool:
        """Whether something else begins at token j after the first word of what is said."""
        token, has_comma = self.tokens[j], "," in self.gap(j)
        if not has_comma and token not in OPENING:
            return False
        before, after = self.tokens[j - 1], self.token(j + 1)
        if (has_comma and token in lexicon.INCLUDING) or after in lexicon.ANY:
            return False  # "with any deficit of", which a denial alone can say
        if has_comma and (
            within_commas or token in lexicon.STOPS_AFTER_COMMA or token in lexicon.AFFIRMING
        ):
            return True
        if has_comma and (self.is_introduced(j) or self.is_participle(j) or self.is_sided(j)):
            return True
        if token in lexicon.CONJUNCTIONS or has_comma:
            is_new = token == "and" and (after in lexicon.ARTICLES or after in lexicon.AFFIRMING)
            is_new = is_new or after in lexicon.PASTS
            return is_new or (token != "or" and after in lexicon.SEEN) or self.is_clause(j)
        match token:
            case "with":
                return before not in lexicon.COMPANIONS and before not in lexicon.PEOPLE
            case "that":  # not "that of the insula"
                return before not in lexicon.EVIDENCE and after not in lexicon.PREPOSITIONS
            case "as":
                return before not in ("such", "well") and after != "well"
            case "to":
                return before in lexicon.RESPONSES
            case _:
                return False

    def is_participle(self, j: int) -> bool:
        """Whether token j tells what follows from the rest: "no lesion, leaving the pons as …"."""
        return self.tokens[j].endswith("ing") and j not in self.begins and not self.is_finding(j)

    def is_introduced(self, j: int) -> bool:
        """Whether the comma at token j ends an introduction: "in the absence of neglect, ..."."""
        first, end = self.sentence(j)
        if self.tokens[first] not in lexicon.INTRODUCING:
            return False
        for k in range(j, end):
            if self.tokens[k] in lexicon.CONJUNCTIONS:
                return False
            if k > j and "," in self.gap(k):
                return True
        return True

    def is_clause(self, j: int) -> bool:
        """Whether a conjunction or comma at token j begins a clause: it has a verb of its own."""
        first = j + (self.tokens[j] in lexicon.CONJUNCTIONS)
        item = self.token(first)
        if item.isdigit() or item in lexicon.UNDERGOING:
            return True
        if item.endswith("ed") and self.token(first + 1) in lexicon.PREPOSITIONS | {"through"}:
            return True  # "avoided the thalamus and passed through the caudate"
        for k in range(j, min(j + LONGEST_ITEM, len(self.tokens))):
            is_part = (
                "," in self.gap(k) or self.is_sentence_end(k) or self.tokens[k] in lexicon.TURNS
            )
            if k > j and (":" in self.gap(k) or self.is_led_on(k)):
                return True  # "no bleed, thalamus: infarct"
            if k > j and is_part:
                return False
            if k > j and k in self.ends and k - 1 in self.finishes:
                return True  # "no bleed, thalamus normal"
            if self.tokens[k] in lexicon.PEOPLE:
                return True
            if self.is_verb(k):
                return lexicon.SEEN.isdisjoint(
                    self.tokens[k + 1 : k + 4]
                )  # "no X or Y was seen" goes on
        return False

    def leads_away(self, j: int, has_place: bool) -> bool:
        """Whether what follows a preposition is not meant: people, or more than the place."""
        if self.tokens[j] != "of" and not lexicon.PEOPLE.isdisjoint(self.tokens[j + 1 : j + 4]):
            return True
        if has_place and self.tokens[j] in ("from", "by"):
            return True
        j += 1
        while self.is_modifier(j) and j not in self.begins:
            j += 1
        return has_place and not self.is_structure(self.begins.get(j))

    def aside_end(self, j: int) -> int | None:
        """First token after an aside that begins at token j right after a conjunction."""
        before = self.token(j - 1)
        if "," not in self.gap(j) or not (before in lexicon.CONJUNCTIONS or before in lexicon.NOT):
            return None
        for k in range(j + 1, min(j + LONGEST_ASIDE, len(self.tokens))):
            if self.is_sentence_end(k):
                return None
            if "," in self.gap(k):
                return k
        return None

    # ---- phrases

    def heads(self, i: int) -> list[int]:
        """Structures that the phrase at token i is of: "normal size of the hippocampus".

        In "normal hippocampal function" the hippocampus is not what is normal.
        """
        names: list[int] = []
        j = after = i
        while j < min(len(self.tokens), i + REACH) and not self.is_sentence_end(j):
            number = self.begins.get(j)
            is_quality = self.tokens[j] in lexicon.QUALITIES  # even if it is a term: "volume"
            if number is not None and not (is_quality and not self.is_structure(number)):
                if not self.is_structure(number):
                    break
                names.append(number)
                j = after = self.reading.last[number] + 1
            elif self.belongs_to_place(j) and ("," not in self.gap(j) or names):
                after += after == j and self.tokens[j] in lexicon.QUALITIES
                j += 1
            else:
                break
        return names[:-1] if self.is_noun(j if after == i else after) else names

    def is_noun(self, j: int) -> bool:
        """Whether token j goes on the phrase before it and is the noun that it is of."""
        return j < len(self.tokens) and self.gap(j).isspace() and not self.is_function(j)
