"""The slowest texts that mutation finds, beside usual ones: milliseconds per 1,000 words.

    python benchmarks/mutations.py [--seconds 600] [--seed 36] [--model FOLDER] [--shown 12]

A text is a head, a few pieces over and over, in turn or by chance, and a tail. The pieces are cues,
names, signs, sides, punctuation, and sentences of the tests. The slowest texts so far are altered
most often: pieces are put in, taken out, doubled, moved or replaced. Each text is encoded and
summed up by `Encoder.encode` and `summarise`, whatever reader is behind them; a text that raises
anything is reported too.

Time is that of the processor. A text has at least one word for every 8 characters here, so that
one without spaces is as long as another. Usual texts are sentences of the tests in random order.
At the end the slowest texts of both lengths are measured again, each several times, in turn with
usual ones. Exit code 1: the slowest takes more than 3 times the usual time, or something raised.
"""

import argparse
import json
import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from neurowhere import default_atlas, load_model
from neurowhere.exceptions import NeurowhereWarning
from neurowhere.model.summary import summarise
from setting import print_table

ROOT = Path(__file__).parents[1]
SENTENCES = ROOT / "tests" / "text" / "data" / "clinical_sentences.jsonl"
SHORT, SEARCHED, LONG = 10_000, 30_000, 100_000  # characters
MOST = 3.0  # times the usual time
LETTERS_A_WORD = 8
WORD = re.compile(r"\w+")
CUT_OFF = 12.0  # times the usual time, after which a text is given up
CERTAIN = 2.0  # times too slow: no second measurement is needed
N_USUAL, N_AGAIN = 5, 3  # usual texts of each length; measurements of each of the slowest
N_KEPT, N_CHOSEN = 60, 4  # slowest texts that are altered; the slowest of so many drawn is
MOST_PIECES = 8
FRESH = "¤"  # stands for a word of random letters, another one each time
CUES = """no not without denies denied never nor neither negative for|no evidence of|ruled out|
cannot be excluded|possible|probable|?|suspected|likely|if|spared|sparing|normal|unremarkable|
resolved|rather than|instead of|but|except|although|which|and|or|and/or|with|of the|in|to|from|than|
greater|greater than|less|more|larger|smaller|worse|both|either|respectively|same side|
contralateral|ipsilateral|opposite|bilateral|left|right|L|R|Lt.|Rt|left-sided|L>R|R > L|dominant|
hemisphere|side|history of|PMH|now|new|today|acute|in 2019|years ago|grown|
mother|father|previous|known|planned|Findings:|Impression:|
Technique:|History:|Comparison:|References|Introduction|Methods|Results|Discussion|Abstract"""
NAMES = """face|hand|arm|leg|insula|cortex|medulla|pons|thalamus|amygdala|hippocampus|gyrus|lobe|
frontal|temporal|temporo-|parieto|occipital|putamen|caudate|nucleus|nuclei|cerebellar|vermis|IFG|
rIFG|lAI|MCA|M1|PCA|BA 44|BA|44|V1|area|areas|capsule|genu|posterior limb|horn|ventricle|kidney|
adrenal|renal|heart|liver|artery|territory|vein|sinus|nerve|third|VI|tract|peduncle|midbrain|
hipocampus|thalmus|rigth|letf|MTL|ACC|(ACC)|anterior cingulate cortex (ACC)|default mode network"""
SIGNS = """weakness|hemiparesis|hemianopia|aphasia|neglect|ataxia|palsy|droop|numbness|pain|seizure|
infarct|lesion|stroke|bleed|tumour|mass|oedema|compressing|pressing on|extending into|involving|
atrophy|haemorrhage|aneurysm|craniotomy|resection|syndrome|disease|sclerosis|ataxic|crossed|
Wernicke's|Broca's|Horner's|Weber|locked-in|shift|effect|side|body|half of the body"""
MARKS = """.|,|;|:|-|–|—|/|(|)|[|]|{|}|"|'|’|“|”|?|!|...|..|*|•|#|&|+|=|<|>|>=|%|°|±|~|_|\\|@|$|^|
\n|\n\n|\t|\r\n| |  |\u00a0|\u200b|\u00ad|\u0301|\x0c|-\n|- |1|2.|3)|(4)|[5]|12:30|2019|3 mm|
p < 0.05|(left)|a|I|x = -24|et al.|Fig. 2|e.g.|Dr.|vs.|é|ß|İ|ﬁ|😀|中|<b>|</p>|&amp;|http://a.b/c|
10.1000/x|a@b.c"""


