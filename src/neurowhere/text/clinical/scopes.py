"""Scopes: what each kind of cue denies, before and after it.

Negators ("no", "without", "not") deny what they stand before, or the place that has none of it;
predicates deny what they are said of: that it is normal, spared, absent, gone, alike or wrong.
"""

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.clauses import LONGEST_MEASURE
from neurowhere.text.clinical.differences import Differences
from neurowhere.text.clinical.grammar import CLOSING, LONGEST_PHRASE, REACH
from neurowhere.text.clinical.nondenials import Cue
from neurowhere.text.clinical.places import FILLERS, LESION, SIDE_WORDS
from neurowhere.text.words import fold


class Scopes(Differences):
    """Finds what a cue denies, by its kind."""

    # ---- "no" and its like

    def by_no(self, cue: Cue) -> list[int]:
        """Deny what follows, or the place before that has none of it: "the pons has no lesion"."""
        i, j = cue.first, cue.last + 1
        is_noun = self.tokens[cue.last] == "of"  # "resolution of"
        if (
            self.is_choice(cue)
            or self.is_group(cue)
            or self.is_reported(cue)
            or self.is_needed(cue)
            or (is_noun and self.is_partial(cue))
        ):
            return []
        if self.tokens[cue.last] in lexicon.ANSWERS and (self.ends_clause(j) or "?" in self.gap(i)):
            if self.is_answer(i):
                return self.posed(i)
            names = self.label(i) or self.asked(i) or self.place_before(i) or self.sought(i)
            is_shown = self.token(i - 1) in lexicon.SHOWED  # "…; CT showed none"
            return names or (self.posed(i) if is_shown else [])
        if self.token(j).endswith("ing") and self.token(j + 1) in ("it", "them"):
            return self.structures(self.names(range(max(i - REACH, 0), i)))[-1:]
        if self.tokens[i] == "absence" and self.is_bare(j):
            return []  # "absence of the corpus callosum"
        is_clause = self.token(j) == "that" and self.token(j + 1) in lexicon.STOPS
        j += 2 * is_clause  # "denies that he has headaches"
        names = self.ahead(j, through_verbs=cue.kind == "no" or is_clause)
        if (own := self.said_of_place(cue, names)) is not None:
            return own
        if is_noun and self.tokens[i] in lexicon.GOING and self.are_deficits(names, i):
            return []  # "resolution of the hemiparesis within an hour"
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
        before = self.place_before(i) if self.has_subject(cue) and not self.is_next(i, j) else []
        return [*names, *(before or self.examined(i) or self.referred(j))]

    def said_of_place(self, cue: Cue, names: list[int]) -> list[int] | None:
        """Return what a note denies that says "no" right after a place, up to the next place.

        "Thalami no signal change, caudate bright" denies nothing of the caudate; "pons no lesion,
        mass or bleed" is a list.
        """
        i, j = cue.first, cue.last + 1
        is_next = self.is_structure(self.finishes.get(i - 1)) and self.gap(i) == " "
        if not is_next or not self.has_subject(cue):
            return None
        compared, places = self.compared(j), self.place_before(i)
        if not places or compared in ("change", "study"):
            return None
        end = self.sentence(j)[1]
        comma = next((k for k in range(j + 1, end) if self.is_next_place(k)), end)
        if CLOSING.isdisjoint(self.tokens[comma:end]):
            names = [number for number in names if self.reading.first[number] < comma]
        return [*(self.structures(names) if compared == "null" else names), *places]

    def is_next_place(self, k: int) -> bool:
        """Whether a comma and a place stand at token k: "…, left thalamus bright"."""
        if "," not in self.gap(k):
            return False
        while self.token(k) in FILLERS or (self.is_modifier(k) and k not in self.begins):
            k += 1
        return self.is_structure(self.begins.get(k))

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
        if not lexicon.MARGINS.isdisjoint(words):
            return self.of_margin(first, i)
        if any(fold(word) in LESION for word in words):
            return []
        if i and ":" in self.gap(i):
            return self.structures(self.label(i))
        is_said = self.token(i - 1) in lexicon.YIELDING
        is_examined = is_said and not lexicon.EXAMINED.isdisjoint(words)
        return self.structures(self.subject(i - 1)) if is_examined else []

    def of_margin(self, first: int, i: int) -> list[int]:
        """Return the place of a margin before token i: "frontal margin: gliosis, no tumor"."""
        colons = (j for j in range(first + 1, i + 1) if ":" in self.gap(j))
        colon = next((j for j in colons if self.tokens[j - 1] in lexicon.MARGINS), i)
        is_clear = lexicon.TUMORS.isdisjoint(self.tokens[colon:i])
        is_clear &= not lexicon.TUMORS.isdisjoint(self.tokens[i + 1 : i + LONGEST_MEASURE])
        return self.structures(self.label(colon)) if is_clear else []

    def is_answer(self, i: int) -> bool:
        """Whether the subject of the predicate at token i is an answer: "the answer is no"."""
        return self.token(self.before_verb(i)) == "answer"

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
            before = before or self.before_which(cue.first)
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

    def before_which(self, i: int) -> list[int]:
        """Return the place before a "which" that is the subject at token i: "…, which did not"."""
        j = self.before_verb(i)
        number = self.finishes.get(j - 1) if self.token(j) == "which" else None
        return [number] if number is not None and self.is_structure(number) else []

    def by_subject(self, cue: Cue, j: int) -> list[int] | None:
        """Deny the subject, if that is what "not" and the word at token j are about."""
        i, word = cue.first, self.tokens[j]
        if word in lexicon.OMITTED:
            return self.subject(i, with_people=True) or self.of_subject(cue)
        if word in lexicon.SEEN and (names := self.thought(i)):
            return names
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
            if word == "significant" and not is_lesion:
                return self.with_place(names, j + 1)
            return [] if is_lesion else names or self.rest(j + 1)
        return None

    def with_place(self, names: list[int], j: int) -> list[int]:
        """Add the place after token j to a subject that has none: "the effect … in the pons"."""
        if self.structures(names) or self.ends_clause(j):
            return names
        if self.token(j) not in lexicon.WHERE:
            return names or self.rest(j)
        is_people = not lexicon.PEOPLE.isdisjoint(self.tokens[j + 1 : j + 4])
        after = self.after_people(j) if is_people else self.ahead(j + 1)
        return [*names, *self.structures(after)]

    def thought(self, i: int) -> list[int]:
        """Return the places of a thought before token i: "the idea that the pons … was not …"."""
        first, _ = self.sentence(i)
        thoughts = (j for j in range(first, i - 1) if self.tokens[j] in lexicon.THOUGHTS)
        that = next((j + 1 for j in thoughts if self.tokens[j + 1] == "that"), i)
        return self.structures(self.names(range(that, i)))

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
        if word in lexicon.HAVING and self.token(j + 1) in ("any", "one") and self.closes(j + 2):
            i = cue.first  # "I looked for a lesion in the pons and did not see one"
            return self.suspected(range(self.sentence(i)[0], i)) or self.posed(i)
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
        is_adjective = names == self.names([j]) and not self.structures(names)
        if is_adjective and self.follows_verb(cue.first):
            return [*names, *self.by_quality(cue, j)]  # "active" may be a name
        return names or self.by_quality(cue, j)

    def is_interposed(self, cue: Cue, j: int) -> bool:
        """Whether the verb at token j shares its object: "abuts, but does not invade, the pons"."""
        if self.token(cue.first - 1) not in lexicon.AUXILIARIES or "," not in self.gap(j + 1):
            return False
        start = max(self.before_verb(cue.first), 0)
        return "," in self.gap(start) or "," in self.gap(start + 1)

    def by_quality(self, cue: Cue, j: int) -> list[int]:
        """Deny a place: "the corpus callosum is not crossed", "the insula did not light up"."""
        i = cue.first
        is_act = self.token(i - 1) in ("did", "does", "do")
        is_said = is_act or self.follows_verb(i) or i - 1 in self.finishes
        is_short = self.predicate(i) < i and self.closes(j + 1) and not self.tokens[j].isdigit()
        return self.place_before(i) if is_said or is_short else []

    # ---- verbs

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
        is_cut = self.is_structure(self.finishes.get(i - 1)) and self.token(j) in SIDE_WORDS
        if self.is_predicate(i, cue.last) or is_cut:  # "left pons normal right pons infarcted"
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
        if is_lost or self.token(i - 1) == "than" or self.is_response(j):
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
        is_even = self.tokens[cue.first] in lexicon.EVEN
        if is_even and self.is_deviation(j):
            return []  # "symmetric restricted diffusion in the thalami"
        is_measure = self.token(j) in lexicon.MEASURES and not self.is_noun(j + 1)
        if is_measure and (names := self.heads(j) or self.owner(cue.first)):
            return names
        return self.measured(j) or self.by_state(cue) if is_even else []

    def is_deviation(self, j: int) -> bool:
        """Whether the phrase at token j is of a change, which is one on both sides as well.

        Little of the brain enhances unless it is ill; the pituitary gland does.
        """
        for k in range(j, min(j + LONGEST_MEASURE, len(self.tokens))):
            if self.ends_clause(k):
                break
            if self.is_deviant(k):
                return True
            if self.is_function(k) and not self.is_adverb(k):
                break
            if self.tokens[k] == "enhancement":
                return any(map(self.is_unenhanced, self.heads(k)))
        return False

    def is_unenhanced(self, number: int) -> bool:
        """Whether a match is of what does not enhance in health."""
        words = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return lexicon.ENHANCING.isdisjoint(words)

    def measured(self, j: int) -> list[int]:
        """Return the places of what is measured at token j: "normal MRI of the pons"."""
        for k in range(j, min(j + LONGEST_MEASURE, len(self.tokens))):
            if k > j and (self.ends_clause(k) or self.is_function(k)):
                break
            if self.tokens[k] in lexicon.MEASURED:
                return self.rest(k + 1) if self.token(k + 1) in lexicon.WHERE else []
        return []

    def is_response(self, j: int) -> bool:
        """Whether the phrase at token j tells what a place does: "normal activation in"."""
        for k in range(j, min(j + LONGEST_MEASURE, len(self.tokens))):
            if self.ends_clause(k) or self.is_function(k):
                break
            if self.tokens[k] in lexicon.RESPONDING:
                return True
        return False

    # ---- states

    def by_state(self, cue: Cue) -> list[int]:
        """Deny the subject of a predicate that says that all is well, gone or wrong."""
        i, j = cue.first, cue.last + 1
        is_old = self.tokens[i : j + 1] == ["recovered", "from"]
        if is_old or self.is_partial(cue) or self.is_doubted(cue) or self.is_history(cue):
            return []
        if self.is_of_device(cue) or (self.tokens[i] in lexicon.FORMED and self.is_of_lesion(i)):
            return []  # "the lesion of the pons is well defined"
        if self.tokens[cue.last] in lexicon.ABOLISHING and self.compared(j) == "null":
            return self.structures(self.ahead(j))  # "abolished the effect in the pons"
        while self.is_adverb(j) and self.token(j) not in lexicon.AFTER_PREDICATE:
            j += 1
        if self.token(j) in ("and", "but") and not self.follows_subject(i):
            return []  # "healthy and clinical samples"
        is_whole = cue.last > i and self.tokens[i] not in lexicon.FORMED
        is_whole = is_whole and (self.is_function(cue.last) or not self.is_noun(j))
        is_said = is_whole or self.closes(j) or self.token(j) in lexicon.AFTER_STATE
        is_null = self.tokens[cue.last].endswith("significant") and self.follows_verb(i)
        if is_null and self.token(j) in lexicon.WHERE:
            return self.with_place(self.subject(i), j)
        if self.tokens[cue.last] in lexicon.RELATING_TO:
            is_said = self.follows_verb(i)
        if not is_said:
            is_test = self.tokens[cue.last] in lexicon.TESTED and self.token(j) in lexicon.TESTS
            is_usual = self.tokens[cue.last] in lexicon.PHYSIOLOGIC  # "physiologic uptake in"
            is_test = is_test or (is_usual and self.token(j) in lexicon.QUALITIES)
            return self.left(cue) or (self.measured(j) if is_test else [])
        names = self.compared_in(cue) or self.of_subject(cue)
        if self.tokens[cue.last] in lexicon.TESTED and self.is_answer(i):
            return self.posed(i)
        if self.tokens[cue.last] in lexicon.GONE and self.are_deficits(names, i):
            return []
        is_exam = all(self.tokens[self.reading.first[name]] in lexicon.EXAMS for name in names)
        if is_exam and self.tokens[cue.last] not in lexicon.GONE:
            names = self.where(j) or self.of_clause(i)
        return [*names, *self.likewise(j), *self.left(cue)]

    def are_deficits(self, names: list[int], i: int) -> bool:
        """Whether what is gone are deficits of an attack, which tell where it was.

        Beside a lesion or a structure, and after a lesion before token i, they are gone.
        """
        first, last = self.reading.first, self.reading.last
        words = [word for n in names for word in self.tokens[first[n] : last[n] + 1]]
        is_lesion = self.is_of_lesion(i) or any(fold(word) in LESION for word in words)
        is_deficit = any(map(lexicon.DEFICIT.match, words))
        is_placed = is_deficit and not is_lesion and not self.structures(names)
        return is_placed and self.is_attack(first[names[0]], i)

    def is_attack(self, first: int, i: int) -> bool:
        """Whether deficits from token first on were brief, with the cue at token i that ends them.

        "His aphasia has resolved" is of a deficit that was there for long.
        """
        start, end = self.sentence(min(first, i))[0], self.sentence(i)[1]
        if not lexicon.ATTACK.isdisjoint(self.tokens[start:end]):
            return True
        while self.is_adverb(i - 1):
            i -= 1
        return "," in self.gap(i)  # "aphasia, now resolved"

    def is_of_lesion(self, i: int) -> bool:
        """Whether the predicate at token i is said of a lesion."""
        first, _ = self.sentence(i)
        return any(fold(token) in LESION for token in self.tokens[first:i])

    def is_of_device(self, cue: Cue) -> bool:
        """Whether a cue tells where a device was put: "the lead is well placed in the pons"."""
        first, _ = self.sentence(cue.first)
        is_place = self.tokens[cue.last] in lexicon.PLACED
        return is_place and not lexicon.DEVICES.isdisjoint(self.tokens[first : cue.first])

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
        subject = self.subject(i)
        is_where = (
            bool(subject) and self.token(j) == "in"
        )  # "absent in dyslexia" does not deny that
        return [*subject, *(self.structures(after) if is_where else after)]

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
        is_bare = not self.names(range(verb, i)) and not self.has_own_subject(verb, i)
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

    def has_own_subject(self, verb: int, i: int) -> bool:
        """Whether a subject that is no name stands between a verb and the next, before token i.

        "The contusion has evolved and the hygroma has resolved": the contusion has not.
        """
        end = self.before_verb(i)
        joining = lexicon.CONJUNCTIONS | lexicon.TURNS
        joint = next((j for j in range(verb, end) if self.tokens[j] in joining), end)
        has_verb = not lexicon.FINITE.isdisjoint(self.tokens[end + 1 : i])
        return joint < end and (has_verb or self.is_determined(joint + 1))

    def of_clause(self, i: int) -> list[int]:
        """Return the structures before token i in its clause, where nothing is wrong in it.

        "Elsewhere, including the thalamus, diffusion is normal" speaks of the thalamus.
        """
        first, _ = self.sentence(i)
        turns = [j for j in range(first, i) if self.tokens[j] in lexicon.STOPS or j in self.ends]
        tokens = range(turns[-1] if turns else first, i)
        if self.token(tokens.start) in lexicon.AGAINST or tokens.start in self.ends:
            return []
        if any(self.is_wrong(j) or self.tokens[j] in lexicon.UNSURE for j in tokens):
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

    def suspected(self, tokens: range) -> list[int]:
        """Return the names among some tokens that were suspected, sought or asked for."""
        for j in tokens:
            is_read = self.tokens[j] in lexicon.REGARDED and self.token(j + 1) == "as"
            if is_read or self.tokens[j] in lexicon.SUSPECTING:
                is_passive = not is_read and self.follows_verb(j)
                is_passive = is_passive and self.token(j + 1) not in ("for", "of", "to", "whether")
                return self.names(range(tokens.start if is_passive else j, tokens.stop))
        return []

    def posed(self, i: int) -> list[int]:
        """Return what the sentence before that of token i suspected or asked for."""
        first, _ = self.sentence(i)
        return self.suspected(range(self.sentence(first - 1)[0], first)) if first else []

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
