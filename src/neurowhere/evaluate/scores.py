"""Scores of a comparison: kept in a folder as trials finish, and summarised over folds.

scores.csv grows by one line as each trial finishes, so an interrupted comparison goes on where it
stopped. info.json says what is compared, with fingerprints of the data: the folder of another
comparison is refused, so that scores of different data never mix.
"""

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere._tools.files import DAMAGE, INFO_NAME, digest, new_file, write_info
from neurowhere._tools.replacement import recover
from neurowhere.evaluate.trial import BASELINES, MEAN, Material, Problem, Score, Task
from neurowhere.exceptions import OutputError

KIND = "comparison"
FORMAT_VERSION = 1
SCORES_NAME = "scores.csv"
COLUMNS = tuple(field.name for field in fields(Score) if field.name != "warning")
_TYPES = get_type_hints(Score)
_REMEDY = "remove the folder, or give another"
# What the scores of a loss are compared with, on the same partition and folds.
RIVALS = {"mean_map": MEAN, "l2": "l2"}
CONFIDENCE = 0.95


class Ledger:
    """Scores of a comparison in a folder, safe against interruption.

    The folder is new, empty, or of the same settings, which are what all trials have in common, in
    JSON values, with fingerprints of the data. Folds, losses and partitions may be added; the same
    name must stand for the same partition.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        settings: dict[str, Any],
        partitions: dict[str, dict[str, Any]],
    ) -> None:
        self.folder = Path(folder)
        self.settings = settings
        self.partitions = {**self._known_partitions(settings, partitions), **partitions}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            recover(self.folder)
            self.seal()  # first: a folder without info.json would be refused after a power cut
            self._mend()
        except OSError as error:
            raise OutputError(f"cannot write to {self.folder}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise OutputError(f"{self.path} is damaged; mend it, or {_REMEDY}") from error

    @property
    def path(self) -> Path:
        """The table of scores."""
        return self.folder / SCORES_NAME

    def finished(self) -> set[Task]:
        """Trials whose scores are there."""
        table = self.read()
        return {
            Task(int(fold), str(partition), str(loss))
            for fold, partition, loss in zip(
                table["fold"], table["partition"], table["loss"], strict=True
            )
        }

    def add(self, score: Score) -> None:
        """Append the scores of a trial; they are on disk when this returns."""
        line = io.StringIO()
        csv.DictWriter(line, COLUMNS, extrasaction="ignore", lineterminator="\n").writerow(
            {name: "" if value != value else value for name, value in asdict(score).items()}
        )
        try:
            with self.path.open("a", encoding="utf-8", newline="") as stream:
                stream.write(line.getvalue())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror}") from error

    def read(self) -> pd.DataFrame:
        """Scores so far, sorted by partition, loss and fold; each trial once."""
        try:
            with self.path.open(encoding="utf-8", newline="") as stream:
                rows = [_typed(row) for row in csv.DictReader(stream, strict=True)]
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
            raise OutputError(f"{self.path} is damaged; mend it, or {_REMEDY}") from error
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table = table.drop_duplicates(["fold", "partition", "loss"])
        return table.sort_values(["partition", "loss", "fold"], ignore_index=True)

    def tidy(self) -> None:
        """Put the table in order, each trial once."""
        self._replace(self.read().to_csv(index=False, lineterminator="\n"))

    def seal(self) -> None:
        """Write info.json: what is compared, and the checksum of every file."""
        write_info(
            self.folder,
            {
                "kind": KIND,
                "format_version": FORMAT_VERSION,
                "settings": self.settings,
                "partitions": self.partitions,
            },
        )

    def _known_partitions(
        self, settings: dict[str, Any], partitions: dict[str, dict[str, Any]]
    ) -> dict[str, dict[str, Any]]:
        """Return the partitions that the folder knows, if it is of this comparison."""
        info = read_settings(self.folder, KIND, FORMAT_VERSION, settings) or {"partitions": {}}
        try:
            known = {name: dict(about) for name, about in dict(info["partitions"]).items()}
        except DAMAGE as error:
            raise OutputError(f"{self.folder / INFO_NAME} is damaged; {_REMEDY}") from error
        for name in set(known) & set(partitions):
            if known[name].get("sha256") != partitions[name]["sha256"]:
                raise OutputError(
                    f"{self.folder} holds the scores of another partition named {name!r}; "
                    "give another folder"
                )
        return known

    def _mend(self) -> None:
        """Make the table if there is none; drop a last line that was not written to its end."""
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1] or ",".join(COLUMNS) + "\n"
        if whole != text:
            self._replace(whole)

    def _replace(self, text: str) -> None:
        """Write the table anew; a reader sees the old one or the new one."""
        with new_file(self.path, overwrite=True) as stream:
            stream.write(text)


def _is_new(folder: Path) -> bool:
    """Return whether a folder is not there, or has no file that was written to its end."""
    if not folder.is_dir():
        return not folder.exists()
    return all(path.name.startswith(".") for path in folder.iterdir())


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """Row of the table with numbers as numbers, to the last digit; "" is a missing one."""
    return {
        name: float(row[name] or "nan") if _TYPES[name] is float else _TYPES[name](row[name])
        for name in COLUMNS
    }


def read_settings(
    folder: Path, kind: str, version: int, settings: dict[str, Any]
) -> dict[str, Any] | None:
    """Read what a folder of results says, after checking that it is of the same settings.

    Returns the content of info.json, and None for a folder that is new or empty. A folder of
    another kind, version or settings is refused, so that scores of different data never mix.
    """
    # Not files.read_info: while results are added, the checksums are those of the start.
    if _is_new(folder):
        return None
    try:
        info: dict[str, Any] = json.loads((folder / INFO_NAME).read_text("utf-8"))
        is_read = info["kind"] == kind and int(info["format_version"]) == version
        found = dict(info["settings"]) if is_read else {}
        different = [key for key in settings if found.get(key) != settings[key]]
    except OSError as error:
        raise OutputError(
            f"{folder} exists and is no folder of a {kind}; give another folder"
        ) from error
    except DAMAGE as error:
        raise OutputError(f"{folder / INFO_NAME} is damaged; {_REMEDY}") from error
    if not is_read:
        what = f"no {kind} that this program reads"
    elif different:
        what = f"another {kind} (its {', '.join(different)} differ)"
    else:
        return info
    raise OutputError(f"{folder} holds {what}; give another folder")


def describe_material(material: Material) -> dict[str, Any]:
    """Describe what all trials learn from and are scored on, with fingerprints."""
    terms = () if material.vocabulary is None else material.vocabulary.terms
    counts = material.counts
    return {
        "studies": len(material.corpus),
        "peaks": len(material.corpus.peaks),
        "studies_left_out": material.left_out,
        "terms": len(terms),
        "corpus_sha256": _digest(
            [
                repr(material.corpus.documents["id"].tolist()),
                material.groups,
                material.corpus.peak_rows,
                material.xyz_mm,
            ]
        ),
        "features_sha256": _digest(
            [repr(terms), *([] if counts is None else [counts.data, counts.indices, counts.indptr])]
        ),
        "brain_sha256": _digest([material.brain.brain, material.brain.affine]),
    }


def describe_problem(problem: Problem) -> dict[str, Any]:
    """Describe a partition, with a fingerprint."""
    targets, regions = problem.targets, problem.regions
    places = [regions.volumes_mm3, targets.region, targets.shares.indices, targets.shares.indptr]
    about = problem.summary()
    names = repr((regions.names, about["bandwidth"]))
    return {**about, "sha256": _digest([names, *places])}


def _digest(values: Iterable[Any]) -> str:
    """Digest texts and arrays, whose integers count as of one type."""
    return digest(*(value if isinstance(value, str) else _widened(value) for value in values))


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.int64) if array.dtype.kind in "biu" else array


# ---- summary over folds


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of two models over folds, with its confidence interval.

    `share_above` is the share of the folds in which the first model is better.
    """

    mean: float
    low: float
    high: float
    folds: int
    share_above: float


