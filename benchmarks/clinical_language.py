"""Denials, hedges, sections and sides on labelled texts: precision, recall, failures; and the cost.

    python benchmarks/clinical_language.py [--failures] [--rivals PYTHON]

The passages are those of tests/text/data/denials_*.jsonl and sides_*.jsonl; those called "third"
and "fourth" are told by their totals alone. The sentences are those of clinical_sentences.jsonl,
read with the package's own anatomy and some general terms and, where the development data is here,
with NeuroQuery's whole vocabulary. A baseline negates whatever follows a cue in the same sentence,
and gives a structure the last side before it. The sentences of cases/grammar_late_*.jsonl, by
people who knew no rule, are read with the shipped model: how many of their mentions have the right
status, the right side, and both. The rivals run under another Python that has medspacy and
negspacy: they are told the mentions, and use their own rules, which know no sides. The cost is
that of the reader beside `TermCounter.find`, on real abstracts of 1,300 to 1,700 characters.
"""

import argparse
import json
import lzma
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from neurowhere import load_model
from neurowhere.text import TermCounter
from neurowhere.text.building.anatomy import build_full
from neurowhere.text.features import TermExtractor
from neurowhere.text.reading.mentions import Mentions, SideMark, read_mentions

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("NEUROWHERE_DATA", ROOT.parent / "shared" / "data"))
PASSAGES = ("own", "seen", "second", "unseen", "final", "third", "fourth")
SHORTEST, LONGEST = 1300, 1700  # characters of an abstract
N_ABSTRACTS = 300
REPEATS = 3

SENTENCE = re.compile(r"[^.;\n]+")
CUE = re.compile(r"\b(?:no|not|without|absence of|denies|spared?s?|sparing|normal|intact)\b", re.I)
SIDE = re.compile(r"\b(?:left|right|bilateral(?:ly)?|both)\b", re.I)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", action="store_true", help="list what was read wrongly")
    parser.add_argument("--rivals", metavar="PYTHON", help="that has medspacy and negspacy")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))  # the tests are no installed package
    from tests.text.sentences import read_sentences, small_vocabulary

    print_passages(arguments.rivals)
    print_late()
    sentences = read_sentences()
    print_sizes(sentences)
    vocabularies = {"small": small_vocabulary()}
    if DATA.is_dir():
        vocabularies["full"] = build_full(DATA / "vocabulary")
    header = f"{'':34}" + "".join(f"{name:>18}" for name in ("negation", "side", "unapplied"))
    print(f"\n{header}\n{'precision and recall, %':34}" + f"{'P':>12}{'R':>6}" * 3)
    for name, vocabulary in vocabularies.items():
        counter = TermCounter(vocabulary)
        for source in ("report", "abstract", "all"):
            some = [s for s in sentences if source in (s.source, "all")]
            print_row(f"{name} vocabulary, {source}", some, counter, read_mentions)
        if name == "small":
            print_row("  baseline: nearest words", sentences, counter, naive)
    if arguments.rivals:
        print_rivals(sentences, arguments.rivals)
    if arguments.failures:
        print_failures(sentences, TermCounter(vocabularies["small"]))
    if "full" in vocabularies:
        print_cost(vocabularies["full"])


def print_passages(rivals):
    from tests.text.passages import (
        STATUSES,
        has_passages,
        read_passages,
        read_sided,
        score_passages,
        score_sides,
        told_counter,
    )

    columns = ("denied", "hedged", "no finding")
    print(f"{'':34}" + "".join(f"{name:>18}" for name in columns) + f"{'right':>12}")
    print(f"{'precision and recall, %':34}" + f"{'P':>12}{'R':>6}" * len(columns))
    names = list(filter(has_passages, PASSAGES))
    for name in names:
        passages = read_passages(name)
        tallies, n_right = score_passages(passages, told_counter(passages))
        n_mentions = sum(len(passage.targets) for passage in passages)
        cells = "".join(percent(tallies[status]) for status in STATUSES)
        print(f"{f'{name}, {len(passages)} passages':34}{cells}{f'{n_right} / {n_mentions}':>12}")
    if rivals:
        print_rival_passages(names, rivals)
    print(f"\n{'':34}{'side':>18}{'inherited':>18}")
    for name in ("seen", "unseen"):
        passages = read_sided(name)
        tallies = score_sides(passages, told_counter(passages))
        print(f"{f'{name}, {len(passages)} passages':34}" + "".join(map(percent, tallies)))
    print()


def print_late():
    from tests.text.passages import status_of

    counter = load_model().extractor_.counter
    print(f"{'sentences written late':34}{'status':>18}{'side':>18}{'both':>18}")
    for path in sorted((ROOT / "benchmarks" / "cases").glob("grammar_late_*.jsonl")):
        right = []
        for case in map(json.loads, path.read_text("utf-8").splitlines()):
            mentions = read_mentions(case["text"], counter)
            for (start, end), label in zip(places_of(case), case["mentions"]):
                found = (*mentions.found, *mentions.places, *mentions.rule_based)
                here = [each for each in found if each.start < end and start < each.end]
                side = next((each.side for each in here if each.side), None)
                is_status = bool(here) and status_of(mentions, start, end) == label["status"]
                right.append((is_status, side == label["side"]))
        sums = (sum(status for status, _ in right), sum(side for _, side in right))
        cells = (*sums, sum(status and side for status, side in right))
        print(f"{path.stem:34}" + "".join(f"{f'{n} / {len(right)}':>18}" for n in cells))
    print()


