"""Negators: what "no", "without" and "not" deny, before and after them."""

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.grammar import LONGEST_PHRASE
from neurowhere.text.clinical.nondenials import Cue
from neurowhere.text.clinical.objects import REACH
from neurowhere.text.clinical.places import LESION
from neurowhere.text.clinical.predicates import Predicates
from neurowhere.text.words import fold


class Negators(Predicates):
    """Finds what a cue denies that is a negation."""

    # ---- "no" and its like

    def by_no(self, cue: Cue) -> list[int]:
        """Deny what follows, or the place before that has none of it: "the pons has no lesion"."""
        i, j = cue.first, cue.last + 1
        is_noun = self.tokens[cue.last] == "of"  # "resolution of"
        if (
            self.is_choice(cue)
            or self.is_group(cue)
            or self.is_needed(cue)
            or (is_noun and self.is_partial(cue))
        ):
            return []
        if self.tokens[cue.last] in lexicon.ANSWERS and (self.ends_clause(j) or "?" in self.gap(i)):
            return self.label(i) or self.asked(i) or self.place_before(i) or self.sought(i)
        if self.token(j).endswith("ing") and self.token(j + 1) in ("it", "them"):
            return self.structures(self.names(range(max(i - REACH, 0), i)))[-1:]
        if self.tokens[i] == "absence" and self.is_bare(j):
            return []  # "absence of the corpus callosum"
        names = self.ahead(j, through_verbs=cue.kind == "no")
        names = self.without_known(names, j)
        if self.is_pronoun(cue):
            names = self.structures(names) if self.compared(j) == "null" else names
            return [*names, *self.listed_before(i)]
        if self.token(i - 1) == "where" or self.tokens[max(i - 2, 0) : i] == ["in", "which"]:
            return [*names, *self.structures(self.names(range(max(i - LONGEST_PHRASE, 0), i)))[-1:]]
        compared = self.compared(j)
        if compared:
            if compared == "null":
                return self.by_null(i, j, names)
            return self.place_before(i) if self.has_subject(cue) else []
        if self.tokens[i] in lexicon.RATHER:
            return self.in_phrase(cue, names)
        if self.structures(names) or self.tokens[i] == "nor":
            return names
        before = self.place_before(i) if self.has_subject(cue) else []
        return [*names, *(before or self.examined(i) or self.referred(j))]

    def has_subject(self, cue: Cue) -> bool:
        """Whether a cue says what stands before it to lack something: "the pons is without …"."""
        i = cue.first
        if cue.kind == "no" or self.tokens[i] in lexicon.LACKING or self.follows_verb(i):
            return True
        j = cue.last + 1
        is_act = self.token(j).endswith("ing") and not self.ends_clause(j + 1)
        if self.tokens[i] not in lexicon.BARE or is_act:
            return False
        first, _ = self.sentence(i)
        is_place = (
            self.is_structure(self.finishes.get(i - 1)) or self.token(i - 1) in lexicon.QUALITIES
        )
        return is_place and not any(self.is_verb(j) for j in range(first, i))

    def is_choice(self, cue: Cue) -> bool:
        """Whether nothing is one of several things: "reward or nothing"."""
        return self.tokens[cue.last] == "nothing" and self.token(cue.first - 1) == "or"

    def is_pronoun(self, cue: Cue) -> bool:
        """Whether "none" or "neither" stands for what went before: "none showed an effect"."""
        j = cue.last + 1
        j += 2 * (self.token(j) == "of" and self.token(j + 1) in lexicon.THESE)
        return self.tokens[cue.first] in ("none", "neither") and self.is_past(j)

    def listed_before(self, i: int) -> list[int]:
        """Return the places, and no people, that were listed before the pronoun at token i."""
        first, _ = self.sentence(i)
        if first == 0 or i > first:
            return self.place_before(i)
        before = range(self.sentence(first - 1)[0], first)
        names = self.structures(self.names(before))
        is_people = any(self.tokens[j] in lexicon.PEOPLE for j in before)
        return [] if is_people or len(names) < 2 else names

    def examined(self, i: int) -> list[int]:
        """Return the places that an examination found nothing in: "section of the pons: no …"."""
        first, _ = self.sentence(i - 1) if i else (0, 0)
        words = self.tokens[first:i]
        if any(fold(word) in LESION for word in words):
            return []
        if i and ":" in self.gap(i):
            return self.structures(self.label(i))
        is_said = self.token(i - 1) in lexicon.YIELDING
        is_examined = is_said and not lexicon.EXAMINED.isdisjoint(words)
        return self.structures(self.subject(i - 1)) if is_examined else []

    def asked(self, i: int) -> list[int]:
        """Return the names of the question that token i answers."""
        return self.names(range(self.sentence(i - 1)[0], i)) if i and "?" in self.gap(i) else []

    def by_null(self, i: int, j: int, names: list[int]) -> list[int]:
        """Deny the places of a null result: those named after it at token j, or before token i."""
        names = self.structures(names) or self.structures(self.after_people(j))
        if self.token(i - 1) in lexicon.YIELDING:  # "stimulating the pons caused no change"
            return [*names, *self.structures(self.subject(i - 1))]
        is_said = self.tokens[i] in lexicon.NOT or self.tokens[i] in lexicon.FAILING
        if not (is_said or self.is_link(i - 1)):
            return names
        first, _ = self.sentence(i)
        has_lesion = any(fold(token) in LESION for token in self.tokens[first:i])
        if self.is_article(first) and has_lesion:
            return names  # "the lesion in the pons is not associated with edema"
        return [*names, *self.structures(self.subject(i))]

    def in_phrase(self, cue: Cue, names: list[int]) -> list[int]:
        """Keep the names of the first phrase: not "increases rather than decreases in the pons"."""
        tokens = range(cue.last + 2, min(cue.last + LONGEST_PHRASE, len(self.tokens)))
        end = next((j for j in tokens if self.tokens[j] in ("in", "within")), len(self.tokens))
        return [number for number in names if self.reading.first[number] < end]

    # ---- "not"

    def by_not(self, cue: Cue) -> list[int]:
        """Deny by the word after "not"."""
        aside = self.aside_end(cue.last + 1)  # "and not, as first thought, in the pons"
        j = self.after_not(aside or cue.last + 1)
        word = self.token(j)
        if j >= len(self.tokens) or (aside is None and self.ends_clause(j)):
            # "the insula responded, the pons did not"
            before = self.place_before(cue.first) or self.answered(cue.first)
            return before or self.by_null(cue.first, len(self.tokens), [])
        if word in lexicon.IDLE or j in self.ends or self.holds(j) or self.is_before(j):
            return []
        if word in lexicon.REQUIRED:  # not "not necessary to look at the pons"
            return [] if self.token(j + 1) == "to" else self.place_before(cue.first)
        if word in lexicon.SHOWN and self.is_perfect(cue, j):
            return [*self.place_before(cue.first), *self.ahead(j + 1)]
        compared = None if word in lexicon.SEEN else self.compared(j)
        if word in lexicon.RELATING and not (word == "activate" and self.is_phrase(j + 1)):
            return self.by_null(cue.first, j + 1, self.ahead(j + 1))
        if compared in ("null", "change"):
            return self.by_null(cue.first, j, self.ahead(j)) if compared == "null" else []
        names = self.by_subject(cue, j)
        return self.by_object(cue, j) if names is None else names

    def is_perfect(self, cue: Cue, j: int) -> bool:
        """Whether the subject did the verb at token j: "has never shown", not "has not been"."""
        is_active = self.token(cue.first - 1) in ("had", "has", "have")
        return is_active and "been" not in self.tokens[cue.first : j]

    def after_not(self, j: int) -> int:
        """First token from j on that is neither an auxiliary nor an adverb."""
        j += 2 * (self.tokens[j : j + 2] == ["at", "all"])
        while self.token(j) in lexicon.AUXILIARIES or self.is_adverb(j) or self.token(j) == "yet":
            if self.token(j) in lexicon.IDLE:
                break
            j += 1
        return j

    def answered(self, i: int) -> list[int]:
        """Return the names of the question that "it has not" answers, with its "not" at token i."""
        pronoun = self.before_verb(i)
        first, _ = self.sentence(i)
        if 0 < first == pronoun:  # "… whether the pons is involved; it is not"
            first, _ = self.sentence(first - 1)
        before = self.tokens[first : max(pronoun, first)]
        is_question = "whether" in before or "if" in before
        is_answer = is_question and self.token(pronoun) in lexicon.PRONOUNS
        return self.names(range(first, pronoun)) if is_answer else []

    def by_subject(self, cue: Cue, j: int) -> list[int] | None:
        """Deny the subject, if that is what "not" and the word at token j are about."""
        i, word = cue.first, self.tokens[j]
        if word in lexicon.OMITTED:
            return self.subject(i, with_people=True) or self.of_subject(cue)
        if word in lexicon.SEEN:
            is_relative = self.token(self.before_verb(i)) == "which"  # "which was not seen in men"
            return [*([] if is_relative else self.of_subject(cue)), *self.ahead(j + 1)]
        if word == "reach" and (names := self.structures(self.ahead(j + 1))):
            return names
        if word in lexicon.REPRESENTING and self.is_pathology(j + 1):
            return [*self.subject(i), *self.ahead(j + 1)]
        if word in lexicon.STATES:
            is_shared = self.predicate(i) < i and self.is_of_lesion(i)
            is_lesion = is_shared or self.is_lesion_before(i)
            is_lesion = is_lesion and word not in lexicon.SURVIVING
            is_relative = self.token(self.before_verb(i)) in lexicon.RELATIVES
            names = self.subject(i if is_relative else self.predicate(i))
            names = names or ([] if is_relative else self.structures(self.it(i)))
            return [] if is_lesion else names or self.rest(j + 1)
        return None

    def it(self, i: int) -> list[int]:
        """Return what "it" or "both" before the verb at token i stands for; "they" are people."""
        return self.antecedents(i) if self.token(self.before_verb(i)) in ("both", "it") else []

    def is_pathology(self, j: int) -> bool:
        """Whether the phrase at token j names a lesion or disease: "a true lesion"."""
        near = self.tokens[j : j + 4]
        return any(fold(token) in LESION or token in lexicon.REAL for token in near)

    def by_object(self, cue: Cue, j: int) -> list[int]:
        """Deny the object, or the place that is not so and does not do so."""
        word = self.tokens[j]
        is_that = word in lexicon.HAVING and self.token(j + 1) == "that"
        if word in lexicon.OPINIONS or is_that:
            return self.believed(j + 1)
        if word in lexicon.HELD:
            return self.of_subject(cue)
        if word in lexicon.NEEDING:
            return self.structures(self.ahead(j + 1))
        if self.is_interposed(cue, j):
            return self.ahead(j + 1, is_start=True)  # "abuts, but does not invade, the pons"
        if word in lexicon.SHOWING:
            return [*self.place_before(cue.first), *self.ahead(j + 1)]
        names = self.ahead(j, within_commas=True)
        is_direct = word in lexicon.HAVING or word in lexicon.PREPOSITIONS or self.is_phrase(j)
        names = names if is_direct else self.structures(names)
        return names or self.by_quality(cue, j)

    def is_interposed(self, cue: Cue, j: int) -> bool:
        """Whether the verb at token j shares its object: "abuts, but does not invade, the pons"."""
        if self.token(cue.first - 1) not in lexicon.AUXILIARIES or "," not in self.gap(j + 1):
            return False
        start = self.before_verb(cue.first)
        return "," in self.gap(start) or "," in self.gap(start + 1)

    def by_quality(self, cue: Cue, j: int) -> list[int]:
        """Deny a place: "the corpus callosum is not crossed", "the insula did not light up"."""
        i = cue.first
        is_act = self.token(i - 1) in ("did", "does", "do")
        is_said = is_act or self.follows_verb(i) or i - 1 in self.finishes
        is_short = self.predicate(i) < i and self.closes(j + 1) and not self.tokens[j].isdigit()
        return self.place_before(i) if is_said or is_short else []
