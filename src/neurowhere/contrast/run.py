"""From sources to contrasts: documents cut, searched, encoded, fitted and tested."""

import functools
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse, stats

from neurowhere._tools.files import expanded
from neurowhere._tools.parallel import Workers, hired, track
from neurowhere.contrast.background import (
    Background,
    Chance,
    Design,
    Responses,
    find_background,
    find_chance,
    fit_groups_of,
    rows_of,
    sum_documents,
)
from neurowhere.contrast.contrast import Contrast, Effects, correct_together
from neurowhere.contrast.controls import with_controls
from neurowhere.contrast.covariates import compare_kinds, kinds_named
from neurowhere.contrast.library import Library, make_folder, open_library
from neurowhere.contrast.query import Ints, Query
from neurowhere.contrast.regression import PRIOR, half_width, t_tests
from neurowhere.contrast.selection import (
    FEW,
    ByColumn,
    ByTerm,
    Found,
    Group,
    Selected,
    check,
    search,
    select,
)
from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import CorpusError, DataWarning, FitError, QueryError
from neurowhere.model.encoder import Encoder
from neurowhere.model.store import load_model
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.geometry import overlap_mm3

Array = NDArray[np.floating]

N_TERMS = 200  # whose part in the contrast is worked out
LEAST_EXPECTED = 0.1  # of the mean of all documents; a regression may go below zero
LEAST_OWN = 0.05  # of a group, that its kind does not explain
NO_CHANCE = {"placeless_words": 0, "chance_regions": None, "chance_voxels": None}

Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


# The overloads leave the options to the implementation, which mypy does not take for granted.
@overload
def contrast_documents(
    sources: Sources, group: list[str] | list[Group], **options: Any
) -> list[Contrast]: ...


@overload
def contrast_documents(sources: Sources, group: str | Group, **options: Any) -> Contrast: ...


def contrast_documents(  # type: ignore[misc]
    sources: Sources,
    group: str | Group | list[str] | list[Group],
    *,
    against: str | Group | None = None,
    model: Encoder | None = None,
    atlas: Atlas | None = None,
    format: str | None = None,
    min_mentions: int = 1,
    weighted: bool = False,
    unadjusted: bool = False,
    matched: bool = False,
    without_term: bool = False,
    without: Sequence[str] = (),
    min_ratio: float = 1.0,
    cache: str | os.PathLike[str] | None = None,
    keep: bool = True,
    keep_going: bool = True,
    n_jobs: int = -1,
    cluster: str | None = None,
) -> Contrast | list[Contrast]:
    """Contrast the documents about a term with what is expected of documents of their kind.

    Parameters
    ----------
    sources : path or sequence of paths
        Files or folders of documents in any format of `read_corpus`, with coordinates or without.
        They are streamed. Of documents with the same id, the first is used.
    group : str or Group, or list of them
        A query, see `Query`; or `ByColumn` for documents that have a value in a column. Documents
        are about a term if title, abstract or keywords mention it, or the first 300 words of a text
        without these parts. The term itself is left out of the encoding, with its synonyms. The
        groups of a list are corrected together; one that cannot be contrasted is left out, with a
        warning.
    against : str or Group, optional
        A second group, to contrast with instead of all documents. Documents in both groups are
        left out.
    model : Encoder, optional
        Model that encodes the documents, by default the one that the package ships.
    atlas : Atlas, optional
        Names the regions that are tested, by default AAL3.
    format : str, optional
        Format of the sources, by default detected.
    min_mentions : int
        Minimum number of mentions per document of a group.
    weighted : bool
        Whether each document of a group is weighted by its number of mentions.
    unadjusted : bool
        Whether to contrast all documents that mention the term with all documents, whatever their
        kind, as the paper does.
    matched : bool
        Whether to contrast with the nearest documents of the same kind instead of adjusting by
        regression. Documents of the group that have no control are left out, and counted.
    without_term : bool
        Whether to leave the term out of the encoding of an unadjusted contrast, too.
    without : sequence of str
        Further queries, whose terms are left out as well.
    min_ratio : float
        Effect that a region needs to pass the threshold besides its false-discovery rate: a ratio
        of at least this, or of at most its inverse.
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
    Contrast, or list of Contrast for a list
        Maps and tables, with intervals, p-values and q-values.

    Raises
    ------
    CorpusError
        If nothing can be read, a group is empty or holds every document, or its kind says all.
    QueryError
        If a query cannot be read, or takes too long on a text.

    Warns
    -----
    DataWarning
        If a group is small, or if something could not be read.

    Notes
    -----
    docs/contrast.md gives the statistics, and `neurowhere.contrast.regression` computes them.
    """
    model = load_model() if model is None else model
    how = How(
        model,
        default_atlas() if atlas is None else atlas,
        weighted=weighted,
        unadjusted=unadjusted,
        matched=matched,
        masked=without_term or not unadjusted,
        without=tuple(without),
        min_ratio=min_ratio,
    )
    paths = _listed(sources)
    wanted = [_as_groups(each, against, min_mentions) for each in _listed(group)]
    with hired(n_jobs, cluster) as workers, _place_for(cache, keep) as folder:
        library = open_library(paths, folder, format=format, keep_going=keep_going, workers=workers)
        results, problems = Study(how, library, workers).contrast_all(wanted)
    about = {
        "sources": [os.fspath(path) for path in paths],
        "kept_in": str(library.folder) if keep else None,
        "not_contrasted": problems,
    }
    results = [replace(each, about=each.about | about) for each in correct_together(results)]
    return results if isinstance(group, list) else results[0]