@dataclass(frozen=True)
class Pattern:
    """A text of any length: a head, pieces over and over, a tail."""

    head: str
    pieces: tuple[str, ...]
    tail: str
    is_mixed: bool  # pieces by chance, not in turn
    seed: int

    def text(self, length, again=0):
        """Make a text of so many characters; random words differ from one time to another."""
        rng = random.Random(self.seed * 1000 + again)
        room = max(length - len(self.head) - len(self.tail), 0)
        if not self.is_mixed and FRESH not in "".join(self.pieces):
            unit = "".join(self.pieces) or " "
            return self.head + (unit * (room // len(unit) + 1))[:room] + self.tail
        parts, size, number = [self.head], 0, 0
        while size < room:
            piece = rng.choice(self.pieces) if self.is_mixed else self.pieces[number]
            number = (number + 1) % len(self.pieces)
            piece = re.sub(FRESH, lambda _: random_word(rng), piece) or " "
            parts.append(piece)
            size += len(piece)
        return "".join(parts)[: room + len(self.head)] + self.tail


def random_word(rng):
    letters = rng.choices("etaoinshrdlucmfp", k=rng.randint(3, 14))
    return "".join(letters).capitalize() if rng.random() < 0.2 else "".join(letters)


class Pieces:
    """What texts are made of."""

    def __init__(self, model, sentences):
        rows = (CUES, NAMES, SIGNS, MARKS)
        self.lists = [
            [piece for piece in row.replace("|\n", "|").split("|") if piece] for row in rows
        ]
        self.lists[0] += CUES.splitlines()[0].split("|")[0].split()
        self.lists.append(sentences)
        self.lists.append(list(model.extractor_.terms))
        self.lists.append([FRESH, FRESH + FRESH + FRESH, "a" * 300, "Aa" * 9, "9" * 50])

    def draw(self, rng):
        """Draw a piece, or a part of a long one, with what stands after it."""
        weights = (4, 4, 3, 4, 1, 2, 1)
        piece = rng.choice(rng.choices(self.lists, weights)[0])
        if len(piece) > 20 and rng.random() < 0.6:
            start = rng.randrange(len(piece) - 8)
            piece = piece[start : start + rng.randint(3, 40)]
        return piece + rng.choice([" ", " ", " ", " ", "", ", ", ". ", "; ", "\n", "-", " and "])

    def pattern(self, rng):
        """Draw a text."""
        pieces = tuple(self.draw(rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])))
        head = self.draw(rng) if rng.random() < 0.4 else ""
        tail = self.draw(rng) if rng.random() < 0.3 else ""
        return Pattern(head, pieces, tail, rng.random() < 0.25, rng.randrange(1 << 30))

    def altered(self, pattern, rng):
        """Alter a text in one way."""
        pieces = list(pattern.pieces)
        here, there = (rng.randrange(len(pieces)) for _ in range(2))
        match rng.randrange(8):
            case 0 if len(pieces) < MOST_PIECES:
                pieces.insert(here, self.draw(rng))
            case 1 if len(pieces) > 1:
                del pieces[here]
            case 2:
                pieces[here] = self.draw(rng)
            case 3 if len(pieces) < MOST_PIECES:
                pieces.insert(there, pieces[here])
            case 4:
                pieces[here] = pieces[here].rstrip() + rng.choice(["; ", " ", ", ", "\n", ". ", ""])
            case 5:
                return replace(pattern, head=self.draw(rng) + pattern.head * rng.randrange(2))
            case 6:
                return replace(pattern, tail=self.draw(rng))
            case 7:
                return replace(pattern, is_mixed=not pattern.is_mixed)
        return replace(pattern, pieces=tuple(piece or " " for piece in pieces))


