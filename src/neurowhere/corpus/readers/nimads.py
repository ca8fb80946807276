"""Studysets in NIMADS JSON (NiMARE, NeuroStore), and NiMARE's older dataset JSON; both ways."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import new_file, open_text
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.corpus.corpus import Corpus, join_documents
from neurowhere.corpus.documents import SECTIONS, Document, Space, filled, parse_space
from neurowhere.corpus.readers.files import Skipped, find_shards
from neurowhere.corpus.readers.jsonl import parse_peaks, parse_text
from neurowhere.exceptions import CorpusError

NAME = "nimads"

SUFFIXES = (".json",)
HEAD_CHARACTERS = 1 << 16
STUDYSET = re.compile(r'"studies"\s*:\s*\[')
DATASET = re.compile(r'"contrasts"\s*:\s*\{')
NULLS = ("", "None")  # NeuroStore writes some missing values as the word


def detects(path: Path) -> bool:
    """Return whether a JSON file, or one in a folder, begins as a studyset or dataset."""
    return bool(_files(path))


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield one document per study, the points of all its analyses together.

    A study whose points are in several spaces gets those in Talairach converted here, because
    a document has one space. What is no study is skipped, named and counted.
    """
    files = [path] if path.is_file() else _files(path)
    if not files:
        raise CorpusError(f"expected a NIMADS studyset in JSON, but {path} has none")
    skipped = Skipped("studies")
    n_read = 0
    for file in files:
        for place, study in _iter_studies(file):
            try:
                document = _document(study)
            except (TypeError, ValueError, AttributeError, KeyError) as error:
                skipped.add(place, error)
            else:
                n_read += 1
                yield document
    skipped.report(n_read)


def _files(path: Path) -> list[Path]:
    return [file for file in find_shards(path, SUFFIXES) if _is_nimads(file)]


def _is_nimads(file: Path) -> bool:
    try:
        with open_text(file) as stream:
            head = stream.read(HEAD_CHARACTERS)
    except CorpusError:
        return False
    return bool(STUDYSET.search(head) or DATASET.search(head))


