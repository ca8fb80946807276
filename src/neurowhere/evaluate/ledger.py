"""The folder of a comparison: what is compared, and the scores of the trials that are finished.

scores.csv grows by one line as each trial finishes, so an interrupted comparison goes on where it
stopped. info.json says what is compared, with fingerprints of the data: the folder of another
comparison is refused, so that scores of different data never mix.
"""

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import DAMAGE, INFO_NAME, digest, new_file, write_info
from neurowhere._tools.replacement import recover
from neurowhere.evaluate.problem import Material, Problem
from neurowhere.evaluate.trial import Score, Task
from neurowhere.exceptions import OutputError

KIND = "comparison"
FORMAT_VERSION = 1
SCORES_NAME = "scores.csv"
COLUMNS = tuple(field.name for field in fields(Score) if field.name != "warning")
_TYPES = get_type_hints(Score)
_REMEDY = "remove the folder, or give another"


class Ledger:
    """Scores of a comparison in a folder, safe against interruption.

    Parameters
    ----------
    folder : path
        New, empty, or of the same comparison: then more folds, partitions and losses may be added.
    settings : dict
        What all trials have in common, in JSON values; fingerprints of the data among it.
    partitions : dict of str to dict
        What each partition is; the same name must stand for the same partition.
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
        """Partitions that the folder knows, after checking that it is of this comparison."""
        if not self.folder.exists() or (self.folder.is_dir() and not _visible(self.folder)):
            return {}
        info = _read_info(self.folder)
        different = [key for key in settings if info["settings"].get(key) != settings[key]]
        if different:
            raise OutputError(
                f"{self.folder} holds another comparison (its {', '.join(different)} differ); "
                "give another folder"
            )
        known: dict[str, dict[str, Any]] = info["partitions"]
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


def _visible(folder: Path) -> list[Path]:
    """Files that were written to their end."""
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """Row of the table with numbers as numbers, to the last digit; "" is a missing one."""
    return {
        name: float(row[name] or "nan") if _TYPES[name] is float else _TYPES[name](row[name])
        for name in COLUMNS
    }


def _read_info(folder: Path) -> dict[str, Any]:
    # Not files.read_info: while a comparison runs, the checksums are those of its start.
    try:
        info = json.loads((folder / INFO_NAME).read_text("utf-8"))
        if info["kind"] == KIND and int(info["format_version"]) <= FORMAT_VERSION:
            known = dict(info["partitions"]).items()
            partitions = {name: dict(about) for name, about in known}
            return {"settings": dict(info["settings"]), "partitions": partitions}
    except OSError as error:
        raise OutputError(
            f"{folder} exists and is no folder of a comparison; give another folder"
        ) from error
    except DAMAGE as error:
        raise OutputError(f"{folder / INFO_NAME} is damaged; {_REMEDY}") from error
    raise OutputError(f"{folder} holds no comparison that this program reads; give another folder")


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
