"""NeuroQuery trained on some studies and applied to others: FOLDER SPLIT [--model].

Runs in an environment of `neuroquery_requirements.txt`. The folder holds

- ``peaks.csv`` (study, x, y, z), ``mask.nii.gz``, ``terms.txt``, ``synonyms.json``,
- ``counts_SECTION.npz``, term counts of all studies, and of other texts to predict after them,
- ``SPLIT.npz``, the rows to train on and the rows to predict,

and gets ``maps.npy`` (the brain maps of all studies, made once) and ``SPLIT_predictions.npz``;
with --model also the model as NeuroQuery stores it, in ``SPLIT_model``.

The recipe is that of its authors' training pipeline (``pubget fit_neuroquery``): the words of a
term count too, term frequencies are averaged over sections, synonyms folded in, terms of at most 10
studies left out, tf-idf in rows of unit norm, maps of 9 mm FWHM, and ``SmoothedRegression`` with
all its defaults. Four parts of it are computed by other means, to the same numbers, which the
script verifies first: the leave-one-out errors, the fit that selects terms, the co-occurrence of
terms and the maps. The package takes hours per fit for the first alone.
"""

import argparse
import contextlib
import io
import json
import shutil
import time
import warnings
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
from neuroquery import nmf, ridge
from neuroquery.encoding import NeuroQueryModel
from neuroquery.img_utils import coordinates_to_maps, coords_to_peaks_img
from neuroquery.smoothed_regression import SmoothedRegression
from neuroquery.tokenization import TextVectorizer, unigram_operator
from scipy import ndimage, sparse
from sklearn.preprocessing import normalize

SECTIONS = ("title", "keywords", "abstract")
FWHM_MM = 9.0
MINIMUM_STUDIES = 10  # a term is in more studies than that
CHECKED_STUDIES = 20
CONSTANT = 1e-12  # variance below which NeuroQuery takes a singular vector for the intercept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("split")
    parser.add_argument("--model", action="store_true", help="keep the model")
    arguments = parser.parse_args()
    folder = arguments.folder
    check_shortcuts()
    with shortcuts():
        rows = np.load(folder / f"{arguments.split}.npz")
        maps = brain_maps(folder)
        train = rows["train"][maps[rows["train"]].any(axis=1)]
        words = Words(folder).fit(train)
        X = words.transform(train).toarray()
        start = time.perf_counter()
        regression = SmoothedRegression().fit(X, maps[train])
        seconds = time.perf_counter() - start
        if arguments.model:
            save_model(folder, f"{arguments.split}_model", words, regression, X)
        test = words.transform(rows["test"]).toarray()
        np.savez(
            folder / f"{arguments.split}_predictions.npz",
            predicted=regression.predict(test).astype(np.float32),
            z=regression.transform_to_z_maps(test).astype(np.float32),
            mean=maps[train].mean(axis=0),
            known=test.any(axis=1),
            seconds=seconds,
            terms=X.shape[1],
            selected=len(regression.regression_.selected_features_),
        )


def save_model(folder, name, words, regression, X):
    """Write the model as NeuroQuery stores it, with the features of its training studies."""
    mask = nibabel.load(folder / "mask.nii.gz")
    about = {"tfidf": sparse.csr_matrix(X), "metadata": pd.DataFrame({"row": np.arange(len(X))})}
    shutil.rmtree(folder / name, ignore_errors=True)
    NeuroQueryModel(words.vectorizer(), regression, mask, about).to_data_dir(folder / name)


def brain_maps(folder):
    """Read the maps of all studies, (n_studies, n_voxels), or make them at the first call."""
    file = folder / "maps.npy"
    if not file.exists():
        peaks = pd.read_csv(folder / "peaks.csv").rename(columns={"study": "pmid"})
        maps = smooth_peaks(peaks, folder / "mask.nii.gz")
        first = peaks[peaks["pmid"] < CHECKED_STUDIES]
        with contextlib.redirect_stdout(io.StringIO()):
            theirs, _ = coordinates_to_maps(
                first, mask_img=str(folder / "mask.nii.gz"), target_affine=None, fwhm=FWHM_MM
            )
        np.testing.assert_allclose(maps[theirs.index], theirs, atol=1e-6)
        np.save(file, maps)
    return np.load(file)


def smooth_peaks(peaks, mask_file):
    """Make the maps of NeuroQuery's `coordinates_to_maps` without an image for each study."""
    mask = nibabel.load(mask_file)
    brain = mask.get_fdata() > 0
    widths = FWHM_MM / np.sqrt(8 * np.log(2)) / np.array(mask.header.get_zooms())
    maps = np.empty((peaks["pmid"].max() + 1, brain.sum()), np.float32)
    for study, part in peaks.groupby("pmid"):
        box = coords_to_peaks_img(part[["x", "y", "z"]].to_numpy(), mask).get_fdata()
        maps[study] = ndimage.gaussian_filter(box, widths, mode="constant")[brain]
    return maps


