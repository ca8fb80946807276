"""Predicates: what is denied by saying that it is normal, spared, absent, gone, alike or wrong."""

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.clauses import LONGEST_MEASURE
from neurowhere.text.clinical.grammar import LONGEST_PHRASE
from neurowhere.text.clinical.nondenials import Cue, NonDenials
from neurowhere.text.clinical.objects import REACH
from neurowhere.text.clinical.places import LESION
from neurowhere.text.words import fold


class Predicates(NonDenials):
    """Finds what a cue denies that is a verb or an adjective."""

    def by_verb(self, cue: Cue) -> list[int]:
        """Deny the object, or the subject where none follows: "spared the pons", "pons spared"."""
        j = cue.last + 1
        j += self.token(j) == "only"  # "sparing only the pons"
        if self.is_phrase(j):
            names = self.ahead(j) or self.meant(j)
            return names if self.structures(names) else [*names, *self.referred(j)]
        is_passive = self.token(j) == "by" and self.follows_verb(cue.first)
        is_said = is_passive or self.is_predicate(cue.first, cue.last)
        names = self.of_subject(cue) if is_said else []
        return names or (self.structures(self.ahead(j + 1)) if self.token(j) == "by" else [])

    def by_removal(self, cue: Cue) -> list[int]:
        """Deny the places whose data are left out of an analysis."""
        first, end = self.sentence(cue.first)
        is_data = any(
            word in lexicon.DATA or word in lexicon.THOUGHTS
            for word in self.tokens[first : cue.first]
        )
        j = cue.last + 1
        if self.tokens[cue.last] in lexicon.ABOLISHING and self.compared(j) == "null":
            return self.structures(self.ahead(j))  # "eliminated the effect in the pons"
        if is_data or not lexicon.ANALYSES.isdisjoint(self.tokens[cue.last + 1 : end]):
            return self.subject(cue.first, with_people=True) or self.supposed(cue.first)
        return []

    # ---- what is normal

    def by_adjective(self, cue: Cue) -> list[int]:
        """Deny what is normal: the structure that follows, the subject, or what has the quality."""
        i, j = cue.first, cue.last + 1
        if self.tokens[i] in lexicon.UNLIKELY and self.token(j) == "that":
            return self.structures(self.believed(j))
        if self.is_predicate(i, cue.last):
            if self.is_effect(i):
                return self.likewise(j)
            names = self.of_subject(cue)
            if all(self.is_general(number) for number in names):
                names = [*names, *(self.where(j) or self.of_clause(i))]
            return [*names, *self.likewise(j)]
        if self.token(j) == "by":  # "unaffected by damage to the putamen"
            names = self.structures(self.ahead(j + 1))
            if names or self.is_effect(i) or not self.tokens[i].startswith(("un", "non")):
                return names
            return self.structures([*self.of_subject(cue), *self.likewise(j)])
        is_lost = not lexicon.LOSING.isdisjoint(self.tokens[max(i - 3, 0) : i])
        if is_lost or self.token(i - 1) == "than":
            return []  # "loss of the normal signal in the pons"
        if self.ends_clause(j) or not lexicon.PEOPLE.isdisjoint(self.tokens[j : j + 3]):
            return []
        is_kept = self.tokens[i] in lexicon.UNAFFECTED and self.token(i - 1) == "with"
        is_kept = is_kept and self.token(i - 2) not in ("compared", "comparison")
        if is_kept and self.is_phrase(j) and (names := self.ahead(j)):
            return names  # "aphasia with preserved comprehension"
        is_told = self.token(i - 1) not in lexicon.PREPOSITIONS  # "for normal function of the pons"
        names = self.heads(j) or (self.measured(j) if is_told else [])
        if all(self.is_general(number) for number in names):
            names = [*names, *self.owner(i)]  # "the pons contains normal brain"
        return names

    def is_effect(self, i: int) -> bool:
        """Whether the predicate at token i is said of an effect: "the effect was unaffected"."""
        first, _ = self.sentence(i)
        return self.tokens[i] in lexicon.UNAFFECTED and any(
            self.tokens[j] in lexicon.EFFECT and self.token(j + 1) in ("between", "in", "of")
            for j in range(first, i)
        )

    def by_usual(self, cue: Cue) -> list[int]:
        """Deny what has the usual measure: "is of the expected size", "the usual number of"."""
        j = cue.last + 1
        is_measure = self.token(j) in lexicon.MEASURES and not self.is_noun(j + 1)
        if is_measure and (names := self.heads(j) or self.owner(cue.first)):
            return names
        if self.tokens[cue.first] in lexicon.EVEN:
            return self.measured(j) or self.by_state(cue)
        return []

    def measured(self, j: int) -> list[int]:
        """Return the places of what is measured at token j: "normal MRI of the pons"."""
        for k in range(j, min(j + LONGEST_MEASURE, len(self.tokens))):
            if k > j and (self.ends_clause(k) or self.is_function(k)):
                break
            if self.tokens[k] in lexicon.MEASURED:
                return self.rest(k + 1) if self.token(k + 1) in lexicon.WHERE else []
        return []

    # ---- states

    def by_state(self, cue: Cue) -> list[int]:
        """Deny the subject of a predicate that says that all is well, gone or wrong."""
        i, j = cue.first, cue.last + 1
        if self.is_partial(cue) or self.tokens[i : j + 1] == ["recovered", "from"]:
            return []
        if self.tokens[i] in lexicon.FORMED and self.is_of_lesion(i):
            return []  # "the lesion of the pons is well defined"
        if self.tokens[cue.last] in lexicon.ABOLISHING and self.compared(j) == "null":
            return self.structures(self.ahead(j))  # "abolished the effect in the pons"
        while self.is_adverb(j):
            j += 1
        if self.token(j) in ("and", "but") and not self.follows_subject(i):
            return []  # "healthy and clinical samples"
        is_whole = cue.last > i and self.tokens[i] not in lexicon.FORMED
        is_whole = is_whole and (self.is_function(cue.last) or not self.is_noun(j))
        is_said = is_whole or self.closes(j) or self.token(j) in lexicon.AFTER_STATE
        if self.tokens[cue.last] in lexicon.RELATING_TO:
            is_said = self.follows_verb(i)
        if not is_said:
            is_test = self.tokens[cue.last] in lexicon.TESTED and self.token(j) in lexicon.TESTS
            return self.left(cue) or (self.measured(j) if is_test else [])
        names = self.compared_in(cue) or self.of_subject(cue)
        if not names and self.tokens[cue.last] not in lexicon.GONE:
            names = self.where(j) or self.of_clause(i)
        return [*names, *self.likewise(j), *self.left(cue)]

    def is_of_lesion(self, i: int) -> bool:
        """Whether the predicate at token i is said of a lesion."""
        first, _ = self.sentence(i)
        return any(fold(token) in LESION for token in self.tokens[first:i])

    def compared_in(self, cue: Cue) -> list[int]:
        """Return where people are alike: "the groups were indistinguishable in the caudate"."""
        if self.tokens[cue.first] not in lexicon.ALIKE or self.structures(self.subject(cue.first)):
            return []
        return self.rest(cue.last + 1)

    def left(self, cue: Cue) -> list[int]:
        """Return the places that something is gone from: "has disappeared from the pons"."""
        j = cue.last + 1
        is_gone = self.tokens[cue.last] in lexicon.GONE and self.token(j) in ("from", "in")
        return self.structures(self.ahead(j + 1)) if is_gone else []

    # ---- absence

    def by_absence(self, cue: Cue) -> list[int]:
        """Deny what is absent, and the place: "aphasia was seen in none", "absent in the pons"."""
        i, j = cue.first, cue.last + 1
        while self.token(i - 1) in lexicon.SEEN or self.token(i - 1) in lexicon.OCCURRING:
            i -= 1
        if (
            self.token(i - 1) in lexicon.CONJUNCTIONS
        ):  # "present in the insula and absent in the pons"
            verb = self.first_verb(i)
            i = verb if verb < i else 0
        if self.tokens[cue.first] == "absent" and self.is_missing(i, j):
            return []
        is_first = self.is_sentence_end(i) or i == 0  # "in no subject was the insula active"
        after = [] if self.ends_clause(j) else self.ahead(j, through_verbs=is_first)
        return [*self.subject(i), *after]

    def is_missing(self, i: int, j: int) -> bool:
        """Whether a structure itself is absent, which is a finding: "absent corpus callosum"."""
        if not self.ends_clause(j):
            return self.is_structure(self.begins.get(j)) and not self.follows_verb(i)
        number = self.finishes.get(self.before_verb(i))
        if number is None or not self.is_structure(number):
            return False
        first = self.reading.first[number] - 1
        while self.is_modifier(first):
            first -= 1
        return self.token(first) not in lexicon.PREPOSITIONS and not self.is_noun_before(first)

    def is_bare(self, j: int) -> bool:
        """Whether the phrase at token j is a structure and nothing else: "the corpus callosum"."""
        if self.token(j) != "the":
            return False
        while self.is_modifier(j) and j not in self.begins:
            j += 1
        number = self.begins.get(j)
        if number is None or not self.is_structure(number):
            return False
        end = self.reading.last[number] + 1
        is_joined = self.token(end) in ("and", "with") or self.gap(end).startswith(",")
        return is_joined or self.is_sentence_end(end)

    def is_noun_before(self, i: int) -> bool:
        """Whether token i is the name of a place, of which a list is made."""
        return i in self.finishes and not self.is_sentence_end(i + 1)

    # ---- of what it is said

    def of_subject(self, cue: Cue) -> list[int]:
        """Return the names of the subject of a cue, or those that its pronoun stands for."""
        i = cue.first
        if names := self.label(i) or self.ranked(i):
            return names
        is_state, verb = cue.kind == "state", self.first_verb(i)
        is_bare = not self.names(range(verb, i))
        joint = self.token(self.before_verb(i))
        if (joint in lexicon.CONJUNCTIONS and (is_state or is_bare)) or (
            joint == "but" and is_bare
        ):
            i = verb  # "was exposed and left untouched"
        names = self.subject(i, with_people=cue.kind == "verb") or self.antecedents(i)
        if not names and is_state and is_bare:
            names = self.subject(verb)  # "was significant only before correction"
        is_exam = not lexicon.EXAMS.isdisjoint(self.tokens[max(i - LONGEST_PHRASE, 0) : i])
        return names or (self.supposed(i) if is_exam else [])

    def of_clause(self, i: int) -> list[int]:
        """Return the structures before token i in its clause, where nothing is wrong in it.

        "Elsewhere, including the thalamus, diffusion is normal" speaks of the thalamus.
        """
        first, _ = self.sentence(i)
        turns = [j for j in range(first, i) if self.tokens[j] in lexicon.STOPS or j in self.ends]
        tokens = range(turns[-1] if turns else first, i)
        if self.token(tokens.start) in lexicon.AGAINST or tokens.start in self.ends:
            return []
        if any(self.is_finding(j) or self.tokens[j] in lexicon.UNSURE for j in tokens):
            return []
        return self.structures(self.names(tokens))

    def where(self, j: int) -> list[int]:
        """Return the places of a predicate that ends before token j: "negative in the pons"."""
        is_place = self.token(j) in lexicon.WHERE and self.token(j) not in ("for", "from", "of")
        return self.structures(self.ahead(j + 1)) if is_place else []

    def likewise(self, j: int) -> list[int]:
        """Return what shares the predicate before token j: "is normal, as are the thalami"."""
        if self.token(j) in lexicon.INCLUDING:  # "CT normal, including the basal ganglia"
            return self.structures(self.ahead(j + 1))
        for k in range(j, self.sentence(j)[1]):
            if self.token(k) in lexicon.LIKEWISE:
                verb = k + 1 + (self.token(k + 1) in lexicon.PRONOUNS or self.is_adverb(k + 1))
                return self.rest(verb + 1) if self.token(verb) in lexicon.AUXILIARIES else []
        return []

    def referred(self, j: int) -> list[int]:
        """Return the place that "there" after token j stands for: "ruled out a lesion there"."""
        _, end = self.sentence(j)
        there = next((k for k in range(j, end) if self.token(k) in lexicon.THERE), None)
        if there is None or any(self.is_end(k) for k in range(j + 1, there)):
            return []
        first = self.sentence(max(self.sentence(j)[0] - 1, 0))[0]
        names = self.structures(self.names(range(max(first, j - REACH), j)))
        return names[-1:]

    def sought(self, i: int) -> list[int]:
        """Return what was looked for before token i: "we looked for plaques in the pons"."""
        first, _ = self.sentence(i)
        verbs = [j for j in range(first, i) if self.tokens[j] in lexicon.SEEKING]
        if not verbs:
            return []
        is_passive = self.tokens[verbs[0] - 1] in lexicon.BEING if verbs[0] else False
        return self.names(range(first if is_passive else verbs[0], i))

    def supposed(self, i: int) -> list[int]:
        """Return the places that the clause before the one of token i supposed."""
        first, _ = self.sentence(i)
        turn = next((j for j in range(first, i) if self.tokens[j] in ("but", "yet")), first)
        if self.tokens[first] in ("although", "though", "while", "despite"):
            turn = next((j for j in range(first, i) if "," in self.gap(j)), first)
        is_supposed = not lexicon.SUPPOSED.isdisjoint(self.tokens[first:turn])
        return self.structures(self.names(range(first, turn))) if is_supposed else []

    def believed(self, j: int) -> list[int]:
        """Return what is not believed from token j on, unless it is the cause of something.

        "I do not think that the lesion in the pons explains it" does not deny the lesion.
        """
        _, end = self.sentence(j)
        if not lexicon.EXPLAINING.isdisjoint(self.tokens[j:end]):
            return []
        return self.ahead(j + (self.token(j) == "that"), through_verbs=True)