@dataclass(frozen=True, eq=False)
class How:
    """How groups are contrasted: see the parameters of `contrast_documents`."""

    model: Encoder
    atlas: Atlas
    weighted: bool
    unadjusted: bool
    matched: bool
    masked: bool
    without: tuple[str, ...]
    min_ratio: float

    def __post_init__(self) -> None:
        if self.model.text == "none":
            raise FitError(
                "a model of the mean map knows no terms; give one that was fitted to text"
            )
        if not self.min_ratio >= 1:
            raise QueryError(
                f"expected a ratio of at least 1, got {self.min_ratio}; 1 lets any effect pass"
            )
        if self.unadjusted and self.matched:
            raise QueryError("expected matched or unadjusted, got both; give one of them")

    @property
    def adjusted(self) -> bool:
        """Whether the kind of document is adjusted for by regression."""
        return not (self.unadjusted or self.matched)

    @cached_property
    def plain(self) -> Responses:
        """How documents are encoded, with nothing left out."""
        partition = self.model.partition_
        shared_mm3 = overlap_mm3(self.atlas, partition).T  # (m, n_regions)
        shares = sparse.csr_matrix(sparse.diags(1 / partition.volumes_mm3) @ shared_mm3)
        return Responses(self.model, shares.astype(np.float32), np.empty(0, np.intp))


# ---- one contrast after the other


