"""The open benchmark: any model of text and brain maps, scored alike on fixed folds.

Each entry is fitted and scored fold by fold. The result of each is one file, so a run that was
interrupted goes on where it stopped, and entries can be added later. Tables give means over folds,
and paired differences between entries.
"""

import json
import os
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurowhere._tools.files import new_file, write_info
from neurowhere._tools.parallel import track
from neurowhere._tools.replacement import recover, sole_writer
from neurowhere.corpus import Corpus
from neurowhere.evaluate.entries import ENTRIES, as_entry
from neurowhere.evaluate.protocol import (
    ALL,
    KINDS,
    N_FOLDS,
    NEWEST,
    UNKNOWN,
    Entry,
    Fold,
    Protocol,
    run_entry,
    seen_by,
    trained_on,
)
from neurowhere.evaluate.scores import paired_difference, read_settings
from neurowhere.exceptions import DataWarning, FitError, OutputError
from neurowhere.model.methods import MethodsText, cite

KIND = "benchmark"
FORMAT_VERSION = 2
NAME = re.compile(r"\w[\w.+-]*")

TEST_SHARE = 1 / N_FOLDS
TOLD = ("trained_on", "fit_seconds", "megabytes")


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """Results of the open benchmark.

    Attributes
    ----------
    folder : Path
    settings : dict
        Protocol, and fingerprint of the data.
    scores : DataFrame
        One row per fold, entry and kind of text.
    summary : DataFrame
        Mean and standard deviation over folds, one row per entry, kind, split and metric.
    differences : DataFrame
        Paired differences of nats above uniform between entries, one row per pair and kind.
    """

    folder: Path
    settings: dict[str, Any]
    scores: pd.DataFrame
    summary: pd.DataFrame
    differences: pd.DataFrame

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Benchmark":
        """Read the results that a folder has so far.

        Parameters
        ----------
        folder : path

        Returns
        -------
        Benchmark
        """
        home = Path(folder)
        results = [_read_result(path) for path in sorted(home.glob("*/fold-*.json"))]
        if not results:
            raise OutputError(f"expected the folder of a benchmark, but {home} has no results")
        scores = pd.DataFrame([row for result in results for row in rows_of(result)])
        order = [scores["fold"].astype(str), scores["entry"], scores["kind"]]
        scores = scores.iloc[np.lexsort(order)].reset_index(drop=True)
        info = read_settings(home, KIND, FORMAT_VERSION, {}) or {}
        means, differences = mean_over_folds(scores), compare_entries(results)
        return cls(home, dict(info["settings"]), scores, means, differences)

    def methods(self) -> MethodsText:
        """Write how the entries were scored: a paragraph and its references, for a paper.

        Returns
        -------
        MethodsText
        """
        about, entries = self.settings, ", ".join(self.scores["entry"].unique())
        listed = f" of the list {about['task']}" if about.get("task") else ""
        return cite(
            f"Models of text and brain maps ({entries}) were scored by the open benchmark of "
            f"neurowhere {version('neurowhere')} (The neurowhere developers), protocol "
            f"{about['protocol']}: {about['studies']:,} studies{listed} with {about['peaks']:,} "
            "peaks, of which a tenth is tested in each fold, by a hash of the PubMed id. Studies "
            "that an entry was trained on are not tested. The score is the mean log-likelihood of "
            "the peaks of a study under its map, mixed with the uniform density in equal parts "
            "(Dockès et al., 2018). Intervals of paired differences are corrected for overlapping "
            "training sets (Nadeau and Bengio, 2003).",
            date.today().isoformat(),
        )

    def __repr__(self) -> str:
        means = self.scores[self.scores["kind"] == ALL].groupby("entry")["nats"].mean()
        best = f"; best {means.idxmax()}, {means.max():.3f} nats" if len(means) else ""
        folds = self.scores["fold"].nunique()
        return f"Benchmark: {self.scores['entry'].nunique()} entries, {folds} folds{best}"

    def _repr_html_(self) -> str:
        return self.summary.to_html(index=False, float_format="{:.3f}".format)


