"""Covariates: in what documents differ that is no place in the brain, and no disease.

Articles that mention a disease differ from others in more than the disease: they are about
patients, or about mice, full texts or abstracts. Also words that name no place at all, which tell
how often a contrast finds something where there is nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.contrast.query import Ints
from neurowhere.contrast.selection import ByTerm, Found, Group
from neurowhere.text import Vocabulary
from neurowhere.text.words import fold, plain

Array = NDArray[np.floating]

# Words that tell kinds of documents apart, and name no place in the brain and no disease.
SPECIES = """
human animal mouse rat rodent monkey macaque primate cat bird songbird zebrafish fish drosophila
fly elegans worm yeast
"""
PEOPLE = """
patient participant volunteer subject healthy child adolescent infant adult elderly clinical
diagnosis symptom treatment consent trial placebo randomized cohort questionnaire
"""
METHODS = """
review meta case longitudinal fmri mri bold pet spect eeg meg erp tms tdcs diffusion tractography
morphometry resting voxel activation task spectroscopy electrophysiology recording electrode spike
optogenetic calcium microscopy imaging confocal immunohistochemistry staining antibody histology
blot pcr transgenic knockout mutant mutation gene genome sequencing protein cell culture slice
vitro vivo injection virus plasmid simulation computational psychophysics surgery autopsy
postmortem
"""
KIND_WORDS = tuple(f"{SPECIES} {PEOPLE} {METHODS}".split())
KINDS = {fold(word): word for word in KIND_WORDS}
# Words of such terms say where, or what a document is about.
PLACED = ("anatomy", "disorder", "function", "symptom", "task", "drug")
LENGTHS = ("words", "words of the front", "known terms")
N_TOPICS = 50
TOPIC_WORDS = 5000  # the most frequent ones, in less than half of the documents
FEWEST, MOST = 25, 700  # documents with a placeless word
SHORTEST = 4  # letters of a placeless word
DOCUMENTS_PER_COVARIATE = 10
DOCUMENTS_PER_TOPIC = 200  # a topic of few documents may be what the query asks for
MOST_SOURCES = 50  # that are told apart


class Covariates(NamedTuple):
    """Covariates of N documents, and words that name no place."""

    values: NDArray[np.float32]  # (N, p), the first column is 1
    names: list[str]  # of the columns; kinds are words
    placeless: sparse.csc_matrix  # (N, n_words): which front has which word, in random order
    words: list[str]


def find_covariates(found: Sequence[Found], vocabulary: Vocabulary) -> Covariates:
    """Work out covariates, the most telling first, at most one for ten documents.

    Words of the vocabulary are not placeless; those of diseases and places are in no topic.
    """
    counts, sizes, words = _read_fronts(found)
    fronts, terms = counts.sum(axis=1).A1, np.concatenate([each.terms for each in found])
    logs = _standardised(np.log1p(np.stack([sizes[:, 0], fronts, terms], axis=1)))
    sources, source_names = _sources(found, sizes[:, 1])
    has = sparse.csc_matrix(counts > 0)
    n_with = np.diff(has.indptr)
    kinds, kind_names = _kinds(has, words, n_with)
    placed, known = _vocabulary_words(vocabulary)
    topics = _topics(counts, [w not in placed and w not in KINDS for w in words], n_with)
    topic_names = [f"topic {k + 1}" for k in range(topics.shape[1])]
    ones, squares = np.ones((len(logs), 1)), logs[:, :2] ** 2
    values = np.hstack([ones, sources, logs, squares, kinds, topics])
    square_names = [f"{each}²" for each in LENGTHS[:2]]
    names = ["all", *source_names, *LENGTHS, *square_names, *kind_names, *topic_names]
    most = max(1, len(values) // DOCUMENTS_PER_COVARIATE)
    nowhere = _placeless(words, known, n_with)
    return Covariates(
        values[:, :most].astype(np.float32),
        names[:most],
        has[:, nowhere],
        [words[column] for column in nowhere],
    )


def _kinds(has: sparse.csc_matrix, words: Sequence[str], n_with: Ints) -> tuple[Array, list[str]]:
    """Return which fronts have words for kinds of documents, the most frequent word first."""
    column_of = {word: column for column, word in enumerate(words)}
    columns = [column_of[kind] for kind in KINDS if kind in column_of]
    columns.sort(key=lambda column: -n_with[column])
    return has[:, columns].toarray(), [KINDS[words[column]] for column in columns]


def _placeless(words: Sequence[str], known: set[str], n_with: Ints) -> Ints:
    """Return the columns, in random order, of words in no name of the vocabulary and no kind."""
    common = np.flatnonzero((n_with >= FEWEST) & (n_with <= MOST)).tolist()
    nowhere = [
        column
        for column in common
        if len(word := words[column]) >= SHORTEST and word.isalpha() and word not in known
        if word not in KINDS
    ]
    return np.random.default_rng(0).permutation(np.array(nowhere, dtype=np.intp))


def _read_fronts(found: Sequence[Found]) -> tuple[sparse.csr_matrix, Ints, list[str]]:
    """Count the words of each front, forms of one word together; read the sizes of the texts."""
    ids: dict[str, int] = {}
    parts, sizes = [], []
    for each in found:
        front, rows = replace(each.shard).front, each.rows  # not kept
        index = front.words
        sizes.append(front.sizes[rows])
        forms = index.forms.decode("ascii").split("\n")[1:-1]
        columns = np.array([ids.setdefault(form, len(ids)) for form in forms], dtype=np.intp)
        here = sparse.coo_matrix(sparse.csr_matrix(index.counts)[rows])
        parts.append((here.data, here.row, columns[here.col], len(rows)))
    blocks = [
        sparse.csr_matrix((data.astype(np.int32), (row, column)), shape=(n, len(ids)))
        for data, row, column, n in parts
    ]
    return sparse.csr_matrix(sparse.vstack(blocks)), np.concatenate(sizes), list(ids)


def _vocabulary_words(vocabulary: Vocabulary) -> tuple[set[str], set[str]]:
    """Return the words of terms that say where, and those of all terms.

    In a vocabulary without categories, any term may.
    """
    categories = PLACED if vocabulary.categories else ("",)
    placed, known = set(), set()
    for name in [*vocabulary.terms, *vocabulary.synonyms]:
        words = set(map(fold, plain(name).split()))
        known |= words
        if vocabulary.category(vocabulary.synonyms.get(name, name)) in categories:
            placed |= words
    return placed, known


def _sources(found: Sequence[Found], whole: Ints) -> tuple[Array, list[str]]:
    """Tell apart where documents come from, and whether they are whole texts."""
    part = np.concatenate([np.full(len(each.rows), each.shard.part) for each in found])
    if len(np.unique(part)) > MOST_SOURCES:
        part = np.zeros_like(part)
    codes, column = np.unique(2 * part + whole, return_inverse=True)
    names = [f"source {code // 2}{', whole texts' * (code % 2)}" for code in codes]
    return np.eye(len(codes))[column], names


def _standardised(values: Array) -> Array:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _topics(counts: sparse.csr_matrix, allowed: Sequence[bool], n_with: Ints) -> Array:
    """Reduce the words of fronts to topics, by a singular value decomposition of tf-idf."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.utils.extmath import randomized_svd

    n = counts.shape[0]
    common = np.where(np.array(allowed) & (n_with > 1) & (n_with < n / 2), n_with, 0)
    columns = np.argsort(-common, kind="stable")[: min(TOPIC_WORDS, np.count_nonzero(common))]
    k = min(N_TOPICS, len(columns) - 1, n // DOCUMENTS_PER_TOPIC)
    if k < 1:
        return np.empty((n, 0))
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(
        counts[:, columns].astype(np.float64)
    )
    u, values, _ = randomized_svd(weighted, k, random_state=0)
    return np.asarray(u * values)


# ---- how a group differs in kind


def kinds_named(groups: Sequence[Group]) -> list[str]:
    """Return the kinds that the queries ask for themselves."""
    queries = [group.query for group in groups if isinstance(group, ByTerm)]
    named = [query.has_words(KIND_WORDS) for query in queries]
    return [word for word, *some in zip(KIND_WORDS, *named, strict=True) if any(some)]


def compare_kinds(
    covariates: Covariates, group: Array, reference: Array, asked: Sequence[str]
) -> pd.DataFrame:
    """Compare two groups of documents, given as weights, by kind; the largest difference first.

    share, share_reference: of the documents that have a kind; of lengths, the mean logarithm,
    standardised. difference: of the means, in standard deviations. `asked` are kinds that the query
    itself asks for, which are left out.
    """
    names = covariates.names
    told = {*KIND_WORDS, *LENGTHS}.difference(asked)
    shown = [column for column, name in enumerate(names) if name in told]
    x = covariates.values[:, shown].astype(np.float64)
    means, variances = [], []
    for weights in (group / group.sum(), reference / reference.sum()):
        means.append(weights @ x)
        variances.append(np.maximum(weights @ x**2 - means[-1] ** 2, 0.0))
    scale = np.sqrt((variances[0] + variances[1]) / 2)
    gap = means[0] - means[1]
    table = pd.DataFrame(
        {
            "kind": [names[column] for column in shown],
            "share": means[0],
            "share_reference": means[1],
            "difference": np.divide(gap, scale, out=np.zeros_like(gap), where=scale > 0),
        }
    )
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)