class TooSlow(BaseException):
    """Raised in the middle of a text that takes too long."""


@dataclass
class Measured:
    """How long a text took, in milliseconds per 1,000 words, and what was at work meanwhile."""

    pattern: Pattern
    cost: float
    place: str = ""
    problem: str = ""


class Clock:
    """Measures texts, and notes where the time goes."""

    def __init__(self, model):
        self.model, self.atlas = model, default_atlas()
        self.usual = {}  # cost by length
        self._place, self._left = "", 0.0
        signal.signal(signal.SIGPROF, self._ring)

    def cost(self, text):
        """Milliseconds of the processor per 1,000 words."""
        begin = time.process_time()
        summarise(self.model.encode(text), self.atlas)
        return 1e6 * (time.process_time() - begin) / n_words(text)

    def measure(self, pattern, length, again=0):
        """Measure a text once, and give up after some time."""
        text = pattern.text(length, again)
        usual = self.usual[length] * n_words(text) / 1e6  # seconds
        self._place, self._left = "", (CUT_OFF - MOST) * usual
        signal.setitimer(signal.ITIMER_PROF, MOST * usual)
        try:
            cost, problem = self.cost(text), ""
        except TooSlow:
            cost, problem = CUT_OFF * self.usual[length], ""
        except Exception as error:
            cost, problem = 0.0, f"{type(error).__name__} at {place_of(error.__traceback__)}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return Measured(pattern, cost, self._place, problem)

    def _ring(self, number, frame):
        if self._place:
            raise TooSlow
        stack = [
            each for each, _ in traceback.walk_stack(frame) if is_ours(each.f_code.co_filename)
        ]
        names = [f"{Path(each.f_code.co_filename).stem}.{each.f_code.co_name}" for each in stack]
        self._place = " < ".join(names[:3]) or "?"
        signal.setitimer(signal.ITIMER_PROF, self._left)


def n_words(text):
    """Count the words of a text, or what its characters would be in words."""
    return max(len(WORD.findall(text)), len(text) // LETTERS_A_WORD, 1)


def is_ours(file):
    return "neurowhere" in Path(file).parts


def place_of(trace):
    ours = [each for each in traceback.extract_tb(trace) if is_ours(each.filename)]
    return " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in ours[-2:][::-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="time for the search")
    parser.add_argument("--seed", type=int, default=36)
    parser.add_argument("--model", type=Path, help="folder; by default the shipped model")
    parser.add_argument("--shown", type=int, default=12, help="slowest texts to show")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NeurowhereWarning)
    rng, model = random.Random(arguments.seed), load_model(arguments.model)
    sentences = read_sentences()
    clock = Clock(model)
    texts = {length: usual_texts(sentences, length) for length in (SHORT, SEARCHED, LONG)}
    clock.usual = {length: usual_cost(clock, texts[length]) for length in texts}
    found, problems, n_tried = search(clock, Pieces(model, sentences), rng, arguments.seconds)
    slowest = distinct(found)[: arguments.shown]
    rows, worst = judge(clock, texts, slowest)
    print(f"{n_tried:,} texts in {arguments.seconds:,.0f} s; ms of the processor per 1,000 words\n")
    print_table(["characters", "usual", "slowest", "times usual"], worst)
    print()
    print_table(["10,000", "100,000", "times usual", "text", "where"], rows)
    for problem, text in problems.items():
        print(f"\n{problem}: {text!r}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nmost memory {memory:,.0f} MB")
    ratio = max(float(row[-1]) for row in worst)
    sys.exit(bool(problems) or ratio > MOST)


def read_sentences():
    """Sentences of the tests of reading, without their marks."""
    lines = SENTENCES.read_text("utf-8").splitlines()
    marked = (json.loads(line)["sentence"] for line in lines)
    return [re.sub(r"\[([^:\]]+): \w+(?:, \w+)?\]", r"\1", sentence) for sentence in marked]