def benchmark(
    corpus: Corpus,
    folder: str | os.PathLike[str],
    entries: Sequence[str | Entry | Callable[..., Any]] = tuple(ENTRIES),
    *,
    folds: int | Collection[Fold] = N_FOLDS,
    articles: Corpus | None = None,
    protocol: Protocol | None = None,
) -> Benchmark:
    """Score models on the fixed folds of the open benchmark.

    Parameters
    ----------
    corpus : Corpus
        Studies with peaks, and with term counts or texts; the protocol is for NeuroQuery's.
    folder : path
        Folder to write. What is finished is kept: the same call goes on where it stopped, and
        folds and entries may be added.
    entries : sequence of str, functions, classes or objects
        Names of shipped entries, functions from texts to maps, or what can predict; see
        `neurowhere.evaluate.entries`.
    folds : int or collection of int or "newest"
        Number of random folds, the first ones; or which of 0 to 9, and of the newest studies.
    articles : Corpus, optional
        Texts of articles, without tables, by the ids of the studies.
    protocol : Protocol, optional
        The studies, if they are prepared already.

    Returns
    -------
    Benchmark
    """
    chosen = _check_folds(folds)
    setting = Protocol.prepare(corpus, articles) if protocol is None else protocol
    models = _entries(entries, setting)
    home = Path(folder)
    with sole_writer(home):
        _open(home, setting)
        for place in [home, *home.iterdir()]:  # undo what a killed run left
            recover(place)
        tasks = [(fold, model) for fold in chosen for model in models]
        todo = [task for task in tasks if not _path(home, *task).exists()]
        for fold, model in track(todo, "benchmark", len(todo)):
            result = run_entry(setting, model, fold)
            path = _path(home, fold, model)
            path.parent.mkdir(exist_ok=True)
            with new_file(path, overwrite=True) as stream:
                json.dump(result, stream)
    return Benchmark.load(home)


def _check_folds(folds: int | Collection[Fold]) -> list[Fold]:
    chosen = list(range(folds)) if isinstance(folds, int) else list(dict.fromkeys(folds))
    if not chosen or not set(chosen) <= {*range(N_FOLDS), NEWEST}:
        raise FitError(
            f"expected 1 to {N_FOLDS} folds, numbered from 0, or {NEWEST}; got {folds!r}"
        )
    return sorted(chosen, key=str)


def _entries(given: Sequence[Any], setting: Protocol) -> list[Entry]:
    """Make entries, and check what they say of themselves."""
    models = [as_entry(each, setting.grid) for each in given]
    for model in models:
        _check_entry(model, setting)
    names = [model.name for model in models]
    if not names:
        raise FitError(f"expected at least one entry; there are {', '.join(ENTRIES)}")
    if repeated := [name for i, name in enumerate(names) if name in names[:i]]:
        raise FitError(f"expected entries of different names, but two are {repeated[0]!r}")
    return models


def _check_entry(model: Entry, setting: Protocol) -> None:
    """Refuse what an entry says of itself if it cannot be, before any long work."""
    if not isinstance(model.name, str) or not NAME.fullmatch(model.name):
        raise FitError(f"expected a name of letters, digits, '.', '+' and '-'; got {model.name!r}")
    kinds = getattr(model, "kinds", KINDS)
    if isinstance(kinds, str) or not set(kinds) <= set(KINDS):
        raise FitError(f"expected kinds of {model.name} among {KINDS}, got {kinds!r}")
    told = trained_on(model, setting)
    seen = getattr(model, "trained_on", None)
    if told == UNKNOWN and seen not in (None, UNKNOWN):
        raise FitError(
            f"expected trained_on of {model.name}: ids of studies, or {UNKNOWN!r}; got {seen!r}"
        )
    if told == UNKNOWN:
        _warn(f"{model.name} does not say what it was trained on: its tables say {UNKNOWN}")
    elif told.endswith(", 0 of them here"):
        first, own = min(seen_by(model) or ()), str(setting.ids[0])
        _warn(f"{model.name} was trained on {told}: expected ids such as {own!r}, got {first!r}")


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=4)


