"""What a change of the reader changes: every mention of two checkouts, and their times.

    python benchmarks/readers.py --dump OLD.jsonl.gz [--checkout FOLDER] [--reader MODULE]
    python benchmarks/readers.py --compare OLD.jsonl.gz NEW.jsonl.gz [--kind side] [--set own]
    python benchmarks/readers.py --time FOLDER FOLDER

--dump writes what `read_mentions` finds with the shipped model: in the recorded cases, in 300
abstracts, 50 articles and 2,000 other documents of the development data. The seeds are fixed. Keep
dumps outside the repository: they hold the texts.

--compare counts the mentions that differ, by kind and by set, and prints the changes of each kind,
the most frequent first, with the words around. Of the sets that are told by their totals alone no
words are printed. Where a case has a label, it says whether the old or the new reader is right.

--time runs each checkout in turn, three times, and prints the least processor time.
"""

import argparse
import gzip
import importlib
import json
import lzma
import os
import random
import re
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("NEUROWHERE_DATA", ROOT.parent / "shared" / "data"))
CASES = (ROOT / "tests" / "text" / "data", ROOT / "benchmarks" / "cases")
TOTALS_ALONE = ("denials_third", "denials_fourth")
N_ABSTRACTS, N_ARTICLES, N_OTHERS = 300, 50, 2000
N_TIMED, N_WARM, N_ARTICLE, ROUNDS, WARM_UP = 1000, 50, 20, 3, 3
ARTICLE_WORDS = 10_000
SEED = 38
AROUND = 110  # characters printed on each side of a mention
FIELDS = (
    *("term", "start", "end", "side", "status", "weight", "side_span", "negation_span"),
    *("hedge_span", "section", "implied", "is_crossed", "dominant", "side_inherited"),
)
KEPT = ("start", "weight")  # even if they are 0
READER = "module with the `read_mentions` to dump, by default that of the package"
KINDS = ("status", "side", "missing", "added", "renamed", "implied", "weight", "section", "cue")
MARK = re.compile(r"\[([^:\]]+): \w+(?:, \w+)?\]")  # in clinical_sentences.jsonl


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", metavar="FILE", type=Path)
    parser.add_argument("--checkout", metavar="FOLDER", type=Path, default=ROOT)
    parser.add_argument("--reader", metavar="MODULE", default="neurowhere", help=READER)
    parser.add_argument("--compare", metavar=("OLD", "NEW"), nargs=2, type=Path)
    parser.add_argument("--kind", choices=KINDS, help="print the changes of this kind only")
    parser.add_argument("--set", help="print and count the changes of sets with this in their name")
    parser.add_argument("--like", help="print changes with this in them: 'affirmed → denied'")
    parser.add_argument("--examples", type=int, default=3, help="of each change")
    parser.add_argument("--changes", type=int, default=15, help="of each kind")
    parser.add_argument("--time", metavar="FOLDER", nargs="+", type=Path)
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        WORKERS[arguments.worker](arguments)
    elif arguments.dump:
        options = ("--dump", arguments.dump.resolve(), "--reader", arguments.reader)
        run_in(arguments.checkout, "dump", *options)
    elif arguments.compare:
        compare(*map(read_dump, arguments.compare), arguments)
    elif arguments.time:
        print_times(arguments.time)
    else:
        parser.error("expected --dump, --compare or --time")


