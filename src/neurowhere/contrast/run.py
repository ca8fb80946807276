"""From sources to a contrast: documents cut, searched, encoded, summed and compared."""

import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from neurowhere._tools.files import expanded
from neurowhere._tools.parallel import Workers, hired
from neurowhere.contrast.contrast import Contrast, permutation_null
from neurowhere.contrast.controls import FEW, Compared, compare_groups
from neurowhere.contrast.library import Library, make_folder, open_library
from neurowhere.contrast.matching import Ints
from neurowhere.contrast.selection import ByTerm, Found, Group, Member, Query, Search, search
from neurowhere.contrast.shard import Rows, Summing, Sums, kept_sums, sum_documents
from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import CorpusError, DataWarning, FitError, QueryError
from neurowhere.model.encoder import Encoder
from neurowhere.model.store import load_model

__all__ = ["contrast_documents", "default_cache", "sum_all"]

REPLICATES = 200
N_TERMS = 200  # whose part in the contrast is worked out

Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def contrast_documents(
    sources: Sources,
    group: str | Group,
    *,
    against: str | Group | None = None,
    model: Encoder | None = None,
    format: str | None = None,
    min_mentions: int = 1,
    weighted: bool = False,
    without_term: bool = False,
    without: Sequence[str] = (),
    matched: bool = False,
    min_ratio: float = 1.0,
    replicates: int = REPLICATES,
    seed: int = 0,
    cache: str | os.PathLike[str] | None = None,
    keep: bool = True,
    keep_going: bool = True,
    n_jobs: int = -1,
    cluster: str | None = None,
) -> Contrast:
    """Contrast the mean encoding of the documents that mention a term with the mean of all.

    Parameters
    ----------
    sources : path or sequence of paths
        Files or folders of documents in any format of `read_corpus`, with coordinates or without.
        They are streamed. Of documents with the same id, the first is used.
    group : str or Group
        A query, see `Query`; or `ByColumn` for documents that have a value in a column.
    against : str or Group, optional
        A second group, to contrast with instead of all documents. Documents in both groups are
        left out.
    model : Encoder, optional
        Model that encodes the documents, by default the one that the package ships.
    format : str, optional
        Format of the sources, by default detected.
    min_mentions : int
        Minimum number of mentions per document of a group.
    weighted : bool
        Whether each document of a group is weighted by its number of mentions.
    without_term : bool
        Whether the terms of the model that the query names are left out of the encoding, with
        their synonyms and the words within their names, so that the map reflects what else the
        documents say.
    without : sequence of str
        Further queries, whose terms are left out as well.
    matched : bool
        Whether to contrast with controls instead of all documents (or of the whole second group):
        documents of the same kind by source, length, species, people and methods. Documents of the
        group that have no control are left out, and counted.
    min_ratio : float
        Effect that a region needs to pass the threshold besides its false-discovery rate: a ratio
        of at least this, or of at most its inverse.
    replicates : int
        Number of replicates of the bootstrap over documents.
    seed : int
        Seed of the bootstrap.
    cache : path, optional
        Folder in which encoded documents are kept, so that the next term takes seconds: vectors
        of terms, an index of words and a compressed copy of the texts. By default the user's cache.
    keep : bool
        Whether to keep them. Otherwise `cache` is the folder for temporary files.
    keep_going : bool
        Whether to use what can be read of files that are damaged; they are an error otherwise.
    n_jobs : int
        Number of cores, −1 for all.
    cluster : str, optional
        Address of a Dask scheduler, to use its workers instead. They have to see `cache`.

    Returns
    -------
    Contrast
        Maps and tables, with intervals and p-values.

    Raises
    ------
    CorpusError
        If nothing can be read, or a group is empty or holds every document.
    QueryError
        If a query cannot be read, or takes too long on a text.

    Warns
    -----
    DataWarning
        If a group is small, if it differs from what it is contrasted with in kind, or if something
        could not be read.

    Notes
    -----
    With q̄ the mean density that the model predicts from the documents of the group, and q̄₀ that of
    all documents, the map is log(½/V + ½ q̄) − log(½/V + ½ q̄₀). Documents without any term that the
    model knows are in neither mean: it can say nothing of them.
    """
    model = load_model() if model is None else model
    _check_options(model, min_ratio)
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    groups = _as_groups(group, against, min_mentions)
    left_out = _columns_left_out(model, groups[0] if without_term else None, without)
    summing = Summing(model, left_out, replicates, seed)
    with hired(n_jobs, cluster) as workers, _place_for(cache, keep) as folder:
        library = open_library(paths, folder, format=format, keep_going=keep_going, workers=workers)
        found = search(library, Search(groups, model.extractor_, left_out), workers)
        hints = list(_check(groups, found))
        compared = compare_groups(groups, found, matched=matched, weighted=weighted, seed=seed)
        hints += compared.hints
        for hint in hints:
            warnings.warn(hint, DataWarning, stacklevel=2)
        summed = _sum_groups(library, compared.found, summing, workers, weighted=weighted)
    about = {
        **_about_documents(library, compared, summed),
        **_about_terms(model, left_out),
        "weighted": weighted,
        "matched": matched,
        "min_ratio": min_ratio,
        "replicates": replicates,
        "seed": seed,
        "sources": [os.fspath(path) for path in paths],
        "problems": [*library.problems, *_unreadable(library, found), *hints],
        "kept_in": str(library.folder) if keep else None,
    }
    return Contrast(
        group=str(groups[0]),
        against=_against(groups, matched=matched),
        partition=model.partition_,
        brain=model.brain_,
        **_means(summed),
        documents=_documents_table(_members(compared.found), weighted=weighted),
        terms=_carrying_terms(model, summed.group, summed.reference),
        kinds=compared.kinds,
        about=about,
    )


