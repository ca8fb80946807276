"""One entry on one fold of the open benchmark: fitted, asked, and scored by every metric."""

import time
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.entries import Entry
from neurowhere.evaluate.metrics import (
    CHUNK,
    as_densities,
    combine,
    correlations,
    likelihood_matrix,
    overlaps,
    recalls,
    share_held,
    term_scores,
    without_hubs,
)
from neurowhere.evaluate.protocol import POOL, Protocol, Rows
from neurowhere.exceptions import FitError
from neurowhere.learn import peak_levels, score_studies

SHARES = (0.5, 0.8, 0.95)
DECIMALS = 5  # of scores of retrieval: what is equal but for rounding is equal


def run_entry(setting: Protocol, model: Entry, fold: int) -> dict[str, Any]:
    """Fit an entry on the training studies of a fold, and score it on the others.

    Parameters
    ----------
    setting : Protocol
    model : Entry
    fold : int

    Returns
    -------
    dict
        In JSON values: for each kind of text its metrics, and the scores of each study.
    """
    train, test = setting.split(fold)
    seconds = _fit(model, setting.corpus.select(train))
    mean_map = setting.mean_map(train)
    kinds = {}
    for kind in setting.kinds:
        rows = _tested(setting, model, test, kind)
        if kind in getattr(model, "kinds", setting.kinds) and len(rows):
            kinds[kind] = _score_kind(setting, model, rows, kind, mean_map)
    if not kinds:
        raise FitError(
            f"{model.name} has seen all {len(test):,} test studies of fold {fold} in training, or "
            "has no map of them; fit it to the training studies of each fold"
        )
    return {
        "entry": model.name,
        "fold": fold,
        "fit_seconds": seconds,
        "megabytes": _megabytes(model),
        "kinds": kinds,
        **(
            {}
            if hasattr(model, "known")
            else {"terms": _score_terms(setting, model, test, mean_map)}
        ),
    }


def _fit(model: Entry, train: Corpus) -> float | None:
    """Fit a model that can be fitted; return the seconds."""
    fit = getattr(model, "fit", None)
    if fit is None:
        return None
    start = time.perf_counter()
    fit(train)
    return round(time.perf_counter() - start, 3)


def _tested(setting: Protocol, model: Entry, test: Rows, kind: str) -> Rows:
    """Return the test studies that have such a text and that the model has not seen."""
    seen: Collection[str] = getattr(model, "trained_on", ())
    known: Collection[str] | None = getattr(model, "known", None)
    ids = setting.ids[test].tolist()
    usable = [name not in seen and (known is None or name in known) for name in ids]
    rows: Rows = test[np.array(usable, dtype=bool)]
    kept: Rows = rows[setting.has_kind(rows, kind)]
    return kept


def _score_kind(
    setting: Protocol, model: Entry, rows: Rows, kind: str, mean_map: NDArray[np.floating]
) -> dict[str, Any]:
    given = setting.given(rows, kind)
    start = time.perf_counter()
    maps = _predict(model, given, setting.grid.n_regions)
    seconds = (time.perf_counter() - start) / len(rows)
    densities, peaks = as_densities(maps), setting.peaks(rows)
    scale = np.full(setting.grid.n_regions, float(setting.grid.n_regions))
    nats = score_studies([densities], peaks, scale)
    same = np.broadcast_to(mean_map / mean_map.sum(), densities.shape)
    mean_nats = score_studies([same], peaks, scale)
    truth = setting.targets.rows(rows)  # (n, m)
    pearson, dice = correlations(maps, truth), overlaps(maps, truth)
    levels = peak_levels(densities, densities, peaks.study, peaks.region)
    metrics = {
        "studies": len(rows),
        "nats": nats.mean(),
        "nats_above_mean_map": (nats - mean_nats).mean(),
        **_coverage(model, given, levels, peaks.study),
        **_retrieval(setting, rows[:POOL], densities[:POOL], mean_map),
        "pearson": pearson.mean(),
        "dice": dice.mean(),
        "milliseconds": 1000 * seconds,
    }
    return {
        "metrics": {name: _plain(value) for name, value in metrics.items()},
        "studies": {
            "id": setting.ids[rows].tolist(),
            "nats": nats.round(6).tolist(),
            "pearson": pearson.round(6).tolist(),
            "dice": dice.round(6).tolist(),
        },
    }


