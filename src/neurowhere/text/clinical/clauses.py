"""Clauses: how far a word reaches in a sentence, to its subject before and its object after.

This is a grammar of a few word lists and no parser: it knows where sentences, clauses and lists
end, and which names of a reading are within them. Each question looks at a bounded number of
tokens, so that a text is read in linear time.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.grammar import LONGEST_PHRASE, Grammar
from neurowhere.text.clinical.places import SIDE_WORDS
from neurowhere.text.clinical.reading import Reading

REACH = 30  # tokens after a cue
REACH_BACK = 20  # tokens of a subject
LONGEST_ITEM = 15  # tokens between a conjunction and the verb that makes a clause of it
LONGEST_ASIDE = 15  # tokens between two commas
LONGEST_PREDICATE = 8  # tokens of a predicate that another follows
LONGEST_MEASURE = 5  # tokens of a number with its unit
P_VALUE = re.compile(r"\bp\s*[=>≥]\s*(0?\.\d+)", re.IGNORECASE)
DASH = re.compile(r"\s[-–—]+\s")


class Clauses(Grammar):
    """Finds the names of a reading that stand before and after a cue in its clause.

    Parameters
    ----------
    reading : Reading
    ends : collection of int
        Tokens at which whatever went before ends, such as other cues.
    """

    def __init__(self, reading: Reading, ends: Collection[int] = ()) -> None:
        super().__init__(reading)
        self.ends = ends

    # ---- what follows

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
            depth += self.gap(end).count("(") - self.gap(end).count(")")
            aside = self.aside_end(end)
            if aside:
                end = aside  # "in the pons or, after correction, the insula"
            is_first = is_start and end == i
            if not is_first and (depth < 0 or self.is_end(end)):
                break
            is_subject = is_subject and not self.is_verb(end)
            is_listed = is_subject or (self.tokens[end] == "or" and not self.names(range(i, end)))
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
            return False  # "no lesion in the following: pons, insula"
        return self.is_sentence_end(j) or ":" in gap or bool(DASH.search(gap))

    def is_aside_pronoun(self, j: int) -> bool:
        """Whether token j is in a phrase such as "beyond it", which ends nothing."""
        before = self.token(j - 1)
        if self.tokens[j] == "beyond":
            return self.token(j + 1) in lexicon.PRONOUNS
        is_after = before in lexicon.WHERE or before == "beyond"
        return self.tokens[j] in lexicon.PRONOUNS and is_after

    def is_contrast(self, j: int) -> bool:
        """Whether something is set against the rest at token j: "in contrast to the caudate"."""
        return self.tokens[j] in ("by", "in") and self.token(j + 1) in lexicon.CONTRAST

    def is_other(self, j: int, within_commas: bool) -> bool:
        """Whether something else begins at token j after the first word of what is said."""
        token, before, after = self.tokens[j], self.tokens[j - 1], self.token(j + 1)
        has_comma = "," in self.gap(j)
        if (has_comma and token in lexicon.INCLUDING) or after in lexicon.ANY:
            return False  # "with any deficit of", which a denial alone can say
        if has_comma and (
            within_commas or token in lexicon.STOPS_AFTER_COMMA or token in lexicon.AFFIRMING
        ):
            return True
        if has_comma and (self.is_introduced(j) or self.is_participle(j)):
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

    def heads(self, i: int) -> list[int]:
        """Structures that the phrase at token i is of: "normal size of the hippocampus".

        In "normal hippocampal function" the hippocampus is not what is normal.
        """
        names: list[int] = []
        j = after = i
        while j < min(len(self.tokens), i + REACH) and not self.is_sentence_end(j):
            number = self.begins.get(j)
            if number is not None:
                if not self.is_structure(number):
                    break
                names.append(number)
                j = after = self.reading.last[number] + 1
            elif self.belongs_to_place(j) and ("," not in self.gap(j) or names):
                after += after == j and self.tokens[j] in lexicon.QUALITIES
                j += 1
            else:
                break
        end = j if after == i else after
        is_whole = self.token(end) in lexicon.RESPONSES and not self.is_sentence_end(end)
        return names[:-1] if self.is_noun(end) and not is_whole else names

    def is_noun(self, j: int) -> bool:
        """Whether token j goes on the phrase before it and is the noun that it is of."""
        return j < len(self.tokens) and self.gap(j).isspace() and not self.is_function(j)

    # ---- what stands before

    def subject(self, i: int, *, with_people: bool = False) -> list[int]:
        """Return the names of the subject whose verb, if it has one, ends before token i.

        With another verb before them, only the nearest names are the subject: "it involves the
        insula and the pons is spared". With people, what they have is theirs: "patients with
        neglect were normal" does not speak of neglect, unless asked for.
        """
        first = max(self.sentence(i)[0], i - LONGEST_ASIDE - REACH_BACK)
        end = self.before_verb(i)
        verbs = lexicon.FINITE.intersection(self.tokens[end + 1 : i])
        names: list[list[int]] = [[]]  # the list, its last name first
        end, aside = self.before_aside(end)
        i = end
        is_list = False  # an "and" closes it, so that commas are part of it
        after_comma = 0  # names after the last comma
        first = max(first, i - REACH_BACK)
        while i >= first:
            token, gap = self.tokens[i], self.gap(i + 1)
            if i < end and ("," in gap or ":" in gap):
                if not is_list or i not in self.finishes:
                    break
                after_comma = after_comma or len(names)
                if self.tokens[i + 1] not in lexicon.CONJUNCTIONS:
                    names.append([])
            number = self.finishes.get(i)
            if number is not None:
                names[-1].append(number)
                i = self.reading.first[number]
            elif token in lexicon.CONJUNCTIONS:
                is_single = token == "and" and not verbs.isdisjoint(lexicon.SINGULAR)
                if is_single and self.is_determined(i + 1) and not self.is_shared(i, first):
                    break
                is_list = True
                names.append([])
            elif token in ("with", "without"):
                if not verbs:
                    break
                names = names if with_people else [[]]
            elif token in lexicon.STOPS or token == "that":
                break
            elif self.is_verb(i) and not (verbs and self.is_reduced(i) and not any(names)):
                names = names[: after_comma or 1]
                break
            i -= 1
        found = [number for group in names for number in group] or self.before_relative(i, first)
        is_example = bool(aside) and self.tokens[end + 1] in lexicon.INCLUDING
        return [*aside, *found] if is_example else found or aside

    def is_reduced(self, i: int) -> bool:
        """Whether a past at token i has no subject of its own: "the spot described in May is …"."""
        is_past = self.tokens[i].endswith("ed") and self.tokens[i] not in lexicon.LINKS
        return is_past and self.token(i + 1) in lexicon.PREPOSITIONS

    def before_relative(self, i: int, first: int) -> list[int]:
        """Return the names before a relative clause: "the spot in the pons that worried her"."""
        relative = next((j for j in range(i - 1, first, -1) if self.tokens[j] == "that"), None)
        if relative is None or any(self.is_verb(j) for j in range(first, relative)):
            return []
        return self.names(range(first, relative))

    def is_shared(self, i: int, first: int) -> bool:
        """Whether the "and" at token i joins what one noun is of: "volume of the pons and the …"."""
        for j in range(i - 1, max(i - LONGEST_PHRASE, first), -1):
            if self.tokens[j] in lexicon.PREPOSITIONS:
                return self.tokens[j] == "between" or not self.is_finding(j - 1)
        return False

    def before_verb(self, i: int) -> int:
        """Last token before the verb that ends before token i: "is (small and) normal"."""
        if self.token(i - 1) == "and" and self.token(i - 3) in lexicon.BEING:
            i -= 2
        if self.token(i - 1) == "as" and self.token(i - 2) in lexicon.REGARDED:
            i -= 2  # "should be regarded as tentative"
        for j in range(i - 1, max(i - 1 - LONGEST_PHRASE, -1), -1):
            is_verb = self.is_link(j) or self.tokens[j] in lexicon.NOT
            if not (is_verb and self.gap(j + 1).isspace()) or self.tokens[j] == "with":
                return j
        return max(i - 1 - LONGEST_PHRASE, -1)

    def before_aside(self, i: int) -> tuple[int, list[int]]:
        """Last token before an aside that ends with token i, and the names in it.

        "The edema, reported in March, is not seen"; "the lobe, including the insula, is normal".
        """
        if "," not in self.gap(i + 1):
            return i, []
        for k in range(i, max(i - LONGEST_ASIDE, 0), -1):
            if self.is_sentence_end(k):
                break
            if "," in self.gap(k) and self.tokens[k] not in lexicon.CONJUNCTIONS:
                return k - 1, self.names(range(k, i + 1))
        return i, []

    def place_before(self, i: int) -> list[int]:
        """Return the structures before token i, if nothing else stands there in the clause."""
        i = self.before_links(self.predicate(i))
        before, aside = self.before_aside(i)
        i = i if self.structures(aside) else before  # "the pons, our first choice, has none"
        first, _ = self.sentence(i + 1)
        end = i
        names: list[int] = []
        apart: list[int] = []  # those after a comma
        is_against = self.token(first) in lexicon.AGAINST or self.is_contrast(first)
        is_introduced = is_against or self.token(first) in lexicon.INTRODUCING
        while i >= first:
            number = self.finishes.get(i)
            has_comma = i < end and "," in self.gap(i + 1)
            if has_comma and (is_against or bool(names) == is_introduced or number is None):
                break  # "in contrast to the caudate, the putamen shows none"
            if i in self.ends and names:
                return []  # "without the pons …"
            if names and (has_comma or self.is_joint(i, first)):
                apart = [*names]
            if names and self.is_opening(i):
                break  # "at surgery the pons was …"
            if number is not None and self.is_structure(number):
                names.append(number)
                i = self.reading.first[number]
            elif self.tokens[i] in lexicon.STOPS and self.token(i - 1) in lexicon.WHERE:
                pass  # "the gyrus beneath it"
            elif self.tokens[i] in lexicon.STOPS or self.tokens[i] == "with":
                break
            elif self.tokens[i] in ("that", "those") and self.token(i + 1) in lexicon.PREPOSITIONS:
                break  # "that in the putamen did not"
            elif self.is_finding(i) or self.is_verb(i) or self.tokens[i] in lexicon.PEOPLE:
                return apart
            i -= 1
        return names

    def predicate(self, i: int) -> int:
        """First verb of the clause, if the one before token i shares its subject.

        "The pons was exposed and (is) not entered" says both of the pons.
        """
        joint = self.before_verb(i)
        token = self.token(joint)
        if token not in lexicon.CONJUNCTIONS and token not in lexicon.ALTHOUGH:
            return i
        verb = self.first_verb(joint)
        is_far = joint - verb > LONGEST_PREDICATE
        return i if is_far or self.names(range(verb, joint)) else verb

    def first_verb(self, i: int) -> int:
        """First verb of the sentence before token i, or token i."""
        first, _ = self.sentence(i)
        return next((j for j in range(first, i) if self.tokens[j] in lexicon.FINITE), i)

    def is_joint(self, i: int, first: int) -> bool:
        """Whether the "and" at token i joins two clauses: "no mass in the pons and the insula is"."""
        if self.tokens[i] != "and" or not self.is_determined(i + 1):
            return False
        return any(j in self.ends or self.is_verb(j) for j in range(first, i))

    def is_opening(self, i: int) -> bool:
        """Whether token i begins a subject right after another noun, with no comma between."""
        if self.tokens[i] not in lexicon.DETERMINERS or i == 0 or "," in self.gap(i):
            return False
        before = self.tokens[i - 1]
        return not (
            self.is_function(i - 1) or self.is_determined(i - 1) or before in lexicon.CONJUNCTIONS
        )

    def before_links(self, i: int) -> int:
        """Last token before i that is no link between a subject and what is said of it."""
        lowest = max(i - 1 - LONGEST_PHRASE, -1)
        i -= 1
        if i > 0 and self.gap(i + 1).isspace() and self.is_verb(i):
            i -= 1  # "contained no", "evoked no"
        while i > lowest and self.gap(i + 1).isspace() and self.is_link(i):
            i -= 1
        return i

    def owner(self, i: int) -> list[int]:
        """Return the structures that have a quality at token i: "the pons has normal signal"."""
        for j in range(i - 1, max(i - LONGEST_PHRASE, -1), -1):
            if self.is_structure(self.finishes.get(j)):
                return self.place_before(j + 1)
            if self.is_sentence_end(j + 1) or ")" in self.gap(j + 1) or self.is_apart(j):
                break
        return []

    def is_apart(self, j: int) -> bool:
        """Whether what stands before token j has nothing that stands after it."""
        token = self.tokens[j]
        is_having = token in lexicon.OWNING or token in lexicon.YIELDING
        if is_having or self.is_link(j) or j in self.ends:
            return False
        is_small = token in lexicon.PREPOSITIONS or token in lexicon.STOPS
        return is_small or token in lexicon.PEOPLE or self.is_verb(j) or self.is_finding(j)

    def antecedents(self, i: int) -> list[int]:
        """Return the names that a pronoun before the verb at token i stands for."""
        first, _ = self.sentence(i)
        if any(token in SIDE_WORDS and token != "both" for token in self.tokens[first:i]):
            return []  # "…; on the right it is normal"
        is_open = not lexicon.OPENING.isdisjoint(self.tokens[i + 1 : i + 3]) and self.follows_verb(
            i
        )
        return [] if is_open else self.meant(self.before_verb(i)) or self.resumed(i)

    def resumed(self, i: int) -> list[int]:
        """Return what the subject before token i takes up: "all three were normal".

        It says nothing but that it does, and the places are those of the sentence before.
        """
        first, _ = self.sentence(i)
        subject = self.tokens[first : self.first_verb(i)]
        if not first or not subject or not lexicon.RESUMING.issuperset(subject):
            return []
        return self.structures(self.names(range(self.sentence(first - 1)[0], first)))

    def ranked(self, i: int) -> list[int]:
        """Return the place that "the former" or "the latter" before the verb at token i means."""
        rank = lexicon.ORDINALS.get(self.token(j := self.before_verb(i)))
        if rank is None or self.token(j - 1) != "the":
            return []
        first, _ = self.sentence(j)
        names = self.structures(self.names(range(first, j)))
        if len(names) < 2 and first:
            names = self.structures(self.names(range(self.sentence(first - 1)[0], first)))
        return names[rank : rank + 1 or None]

    def meant(self, i: int) -> list[int]:
        """Return the names that a pronoun at token i stands for.

        They are those before it in its sentence, or else those of the sentence before: "a cluster
        in the pons; it vanished".
        """
        if not (self.token(i) in lexicon.PRONOUNS or self.token(i) == "which"):
            return []
        first, _ = self.sentence(i)
        names = self.names(range(max(first, i - REACH), i))
        if names or first == 0:
            return names
        return self.names(range(max(self.sentence(first - 1)[0], i - REACH), first))

    def label(self, i: int) -> list[int]:
        """Return the names before a colon at token i: "thalamus, pons: normal"."""
        if i == 0 or ":" not in self.gap(i):
            return []
        first, _ = self.sentence(i - 1)
        tokens = range(max(first, i - REACH), i)
        return [] if any(self.is_verb(j) for j in tokens) else self.names(tokens)

    def p_values(self) -> Iterator[tuple[int, int, float]]:
        """Yield the structures that have a p-value in brackets after them, its token and value."""
        starts = self.reading.starts
        for match in P_VALUE.finditer(self.reading.text):
            i = bisect_left(starts, match.start())
            number = self.before_bracket(i)
            if number is not None:
                yield number, i, float(match[1])

    def before_bracket(self, i: int) -> int | None:
        """Structure that the bracket of token i is about: "thalamus (t = 1.2, p = 0.2)"."""
        for j in range(i, max(i - LONGEST_PHRASE, 0), -1):
            if ")" in self.gap(j):
                return None
            if "(" in self.gap(j):
                near = (self.finishes.get(k) for k in range(j - 1, j - 4, -1))
                return next((number for number in near if self.is_structure(number)), None)
        return None

    def bracketed(self, i: int, j: int) -> list[int]:
        """Return the structure before the bracket that holds just tokens i to j: "pons (normal)".

        A measure may stand between them: "right hippocampus 3.3 ml (normal)".
        """
        if "(" not in self.gap(i) or ")" not in self.gap(j + 1):
            return []
        for k in range(i - 1, max(i - LONGEST_MEASURE, -1), -1):
            number = self.finishes.get(k)
            if self.is_structure(number):
                return [] if number is None else [number]
            if not (self.tokens[k].isdigit() or self.tokens[k] in lexicon.UNITS):
                break
        return []
