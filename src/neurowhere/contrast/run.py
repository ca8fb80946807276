"""From sources to a contrast: documents cut, searched, encoded, summed and compared."""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from neurowhere._tools.files import expanded
from neurowhere._tools.progress import track
from neurowhere.contrast.arrays import read_arrays, write_arrays
from neurowhere.contrast.contrast import Contrast, carrying_terms, documents_table
from neurowhere.contrast.library import Library, make_folder, open_library
from neurowhere.contrast.null import permutation_null
from neurowhere.contrast.query import Query
from neurowhere.contrast.selection import ByTerm, Found, Group, Member, Search, search
from neurowhere.contrast.shard import KEY_LENGTH, extractor_key
from neurowhere.contrast.sums import Rows, Summing, Sums, sum_rows
from neurowhere.contrast.words import Ints
from neurowhere.contrast.workers import Workers, hired
from neurowhere.exceptions import CorpusError, DataWarning, FitError
from neurowhere.model.encoder import Encoder
from neurowhere.model.store import load_model

REPLICATES = 200
FEW = 20  # documents, below which a map is a hint
TASK_DOCUMENTS = 4096  # summed by one worker before it reports

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
    replicates: int = REPLICATES,
    seed: int = 0,
    cache: str | os.PathLike[str] | None = None,
    keep: bool = True,
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
        A second group, to contrast with instead of all documents. Documents in both are left out.
    model : Encoder, optional
        By default the one that the package ships.
    format : str, optional
        Of the sources; by default it is detected.
    min_mentions : int
        Mentions that a document needs to be in a group.
    weighted : bool
        Whether a document of a group weighs as much as it has mentions.
    without_term : bool
        Whether the terms of the model that the query names are left out of the encoding, with
        their synonyms, so that the map comes from what else the documents say.
    without : sequence of str
        Further queries, whose terms are left out as well.
    replicates : int
        Of the bootstrap over documents.
    seed : int
        Of the bootstrap.
    cache : path, optional
        Folder for what is kept of the documents, so that the next term costs seconds: vectors of
        terms, an index of words and a compressed copy of the texts. By default the user's cache.
    keep : bool
        False keeps nothing; then `cache` is where temporary files go.
    n_jobs : int
        Cores to use, −1 for all.
    cluster : str, optional
        Address of a Dask scheduler, to use its workers instead; they have to see `cache`.

    Returns
    -------
    Contrast

    Notes
    -----
    With q̄ the mean density that the model predicts from the documents of the group, and q̄₀ that of
    all documents, the map is log(½/V + ½ q̄) − log(½/V + ½ q̄₀). Documents without any term that the
    model knows are in neither mean: it can say nothing of them.
    """
    model = load_model() if model is None else model
    if model.text == "none":
        raise FitError("a model of the mean map knows no terms; give one that was fitted to text")
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    wanted = [
        ByTerm(each, min_mentions) if isinstance(each, str) else each
        for each in (group, against)
        if each is not None
    ]
    left_out = _columns_left_out(model, wanted[0] if without_term else None, without)
    summing = Summing(model, left_out, replicates, seed)
    with hired(n_jobs, cluster) as workers, _place_for(cache, keep) as folder:
        library = open_library(paths, folder, format=format, workers=workers)
        found = search(library, Search(wanted, model.extractor_, left_out), workers)
        members = [[m for each in found for m in each.groups[g]] for g in range(len(wanted))]
        hints = list(_check(wanted, members, found))
        for hint in hints:
            warnings.warn(hint, DataWarning, stacklevel=2)
        sums = [
            _sum(summing, [f.rows_of(g, weighted=weighted) for f in found if f.groups[g]], workers)
            for g in range(len(wanted))
        ]
        reference = sums[1] if len(sums) == 2 else sum_all(library, found, summing, workers)
    population = reference if against is None else sums[0] + reference
    null = permutation_null(sums[0], None if against is None else reference, population)
    return Contrast(
        group=str(wanted[0]),
        against="" if against is None else str(wanted[1]),
        partition=model.partition_,
        brain=model.brain_,
        probabilities=sums[0].mean,
        reference=reference.mean,
        group_replicates=sums[0].replicate_means,
        reference_replicates=reference.replicate_means,
        null=null,
        documents=documents_table(members, weighted=weighted),
        terms=carrying_terms(model, sums[0], reference),
        about={
            "documents": library.n_documents,
            "documents_with_known_terms": population.documents,
            "documents_in_group": sums[0].documents,
            "documents_in_second_group": None if against is None else reference.documents,
            "documents_in_both": sum(each.in_both for each in found),
            "terms_left_out": [model.extractor_.terms[column] for column in left_out],
            "weighted": weighted,
            "replicates": replicates,
            "seed": seed,
            "sources": [os.fspath(path) for path in paths],
            "problems": [*library.problems, *_unreadable(library, found), *hints],
            "kept_in": str(library.folder) if keep else None,
        },
    )


# ---- before


def default_cache() -> Path:
    """Folder of the user's, where encoded documents are kept."""
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


