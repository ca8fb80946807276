"""NeuroQuery's own method by kind of text, on the folds of kinds_of_text.py.

    python benchmarks/neuroquery_kinds.py -o DIR --neuroquery-python PATH --folder WORK [--folds 5]

NeuroQuery is fitted as in neuroquery_rival.py, in an environment of its own and with all that is
done there in its favour, and predicts the test studies of each fold from title, abstract and
keywords, the title, the keywords, one keyword, and the article without its tables. How its maps
become densities is chosen once, in its favour by the test studies of fold 0. DIR gets
neuroquery-FOLD.json beside the tables of kinds_of_text.py, which prints them together
(--versions plain neuroquery shipped). Finished folds are not repeated.
"""

import argparse
import json
import warnings
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from kinds_of_text import articles_of, kinds, peaks_by_study
from neuroquery_rival import AS_IT_IS, CANDIDATES, DATA, FOLDS, Rival
from neurowhere.learn import shuffle_split
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.building.anatomy import build_full
from setting import print_table

SECTION_OF = {"title": "title", "keywords": "keywords", "one keyword": "keywords"}


def main():
    """Fit and score the folds, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--neuroquery-python", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where fits are kept")
    parser.add_argument("--folds", type=int, default=FOLDS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in (arguments.output, arguments.folder):
        folder.mkdir(parents=True, exist_ok=True)
    rival, tables = KindsOfText(arguments.folder, arguments.neuroquery_python), []
    for fold in range(arguments.folds):
        file = arguments.output / f"neuroquery-{fold}.json"
        if not file.exists():
            file.write_text(json.dumps(rival.measure(fold), indent=1))
            print(file.read_text(), flush=True)
        tables.append(json.loads(file.read_text()))
    rows = [[name, *(f"{table[name]:.4f}" for table in tables)] for name in tables[0]]
    print(f"density: {rival.density}")
    print_table(["", *(f"fold {fold}" for fold in range(len(tables)))], rows)


class KindsOfText(Rival):
    """NeuroQuery, given the test studies of all folds as texts of each kind."""

    def write(self):
        """Write what the fits read, with a row for each text that is no whole study."""
        super().write()
        self.terms = (self.folder / "terms.txt").read_text().splitlines()
        column = {term: i for i, term in enumerate(self.corpus.terms)}
        self.columns = [column[term] for term in self.terms]
        self.articles = dict(self._articles())
        more = {section: [] for section in self.corpus.counts}
        self.rows, n_rows = {}, len(self.corpus)
        for fold in range(FOLDS):
            for name, section, counts, _ in self.texts(fold):
                n_texts = counts.shape[0]
                self.rows[fold, name] = np.arange(n_rows, n_rows + n_texts)
                n_rows += n_texts
                for each, parts in more.items():
                    parts.append(counts if each == section else sparse.csr_matrix(counts.shape))
        for section, parts in more.items():
            file = self.folder / f"counts_{section}.npz"
            whole = sparse.vstack([sparse.load_npz(file), *parts], format="csr")
            sparse.save_npz(file, whole)

    def _articles(self):
        """Yield the counts of NeuroQuery's terms in articles, by study."""
        extractor = TermExtractor(Vocabulary(self.terms))
        for study, text in articles_of(DATA, self.corpus):
            yield study, extractor.counts([text])

    def texts(self, fold):
        """Yield kinds of text: name, the section they stand in, counts, and their studies."""
        _, test = shuffle_split(self.groups, fold)
        for name, counts, studies in kinds(self.corpus, test, build_full(DATA / "vocabulary")):
            if name in SECTION_OF:
                yield name, SECTION_OF[name], counts[:, self.columns], studies
        studies = np.array([study for study in self.articles if study in set(test.tolist())])
        counts = sparse.vstack([self.articles[study] for study in studies], format="csr")
        yield "article", "abstract", counts, studies

    @cached_property
    def density(self):
        """Return the way to densities with the best score of fold 0's test studies."""
        train, test = shuffle_split(self.groups, 0)
        fit, mean = self.predict_texts(0)[0], self.mean_map(train)
        part = {key: fit[key][: len(test)] for key in ("predicted", "z")} | {"mean": fit["mean"]}
        return max(CANDIDATES, key=lambda each: self.nats(each(part, mean), test).mean())

    def predict_texts(self, fold):
        """Return the predictions of all texts of a fold, whole studies first, and their studies."""
        train, test = shuffle_split(self.groups, fold)
        studies, rows = {"title, abstract, keywords": test}, [test]
        for name, _, _, own in self.texts(fold):
            studies[name] = own
            rows.append(self.rows[fold, name])
        return self.fit(f"fold{fold}", train, np.concatenate(rows)), studies

    def measure(self, fold):
        """Return the gain over the mean map of each kind of text of a fold."""
        fit, studies = self.predict_texts(fold)
        mean = self.mean_map(shuffle_split(self.groups, fold)[0])
        peaks, table, start = peaks_by_study(self.corpus), {}, 0
        for name, own in studies.items():
            some = slice(start, start + len(own))
            start += len(own)
            part = {key: fit[key][some] for key in ("predicted", "z")} | {"mean": fit["mean"]}
            for before, density in (("", self.density), ("as it is, ", AS_IT_IS)):
                table[before + name] = gain(density(part, mean), mean, peaks, own)
        return table | {"processor seconds to fit": float(fit["seconds"])}


def gain(q, mean, peaks, studies):
    """Return the mean over studies of the gain of maps over the mean map."""
    m = len(mean)
    ratio = np.log1p(q * m) - np.log1p(mean * m)
    return float(np.mean([own[peaks[i]].mean() for own, i in zip(ratio, studies, strict=True)]))


if __name__ == "__main__":
    main()