# ---- before


def default_cache() -> Path:
    """Return the user's folder in which encoded documents are kept by default."""
    import pooch

    return Path(pooch.os_cache("neurowhere")) / "documents"


@contextmanager
def _place_for(cache: str | os.PathLike[str] | None, keep: bool) -> Iterator[Path]:
    place = None if cache is None else expanded(cache)
    if keep:
        yield place or default_cache()
        return
    if place is not None:
        make_folder(place)
    with tempfile.TemporaryDirectory(prefix="neurowhere-", dir=place) as folder:
        yield Path(folder)


def _check_options(model: Encoder, min_ratio: float) -> None:
    if model.text == "none":
        raise FitError("a model of the mean map knows no terms; give one that was fitted to text")
    if not min_ratio >= 1:
        raise QueryError(f"expected a ratio of at least 1, got {min_ratio}; 1 lets any effect pass")


def _as_groups(group: str | Group, against: str | Group | None, min_mentions: int) -> list[Group]:
    return [
        ByTerm(each, min_mentions) if isinstance(each, str) else each
        for each in (group, against)
        if each is not None
    ]


def _columns_left_out(model: Encoder, group: Group | None, without: Sequence[str]) -> Ints:
    """Columns of the terms that the queries name: by the term, a synonym or its initials."""
    queries = [Query(text) for text in without]
    if isinstance(group, ByTerm):
        queries.append(group.query)
    terms = list(model.extractor_.terms)
    names = [*terms, *model.vocabulary_.synonyms]
    places = {term: column for column, term in enumerate(terms)}
    columns = [*range(len(terms)), *(places[t] for t in model.vocabulary_.synonyms.values())]
    named = {
        columns[row] for query in queries for row in np.flatnonzero(query.names(names)).tolist()
    }
    initials = ("".join(word[0] for word in terms[column].split()) for column in named)
    named |= {places[short] for short in initials if len(short) > 1 and short in places}
    return np.array(sorted(named), dtype=np.intp)


def _columns_within(model: Encoder, left_out: Ints) -> Ints:
    """Columns of the words that are not counted within the names that are left out."""
    if not model.extractor_.nested:
        return np.empty(0, np.intp)
    within = np.unique(model.extractor_.within[left_out].indices)
    return np.setdiff1d(within, left_out)


def _names(model: Encoder, columns: Ints) -> list[str]:
    return [model.extractor_.terms[column] for column in columns]


def _check(groups: Sequence[Group], found: Sequence[Found]) -> Iterator[str]:
    """Refuse groups that cannot be compared; say which are small."""
    n_known = sum(len(each.known) for each in found)
    if n_known < 2:
        raise CorpusError(
            f"expected at least two documents with a term that the model knows, got {n_known}; "
            "give more documents, or a model of their field"
        )
    for number, (group, inside) in enumerate(zip(groups, _members(found), strict=True)):
        silent = sum(each.silent[number] for each in found)
        if not inside:
            but = f" (but for {silent:,} without any term that the model knows)" * (silent > 0)
            raise CorpusError(
                f"expected documents that {group}, but none of the {n_known:,} does{but}; "
                f"{group.advice(found[0].shard)}"
            )
        if len(groups) == 1 and len(inside) == n_known:
            raise CorpusError(
                f"all {n_known:,} documents {group}, so that nothing is left to contrast with; "
                "give more documents, or ask for more mentions"
            )
        if len(inside) < FEW:
            yield f"documents that {group}: only {len(inside)}; take the map as a hint"


def _members(found: Sequence[Found]) -> list[list[Member]]:
    """Members of each group, over all shards."""
    return [[m for each in found for m in each.groups[g]] for g in range(len(found[0].groups))]


def _against(groups: Sequence[Group], *, matched: bool) -> str:
    """Name what a group is contrasted with; "" for all documents."""
    said = [str(group) for group in groups[1:]] + ["are of the same kind"] * matched
    return " and ".join(said)


# ---- sums


class _Summed(NamedTuple):
    """Sums over the group, and over what it is contrasted with."""

    group: Sums
    reference: Sums
    is_second_group: bool

    @property
    def population(self) -> Sums:
        """Sums over all documents that are compared."""
        return self.group + self.reference if self.is_second_group else self.reference