def summarise(scores: pd.DataFrame, test_share: float) -> pd.DataFrame:
    """Summarise scores of folds in one row per partition and loss, the best partitions first.

    Columns are the mean and standard deviation over folds of the log-likelihood, the nats above
    uniform and the total-variation distance; `minus_mean_map` and, for ℓ1, `minus_l2`: the paired
    difference of log-likelihoods, its 95 % interval (`_low`, `_high`) and the share of folds where
    it is positive (`_wins`); median λ and sharpness, seconds.
    """
    by_model = {
        (str(partition), str(loss)): table.set_index("fold")
        for (partition, loss), table in scores.groupby(["partition", "loss"], sort=False)
    }
    rows = [
        {**_means(partition, loss, table), **_differences(by_model, partition, loss, test_share)}
        for (partition, loss), table in by_model.items()
    ]
    return _in_order(pd.DataFrame(rows))


def _means(partition: str, loss: str, table: pd.DataFrame) -> dict[str, object]:
    means: dict[str, object] = {"partition": partition, "loss": loss, "folds": len(table)}
    for name in ("log_likelihood", "nats_above_uniform", "total_variation"):
        means[name] = table[name].mean()
        means[f"{name}_std"] = table[name].std()
    for name in ("penalty", "sharpness", "seconds"):
        # pandas before 3 warns of a median of nothing.
        means[name] = table[name].median() if table[name].notna().any() else np.nan
    return means


