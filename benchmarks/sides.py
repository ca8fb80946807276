"""Sides: whether texts that name sides point to them, and what real studies gain by it.

    python benchmarks/sides.py [real] [sentences] [findings]

Tables, with the shipped model. The first is over documents of `rawtext_linked_dev` that give
a side to a structure: nats above the mean map, and the share of the map on the named side beside
that of the study's own peaks. The second counts, in sentences that name several sides, the
structures whose named side is at least 1.5 times as probable as the other; half of the sentences
were not looked at while the rules were written. The third counts, in sentences with findings in
several places, those places that are visible: 1.5 times as probable as in the mean map, or among
the ten regions that are listed; and what their shares in the map cost or gain on real texts.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

import neurowhere.model.prediction as prediction
from neurowhere import default_atlas, load_model, read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.learn import nats_above_uniform
from neurowhere.space.geometry import side_of_regions
from neurowhere.text.reading.mentions import read_mentions
from setting import DATA, print_table

CASES = Path(__file__).parent / "cases"
CLEAR = 1.5  # times as probable as the other side, or as in the mean map
N_LISTED = 10  # regions
N_REAL, LONGEST = 300, 4000  # real texts, and characters of an abstract
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SIGNS = {"left": 1, "right": -1}
SWAP = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
HANDEDNESS = re.compile(r"\b(left|right)\b(?!-handed| handed)", re.I)


def main():
    warnings.simplefilter("ignore", DataWarning)
    model = load_model()
    parts = {"real": print_real_texts, "sentences": print_sentences, "findings": print_findings}
    for part in sys.argv[1:] or parts:
        parts[part](model)


# ---- real texts


def print_real_texts(model):
    corpus = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    kept = [row for row, text in enumerate(corpus.texts) if sided_terms(model, text)]
    corpus = corpus.select(np.array(kept))
    balances = [sided_terms(model, text) for text in corpus.texts]
    mixed = np.array([len({np.sign(b) for b in balance}) > 1 for balance in balances])
    one = np.array([abs(np.sign(balance).sum()) == len(balance) for balance in balances])
    direction = np.array([np.sign(sum(balance)) for balance in balances])
    true = true_shares(model, corpus, direction)
    rows = []
    base = None
    for name, predict in VARIANTS.items():
        q = np.vstack([predict(model, text) for text in corpus.texts])
        nats = score(model, corpus, q)
        base = nats if base is None else base
        gain = nats - base
        error = np.nanstd(gain) / np.sqrt(np.isfinite(gain).sum())
        named = shares(model, q, direction)
        rows.append(
            [
                name,
                f"{np.nanmean(nats):.3f}",
                f"{np.nanmean(gain):+.3f} ± {error:.3f}",
                f"{np.nanmean(gain[mixed]):+.3f}",
                f"{np.nanmean(named[direction != 0]):.2f}",
                f"{np.nanmean(named[one]):.2f}",
            ]
        )
    rows.append(
        [
            "the peaks themselves",
            "",
            "",
            "",
            *(f"{np.nanmean(true[m]):.2f}" for m in (direction != 0, one)),
        ]
    )
    print(f"{len(kept):,} texts with sides, {mixed.sum():,} of them with both\n")
    print_table(
        [
            "",
            "nats above the mean map",
            "over sides off",
            "where both",
            "share on the named side",
            "where all on one side",
        ],
        rows,
    )
    print()


def sided_terms(model, text):
    """Signs of the structures that a text puts on one side."""
    mentions = read_mentions(text, model.extractor_.counter)
    return [SIGNS[m.side] for m in mentions.present if m.side in SIGNS]


def off(model, text):
    return model.encode(text, sides=False).probabilities


def by_term(model, text):
    return model.encode(text).probabilities


def flipped(model, text):
    return model.encode(HANDEDNESS.sub(lambda word: SWAP.get(word[0], word[0]), text)).probabilities


VARIANTS = {
    "sides off": off,
    "each term on its own side": by_term,
    "sides flipped": flipped,
}


def score(model, corpus, q):
    """Nats above the mean map of each study."""
    study, region = peaks_of(model, corpus)
    scale = model.brain_.total_volume_mm3 / model.partition_.volumes_mm3
    ours = nats_above_uniform(q[study, region] * scale[region], study, len(corpus))
    mean = nats_above_uniform(model.mean_map_[region] * scale[region], study, len(corpus))
    return ours - mean


def peaks_of(model, corpus):
    region = model.partition_.region_of(corpus.peaks[["x", "y", "z"]].to_numpy(float))
    inside = region >= 0
    return corpus.peak_rows[inside], region[inside]


def true_shares(model, corpus, direction):
    study, region = peaks_of(model, corpus)
    side = side_of_regions(model.partition_)[region]
    n = np.bincount(study, minlength=len(corpus))
    left = np.bincount(study, side > 0, minlength=len(corpus)) / np.where(n, n, np.nan)
    return np.where(direction > 0, left, 1 - left)


def shares(model, q, direction):
    left = q[:, side_of_regions(model.partition_) > 0].sum(axis=1)
    return np.where(direction > 0, left, 1 - left)


# ---- sentences


def print_sentences(model):
    rows = []
    for name in ("sides_seen", "sides_unseen", "sides_fresh"):
        sentences = [
            json.loads(line) for line in (CASES / f"{name}.jsonl").read_text().splitlines()
        ]
        rows.append([name.removeprefix("sides_"), *count_right(model, sentences, by_term)])
    print_table(["sentences", "on the named side", "both sides alike", "no side followed"], rows)


def count_right(model, sentences, predict):
    atlas = default_atlas()
    shared = model.encode("amygdala").gazetteer(atlas)
    right = {"sided": [], "bilateral": [], None: []}
    for sentence in sentences:
        q = predict(model, sentence["text"]) / model.partition_.volumes_mm3
        probability = dict(zip(atlas.names, shared.shares(q)))
        mean = dict(zip(atlas.names, shared.shares(model.mean_map_ / model.partition_.volumes_mm3)))
        for item in sentence["expected"]:
            named, other = (
                sum(probability[label] for label in item[key]) for key in ("named", "other")
            )
            usual = sum(mean[label] for label in item["named"]) / sum(
                mean[label] for label in item["other"]
            )
            ratio = named / other
            if item["side"] in SIGNS:
                right["sided"].append(ratio >= CLEAR)
            else:
                right[item["side"]].append(1 / CLEAR <= ratio / usual <= CLEAR)
    return [f"{sum(found)} of {len(found)}" for found in right.values()]


# ---- findings in several places


def print_findings(model):
    print()
    rows = []
    usual = prediction.LONG  # no text that is longer by its gate shares its map
    corpus = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    for name in ("findings_seen", "findings_unseen", "findings_fresh"):
        lines = (CASES / f"{name}.jsonl").read_text().splitlines()
        for method, least in (("without shares", 0.0), ("with them", usual)):
            prediction.LONG = least
            seen = [visible(model, json.loads(line)) for line in lines]
            n_places = sum(map(len, seen))
            rows.append(
                [
                    name.removeprefix("findings_"),
                    method,
                    f"{sum(map(all, seen))} of {len(seen)}",
                    f"{sum(map(sum, seen))} of {n_places}",
                ]
            )
    print_table(["sentences", "", "all places visible", "places visible"], rows)
    print()
    rows = []
    for name, texts in pieces(corpus).items():
        some = corpus.select(np.array(list(texts)))
        nats = []
        for least in (0.0, usual):
            prediction.LONG = least
            nats.append(score(model, some, model.predict(list(texts.values()))))
        gain = nats[1] - nats[0]
        error = np.nanstd(gain) / np.sqrt(np.isfinite(gain).sum())
        rows.append([f"{len(texts):,} {name}", f"{np.nanmean(gain):+.4f} ± {error:.4f}"])
    print_table(["real texts", "nats by shares"], rows)


def visible(model, sentence):
    """Return whether each place of a sentence is visible."""
    table = model.encode(sentence["text"]).regions(default_atlas()).set_index("region")
    listed = set(table.index[:N_LISTED])
    seen = []
    for item in sentence["expected"]:
        here = table.loc[item["regions"]]
        usual = (here["probability"] - here["excess"]).sum()
        is_raised = here["probability"].sum() >= CLEAR * usual
        seen.append(bool(is_raised or listed.intersection(item["regions"])))
    return seen


def pieces(corpus):
    """Return titles, single sentences and whole abstracts of some studies, by their rows."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(corpus))[:N_REAL].tolist()
    titles = {row: corpus.texts[row].split("\n")[0][:200] for row in rows}
    sentences = {row: SENTENCE_END.split(corpus.texts[row]) for row in rows}
    return {
        "titles": titles,
        "sentences": {row: each[int(rng.integers(len(each)))] for row, each in sentences.items()},
        "abstracts": {row: corpus.texts[row][:LONGEST] for row in rows},
    }


if __name__ == "__main__":
    main()
