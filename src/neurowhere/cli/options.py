"""What several commands share: options, how their values are read, how results are printed.

A command takes its options one by one, or a group of them as one dataclass, whose fields `option`
makes; `with_groups` shows the fields of a group to typer as options of the command.
"""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import Field, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_type_hints

import typer

from neurowhere._tools.files import new_file
from neurowhere.exceptions import OutputError

if TYPE_CHECKING:
    from neurowhere.space import Atlas, Partition


# ---- groups of options


def option(words: str, *names: str, default: Any = None, **more: Any) -> Any:
    """Return the field of an option."""
    return field(default=default, metadata={"help": words, "names": names, "more": more})


def flag(words: str, *names: str) -> Any:
    """Return the field of an option that is off unless it is given."""
    return option(words, *names, default=False)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are given one by one, as typer wants them."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        shown += (
            _options_of(groups[name])
            if name in groups
            else [parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)]
        )

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def _options_of(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=_annotated(hints[each.name], each),
        )
        for each in fields(group)
    ]


def _annotated(hint: Any, each: "Field[Any]") -> Any:
    if not each.metadata:  # the type has its option
        return hint
    flag = [f"--{each.name.replace('_', '-')}"] if each.default is False else []
    names, more = each.metadata["names"] or flag, each.metadata["more"]
    return Annotated[hint, typer.Option(*names, help=each.metadata["help"], **more)]


# ---- options of several commands


def _checked_resolution(resolution_mm: float | None) -> float | None:
    """Refuse an impossible resolution before any work, even if no image is written."""
    if resolution_mm is None:
        return None
    from neurowhere.space.images import check_resolution

    return check_resolution(resolution_mm)


def checked_output(path: Path | None) -> Path | None:
    """Refuse the name of an option as a name of a file: the file was forgotten."""
    if str(path).startswith("--"):
        raise OutputError(f"expected the name of what to write, got the option {path}; give a name")
    return path


def given(path: Path | None, name: str) -> Path:
    """Return the value of an option, or refuse to go on without it."""
    if path is None:
        raise typer.BadParameter(f"expected {name}")
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
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
    ),
]
Folds = Annotated[int, typer.Option(min=1, help="Number of random test sets.")]
Bandwidths = Annotated[
    str, typer.Option(metavar="LIST", help="Kernel widths, in voxels, separated by commas.")
]
CONTINUED = typer.Option("-o", "--output", help="Folder to write, or to continue.")
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


def as_point(arguments: list[str], expected: str) -> list[float]:
    """Return three arguments as a point."""
    try:
        x, y, z = map(float, arguments)
    except ValueError as error:
        hint = "; for a name use: neurowhere term NAME" * arguments[0].isalpha()
        message = f"expected {expected}, got {' '.join(arguments)!r}{hint}"
        raise typer.BadParameter(message) from error
    return [x, y, z]


def split_list(text: str) -> list[str]:
    """Return the items of a list that is separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def written(path: Path | None, overwrite: bool) -> AbstractContextManager[TextIO]:
    """Open a file that is written whole or not at all; without a path, standard output."""
    return nullcontext(sys.stdout) if path is None else new_file(path, overwrite=overwrite)


def print_json(content: Any) -> None:
    """Print plain data as JSON."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_summary(summary: Mapping[str, Any], as_json: bool) -> None:
    """Print a summary as JSON, or as names and values, one pair per line."""
    if as_json:
        print_json(summary)
        return
    width = max(map(len, summary))
    for name, value in summary.items():
        typer.echo(f"{name.replace('_', ' '):{width}}  {_readable(value)}")


def print_report(folder: Path) -> None:
    """Print the table of a report, and where its page is."""
    typer.echo((folder / "summary.md").read_text("utf-8"))
    typer.echo(f"{folder / 'report.html'}: open it in a browser")


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