def _iter_studies(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield the studies of a file, each with its place."""
    with open_text(file) as stream:
        try:
            content = json.load(stream)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{file} is not JSON ({error}); export the studyset again") from error
    studies = content.get("studies") if isinstance(content, dict) else None
    if isinstance(studies, list):
        for number, study in enumerate(studies, start=1):
            yield f"{file.name}, study {number}", study
    elif isinstance(content, dict) and any(map(_has_contrasts, content.values())):
        for name, study in content.items():
            place = f"{file.name}, study {name}"
            yield place, {**study, "id": name} if _has_contrasts(study) else None
    else:
        raise CorpusError(
            f"{file} should have a list of studies, or studies by id with their contrasts, but "
            "has neither; export it from NiMARE with Studyset.to_nimads"
        )


def _has_contrasts(study: object) -> bool:
    return isinstance(study, dict) and "contrasts" in study


def _document(study: Mapping[str, Any]) -> Document:
    if not isinstance(study, dict):
        raise ValueError("expected an object with analyses or contrasts")
    contrasts = (study.get("contrasts") or {}).items()
    analyses = study.get("analyses") or list(starmap(_analysis, contrasts))
    # NiMARE repeats what it knows of a study in the metadata of each of its analyses.
    said: dict[str, Any] = {}
    parts = [*(analysis.get("metadata") for analysis in analyses), study.get("metadata")]
    for part in [*filter(None, parts), study]:
        said |= _known(part)
    if "id" not in said and "pmid" not in said:
        raise ValueError("it has neither id nor pmid")
    peaks, space = _joined(analyses)
    metadata = {
        "pmid": said.get("pmid"),
        "doi": said.get("doi"),
        "year": said.get("year"),
        "journal": said.get("publication", said.get("journal")),
        "authors": said.get("authors"),
        "study_id": said.get("id"),
        "analyses": list(filter(None, map(_own_name, analyses))),
    }
    return Document(
        id=str(said.get("pmid", said.get("id"))),
        sections=_sections(said, analyses),
        peaks=peaks,
        space=space,
        metadata=filled(metadata),
    )


def _known(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if not _is_missing(value)}


def _analysis(name: str, contrast: Mapping[str, Any]) -> dict[str, Any]:
    """Write a contrast of NiMARE's dataset JSON, points by axis, in the terms of NIMADS."""
    coordinates = contrast.get("coords") or {}
    space = coordinates.get("space")
    axes = [coordinates.get(axis) or [] for axis in "xyz"]
    if len({len(axis) for axis in axes}) > 1:
        raise ValueError(f"contrast {name} has x, y and z of different lengths")
    return {
        "name": name,
        "texts": contrast.get("text"),
        "metadata": contrast.get("metadata"),
        "points": [{"coordinates": xyz, "space": space} for xyz in zip(*axes, strict=True)],
    }


def _sections(study: Mapping[str, Any], analyses: list[Mapping[str, Any]]) -> dict[str, str]:
    """Sort texts into sections, each once: analyses repeat those of their study.

    The name of a study is its title and the description its abstract, unless a text says
    otherwise; other texts, names and descriptions of analyses belong to the body.
    """
    parts: dict[str, list[Any]] = {name: [] for name in SECTIONS}
    given = chain.from_iterable((each.get("texts") or {}).items() for each in analyses)
    for name, text in given:
        parts.get(name, parts["body"]).append(text)
    parts["title"] = parts["title"] or [study.get("title", _own_name(study))]
    parts["abstract"] = parts["abstract"] or [study.get("description")]
    for analysis in analyses:
        parts["body"] += [_own_name(analysis), analysis.get("description")]
    texts = {name: map(parse_text, filter(_is_text, found)) for name, found in parts.items()}
    joined = {name: "\n\n".join(dict.fromkeys(found)) for name, found in texts.items()}
    return filled(joined)


def _joined(analyses: list[Mapping[str, Any]]) -> tuple[NDArray[np.float64], Space]:
    """Return the points of a study in one space: theirs if they agree, else MNI if known."""
    points = [point for analysis in analyses for point in analysis.get("points") or []]
    peaks = parse_peaks([point.get("coordinates") for point in points])  # (n_points, 3)
    spaces = [parse_space(point.get("space")) for point in points]
    if len(set(spaces)) <= 1:
        return peaks, spaces[0] if spaces else "unknown"
    in_talairach = np.array(spaces) == "TAL"
    peaks[in_talairach] = talairach_to_mni(peaks[in_talairach])
    return peaks, "unknown" if "unknown" in spaces else "MNI"


def _own_name(named: Mapping[str, Any]) -> str | None:
    """Return the name of a study or analysis, unless it is an id or a number."""
    name = named.get("name")
    is_own = _is_text(name) and not str(name).isdecimal() and name != named.get("id")
    return name if is_own else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not _is_missing(value)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in NULLS)


# ---- writing

SPACES: dict[Space, str | None] = {"MNI": "MNI", "TAL": "TAL", "unknown": None}
KEPT = {"doi": "doi", "pmid": "pmid", "authors": "authors", "journal": "publication"}


def write(corpus: Corpus, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a corpus as a NIMADS studyset, whole or not at all; see `Corpus.to_nimads`."""
    order = np.argsort(corpus.peak_rows, kind="stable")
    tables = corpus.peaks.reindex(columns=["table"], fill_value="")["table"].to_numpy(object)
    names = np.split(tables[order], np.cumsum(corpus.n_peaks)[:-1])
    counted = join_documents(corpus.documents, corpus.peaks_by_document, [{}] * len(corpus))
    documents = counted if corpus.sections is None else corpus.iter_documents()
    studies = list(map(_study, documents, names))
    with new_file(path, overwrite=overwrite) as stream:
        json.dump({"id": "", "name": "", "studies": studies, "annotations": []}, stream)


def _study(document: Document, tables: NDArray[np.object_]) -> dict[str, Any]:
    """Return a document as a NIMADS study; `tables` has the table of each peak."""
    about, space = document.metadata, SPACES[document.space]
    title, year = about.get("title", ""), about.get("year")
    return {
        "id": document.id,
        "name": document.sections.get("title") or ("" if title == document.id else title),
        "description": document.sections.get("abstract", ""),
        **{theirs: about.get(ours) for ours, theirs in KEPT.items()},
        "year": None if year is None else int(year),
        "metadata": {},
        "analyses": [
            {
                "id": str(number),
                "name": str(table or number),
                "description": "",
                "metadata": {},
                "texts": dict(document.sections),
                "conditions": [],
                "weights": [],
                "images": [],
                "points": [
                    {"coordinates": xyz, "space": space, "kind": None, "values": []}
                    for xyz in document.peaks[tables == table].tolist()
                ],
            }
            for number, table in enumerate(dict.fromkeys(tables), start=1)
        ],
    }