def _predict(model: Entry, given: Corpus, n_voxels: int) -> NDArray[np.floating]:
    maps = np.asarray(model.predict(given))
    if maps.shape != (len(given), n_voxels):
        raise FitError(
            f"expected maps of shape ({len(given):,}, {n_voxels:,}) from {model.name}, got "
            f"{maps.shape}; predict on the grid of the benchmark"
        )
    return maps


def _coverage(
    model: Entry, given: Corpus, levels: NDArray[np.float64], study: NDArray[np.integer]
) -> dict[str, float]:
    """Share of the peaks in regions that should hold a share of them."""
    asked = getattr(model, "masses", None)
    table = {}
    for share in SHARES:
        masses = np.full(len(given), share) if asked is None else np.asarray(asked(given, share))
        table[f"coverage_{round(100 * share)}"] = share_held(levels, study, masses)
    return table


def _retrieval(
    setting: Protocol, rows: Rows, densities: NDArray[np.float32], mean_map: NDArray[np.floating]
) -> dict[str, float]:
    """Recall from one query alone, and from all queries at once."""
    scores = _gains(setting, rows, densities, mean_map)
    table = {_short(name): value for name, value in recalls(scores).items()}
    together = recalls(without_hubs(combine(scores)))
    return table | {
        f"{_short(name)}_together": value for name, value in together.items() if "recall" in name
    }


def _short(name: str) -> str:
    """Name of a column: "text to coordinates, recall at 10" is text_recall_10."""
    direction, _, metric = name.partition(", ")
    query = direction.split()[0]
    words = metric.lower().replace("recall at", "recall").replace(" and ", "_")
    return f"{query}_{words.replace(' ', '_')}"


def _gains(
    setting: Protocol, rows: Rows, densities: NDArray[np.float32], mean_map: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Likelihood of the peaks of each study under each map, above the mean map's.

    What is likely under any map gains nothing, and no other query is needed to say so.
    """
    peaks = setting.peaks(rows)
    mean = (mean_map / mean_map.sum()).astype(np.float32)[None]
    n_voxels = float(setting.grid.n_regions)
    parts = []
    for some in slices(len(densities), CHUNK):
        stack = np.concatenate([densities[some], mean])
        nats = likelihood_matrix(stack, peaks.study, peaks.region, n_voxels)
        parts.append(nats[:-1] - nats[-1])
    return np.round(np.concatenate(parts), DECIMALS)


def _score_terms(
    setting: Protocol, model: Entry, test: Rows, mean_map: NDArray[np.floating]
) -> dict[str, Any]:
    """Score the maps of single terms by the studies that mention them."""
    seen: Collection[str] = getattr(model, "trained_on", ())
    rows = test[np.array([name not in seen for name in setting.ids[test].tolist()], dtype=bool)]
    queries = setting.term_queries(rows)
    if not len(queries.texts):
        return {}
    maps = as_densities(_predict(model, queries.texts, setting.grid.n_regions))
    found = term_scores(_gains(setting, rows, maps, mean_map), queries.is_mentioned)
    return {
        "term_auc": found.auc,
        "term_auc_null": found.null,
        "terms_above_null": found.above,
        "terms": found.n_terms,
    }


def _megabytes(model: Entry) -> float | None:
    """Return the size of a model, if it says so."""
    size = getattr(model, "size_mb", None)
    return None if size is None else round(float(size), 3)


def _plain(value: Any) -> float | int:
    return value if isinstance(value, int) else round(float(value), 6)
