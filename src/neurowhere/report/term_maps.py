"""Maps of many terms in one folder: a 4-D image, or a table by the regions of an atlas."""

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import new_folder, write_info
from neurowhere._tools.parallel import slices, track
from neurowhere.exceptions import PartitionError
from neurowhere.model.term_maps import (
    RegionMeans,
    TermMap,
    WantedTerm,
    find_terms,
    iter_term_maps,
    unlearned_terms,
)
from neurowhere.model.text_model import TextModel
from neurowhere.report.tables import to_csv
from neurowhere.space import Atlas

__all__ = ["write_term_maps"]

MOST_VOLUMES = 2**15 - 1  # NIfTI counts volumes in 16 bits
SINGLE_FILE_OFFSET = 352  # bytes before the voxels of a NIfTI file
COMPRESSION = 1  # of 9: noise hardly compresses, so that more costs time for little
ROWS_AT_ONCE = 256
NUMBERS = "%.6g"
MEANING = {
    "log probability": "what the term adds to the log of the density of peaks, up to a constant",
    "probability": "what the term adds to the density of peaks, per mm³",
}


def write_term_maps(
    model: TextModel,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    *,
    as_table: bool = False,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    overwrite: bool = False,
) -> int:
    """Write the maps of many terms; whole or not at all.

    One map is held at a time. The folder holds ``maps.nii.gz``, one volume a term, and
    ``maps.json``, which names the volumes. Or, as a table, ``regions.csv``, one row a term and one
    column a region, and ``regions.json``. ``info.json`` says what made them.

    Parameters
    ----------
    model : Encoder
    folder : path
    names : iterable of str, optional
        Terms, each with or without a side; by default all terms of the model.
    as_table : bool
        Whether to write means by region, as from `parcellate_terms`, and no image.
    atlas : Atlas, optional
        Regions of the table; by default the model's own if it predicts those of one, or AAL3. An
        atlas implies a table.
    resolution_mm, like
        Grid of the images, as in `Partition.to_img`.
    overwrite : bool
        Whether to replace a folder that exists.

    Returns
    -------
    int
        Number of terms.
    """
    wanted = find_terms(model, names)
    maps = iter_term_maps(model, [each.name for each in wanted])
    maps = track(maps, "maps of terms", len(wanted))
    about = _describe(model, wanted)
    with new_folder(folder, overwrite=overwrite) as temporary:
        if as_table or atlas is not None:
            means = RegionMeans(model, atlas)
            _write_table(means, maps, len(wanted), temporary / "regions.csv")
            _write_json(temporary / "regions.json", about | {"atlas": _describe_atlas(means.atlas)})
        else:
            _write_image(maps, len(wanted), temporary / "maps.nii.gz", resolution_mm, like)
            _write_json(temporary / "maps.json", about)
        write_info(temporary, {"kind": "term maps", "terms": len(wanted)})
    return len(wanted)


def _describe(model: TextModel, wanted: list[WantedTerm]) -> dict[str, Any]:
    """Return what the numbers mean, and the terms in the order of volumes or rows."""
    unlearned = unlearned_terms(model)
    terms = [
        {
            "name": each.name,
            "term": each.term,
            "side": each.side,
            "method": "learned" if each.is_learned else "restricted",
            "few_studies": bool(unlearned[each.column]),
        }
        for each in wanted
    ]
    unit = model.predictor_.unit
    return {"unit": unit, "meaning": MEANING[unit], "space": "MNI152", "terms": terms}


def _describe_atlas(atlas: Atlas) -> dict[str, Any]:
    labels = zip(atlas.ids.tolist(), atlas.names, atlas.volumes_mm3.tolist(), strict=True)
    keys = ("index", "name", "volume_mm3")
    return {
        "name": atlas.title or repr(atlas),
        "regions": [dict(zip(keys, each, strict=True)) for each in labels],
    }


def _write_table(means: RegionMeans, maps: Iterator[TermMap], n_maps: int, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        for chunk in slices(n_maps, ROWS_AT_ONCE):
            some = [next(maps) for _ in range(chunk.stop - chunk.start)]
            rows = [means.of(each) for each in some]
            table = pd.DataFrame(rows, columns=list(means.atlas.names))
            table.insert(0, "term", [each.name for each in some], allow_duplicates=True)
            stream.write(to_csv(table, header=chunk.start == 0, float_format=NUMBERS))


def _write_image(
    maps: Iterator[TermMap], n_maps: int, path: Path, resolution_mm: float | None, like: Any
) -> None:
    """Write volumes one after another, which is their order in the file."""
    if n_maps > MOST_VOLUMES:
        raise PartitionError(
            f"expected up to {MOST_VOLUMES:,} maps in one NIfTI image, got {n_maps:,}; choose some "
            "terms, or write a table"
        )
    with path.open("wb") as raw, gzip.GzipFile("", "wb", COMPRESSION, raw, mtime=0) as stream:
        for number, each in enumerate(maps):
            image = each.to_img(resolution_mm=resolution_mm, like=like)
            if number == 0:
                _header(image, n_maps).write_to(stream)
            volume: NDArray[np.float32] = np.asarray(image.dataobj, np.float32)
            stream.write(volume.astype("<f4", copy=False).tobytes(order="F"))


def _header(image: Any, n_maps: int) -> Any:
    """Return the header of as many volumes like one."""
    from nibabel.nifti1 import Nifti1Header

    header = Nifti1Header.from_header(image.header.as_byteswapped("<"), check=False)  # type: ignore[no-untyped-call]
    header.set_data_shape((*image.shape, n_maps))
    header["vox_offset"] = SINGLE_FILE_OFFSET
    return header


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
