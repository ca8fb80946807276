"""What several commands share: options, how their values are read, how results are printed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere.exceptions import OutputError

if TYPE_CHECKING:
    from neurowhere.space import Atlas, Partition


def _checked_resolution(resolution_mm: float | None) -> float | None:
    """Refuse a resolution that no image has before any work, also where no image is written."""
    if resolution_mm is None:
        return None
    from neurowhere.space.images import check_resolution

    return check_resolution(resolution_mm)


def checked_output(path: Path | None) -> Path | None:
    """Refuse an option as the name of what to write: its own name has been forgotten."""
    if str(path).startswith("--"):
        raise OutputError(f"expected the name of what to write, got the option {path}; give a name")
    return path


CorpusPath = Annotated[Path, typer.Argument(metavar="CORPUS", help="Corpus to read.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        show_default="detected",
        help="Format of the source: folder, neuroquery, neurosynth, pubget, nimads, jats, jsonl, "
        "table or text.",
    ),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model.")]
OptionalModelPath = Annotated[
    Path | None,
    typer.Argument(metavar="[MODEL]", help="Folder of a model.", show_default="the shipped one"),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FOLDER",
        help="Folder of the model to use.",
        show_default="the shipped one",
    ),
]
AtlasOption = Annotated[
    str | None,
    typer.Option(
        metavar="IMAGE[:LABELS]",
        help="Atlas that names the regions, and the table of its labels.",
        show_default="AAL3",
    ),
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="File of the terms to learn from.", show_default="brain structures"
    ),
]
_OUTPUT = typer.Option("-o", "--output", help="Folder to write.", callback=checked_output)
Output = Annotated[Path, _OUTPUT]
OptionalOutput = Annotated[Path | None, _OUTPUT]
Resolution = Annotated[
    float | None,
    typer.Option(
        "--resolution",
        metavar="MM",
        help="Voxel size of the images, in mm.",
        callback=_checked_resolution,
        show_default="the model's",
    ),
]
Like = Annotated[
    Path | None, typer.Option(metavar="IMAGE", help="Image whose grid the images use.")
]
Jobs = Annotated[int, typer.Option(help="Number of cores to use, -1 for all.")]
BatchJobs = Annotated[
    int,
    typer.Option(
        "--jobs", help="Processes that encode the texts of a batch, -1 for one on each core."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output folder.")]
KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas",
        help="Leave CSV text cells that begin like a formula (=, +, -, @) unchanged.",
    ),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Use what can be read of damaged files.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def read_partition(text: str, labels: Path | None = None) -> "Partition":
    """Return the partition that "voxels:MM", "atlas:IMAGE" or "atlas:IMAGE:LABELS" names."""
    from neurowhere.space import Atlas, VoxelGrid

    kind, _, rest = text.partition(":")
    if kind == "atlas" and rest:
        image, _, named = rest.partition(":")
        return Atlas(image, labels or named or None)
    try:
        if kind != "voxels":
            raise ValueError(text)
        return VoxelGrid(float(rest))
    except ValueError as error:
        raise typer.BadParameter(
            f"expected voxels:MM, atlas:IMAGE or atlas:IMAGE:LABELS, got {text!r}",
            param_hint="--partition",
        ) from error


def read_atlas(text: str | None, partition: "Partition | None" = None) -> "Atlas":
    """Return the atlas of "IMAGE" or "IMAGE:LABELS"; by default the partition's own, or AAL3."""
    from neurowhere.space import Atlas, default_atlas

    if text is None:
        return partition if isinstance(partition, Atlas) else default_atlas()
    image, _, labels = text.partition(":")
    atlas = Atlas(image, labels or None)
    _ = atlas.names  # read now, so that a mistake is told before the work
    return atlas


def split_list(text: str) -> list[str]:
    """Return the items of a list that is separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def print_summary(summary: Mapping[str, Any], as_json: bool) -> None:
    """Print a summary as JSON, or in words."""
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        print_pairs(summary)


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Print names and values, one pair per line."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        typer.echo(f"{name.replace('_', ' '):{width}}  {_readable(value)}")


def _readable(value: Any) -> str:
    """Return a value in words, as a person would write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_readable(item)}" for key, item in value.items()) or "unknown"
    if isinstance(value, list):
        return ", ".join(map(_readable, value)) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "none" if value is None else str(value)