class Study:
    """Contrasts of the documents of a library; what they share is worked out with the first."""

    def __init__(self, how: How, library: Library, workers: Workers) -> None:
        self.how, self.library, self.workers = how, library, workers
        self.background: Background | None = None
        self.chance: Chance | None = None

    def contrast_all(self, wanted: Sequence[list[Group]]) -> tuple[list[Contrast], list[str]]:
        """Contrast several groups; say why some of them cannot be contrasted, unless none can."""
        results, problems = [], []
        for groups in track(wanted, "contrasting"):
            try:
                results.append(self.contrast(groups))
            except CorpusError as error:
                if len(wanted) == 1:
                    raise
                problems.append(str(error))
                warnings.warn(str(error), DataWarning, stacklevel=3)
        if not results:
            raise CorpusError(problems[-1])
        return results, problems

    def contrast(self, groups: list[Group]) -> Contrast:
        """Select documents, encode and fit them, test what differs, and sum it up."""
        how, model = self.how, self.how.model
        left_out = columns_left_out(model, groups if how.masked else (), how.without)
        found = search(self.library, groups, model.extractor_, left_out, self.workers)
        background = self._background(found)
        covariates, named = background.covariates, kinds_named(groups)
        selected = select(found, unadjusted=how.unadjusted, weighted=how.weighted)
        hints = list(check(selected, groups, found, background.n_documents))
        if how.matched:
            selected = with_controls(selected, covariates, named)
        for hint in hints:
            warnings.warn(hint, DataWarning, stacklevel=4)
        fit = self._fit(background, selected, found, left_out, named)
        m = model.partition_.n_regions
        tested = all(np.count_nonzero(each) >= FEW for each in selected.weights)
        voxels, by_region = (
            _effects(fit, background.usual, part, tested) for part in (slice(m), slice(m, None))
        )
        first, second = selected.first, selected.second
        reference = np.ones(len(first)) if second is None else second
        said = [str(group) if how.unadjusted else group.about_words for group in groups]
        return Contrast(
            group=said[0],
            against=" and ".join([*said[1:], *["are of the same kind"] * how.matched]),
            partition=model.partition_,
            brain=model.brain_,
            atlas=how.atlas,
            voxels=voxels,
            by_region=by_region,
            documents=_documents_table(found, selected),
            terms=_carrying_terms(model, fit, 2 * len(background.usual)),
            kinds=compare_kinds(covariates, first, reference, named),
            about={
                "documents": self.library.n_documents,
                "documents_with_known_terms": background.n_documents,
                **selected.counts(),
                "degrees_of_freedom": round(float(fit.n) + PRIOR - 1, 1),
                "covariates": fit.n_covariates,
                "tested": tested,
                **(NO_CHANCE if self.chance is None else self.chance.about()),
                **_left_out(model, left_out),
                "weighted": how.weighted,
                "unadjusted": how.unadjusted,
                "matched": how.matched,
                "min_ratio": how.min_ratio,
                "problems": [*self.library.problems, *_unreadable(self.library, found), *hints],
            },
            model=model.summary(),
        )

    def _background(self, found: Sequence[Found]) -> Background:
        n = sum(len(each.rows) for each in found)
        if n < 2:
            raise CorpusError(
                f"expected at least two documents with a term that the model knows, got {n}; give "
                "more documents, or a model of their field"
            )
        if self.background is None:
            folder = self.library.folder
            self.background = find_background(folder, found, self.how.plain, self.workers)
        return self.background

    def _fit(
        self,
        background: Background,
        selected: Selected,
        found: Sequence[Found],
        left_out: Ints,
        named: Sequence[str],
    ) -> "_Fit":
        """Regress on a group, and calibrate its variance, see `regression`.

        A second group is contrasted with by one more covariate, the union of both: what the first
        then adds is the difference of the two.
        """
        how, workers = self.how, self.workers
        names, g = background.covariates.names, selected.first
        columns = list(range(len(names))) if how.adjusted else [0]
        used = [column for column in columns if names[column] not in named]
        relative = replace(how.plain, usual=background.usual)
        masked = replace(relative, left_out=left_out)
        if self.chance is None and not how.matched:
            self.chance = find_chance(
                self.library.folder,
                background,
                columns,
                relative,
                workers,
                calibrated=how.adjusted,
            )
        design = masked_design(background, used, found, relative, masked, workers)
        active = g[:, None] > 0
        if selected.second is not None:
            union = (g + selected.second)[:, None]
            active = union > 0
            rows = rows_of(background.found, union, union[:, :0], active=active[:, 0])
            cross, _ = sum_documents(masked, rows, workers, "encoding the groups")
            design = Design(
                np.hstack([design.values, union]), np.vstack([design.cross, cross]), design.square
            )
        group = sparse.csc_matrix(g[:, None])
        fits, total = fit_groups_of(
            design, background.found, group, masked, workers, adjusted=how.adjusted, active=active
        )
        s, n, weight = float(fits.s[0]), float(fits.n[0]), g.sum()
        if s < LEAST_OWN * (g**2).sum():
            raise CorpusError(
                "the group cannot be told from its kind of document: source, length, species and "
                "methods predict who is in it; contrast it with --unadjusted, or with a second "
                "group"
            )
        scale = s / weight if selected.second is None else 1.0
        observed, effect, variance = total[0] / weight, fits.effect[0], fits.variance[0]
        if self.chance is not None:
            variance = self.chance.factor * (variance + self.chance.extra)
        return _Fit(observed, observed - scale * effect, effect, variance, scale, n, len(used) - 1)


class _Fit(NamedTuple):
    """Mean responses of a group, what is expected of them, and the effects.

    The difference of the first two is the effect times `scale`.
    """

    observed: Array
    expected: Array
    effect: Array
    variance: Array
    scale: float
    n: float
    n_covariates: int


def _effects(fit: _Fit, usual: Array, part: slice, tested: bool) -> Effects:
    """Take the logarithms' t, and what is observed and expected in probability, of some regions."""
    m = len(usual)
    n = np.array([fit.n])
    q, (logs, relative) = usual[part], np.arange(2 * m).reshape(2, m)[:, part]
    t, p_values = t_tests(fit.effect[None, logs], fit.variance[None, logs], n)
    nothing = np.full_like(t[0], np.nan)
    half = half_width(fit.variance[None, relative], n)[0] * fit.scale * q
    return Effects(
        fit.observed[relative] * q,
        np.maximum(fit.expected[relative], LEAST_EXPECTED) * q,
        half if tested else nothing,
        t[0] if tested else nothing,
        p_values[0] if tested else nothing,
        stats.false_discovery_control(p_values[0]) if tested else nothing,
    )