def _differences(
    by_model: dict[tuple[str, str], pd.DataFrame], partition: str, loss: str, test_share: float
) -> dict[str, float]:
    columns: dict[str, float] = {}
    for name, rival in RIVALS.items():
        meaningful = loss not in BASELINES if rival == MEAN else loss == "l1"
        difference = Difference(np.nan, np.nan, np.nan, 0, np.nan)
        if meaningful and (partition, rival) in by_model:
            mine, theirs = (by_model[partition, each]["log_likelihood"] for each in (loss, rival))
            both = mine.index.intersection(theirs.index)
            difference = paired_difference(mine[both], theirs[both], test_share)
        columns |= {
            f"minus_{name}": difference.mean,
            f"minus_{name}_low": difference.low,
            f"minus_{name}_high": difference.high,
            f"minus_{name}_wins": difference.share_above,
        }
    return columns


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Put the partition with the best model first; within it, the best model first."""
    best = table.groupby("partition")["log_likelihood"].transform("max")
    order = np.lexsort((-table["log_likelihood"], table["partition"], -best))
    return table.iloc[order].reset_index(drop=True)


def paired_difference(
    first: ArrayLike, second: ArrayLike, test_share: float, confidence: float = CONFIDENCE
) -> Difference:
    """Compare the scores of two models on the same shuffle-split folds.

    The training sets of the folds overlap, so their scores are not independent. The variance of
    the mean of J differences dⱼ is therefore taken as (Nadeau & Bengio, Machine Learning 2003)

        (1/J + n_test/n_train) s²,    s² = Σ (dⱼ − d̄)² / (J − 1)

    and the interval is d̄ ± t s √(…), with t the quantile of Student's law with J − 1 degrees.

    With fewer than two folds the interval is NaN.
    """
    from scipy.stats import t

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n = len(differences)
    mean = float(differences.mean()) if n else np.nan
    above = float((differences > 0).mean()) if n else np.nan
    if n < 2:
        return Difference(mean, np.nan, np.nan, n, above)
    variance = (1 / n + test_share / (1 - test_share)) * differences.var(ddof=1)
    margin = float(t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(variance))
    return Difference(mean, mean - margin, mean + margin, n, above)
