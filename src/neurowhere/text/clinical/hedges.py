"""Hedges: which names a text leaves open ("possible glioma of the insula", "?thalamic").

A hedge doubts what follows it, the subject of which it is said, or both, as far as a denial would
reach. So do open questions ("whether the insula responds"), conditions ("if the pons is involved"),
question marks, and p-values just above the usual threshold.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, NamedTuple

from neurowhere.text.clinical.clauses import Clauses
from neurowhere.text.clinical.grammar import LONGEST_PHRASE
from neurowhere.text.clinical.places import LESION
from neurowhere.text.clinical.reading import Phrases, Reading, Tokens
from neurowhere.text.words import fold, word_set

Doubt = Literal["adjective", "object", "both", "either", "clause", "subject", "idle"]

# What cannot be done with something that stays open.
UNDECIDED = (
    *("ascertained", "assessed", "commented on", "commented upon", "decided", "determined"),
    *("established", "evaluated", "interpreted", "judged", "settled"),
)

HEDGES: Phrases[Doubt] = Phrases(
    {
        # doubt what follows, or the subject: "possible glioma", "a glioma is possible"
        "adjective": """
            possible; probable; likely; suspected; questionable; equivocal; indeterminate; doubtful;
            uncertain; unclear; borderline; presumed; presumptive; unconfirmed; inconclusive;
            tentative; marginal; suggested; assumed; supposed; unproven; contentious; favoured;
            favored; debatable; debated; controversial; disputed; speculative; hypothetical;
            conceivable; unknown; putative; nondiagnostic; non diagnostic; queried; ambiguous;
            plausible; provisional; undetermined; undecided; unverified; at the upper limit; at the
            lower limit; a possibility; a consideration; a concern; under investigation; under
            consideration; under debate; under discussion; under review; a matter of debate; open to
            question; open to doubt; open to debate; in question; in doubt; in dispute; an open
            question; moot; on the differential; in the differential; at the lower end; at the upper
            end; low normal; high normal; marginally significant; borderline significant; nearly
            significant; almost significant; close to significance; near significance; pending
        """,
        # doubt what follows
        "object": """
            possibly; probably; perhaps; prob; poss; susp; supposedly; plausibly; equivocally;
            questionably; doubtfully; working diagnosis; working diagnosis is; explanation is that;
            interpretation is that; not be said; cannot be said; maybe; presumably; conceivably;
            potentially; arguably; apparently; suspicion of; suspicion for; suspicious for;
            suspicious of; concern for; concerning for; concern about; worrisome for; suggestive of;
            suggests; suggest; suggesting; possibility of; possibility that; query; queries; wonder;
            wonders; wondered; wondering; suspect; suspects; rule out; r o; exclude; in case of;
            consider; differential diagnosis; differential includes; differential; ddx; trend;
            trends; tendency; hint of; hints of; hypothesised; hypothesized; hypothesise;
            hypothesize; hypothesis that; hypothesis is that; hypothesis was that; prediction that;
            prediction is that; prediction was that; assumption that; assumption is that; assumption
            was that; expectation that; expectation is that; expectation was that; conjecture that;
            suspicion is that; suspicion that; suspicion was that; guess is that; speculate;
            speculated; unsure; predict that; predicted that; predicts that; propose that; proposed
            that; expect; suggestion of; uncertainty about; uncertainty as to; worried about; worry
            about; in the event of; seemingly; tentatively; watch for; monitor for; insufficient
            evidence; little evidence; limited evidence; scant evidence; not convinced; not certain;
            not sure; not persuaded; not possible to say; hard to say; difficult to say; cannot be
            certain; cannot be sure; cannot say; question of; question whether; doubt; doubts; look
            for; looking for; evaluate for; assess for; screen for; screening for; concern that;
            fear that; feared; concerns about; concerns for; raised about; raised of; questions
            about; doubts about; favour a; favours a; favor a; favors a; favouring a; favoring a;
            most in keeping with; best explained by; most consistent with; most compatible with; a
            trend; a nonsignificant trend; a non significant trend; a tendency; a hint of;
            insufficient power; lacked power; lacked the power; lack of power; underpowered; not
            powered; unable to tell; unable to say; impossible to say
        """,
        # doubt the subject and what follows
        "both": """
            may; might; could; would fit; would suit; would suggest; would be consistent; would be
            compatible; would be in keeping; would explain; would imply; would have; precluded;
            precludes; prevented; felt to; would point; would localise; would localize; would argue;
            would account; would implicate; would be expected; raises the possibility of; raise the
            possibility of; raising the possibility of; raises concern for; raises suspicion of;
            raises the question of; thought to; believed to; approached significance; approaching
            significance; tended to; tends to; tend to; remains to be; remain to be; appears to;
            appear to; appeared to; seems to; seem to; seemed to; only when uncorrected; versus; vs
        """,
        "either": "either",
        "clause": "if; whether; unless; should",
        # doubt the subject
        "subject": f"""
            {"; ".join(f"not be {word}; cannot be {word}" for word in UNDECIDED)};
            of uncertain significance; of doubtful significance; of unclear significance; of unknown
            significance; of indeterminate significance; of uncertain relevance; of uncertain
            aetiology; of uncertain etiology; not assessed; not assessable; not evaluated; not
            interpretable; not established; not been established; not known; to be excluded; to be
            ruled out; with caution; at trend level; at a trend level; only at an uncorrected
            threshold; only present at an uncorrected threshold; missed significance; failed
            narrowly; been proposed; was proposed; is proposed; were proposed; been postulated; been
            posited; been speculated; been hypothesised; been hypothesized; been mooted; difficult
            to assess; hard to assess; difficult to evaluate; hard to evaluate; difficult to see;
            hard to see; difficult to judge; hard to judge; hard to make out; difficult to make out;
            difficult to interpret; hard to interpret; impossible to assess; incompletely assessed;
            incompletely visualised; incompletely visualized; incompletely seen; not well
            visualised; not well visualized; not fully assessed; not adequately assessed; poorly
            visualised; poorly visualized; poorly seen; not well seen; suboptimally seen; obscured;
            limited; not definite; not definitive; to be confirmed; to be determined; should be
            considered; must be considered; be considered
        """,
        "idle": """
            as if; if any; not in doubt; not in question; not in dispute;
            no wonder; no doubt; without doubt; little doubt; beyond doubt;
            whether or not; not limited; limited to; reason to doubt; cause to doubt; not doubt;
            grounds to doubt; need to doubt; favoured the null; favored the null
        """,
    }
)
# What is likely, though not certain, to be the cause.
CAUSES = Phrases(
    {
        "cause": """
            due to; secondary to; related to; attributable to; caused by; because of; owing to; a
            result of; the result of; a consequence of; the consequence of; explained by; owed to;
            attributed to
        """
    }
)
SAID_OF = word_set("a maybe perhaps")  # "showed a trend", "is perhaps small"
ABLE = word_set("he i one patient she they we who you") | word_set("participants patients subjects")
LOOKING = word_set(
    "assessment delineation depiction evaluation interpretation view visualisation visualization"
)
# What two diagnoses are called, between which a text does not decide: "artefact vs. lesion".
DIAGNOSES = word_set(
    """
    artefact artifact demyelination disease dysplasia encephalitis gliosis ischemic necrosis
    neoplasm partial progression pseudoprogression recurrence seizure
    """
)

# A question mark before a word asks about what follows, one after it about what went before.
QUERY = re.compile(r"(?:^|(?<=[\s(\[,;:/-]))(?:\?+|\+/-|±)\s?(?=[A-Za-z])")
QUERIES = re.compile(r"\?|\+/-|±")
QUESTION = re.compile(r"(?<=\w)\s?\(?\?")
TREND = 0.05, 0.1  # p-values that are called a trend


class Hedge(NamedTuple):
    """Words that may doubt something."""

    first: int
    last: int
    kind: Doubt


def attach_hedges(reading: Reading) -> dict[int, Tokens]:
    """Find the matches that a text leaves open, each with the tokens that say so."""
    found = (Hedge(*each) for each in HEDGES.find(reading.tokens))
    hedges = [hedge for hedge in found if hedge.kind != "idle"]
    reader = _HedgeReader(reading, {hedge.first for hedge in hedges})
    doubted: dict[int, Tokens] = {}
    for hedge in hedges:
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
        cause = CAUSES.at(self.tokens, j) if j < len(self.tokens) else None
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
        is_said = word.endswith("ly") or word in SAID_OF
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
                return self.token(i - 1) not in ABLE and self.token(j) != "not"
            case "versus" | "vs":
                around = (*self.tokens[max(i - 2, 0) : i], *self.tokens[j : j + 3])
                return any(fold(token) in LESION or token in DIAGNOSES for token in around)
            case "should" if hedge.kind == "clause":
                return i == 0 or self.is_sentence_end(i)
            case "differential":
                return hedge.last > i or ":" in self.gap(j) or "," in self.gap(i)
            case "limited":
                first, _ = self.sentence(i)
                return not LOOKING.isdisjoint(self.tokens[first:i])
            case _:
                return True

    def queried(self) -> Iterator[tuple[int, Tokens]]:
        """Find what question marks ask about."""
        starts = self.reading.starts
        text = self.reading.text
        signs = [sign.start() for sign in QUERIES.finditer(text)]
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