def usual_texts(sentences, length):
    """Sentences in random order, until a text is long enough."""
    found = []
    for seed in range(N_USUAL):
        rng, parts, size = random.Random(seed), [], 0
        while size < length:
            parts += rng.sample(sentences, min(len(sentences), 50))
            size = sum(map(len, parts)) + len(parts)
        found.append(" ".join(parts)[:length])
    return found


def usual_cost(clock, texts):
    for text in texts:  # of what is read at first use
        clock.cost(text)
    return median(clock.cost(text) for text in texts)


def search(clock, pieces, rng, seconds):
    """Alter the slowest texts until the time is over."""
    kept, problems, n_tried = [], {}, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        n_tried += 1
        if len(kept) < N_KEPT or rng.random() < 0.2:
            pattern = pieces.pattern(rng)
        else:
            drawn = (rng.choice(kept) for _ in range(N_CHOSEN))
            parent = max(drawn, key=lambda each: each.cost).pattern
            pattern = pieces.altered(parent, rng)
        found = clock.measure(pattern, SEARCHED)
        if found.problem:
            problems.setdefault(found.problem, shortened(pattern))
        found.cost /= clock.usual[SEARCHED]
        if found.cost > MOST:  # or the machine was busy
            again = clock.measure(pattern, SEARCHED, 1)
            found.cost = min(found.cost, again.cost / clock.usual[SEARCHED])
            found.place = again.place or found.place
        kept = keep(kept, found)
    return kept, problems, n_tried


def keep(kept, found):
    """Keep the slowest texts, few of which spend their time in the same place."""
    kept = sorted([*kept, found], key=lambda each: -each.cost)
    n_at, some = {}, []
    for each in kept:
        place = each.place or each.pattern.pieces[0]
        n_at[place] = n_at.get(place, 0) + 1
        if n_at[place] <= N_KEPT // 10:
            some.append(each)
    return some[:N_KEPT]


def distinct(found):
    """Slowest texts of each place, then the others."""
    first, others, seen = [], [], set()
    for each in sorted(found, key=lambda each: -each.cost):
        place = each.place.split(" < ")[0]
        (others if place and place in seen else first).append(each)
        seen.add(place)
    return first + others


def judge(clock, texts, slowest):
    """Measure the slowest texts of both lengths again, in turn with usual ones."""
    lengths = (SHORT, LONG)
    usual = {length: [[] for _ in texts[length]] for length in lengths}
    costs = {length: [[] for _ in slowest] for length in lengths}
    for again in range(N_AGAIN):
        for length in lengths:
            for text, some in zip(texts[length], usual[length]):
                some.append(clock.cost(text))
            for each, some in zip(slowest, costs[length]):
                if min(some, default=0.0) > CERTAIN * MOST * clock.usual[length]:
                    continue
                measured = clock.measure(each.pattern, length, again)
                each.place = measured.place or each.place
                if not measured.problem:
                    some.append(measured.cost)
    usual = {length: median(map(min, usual[length])) for length in lengths}
    least = {length: [min(some, default=0.0) for some in costs[length]] for length in lengths}
    worst = []
    for length in lengths:
        most, typical = max(least[length]), usual[length]
        worst.append([f"{length:,}", f"{typical:.1f}", f"{most:.1f}", f"{most / typical:.2f}"])
    rows = []
    for each, *pair in zip(slowest, *least.values()):
        ratio = max(cost / usual[length] for cost, length in zip(pair, lengths))
        cells = [f"{cost:.1f}" for cost in pair]
        rows.append([*cells, f"{ratio:.2f}", shortened(each.pattern), each.place])
    return sorted(rows, key=lambda row: -float(row[2])), worst


def shortened(pattern):
    pieces = " | ".join(pattern.pieces)
    mixed = " (mixed)" * pattern.is_mixed
    return f"{pattern.head[:30]!r} + {pieces[:90]!r}{mixed} + {pattern.tail[:30]!r}"


if __name__ == "__main__":
    main()