# ---- the folder


def _path(home: Path, fold: Fold, model: Entry) -> Path:
    return home / model.name / f"fold-{fold}.json"


def _open(home: Path, setting: Protocol) -> None:
    """Make the folder, or check that it holds results of the same benchmark."""
    settings = setting.describe()
    if read_settings(home, KIND, FORMAT_VERSION, settings) is not None:
        return
    try:
        home.mkdir(parents=True, exist_ok=True)
        content = {"kind": KIND, "format_version": FORMAT_VERSION, "settings": settings}
        write_info(home, content)
    except OSError as error:
        raise OutputError(f"cannot write to {home}: {error.strerror}") from error


def _read_result(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} is damaged; remove it, and run the benchmark again") from error


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the table of scores, one for each kind of text; terms are with "all"."""
    common = {name: result[name] for name in ("entry", "fold", *TOLD)}
    terms = result.get("terms", {})
    return [
        {**common, "kind": kind, **each["metrics"], **(terms if kind == ALL else {})}
        for kind, each in result["kinds"].items()
    ]


def mean_over_folds(scores: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of every metric: entry, kind, split, metric, folds.

    The split is "random" for the mean over random folds, and "newest".
    """
    keys = ["entry", "kind", "split"]
    split = np.where(scores["fold"] == NEWEST, NEWEST, "random")
    long = scores.assign(split=split).melt([*keys, "fold", "trained_on"], var_name="metric")
    long = long.dropna(subset="value")
    long["value"] = long["value"].astype(float)
    grouped = long.groupby([*keys, "metric"], sort=False)["value"]
    table = grouped.agg(folds="count", mean="mean", std="std").reset_index()
    order = scores[scores["kind"] == ALL].groupby("entry")["nats"].mean()
    rank = table["entry"].map(order).fillna(-np.inf)
    return table.iloc[np.argsort(-rank, kind="stable")].reset_index(drop=True)


def compare_entries(results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Compare every two entries on the random folds and the studies that both have.

    Returns kind, first, second; mean difference of nats with its interval over folds (`low`,
    `high`), share of the folds and of the studies in which the first is better, folds, studies.
    """
    nats: dict[tuple[str, str], dict[Fold, pd.Series[float]]] = {}
    for result in results:
        for kind, each in result["kinds"].items():
            if result["fold"] != NEWEST:
                table = pd.Series(each["studies"]["nats"], each["studies"]["id"])
                nats.setdefault((kind, result["entry"]), {})[result["fold"]] = table
    rows = [
        _compare(kind, first, second, nats[kind, first], nats[kind, second])
        for (kind, first), (other, second) in combinations(nats, 2)
        if kind == other
    ]
    return pd.DataFrame([row for row in rows if row["folds"]])


def _compare(
    kind: str,
    first: str,
    second: str,
    mine: "dict[Fold, pd.Series[float]]",
    theirs: "dict[Fold, pd.Series[float]]",
) -> dict[str, Any]:
    pairs = [mine[fold].align(theirs[fold], "inner") for fold in mine if fold in theirs]
    differences = [(a - b).to_numpy() for a, b in pairs if len(a)]
    means = [each.mean() for each in differences]
    found = paired_difference(means, np.zeros(len(means)), TEST_SHARE)
    every = np.concatenate([np.empty(0), *differences])
    return {
        "kind": kind,
        "first": first,
        "second": second,
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
        "folds": found.folds,
        "folds_above": found.share_above,
        "studies": len(every),
        "studies_above": float((every > 0).mean()) if len(every) else np.nan,
    }
