"""Kinds of documents: species, people and methods that they speak of, and how long they are.

Articles that mention a disease differ from others in more than the disease: they are about
patients, or about mice, full texts or abstracts. What is counted here names no place in the brain
and no disease, so that it tells kinds of documents apart and nothing else.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.contrast.matching import WordIndex

__all__ = [
    "KIND_WORDS",
    "LENGTH",
    "compare_kinds",
    "count_kinds",
    "kind_features",
    "kind_sums",
    "kinds_key",
    "unlike",
]

Counts = NDArray[np.uint32]
Array = NDArray[np.floating]

SPECIES = [
    "human",
    "animal",
    "mouse",
    "rat",
    "rodent",
    "monkey",
    "macaque",
    "primate",
    "cat",
    "bird",
    "songbird",
    "zebrafish",
    "fish",
    "drosophila",
    "fly",
    "elegans",
    "worm",
    "yeast",
]
PEOPLE = [
    "patient",
    "participant",
    "volunteer",
    "subject",
    "healthy",
    "child",
    "adolescent",
    "infant",
    "adult",
    "elderly",
    "clinical",
    "diagnosis",
    "symptom",
    "treatment",
    "consent",
    "trial",
    "placebo",
    "randomized",
    "cohort",
    "questionnaire",
]
METHODS = [
    "review",
    "meta",
    "case",
    "longitudinal",
    "fmri",
    "mri",
    "bold",
    "pet",
    "spect",
    "eeg",
    "meg",
    "erp",
    "tms",
    "tdcs",
    "diffusion",
    "tractography",
    "morphometry",
    "resting",
    "voxel",
    "activation",
    "task",
    "spectroscopy",
    "electrophysiology",
    "recording",
    "electrode",
    "spike",
    "optogenetic",
    "calcium",
    "microscopy",
    "imaging",
    "confocal",
    "immunohistochemistry",
    "staining",
    "antibody",
    "histology",
    "blot",
    "pcr",
    "transgenic",
    "knockout",
    "mutant",
    "mutation",
    "gene",
    "genome",
    "sequencing",
    "protein",
    "cell",
    "culture",
    "slice",
    "vitro",
    "vivo",
    "injection",
    "virus",
    "plasmid",
    "simulation",
    "computational",
    "psychophysics",
    "surgery",
    "autopsy",
    "postmortem",
]
KIND_WORDS = (*SPECIES, *PEOPLE, *METHODS)
LENGTH = "words"  # name of the length of a document among its kinds

DIFFERENT = 0.5  # standard deviations, from which groups differ in kind
STILL_DIFFERENT = 0.25  # the same where controls were matched
LENGTHS = 2.0  # ratio of lengths, below which they do not differ, however little they vary
N_NAMED = 5  # kinds in a warning


def count_kinds(index: WordIndex) -> Counts:
    """Count the words that tell kinds apart, and all words, in each text.

    Parameters
    ----------
    index : WordIndex

    Returns
    -------
    array of shape (n_texts, n_kinds + 1)

    Examples
    --------
    >>> counts = count_kinds(WordIndex.of(["Mice and a mouse", "fMRI of patients"]))
    >>> [counts[:, KIND_WORDS.index(word)].tolist() for word in ("mouse", "patient", "fmri")]
    [[2, 0], [0, 1], [0, 1]]
    >>> counts[:, -1].tolist()
    [4, 3]
    """
    columns = [index.total(index.forms_of(word)) for word in KIND_WORDS]
    length = index.counts.astype(np.int64).sum(axis=1).A1
    return np.stack([*columns, length], axis=1).astype(np.uint32)


def kinds_key() -> str:
    """Return the words that decide the counts, to tell counts of another list apart."""
    return " ".join(KIND_WORDS)


def kind_features(counts: Counts) -> NDArray[np.float32]:
    """Return log(1 + count) of each kind and of the length: (n, n_kinds + 1)."""
    return np.log1p(counts, dtype=np.float32)


# ---- comparison


def kind_sums(counts: Counts, weights: Array | None = None) -> Array:
    """Sum up documents, so that groups of any size can be compared.

    Parameters
    ----------
    counts : array of shape (n, n_kinds + 1)
    weights : array of shape (n,), optional

    Returns
    -------
    array of shape (n_kinds + 3,)
        Σ w; Σ w [count > 0] of each kind; Σ w l and Σ w l², with l the log of the length.
    """
    w = np.ones(len(counts)) if weights is None else weights
    length = np.log1p(counts[:, -1].astype(np.float64))
    return np.concatenate(
        [[w.sum()], w @ (counts[:, :-1] > 0), [w @ length, w @ length**2]]
    )  # those of disjoint documents add up


def compare_kinds(group: Array, reference: Array, named: Sequence[str] = ()) -> pd.DataFrame:
    r"""Compare two groups of documents by kind.

    Parameters
    ----------
    group, reference : arrays
        Of `kind_sums`.
    named : sequence of str
        Kinds that the query itself asks for, which are left out.

    Returns
    -------
    DataFrame
        kind; share of the documents that have it, in the group and in the reference (of
        ``words``: the geometric mean of the length); difference, the standardised difference of
        the means. The largest first.

    Notes
    -----
    The standardised difference of two shares p and r is (p − r) / √((p(1 − p) + r(1 − r)) / 2).
    """
    (share, variance), (usual, usual_variance) = _moments(group), _moments(reference)
    scale = np.sqrt((variance + usual_variance) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(scale > 0, (share - usual) / scale, 0.0)
    share[-1], usual[-1] = np.expm1(share[-1]), np.expm1(usual[-1])
    table = pd.DataFrame(
        {
            "kind": [*KIND_WORDS, LENGTH],
            "share": share,
            "share_reference": usual,
            "difference": difference,
        }
    )
    table = table[~table["kind"].isin(list(named))]
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _moments(sums: Array) -> tuple[Array, Array]:
    """Mean and variance of each kind and of the log of the length."""
    _, *shares = sums[:-2] / sums[0]
    mean, square = sums[-2:] / sums[0]
    p = np.array(shares)
    return np.append(p, mean), np.append(p * (1 - p), max(square - mean**2, 0.0))


def unlike(kinds: pd.DataFrame, *, matched: bool) -> str:
    """Name the kinds in which two groups differ, "" where they are alike.

    Parameters
    ----------
    kinds : DataFrame
        Of `compare_kinds`.
    matched : bool
        Whether controls were matched, of which more is asked.

    Returns
    -------
    str
    """
    limit = STILL_DIFFERENT if matched else DIFFERENT
    ratio = np.abs(np.log((1 + kinds["share"]) / (1 + kinds["share_reference"])))
    near = (kinds["kind"] == LENGTH) & (ratio < np.log(LENGTHS))
    far = kinds[(kinds["difference"].abs() >= limit) & ~near].head(N_NAMED)
    return ", ".join(_in_words(row) for row in far.to_dict("records"))


def _in_words(row: dict[Hashable, Any]) -> str:
    if row["kind"] == LENGTH:
        return f"{row['share']:,.0f} words against {row['share_reference']:,.0f}"
    return f'"{row["kind"]}" {row["share"]:.0%} against {row["share_reference"]:.0%}'