def places_of(case):
    """Where each labelled term of a case stands: the next time that it is named."""
    text, after = case["text"].lower(), {}
    for label in case["mentions"]:
        term = label["term"].lower()
        start = text.find(term, after.get(term, 0))
        start = text.rfind(term) if start < 0 else start
        after[term] = start + len(term)
        yield start, after[term]


def print_rival_passages(names, python):
    from tests.text.passages import read_passages
    from tests.text.sentences import Tally, compare

    for name in names:
        passages = read_passages(name)
        spans = [[target[:2] for target in passage.targets] for passage in passages]
        for rival, answers in ask_rivals([p.text for p in passages], spans, python).items():
            total = Tally()
            for passage, some in zip(passages, answers):
                for target, answer in zip(passage.targets, some):
                    total += compare(target.status == "denied", answer)
            print(f"{f'{rival}, {name}':34}" + percent(total))


def percent(tally):
    return f"{100 * tally.precision:12.1f}{100 * tally.recall:6.1f}"


def print_sizes(sentences):
    targets = [target for sentence in sentences for target in sentence.targets]
    print(
        f"{len(sentences)} sentences "
        f"({sum(s.source == 'report' for s in sentences)} of reports), {len(targets)} mentions, "
        f"{sum(t.is_negated for t in targets)} negated, "
        f"{sum(t.side is not None for t in targets)} with a side, "
        f"{sum(len(s.unapplied) for s in sentences)} sides not to apply"
    )


def print_row(name, sentences, counter, reader):
    from tests.text.sentences import Score, score

    total = sum((score(sentence, counter, reader) for sentence in sentences), Score())
    tallies = (total.negation, total.side, total.unapplied)
    not_found = f"   {total.not_found} not found" * (total.not_found > 0)
    print(f"{name:34}" + "".join(map(percent, tallies)) + not_found)


def print_rivals(sentences, python):
    from tests.text.sentences import Tally, compare

    spans = [[target[:2] for target in sentence.targets] for sentence in sentences]
    for name, answers in ask_rivals([s.text for s in sentences], spans, python).items():
        pairs = [
            (target.is_negated, answer)
            for sentence, some in zip(sentences, answers)
            for target, answer in zip(sentence.targets, some)
        ]
        print(f"{name:34}" + percent(sum((compare(*pair) for pair in pairs), Tally())))


def ask_rivals(texts, spans, python):
    """Whether each rival negates each span of each text."""
    lines = [json.dumps({"text": text, "spans": some}) for text, some in zip(texts, spans)]
    command = [python, Path(__file__).parent / "rivals" / "negation.py"]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def print_failures(sentences, counter):
    from tests.text.sentences import score

    print("\nread wrongly")
    for sentence in sentences:
        if failures := score(sentence, counter).failures:
            print(f"- {sentence.text}\n    {'; '.join(failures)}")


def naive(text, counter):
    """Negate what follows a cue in its sentence, and give names the last side before them."""
    found = []
    for mention in read_mentions(text, counter).found:
        before = next(
            text[s.start() : mention.start]
            for s in SENTENCE.finditer(text)
            if s.start() <= mention.start < s.end()
        )
        is_negated = CUE.search(before) is not None
        sides = SIDE.findall(before) if mention.is_structure else []
        side = sides[-1].lower() if sides else None
        found.append(
            mention._replace(
                side="bilateral" if side in ("bilaterally", "both") else side,
                negation_span=(0, 0) if is_negated else None,
            )
        )
    used = {mention.side for mention in found}
    marks = [SideMark(m[0].lower(), m.start(), m.end()) for m in SIDE.finditer(text)]
    return Mentions(tuple(found), (), tuple(mark for mark in marks if mark.side not in used))


def print_cost(vocabulary):
    extractor = TermExtractor(vocabulary)
    counter = extractor.counter
    texts = read_abstracts()
    readers = {
        "TermCounter.find": counter.find,
        "read_mentions": lambda text: read_mentions(text, counter),
        "TermExtractor.counts": lambda text: extractor.counts([text]),
    }
    print(f"\nmilliseconds for an abstract (processor time, best of {REPEATS}, {len(texts)} texts)")
    for name, reader in readers.items():
        print(f"{name:34}{1000 * min(measure(reader, texts) for _ in range(REPEATS)):8.2f}")
    found = [mention for text in texts for mention in read_mentions(text, counter).found]
    share = sum(mention.is_negated for mention in found) / len(found)
    print(f"{share:.1%} of the {len(found):,} mentions in these abstracts are negated")


def measure(reader, texts):
    start = time.process_time()
    for text in texts:
        reader(text)
    return (time.process_time() - start) / len(texts)


def read_abstracts():
    path = DATA / "unlabelled" / "abstracts_and_neurobridge.jsonl.xz"
    texts = []
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            abstract = json.loads(line).get("abstract") or ""
            if SHORTEST < len(abstract) < LONGEST:
                texts.append(abstract)
            if len(texts) == N_ABSTRACTS:
                break
    return texts


if __name__ == "__main__":
    main()