def masked_design(
    background: Background,
    columns: Sequence[int],
    found: Sequence[Found],
    plain: Responses,
    masked: Responses,
    workers: Workers,
) -> Design:
    """Return the regression as if no document had the terms that are left out."""
    design = background.design(columns)
    changed = np.concatenate([each.changed for each in found])
    if not changed.any():
        return design
    nothing = np.empty((len(changed), 0))
    rows = rows_of(background.found, design.values, nothing, active=changed)
    (before, _), (after, _) = (
        sum_documents(each, rows, workers, "leaving the term out") for each in (plain, masked)
    )
    return replace(design, cross=design.cross - before + after)


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


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | os.PathLike | ByTerm | ByColumn) else list(given)


def _as_groups(group: str | Group, against: str | Group | None, min_mentions: int) -> list[Group]:
    return [
        ByTerm(each, min_mentions) if isinstance(each, str) else each
        for each in (group, against)
        if each is not None
    ]


def columns_left_out(model: Encoder, groups: Sequence[Group], without: Sequence[str]) -> Ints:
    """Columns of the terms that the queries name, by the term or by a synonym.

    Initials need no rule: those that a text defines are counted as what they stand for.
    """
    queries = [Query(text) for text in without]
    queries += [group.query for group in groups if isinstance(group, ByTerm)]
    terms = list(model.extractor_.terms)
    names = [*terms, *model.vocabulary_.synonyms]
    places = {term: column for column, term in enumerate(terms)}
    columns = [*range(len(terms)), *(places[t] for t in model.vocabulary_.synonyms.values())]
    named = {
        columns[row] for query in queries for row in np.flatnonzero(query.names(names)).tolist()
    }
    return np.array(sorted(named), dtype=np.intp)


def _left_out(model: Encoder, columns: Ints) -> dict[str, list[str]]:
    """Name the terms in some columns, and the words within them, which are not counted either."""
    extractor, within = model.extractor_, np.empty(0, np.intp)
    if extractor.nested:
        within = np.setdiff1d(np.unique(extractor.within[columns].indices), columns)
    return {
        "terms_left_out": [extractor.terms[column] for column in columns],
        "words_left_out_with_them": [extractor.terms[column] for column in within],
    }


def _unreadable(library: Library, found: Sequence[Found]) -> list[str]:
    readable = {each.shard.name for each in found}
    names = [shard.name for shard in library.shards if shard.name not in readable]
    count = f"{len(names):,} of {len(library.shards):,}"
    return [f"skipped {count} shards, damaged: {', '.join(names)}"] if names else []


# ---- tables


def _documents_table(found: Sequence[Found], selected: Selected) -> pd.DataFrame:
    """Table of the documents of groups, numbered from 1, the most mentions first."""
    places = [(number, int(row)) for number, each in enumerate(found) for row in each.rows]
    read = functools.cache(lambda number: found[number].shard.table())
    rows: list[dict[str, Any]] = []
    for number, weights in enumerate(selected.weights):
        for place in np.flatnonzero(weights).tolist():
            shard, row = places[place]
            about = dict(found[shard].table.get(row) or read(shard)[row])
            own = number < len(selected.mentions)  # controls have no query of their own
            mentions = selected.mentions[number if own else 0, place]
            rows.append(
                {
                    "group": number + 1,
                    "id": about.pop("id"),
                    "title": about.pop("title"),
                    "mentions": int(mentions),
                    "weight": float(weights[place]),
                    **about,
                }
            )
    return pd.DataFrame(rows).sort_values(
        ["group", "mentions"], ascending=[True, False], kind="stable", ignore_index=True
    )


def _carrying_terms(model: Encoder, fit: _Fit, start: int) -> pd.DataFrame:
    """Find the terms that carry a contrast, as a table, see `Contrast.terms`.

    From the mean features of the group, the mean text, one term at a time is put back to what is
    expected. How much of the predicted probability that moves is the term's part.
    """
    mean, share = np.split(fit.observed[start:], 2)
    usual, usual_share = np.maximum(np.split(fit.expected[start:], 2), 0.0)
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
        "share": share[candidates],
        "share_reference": usual_share[candidates],
        "moves": np.abs(gain).sum(axis=1) / 2,
        **dict(zip(XYZ, places.T, strict=True)),
    }
    return pd.DataFrame(table).sort_values(
        "moves", ascending=False, kind="stable", ignore_index=True
    )
