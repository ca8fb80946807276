"""The `neurowhere decode` and `term` commands: from places to terms and studies, and back."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere._tools.files import expanded
from neurowhere.cli.options import (
    Json,
    Like,
    ModelOption,
    OptionalOutput,
    Output,
    Overwrite,
    Resolution,
)

if TYPE_CHECKING:
    from neurowhere.model.decoding import Decoding

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
AXES = ("x", "y", "z")
DIGITS = 4


def decode(
    place: Annotated[
        list[str],
        typer.Argument(
            metavar="X Y Z | PEAKS.csv | MAP.nii.gz",
            help="A point in MNI mm, a table of peaks, or an image.",
            show_default=False,
        ),
    ],
    output: OptionalOutput = None,
    model: ModelOption = None,
    terms: Annotated[int, typer.Option(min=1, help="Number of terms to list.")] = 20,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Ignore the values of a map up to this one.",
            show_default="0, or the 95th percentile of an unthresholded map",
        ),
    ] = None,
    talairach: Annotated[
        bool, typer.Option("--talairach", help="Points and peaks are in Talairach space.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """List the terms and studies associated with a point, with peaks or with a map.

    Example:

        neurowhere decode -24 -4 -18

        neurowhere decode peaks.csv --terms 50 -o decoded

        neurowhere decode zmap.nii.gz --threshold 3.1 --json
    """
    from neurowhere.model.decoding import decode
    from neurowhere.model.store import load_model

    found = decode(
        load_model(model), _read_place(place, talairach), threshold=threshold, n_terms=terms
    )
    if output is not None:
        _write(found, output, " ".join(place), overwrite)
    if as_json:
        typer.echo(json.dumps(_summarise(found), indent=2, ensure_ascii=False))
    else:
        _print(found, output)


def _read_place(arguments: list[str], talairach: bool) -> Any:
    """Return a point or peaks as an array in MNI mm, or the path of a map."""
    import numpy as np

    from neurowhere._tools.coordinates import talairach_to_mni

    if len(arguments) == 1 and not arguments[0].lower().endswith(TABLE_SUFFIXES):
        return arguments[0]
    if len(arguments) == 1:
        points = _read_peaks(expanded(arguments[0]))
    else:
        try:
            x, y, z = map(float, arguments)
        except ValueError as error:
            raise typer.BadParameter(
                f"expected X Y Z as three numbers, or one file, got {' '.join(arguments)!r}"
            ) from error
        points = np.array([[x, y, z]])
    return talairach_to_mni(points) if talairach else points


def _read_peaks(path: Path) -> Any:
    """Read coordinates from a table: its columns x, y, z, or its only three."""
    import pandas as pd

    from neurowhere.exceptions import CorpusError

    try:
        table = pd.read_csv(path, sep=r"[,;\s]+", engine="python", header=None, dtype=str)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CorpusError(f"cannot read peaks from {path}: {reason}") from error
    header = [str(name).strip().strip('"').lower() for name in table.iloc[0]]
    if set(AXES) <= set(header):
        table = table.iloc[1:, [header.index(axis) for axis in AXES]]
    numbers = table.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if numbers.shape[1] != len(AXES) or pd.isna(numbers).any() or not len(numbers):
        raise CorpusError(
            f"expected rows of three numbers, or columns named x, y and z, in {path}; "
            f"its first row is {', '.join(header)}"
        )
    return numbers


def _write(found: "Decoding", folder: Path, place: str, overwrite: bool) -> None:
    from neurowhere._tools.files import new_folder, write_info
    from neurowhere.report.tables import write_csv

    with new_folder(folder, overwrite=overwrite) as temporary:
        write_csv(found.terms, temporary / "terms.csv")
        if found.studies is not None:
            write_csv(found.studies, temporary / "studies.csv")
        write_info(temporary, {"kind": "decoding", "place": place})


def _summarise(found: "Decoding") -> dict[str, Any]:
    tables = {"terms": found.terms}
    if found.studies is not None:
        tables["studies"] = found.studies
    rows = {name: table.round(DIGITS).to_dict("records") for name, table in tables.items()}
    return rows if found.threshold is None else {"threshold": found.threshold, **rows}


def _print(found: "Decoding", output: Path | None) -> None:
    if found.threshold:
        typer.echo(f"values above {found.threshold:.3g} count; --threshold changes that\n")
    typer.echo(f"{'term':32}{'score':>8}{'to its base rate':>18}")
    for row in found.terms.to_dict("records"):
        typer.echo(f"{row['term']:32}{row['score']:8.2f}{row['ratio']:17.1f}×")
    if found.studies is not None:
        links = (row["link"] or row["id"] for row in found.studies.to_dict("records"))
        typer.echo("\nclosest studies\n" + "\n".join(links))
    if output is not None:
        typer.echo(f"\nwritten to {output}")


def term(
    name: Annotated[
        str,
        typer.Argument(metavar="TERM", help="Term, with or without a side.", show_default=False),
    ],
    output: Output,
    model: ModelOption = None,
    resolution: Resolution = None,
    like: Like = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the map of a term as an image (map.nii.gz) and as a figure of slices (map.png).

    Example:

        neurowhere term "left amygdala" --model model -o left-amygdala
    """
    from neurowhere.model.store import load_model
    from neurowhere.report.maps import write_term

    found = load_model(model).term_map(name)
    write_term(found, output, resolution_mm=resolution, like=like, overwrite=overwrite)
    typer.echo(f"{found.title}: written to {output}")
