"""Gain over the mean map against the length of the text, from one word to a whole article.

    python benchmarks/length_of_text.py DIR [--versions shipped plain] [-o FIGURE.png]

DIR has the models that kinds_of_text.py fitted without the test studies of each fold. Articles of
test studies, without their tables, are read from their title on and cut after so many words; what
is before the title, and articles without it, are left out. Prints the mean gain over folds and
draws it. What was measured is kept in DIR.
"""

import argparse
import json
import re
import warnings
from pathlib import Path

import numpy as np

from kinds_of_text import articles_of, peaks_by_study, studies_in_brain
from neurowhere import load_model
from neurowhere.learn import shuffle_split
from setting import DATA, print_table

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 3000, None)  # words; None is all
FRONT = 3000  # characters in which the title is looked for
WORD = re.compile(r"\S+")
COLOURS = {"shipped": "C0", "plain": "C1"}
NAMES = {"shipped": "shipped recipe", "plain": "version 4's recipe"}


def main():
    """Measure each model, print the table and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--versions", nargs="+", choices=NAMES, default=["shipped"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus, articles = None, []
    gains = {version: [] for version in arguments.versions}
    for version, curves in gains.items():
        for fold in range(arguments.folds):
            folder = arguments.folder / f"{version}-{fold}"
            file = arguments.folder / f"length-{version}-{fold}.json"
            if not file.exists() and folder.exists():
                corpus = studies_in_brain(DATA) if corpus is None else corpus
                articles = articles or list(titled_articles(corpus))
                curve = measure(load_model(folder), corpus, articles, fold)
                file.write_text(json.dumps(curve))
            if file.exists():
                curves.append(json.loads(file.read_text()))
    print_results(gains)
    if arguments.output:
        draw(gains, arguments.output)


def titled_articles(corpus):
    """Yield the articles that have their title, from there on, each with the row of its study."""
    titles = corpus.documents["title"].fillna("").tolist()
    for row, text in articles_of(DATA, corpus):
        title = titles[row].strip().rstrip(".").lower()
        start = text[:FRONT].lower().find(title) if title else -1
        if start >= 0:
            yield row, text[start:]


def measure(model, corpus, articles, fold):
    """Return the number of test articles of a fold and their mean gain at each length."""
    _, test = shuffle_split(corpus.groups.astype(str), fold, seed=0)
    held = [(row, text) for row, text in articles if row in set(test.tolist())]
    peaks, m = peaks_by_study(corpus), model.partition_.n_regions
    mean = np.log1p(model.mean_map_ * m)
    gains = []
    for n_words in LENGTHS:
        encodings = model.encode_many(first_words(text, n_words) for _, text in held)
        by_study = [
            (np.log1p(encoding.probabilities * m) - mean)[peaks[row]].mean()
            for encoding, (row, _) in zip(encodings, held, strict=True)
        ]
        gains.append(float(np.mean(by_study)))
    return {"articles": len(held), "gains": gains}


def first_words(text, n_words):
    """Return the beginning of a text."""
    if n_words is None:
        return text
    ends = [match.end() for _, match in zip(range(n_words), WORD.finditer(text), strict=False)]
    return text[: ends[-1]] if ends else text


def print_results(gains):
    """Print the mean gain and its spread over folds."""
    for version, curves in gains.items():
        print(f"{version}: {[curve['articles'] for curve in curves]} articles a fold")
    rows = []
    for place, n_words in enumerate(LENGTHS):
        row = [length_name(n_words)]
        for curves in gains.values():
            values = np.array([curve["gains"][place] for curve in curves])
            spread = f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
            row.append(f"{values.mean():.3f}{spread}")
        rows.append(row)
    print_table(["words", *gains], rows)


def length_name(n_words):
    """Return a length in words."""
    return "all" if n_words is None else f"{n_words:,}"


def draw(gains, path):
    """Draw the mean gain against the length; the band is the range of folds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4), dpi=120)
    axes = figure.add_subplot(xlabel="words read", ylabel="nats above the mean map")
    places = np.arange(len(LENGTHS))
    for version, curves in gains.items():
        values = np.array([curve["gains"] for curve in curves])
        colour = COLOURS[version]
        axes.plot(places, values.mean(axis=0), "o-", color=colour, label=NAMES[version])
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(places, low, high, color=colour, alpha=0.2, lw=0)
    axes.set_xticks(places, [length_name(n_words) for n_words in LENGTHS])
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
