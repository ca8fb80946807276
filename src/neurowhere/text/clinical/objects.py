"""Objects: how far a word reaches in what follows it.

This is a grammar of a few word lists and no parser: it knows where sentences, clauses and lists
end, and which names of a reading are within them. Each question looks at a bounded number of
tokens, so that a text is read in linear time.
"""

import re
from collections.abc import Collection

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.grammar import Grammar
from neurowhere.text.clinical.reading import Reading

REACH = 30  # tokens after a cue
LONGEST_ITEM = 15  # tokens between a conjunction and the verb that makes a clause of it
LONGEST_ASIDE = 15  # tokens between two commas
DASH = re.compile(r"\s[-–—]+\s")


class Objects(Grammar):
    """Finds the names of a reading that stand after a cue in its clause.

    Parameters
    ----------
    reading : Reading
    ends : collection of int
        Tokens at which whatever went before ends, such as other cues.
    """

    def __init__(self, reading: Reading, ends: Collection[int] = ()) -> None:
        super().__init__(reading)
        self.ends = ends

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

    # ---- phrases

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
        return names[:-1] if self.is_noun(j if after == i else after) else names

    def is_noun(self, j: int) -> bool:
        """Whether token j goes on the phrase before it and is the noun that it is of."""
        return j < len(self.tokens) and self.gap(j).isspace() and not self.is_function(j)