class Words:
    """Features of studies, from their term counts by section, which may be in another folder."""

    def __init__(self, folder, counted_in=None):
        terms = (folder / "terms.txt").read_text().splitlines()
        synonyms = json.loads((folder / "synonyms.json").read_text())
        # A synonym whose term occurs nowhere stays a term of its own.
        self.synonyms = {a: b for a, b in synonyms.items() if {a, b} <= set(terms)}
        self.all_terms = terms
        self.terms = [term for term in terms if term not in self.synonyms]
        # "working memory" also counts as "memory".
        words = unigram_operator(terms).astype(float)
        counts = [
            sparse.load_npz((counted_in or folder) / f"counts_{name}.npz") @ words
            for name in SECTIONS
        ]
        shares = sum(normalize(matrix, norm="l1") for matrix in counts)
        self.frequencies = (shares / len(SECTIONS)).tocsr() @ self.folding()

    def folding(self):
        """Matrix that adds the columns of synonyms to those of their terms."""
        column = {term: i for i, term in enumerate(self.terms)}
        columns = [column[self.synonyms.get(term, term)] for term in self.all_terms]
        entries = (np.ones(len(columns)), (np.arange(len(columns)), columns))
        return sparse.csr_matrix(entries, shape=(len(columns), len(self.terms)))

    def fit(self, train):
        """Learn which terms are common enough, and how rare they are."""
        studies = self.frequencies[train].getnnz(axis=0)
        self.kept = np.flatnonzero(studies > MINIMUM_STUDIES)
        self.shares = (studies[self.kept] + 1) / (len(train) + 1)
        return self

    def transform(self, rows):
        """Tf-idf of some studies, rows of unit norm."""
        weights = sparse.diags(1 - np.log(self.shares))
        return normalize(self.frequencies[rows][:, self.kept] @ weights).astype(np.float32)

    def vectorizer(self):
        """NeuroQuery's own reader of texts, with these terms."""
        shares = dict(zip(np.array(self.terms)[self.kept], self.shares))
        synonyms = {a: b for a, b in self.synonyms.items() if b in shares}
        # The share of a synonym is never used: it is folded before terms are weighted.
        known = sorted({*shares, *synonyms})
        return TextVectorizer.from_vocabulary(
            known,
            [shares.get(term, 1.0) for term in known],
            voc_mapping=synonyms,
        )


@contextlib.contextmanager
def shortcuts():
    """Let NeuroQuery compute the same in minutes."""
    replaced = (ridge._gcv, nmf._smoothing_matrix_sqrt, ridge.AdaptiveRidge.fit)

    def of_sparse(X, n_components):
        return replaced[1](sparse.csr_matrix(X), n_components)

    ridge._gcv, nmf._smoothing_matrix_sqrt = leave_one_out_errors, of_sparse
    ridge.AdaptiveRidge.fit = only_penalties
    try:
        yield
    finally:
        ridge._gcv, nmf._smoothing_matrix_sqrt, ridge.AdaptiveRidge.fit = replaced


def only_penalties(self, X, Y):
    """Find the penalty of each feature, all that is used of the fit that selects features."""
    self._compute_feat_penalty(X, Y)
    return self


def leave_one_out_errors(U, s, Y, intercept, alphas):
    """Sum over voxels of the squared leave-one-out errors: (n_alphas, n_studies).

    With t = s² / (s² + α), the error of study i is (y_i − u_i t Uᵀ Y) / (1 − u_i t u_iᵀ). Its
    squared norm needs the inner products of y_i and of Uᵀ Y only, which are the same for all α;
    NeuroQuery multiplies the n x n matrix U t Uᵀ by Y for each.
    """
    projected = U.T @ Y  # (n_components, n_voxels)
    cross = Y @ projected.T  # (n_studies, n_components)
    gram = projected @ projected.T
    norms = np.einsum("ij,ij->i", Y, Y, dtype=np.float64)
    errors = np.empty((len(alphas), len(Y)))
    for i, alpha in enumerate(alphas):
        t = s**2 / (s**2 + alpha)
        t[U.var(axis=0) < CONSTANT] = 1
        hat = U * t
        fitted = np.einsum("ij,ij->i", hat, cross, dtype=np.float64)
        squares = np.einsum("ij,ij->i", hat @ gram, hat, dtype=np.float64)
        leverage = np.einsum("ij,ij->i", hat, U, dtype=np.float64)
        errors[i] = (norms - 2 * fitted + squares) / (1 - leverage) ** 2
    return errors


def check_shortcuts():
    """Fit a small problem with and without the shortcuts, and compare predictions."""
    rng = np.random.default_rng(0)
    X = normalize(rng.poisson(0.3, (120, 40)).astype(float))
    truth = np.where(np.arange(40) < 4, 1.0, 0.0)[:, None] * rng.random((40, 70))
    Y = X @ truth + 0.1 * rng.random((120, 70))
    model = SmoothedRegression(n_components=7)
    predictions = []
    for context in (contextlib.nullcontext(), shortcuts()):
        with context, contextlib.redirect_stdout(io.StringIO()):
            predictions.append(model.fit(X, Y).transform_to_z_maps(X))
    np.testing.assert_allclose(*predictions, rtol=1e-6, atol=1e-8)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
