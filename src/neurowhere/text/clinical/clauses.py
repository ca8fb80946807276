"""Clauses: the subject of a word, the place that has a quality, and what a pronoun stands for."""

from bisect import bisect_left
from collections.abc import Collection, Iterator

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.grammar import LONGEST_ASIDE, LONGEST_PHRASE, REACH, Grammar
from neurowhere.text.clinical.places import (
    ADJECTIVE,
    FILLERS,
    OPPOSITE,
    SIDE_WORDS,
    is_lesion_word,
)

REACH_BACK = 20  # tokens of a subject
LONGEST_PREDICATE = 8  # tokens of a predicate that another follows
FARTHEST_PLACE = 24  # tokens between a quality and its place
LONGEST_MEASURE = 5  # tokens of a number with its unit
USUAL_P = 0.05  # a p-value that is said to be larger is a null result


class Clauses(Grammar):
    """Finds the names of a reading that stand before a cue in its clause, and those after it."""

    # ---- subjects

    def subject(self, i: int, *, with_people: bool = False) -> list[int]:
        """Return the names of the subject whose verb, if it has one, ends before token i.

        With another verb before them, only the nearest names are the subject: "it involves the
        insula and the pons is spared". With people, what they have is theirs: "patients with
        neglect were normal" does not speak of neglect, unless asked for.
        """
        first = max(self.sentence(i)[0], i - LONGEST_ASIDE - REACH_BACK)
        end = self.before_verb(i)
        verbs = lexicon.FINITE.intersection(self.tokens[end + 1 : i])
        if "otherwise" in self.tokens[end + 1 : i] and is_lesion_word(self.token(end)):
            return []  # "left thalamic infarct, otherwise normal"
        end, aside = self.before_aside(end)
        first = max(first, end - REACH_BACK)
        if self.token(end) in lexicon.EXAMS:  # "insular epilepsy (MRI negative)"
            signs = (j for j in range(end, first, -1) if "(" in self.gap(j) or "," in self.gap(j))
            first = next(signs, first)
        i, names = self.listed(end, first, verbs, with_people)
        names = names or self.before_relative(i, first)
        is_example = bool(aside) and self.tokens[end + 1] in lexicon.INCLUDING
        return [*aside, *names] if is_example else names or aside

    def listed(
        self, end: int, first: int, verbs: Collection[str], with_people: bool
    ) -> tuple[int, list[int]]:
        """Return the names of a subject from its last token back, and the token before them."""
        i = end
        names: list[list[int]] = [[]]  # the list, its last name first
        # an "and" or "all" closes it, or it is nothing but names, so that commas are part of it
        is_list = self.token(end + 1) in ("all", "both") or self.is_bare_list(first, end)
        after_comma = 0  # names after the last comma
        while i >= first and not (i < end and self.begins_another(i + 1)):
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
                is_single = token == "and" and not lexicon.SINGULAR.isdisjoint(verbs)
                if is_single and self.is_determined(i + 1) and not self.is_shared(i, first):
                    break
                is_list = True
                names.append([])
            elif token in ("with", "without"):
                if not verbs:
                    break
                names = names if with_people else [[]]
            elif token in lexicon.STOPS or token == "that" or (names[0] and self.is_opening(i)):
                break
            elif self.is_verb(i) and not (verbs and self.is_reduced(i) and not any(names)):
                names = names[: after_comma or 1]
                break
            i -= 1
        return i, [number for group in names for number in group]

    def begins_another(self, j: int) -> bool:
        """Whether another subject begins at token j of a note without commas.

        "Left caudate lacune | ventricles normal", "pontine infarct and | the basilar is patent".
        """
        before = self.tokens[j - 1]
        if before == "no" or self.gap(j) != " ":
            return before == "no"
        if before == "and":
            is_next = is_lesion_word(self.token(j - 2))
            return is_next and self.is_beside(j + self.is_determined(j))
        is_side, is_place = self.is_side_word(j), self.is_structure(self.finishes.get(j - 1))
        if before in lexicon.SEEN or is_lesion_word(before):
            is_placed = self.is_structure(self.finishes.get(j - 2))
            is_other = is_placed and self.is_structure(self.begins.get(j))
            return is_other or is_side or self.is_beside(j)
        if not (is_side or is_place) or self.is_function(j - 1):
            return False
        is_adjective = bool(ADJECTIVE.fullmatch(before)) or before in FILLERS
        if is_place and not is_adjective:
            return self.is_beside(j) or self.is_after_lesion(j)
        is_joined = is_adjective or before in lexicon.CONJUNCTIONS or self.is_article(j - 1)
        return is_side and not is_joined and self.has_other_side(j)

    def is_beside(self, j: int) -> bool:
        """Whether the phrase at token j is of what reports call normal beside a lesion."""
        while ADJECTIVE.fullmatch(self.token(j)) and self.token(j) not in lexicon.BESIDES:
            j += 1
        number = self.begins.get(j)
        last = j if number is None else self.reading.last[number]
        return not lexicon.BESIDES.isdisjoint([self.token(j), self.token(last)])

    def is_after_lesion(self, j: int) -> bool:
        """Whether another place begins at token j, right after where a lesion is.

        "Infarct in the left insula | putamen spared" says nothing against the insula.
        """
        last = self.finishes.get(j - 1)
        if last is None or self.gap(j) != " " or not self.is_structure(last):
            return False
        while self.is_modifier(j) and j not in self.begins:
            j += 1
        if not self.is_structure(self.begins.get(j)):
            return False
        i = self.before_modifiers(self.reading.first[last]) - 1
        near = range(max(i - 2, 0), max(i, 0))  # "restricted diffusion in"
        return self.token(i) in lexicon.INVOLVING and any(map(self.is_deviant, near))

    def is_deviant(self, j: int) -> bool:
        """Whether token j tells of a finding, or of a change of what is measured."""
        return self.is_finding(j) or self.tokens[j] in lexicon.DEVIATING

    def before_modifiers(self, j: int) -> int:
        """First of the determiners, sides and adjectives that stand right before token j."""
        while j > 0 and self.is_modifier(j - 1) and j - 1 not in self.finishes:
            j -= 1
        return j

    def has_other_side(self, j: int) -> bool:
        """Whether the place after the side at token j has the other side before.

        "Right hippocampus small and bright left hippocampus normal" is of two.
        """
        number, (first, _) = self.begins.get(j + 1), self.sentence(j)
        if number is None:
            return False
        name = self.tokens[j + 1 : self.reading.last[number] + 1]
        other = OPPOSITE.get(SIDE_WORDS.get(self.tokens[j], "bilateral"))
        sides = (k for k in range(first, j) if SIDE_WORDS.get(self.tokens[k]) == other)
        return any(self.tokens[k + 1 : k + 1 + len(name)] == name for k in sides)

    def is_bare_list(self, first: int, end: int) -> bool:
        """Whether some tokens are structures and what belongs to them: "thalamus, pons normal"."""
        number, i = self.finishes.get(end), end
        while number is not None and self.is_structure(number):
            i = self.reading.first[number] - 1
            while i >= first and self.is_modifier(i) and i not in self.finishes:
                i -= 1
            number = self.finishes.get(i)
        return i < first

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
        """Whether the "and" at token i joins what one noun is of: "volume of A and the B"."""
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

    # ---- places

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
        lowest = max(first, i - FARTHEST_PLACE)
        while i >= lowest:
            number = self.finishes.get(i)
            has_comma = i < end and "," in self.gap(i + 1)
            if has_comma and (is_against or bool(names) == is_introduced or number is None):
                break  # "in contrast to the caudate, the putamen shows none"
            if i in self.ends and names:
                return []  # "without the pons …"
            if names and (has_comma or self.is_joint(i, first)):
                apart = [*names]
            if names and (self.is_opening(i) or self.is_after_lesion(i + 1)):
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

    def is_joint(self, i: int, first: int) -> bool:
        """Whether the "and" at token i joins two clauses: "no mass in A and the B is"."""
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
        return is_small or token in lexicon.PEOPLE or self.is_verb(j) or self.is_wrong(j)

    def is_wrong(self, j: int) -> bool:
        """Whether token j tells of a finding, or of seizures: "parietal epilepsy, MRI normal"."""
        return self.is_finding(j) or bool(lexicon.EPILEPTIC.match(self.tokens[j]))

    # ---- what is taken up

    def antecedents(self, i: int) -> list[int]:
        """Return the names that a pronoun before the verb at token i stands for."""
        it = self.before_verb(i)
        if self.token(it) == "it" and self.token(it - 1) in SIDE_WORDS:
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

    # ---- labels, brackets and p-values

    def label(self, i: int) -> list[int]:
        """Return the names before a colon at token i: "thalamus, pons: normal"."""
        if i == 0 or ":" not in self.gap(i):
            return []
        first, _ = self.sentence(i - 1)
        if self.tokens[i - 1] in SIDE_WORDS and i - 1 in self.begins:
            first = i - 1  # "thalamus - L: lacune, R: normal"
        tokens = range(max(first, i - REACH), i)
        return [] if any(self.is_verb(j) for j in tokens) else self.names(tokens)

    def p_values(self) -> Iterator[tuple[int, int, float]]:
        """Yield the structures that have a p-value in brackets after them, its token and value."""
        starts, _ = self.reading.bounds
        for match in self.reading.p_values:
            i = bisect_left(starts, match.start())
            number = self.before_bracket(i)
            if number is not None:
                is_null = match[1] != "=" and float(match[2]) >= USUAL_P
                yield number, i, 1.0 if is_null else float(match[2])

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

        A measure may stand between them or first in the bracket: "right hippocampus 3.3 ml
        (normal)", "right hippocampus (1.2, within normal limits)".
        """
        if self.tokens[i] in ("n", "ns") and (number := self.before_bracket(i)) is not None:
            return [number]  # "pons (F < 1, n.s.)"
        i = self.after_measure(i)
        if "(" not in self.gap(i) or ")" not in self.gap(j + 1):
            return []
        for k in range(i - 1, max(i - LONGEST_MEASURE, -1), -1):
            number = self.finishes.get(k)
            if self.is_structure(number):
                return [] if number is None else [number]
            if not self.is_measure(k):
                break
        return []

    def after_measure(self, i: int) -> int:
        """First token of the bracket of token i, if only a measure and a comma stand before it."""
        if not any(sign in self.gap(i) for sign in ",;"):
            return i
        first = max(i - LONGEST_MEASURE, 0)
        while i > first and "(" not in self.gap(i) and self.is_measure(i - 1):
            i -= 1
        return i

    def is_measure(self, k: int) -> bool:
        """Whether token k is a number or a unit."""
        return self.tokens[k].isdigit() or self.tokens[k] in lexicon.UNITS