def run_in(checkout, worker, *options):
    """Run a worker of this script with the package of a checkout, and return what it prints."""
    paths = f"{checkout.resolve() / 'src'}"
    command = [sys.executable, Path(__file__).resolve(), "--worker", worker, *options]
    environment = {**os.environ, "PYTHONPATH": paths, "NEUROWHERE_DATA": str(DATA)}
    done = subprocess.run(
        command, env=environment, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


# ---- texts


def iter_texts():
    """Yield the set, the identifier, the text and the labels of every text."""
    for folder in CASES:
        for path in sorted(folder.glob("*.jsonl")):
            yield from read_cases(path)
    for name, read, n in (
        ("abstracts", read_abstracts, N_ABSTRACTS),
        ("articles", read_articles, N_ARTICLES),
        ("unlabelled", read_unlabelled, N_OTHERS),
    ):
        for number, text in sorted(sample(read(), n)):
            yield name, str(number), text, []


def read_cases(path):
    name = path.stem if path.parent.name == "data" else f"cases_{path.stem}"
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        case = json.loads(line)
        text = case.get("text") or case.get("query") or MARK.sub(r"\1", case.get("sentence", ""))
        yield name, str(case.get("id", number)), text, list(labels(case, text))


def labels(case, text):
    """Yield what is asked for of a case: start, end, field, value."""
    for asked in (*case.get("mentions", ()), *case.get("expected", ())):
        start = -1
        for _ in range(asked.get("occurrence", 1)):
            start = text.find(asked["words"], start + 1)
        for field in ("status", "side"):
            if start >= 0 and asked.get(field):
                value = "bilateral" if asked[field] == "both" else asked[field]
                yield start, start + len(asked["words"]), field, value


def sample(texts, n):
    """Draw texts, and their numbers, the same each time."""
    pairs = list(enumerate(texts))
    return random.Random(SEED).sample(pairs, min(n, len(pairs)))


def read_abstracts():
    path = DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            if document.get("abstract"):
                yield join(document, "title", "abstract")


def read_articles():
    with lzma.open(DATA / "corpus" / "fulltext_dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line)["text"] for line in lines)


def read_unlabelled():
    for path in sorted((DATA / "unlabelled").glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                yield join(document, "title", "abstract", "body", "text")


def join(document, *parts):
    return "\n\n".join(document[part] for part in parts if document.get(part))


# ---- dumps


def dump(arguments):
    """Write every mention of every text with the package that is imported."""
    from neurowhere import load_model

    file = arguments.dump
    read_mentions = importlib.import_module(arguments.reader).read_mentions
    counter = load_model().extractor_.counter
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8", compresslevel=4) as stream:
        for name, number, text, asked in iter_texts():
            mentions = read_mentions(text, counter)
            row = {"set": name, "id": number, "text": text, "labels": asked}
            row["unapplied"] = [list(mark) for mark in mentions.unapplied]
            for kind in ("found", "places", "rule_based"):
                row[kind] = [as_fields(mention) for mention in getattr(mentions, kind)]
            stream.write(json.dumps(row) + "\n")


def as_fields(mention):
    values = {field: getattr(mention, field) for field in FIELDS}
    return {field: value for field, value in values.items() if value or field in KEPT}


def read_dump(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {(row["set"], row["id"], hash(row["text"])): row for row in rows}


# ---- comparison


def compare(old, new, arguments):
    both = [key for key in old if key in new and (arguments.set or "") in key[0]]
    print(f"{len(both):,} texts; {len(old):,} in the old dump, {len(new):,} in the new one\n")
    changes, n_mentions = [], Counter()
    for key in both:
        n_mentions[key[0]] += len(old[key]["found"])
        changes += (change | {"set": key[0], "id": key[1]} for change in differ(old[key], new[key]))
    print_totals(changes, n_mentions)
    kinds = [arguments.kind] if arguments.kind else KINDS
    for kind in kinds:
        some = [c for c in changes if c["kind"] == kind and (arguments.like or "") in c["what"]]
        print_changes(kind, some, old, arguments)


def differ(old, new):
    """Yield what changes in a text: kind, what, where, and which of the readers is right."""
    for part in ("found", "places", "rule_based"):
        ours, theirs = by_place(old[part]), by_place(new[part])
        gone = [ours[key] for key in ours.keys() - theirs.keys()]
        come = [theirs[key] for key in theirs.keys() - ours.keys()]
        yield from of_names(part, gone, come, old)
        for key in ours.keys() & theirs.keys():
            yield from of_fields(part, ours[key], theirs[key], old)


def by_place(mentions):
    """Mentions by their name and place; several may share both."""
    found, times = {}, Counter()
    for mention in mentions:
        key = mention["term"], mention["start"], mention["end"]
        times[key] += 1
        found[*key, times[key]] = mention
    return found


def of_names(part, gone, come, row):
    """Yield the names that are no longer found, those that are new, and those found otherwise."""
    for mention in gone:
        pair = next((each for each in come if overlap(mention, each)), None)
        kind, other = ("renamed", f" → {pair['term']}") if pair else ("missing", "")
        if pair:
            come.remove(pair)
        yield change(kind, f"{part}: {mention['term']}{other}", mention, row)
    for mention in come:
        yield change("added", f"{part}: {mention['term']}", mention, row)


def of_fields(part, old, new, row):
    """Yield the fields of a mention that differ."""
    same_status = old["status"] == new["status"]
    compared = {
        "status": [(m["status"], m.get("section")) for m in (old, new)],
        "side": [m.get("side", "none") + " >" * bool(m.get("dominant")) for m in (old, new)],
        "implied": [sorted(map(str, m.get("implied", ()))) for m in (old, new)],
        "weight": [round(m["weight"], 3) * same_status for m in (old, new)],
        "cue": [(m.get("negation_span"), m.get("hedge_span")) * same_status for m in (old, new)],
    }
    for kind, (was, now) in compared.items():
        if was == now:
            continue
        if kind == "status":
            kind = "section" if same_status else "status"
            was, now = (" ".join(filter(None, pair)) for pair in (was, now))
        what = "another span" if kind == "cue" else f"{was} → {now}"
        if kind == "implied":
            what = f"{new['term']}: {what}"
        yield change(kind, f"{part}: {what}", new, row, verdict(kind, old, new, row))


def change(kind, what, mention, row, right=""):
    place = {"start": mention["start"], "end": mention["end"]}
    return {"kind": kind, "what": what, **place, "text": row["text"], "right": right}


def overlap(one, other):
    return one["start"] < other["end"] and other["start"] < one["end"]


def verdict(kind, old, new, row):
    """Say which of two readers agrees with the label of a mention."""
    for start, end, field, value in row["labels"]:
        if field == kind and overlap(new, {"start": start, "end": end}):
            return {old.get(kind): "old", new.get(kind): "new"}.get(value, "neither")
    return ""


def print_totals(changes, n_mentions):
    counts = Counter((change["set"], change["kind"]) for change in changes)
    right = Counter((change["set"], change["right"]) for change in changes if change["right"])
    header = ["set", "mentions", *KINDS, "old right", "new right"]
    print("".join(f"{cell:>{24 if cell == 'set' else 10}}" for cell in header))
    for name in [*n_mentions, "all"]:
        names = n_mentions if name == "all" else [name]
        cells = [sum(counts[each, kind] for each in names) for kind in KINDS]
        cells += [sum(right[each, reader] for each in names) for reader in ("old", "new")]
        n = sum(n_mentions[each] for each in names)
        print(f"{name:>24}{n:>10,}" + "".join(f"{cell:>10,}" for cell in cells))


def print_changes(kind, changes, rows, arguments):
    if changes:
        print(f"\n== {kind}: {len(changes):,}")
    groups = defaultdict(list)
    for each in changes:
        groups[each["what"]].append(each)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    for what, some in ordered[: arguments.changes]:
        verdicts = Counter(each["right"] for each in some if each["right"])
        told = "".join(f", {name} right in {n}" for name, n in verdicts.most_common())
        print(f"\n{len(some):6,}  {what}{told}")
        shown = [each for each in some if each["set"] not in TOTALS_ALONE]
        for each in random.Random(SEED).sample(shown, min(arguments.examples, len(shown))):
            right = f" [{each['right']}]" * bool(each["right"])
            print(f"        {each['set']} {each['id']}{right}: {around(each)}")


def around(each):
    """Return the words around a mention, which is marked."""
    text, start, end = each["text"], each["start"], each["end"]
    before, after = text[max(start - AROUND, 0) : start], text[end : end + AROUND]
    return " ".join(f"{before}«{text[start:end]}»{after}".split())


# ---- times


def print_times(checkouts):
    """Print the least processor time of each checkout, and how many times the first's."""
    least = [{} for _ in checkouts]
    for _ in range(ROUNDS):
        for times, checkout in zip(least, checkouts):
            for name, seconds in json.loads(run_in(checkout, "time")).items():
                times[name] = min(seconds, times.get(name, seconds))
    print("processor time, milliseconds" + "".join(f"{c.resolve().name:>14}" for c in checkouts))
    for name, first in least[0].items():
        cells = "".join(f"{1000 * times[name]:14.2f}" for times in least)
        ratios = "".join(f"{first / times[name]:8.2f} times as fast" for times in least[1:])
        print(f"{name:28}{cells}{ratios}")


def measure(_):
    """Print the seconds of the processor that the package of this checkout takes."""
    from neurowhere import load_model, read_mentions

    warnings.simplefilter("ignore")
    model = load_model()
    counter = model.extractor_.counter
    abstracts = list(islice(read_abstracts(), N_TIMED))
    abstracts = (abstracts * (N_TIMED // len(abstracts) + 1))[:N_TIMED]
    article = min(read_articles(), key=lambda text: abs(len(text.split()) - ARTICLE_WORDS))
    for text in abstracts[:WARM_UP]:
        model.encode(text)
    warm = abstracts[:N_WARM]
    seconds = {
        "encode_many, an abstract": timed(lambda: list(model.encode_many(abstracts))) / N_TIMED,
        "read_mentions, an abstract": timed(lambda: [read_mentions(t, counter) for t in abstracts])
        / N_TIMED,
        "encode, an abstract": median(timed(lambda t=text: model.encode(t)) for text in warm),
        "encode, an article": min(timed(lambda: model.encode(article)) for _ in range(N_ARTICLE)),
        "read_mentions, an article": min(
            timed(lambda: read_mentions(article, counter)) for _ in range(N_ARTICLE)
        ),
    }
    print(json.dumps(seconds))


def timed(work):
    start = time.process_time()
    work()
    return time.process_time() - start


WORKERS = {"dump": dump, "time": measure}


if __name__ == "__main__":
    main()