def _check(
    groups: Sequence[Group], members: Sequence[Sequence[Member]], found: Sequence[Found]
) -> Iterator[str]:
    """Refuse groups that cannot be compared; say which are small."""
    n_known = sum(len(each.known) for each in found)
    if n_known < 2:
        raise CorpusError(
            f"expected at least two documents with a term that the model knows, got {n_known}; "
            "give more documents, or a model of their field"
        )
    for number, (group, inside) in enumerate(zip(groups, members, strict=True)):
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


def _unreadable(library: Library, found: Sequence[Found]) -> list[str]:
    readable = {each.shard.name for each in found}
    names = [shard.name for shard in library.shards if shard.name not in readable]
    count = f"{len(names):,} of {len(library.shards):,}"
    return [f"skipped {count} shards, damaged: {', '.join(names)}"] if names else []


# ---- sums


def _sum(summing: Summing, rows: Sequence[Rows], workers: Workers) -> Sums:
    calls = [(summing, task) for task in _tasks(rows)]
    total = summing.nothing()
    for part in track(workers.run(sum_rows, calls), "encoding", len(calls)):
        total = total + part
    return total


def _tasks(rows: Sequence[Rows]) -> Iterator[list[Rows]]:
    task: list[Rows] = []
    for each in rows:
        task.append(each)
        if sum(len(part.rows) for part in task) >= TASK_DOCUMENTS:
            yield task
            task = []
    if task:
        yield task


def sum_all(library: Library, found: Sequence[Found], summing: Summing, workers: Workers) -> Sums:
    """Sum over all documents; kept, because they are the same for every term.

    Only documents with a term that is left out are encoded anew.
    """
    plain = Summing(summing.model, np.empty(0, np.intp), summing.replicates, summing.seed)
    # Without left-out terms, a document is known if it is now, or has one of them.
    known = [Rows(each.shard, np.union1d(each.known, each.changed)) for each in found]
    total = _kept_sums(
        library.folder / f"sums-{_sums_key(plain, found)}.npz", plain, known, workers
    )
    changed = [Rows(each.shard, each.changed) for each in found if len(each.changed)]
    if not changed:
        return total
    still = [
        Rows(each.shard, np.intersect1d(each.known, each.changed))
        for each in found
        if len(each.changed)
    ]
    return total - _sum(plain, changed, workers) + _sum(summing, still, workers)


def _kept_sums(path: Path, summing: Summing, rows: Sequence[Rows], workers: Workers) -> Sums:
    try:
        arrays = read_arrays(path)
        documents = int(arrays.pop("documents"))
        return Sums(documents, **arrays)
    except (CorpusError, TypeError, KeyError):
        total = _sum(summing, rows, workers)
        write_arrays(path, {name: np.asarray(value) for name, value in vars(total).items()})
        return total


def _sums_key(summing: Summing, found: Sequence[Found]) -> str:
    """Short fingerprint of a model, of the bootstrap and of the shards that are summed."""
    model = summing.model
    digest = hashlib.sha256(extractor_key(model.extractor_).encode())
    digest.update(repr([summing.replicates, summing.seed, [f.shard.name for f in found]]).encode())
    for array in (model.weighting_.idf_, *model.predictor_.to_arrays().values()):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:KEY_LENGTH]