def _sum_groups(
    library: Library, found: Sequence[Found], summing: Summing, workers: Workers, *, weighted: bool
) -> _Summed:
    """Encode and sum the documents of the group, and of the second one or of all."""
    first, *second = (
        sum_documents(summing, _rows_of(found, number, weighted), workers)
        for number in range(len(found[0].groups))
    )
    reference = second[0] if second else sum_all(library, found, summing, workers)
    return _Summed(first, reference, bool(second))


def _rows_of(found: Sequence[Found], group: int, weighted: bool) -> list[Rows]:
    return [each.rows_of(group, weighted=weighted) for each in found if each.groups[group]]


def sum_all(library: Library, found: Sequence[Found], summing: Summing, workers: Workers) -> Sums:
    """Sum over all documents; kept, because they are the same for every term.

    Only documents with a term that is left out are encoded anew.
    """
    plain = Summing(summing.model, np.empty(0, np.intp), summing.replicates, summing.seed)
    # Without left-out terms, a document is known if it is now, or has one of them.
    known = [Rows(each.shard, np.union1d(each.known, each.changed)) for each in found]
    total = kept_sums(library.folder, plain, known, workers)
    touched = [each for each in found if len(each.changed)]
    if not touched:
        return total
    before = [Rows(each.shard, each.changed) for each in touched]
    after = [Rows(each.shard, np.intersect1d(each.known, each.changed)) for each in touched]
    return total - sum_documents(plain, before, workers) + sum_documents(summing, after, workers)


def _means(summed: _Summed) -> dict[str, Any]:
    """Return the part of a `Contrast` that sums give: means, replicates, sizes and null."""
    group, reference = summed.group, summed.reference
    second = reference if summed.is_second_group else None
    return {
        "probabilities": group.mean,
        "reference": reference.mean,
        "group_replicates": group.replicate_means,
        "reference_replicates": reference.replicate_means,
        "sizes": (group.size, reference.size),
        "null": permutation_null(group, second, summed.population),
    }


# ---- what was done


def _about_documents(library: Library, compared: Compared, summed: _Summed) -> dict[str, Any]:
    second = summed.reference.documents if summed.is_second_group else None
    return {
        "documents": library.n_documents,
        "documents_with_known_terms": summed.population.documents,
        "documents_in_group": summed.group.documents,
        "documents_in_second_group": second,
        "documents_in_both": sum(each.in_both for each in compared.found),
        "documents_without_a_control": compared.alone,
        "candidates_for_controls": compared.candidates,
    }


def _about_terms(model: Encoder, left_out: Ints) -> dict[str, list[str]]:
    return {
        "terms_left_out": _names(model, left_out),
        "words_left_out_with_them": _names(model, _columns_within(model, left_out)),
    }


def _unreadable(library: Library, found: Sequence[Found]) -> list[str]:
    readable = {each.shard.name for each in found}
    names = [shard.name for shard in library.shards if shard.name not in readable]
    count = f"{len(names):,} of {len(library.shards):,}"
    return [f"skipped {count} shards, damaged: {', '.join(names)}"] if names else []


# ---- tables


def _documents_table(groups: Sequence[Sequence[Member]], *, weighted: bool) -> pd.DataFrame:
    """Table of the documents of groups, numbered from 1, the most mentions first."""
    rows = [
        {
            "group": number,
            "id": member.about["id"],
            "title": member.about["title"],
            "mentions": member.mentions,
            "weight": member.weigh(weighted),
            **{key: value for key, value in member.about.items() if key not in ("id", "title")},
        }
        for number, members in enumerate(groups, start=1)
        for member in members
    ]
    table = pd.DataFrame(rows)
    return table.sort_values(
        ["group", "mentions"], ascending=[True, False], kind="stable", ignore_index=True
    )


def _carrying_terms(model: Encoder, group: Sums, reference: Sums) -> pd.DataFrame:
    """Find the terms that carry a contrast, as a table, see `Contrast.terms`.

    From the mean features of the group, the mean text, one term at a time is put back to what it
    is in the reference. How much of the predicted probability that moves is the term's part.
    """
    mean, usual = group.features / group.weights[0], reference.features / reference.weights[0]
    order = np.argsort(-np.abs(mean - usual), kind="stable")
    candidates = order[: min(N_TERMS, np.count_nonzero(mean != usual))]
    texts = np.tile(mean, (len(candidates) + 1, 1))  # the last one is not changed
    texts[np.arange(len(candidates)), candidates] = usual[candidates]
    predicted = model.predict_features(sparse.csr_matrix(texts, dtype=np.float32))
    gain = predicted[-1] - predicted[:-1]  # (n_candidates, m): what the term adds
    density = gain / model.partition_.volumes_mm3
    places = model.partition_.centers_mm[density.argmax(axis=1)]
    table = {
        "term": [model.extractor_.terms[column] for column in candidates],
        "share": group.presence[candidates] / group.weights[0],
        "share_reference": reference.presence[candidates] / reference.weights[0],
        "moves": np.abs(gain).sum(axis=1) / 2,
        **dict(zip(XYZ, places.T, strict=True)),
    }
    return pd.DataFrame(table).sort_values(
        "moves", ascending=False, kind="stable", ignore_index=True
    )
