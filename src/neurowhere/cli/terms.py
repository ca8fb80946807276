"""The `term` and `decode` commands: from terms to maps, and from places to terms and studies."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from neurowhere._tools.files import expanded, new_file
from neurowhere.cli.options import (
    AtlasOption,
    Json,
    KeepFormulas,
    Like,
    ModelOption,
    OptionalOutput,
    Output,
    Overwrite,
    Resolution,
    read_atlas,
)
from neurowhere.exceptions import PartitionError, one_line

if TYPE_CHECKING:
    from neurowhere.inputs.places import NamedPlace
    from neurowhere.model.decoding import Decoded, Decoding
    from neurowhere.model.encoder import Encoder


TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
DIGITS = 4
MIN_WIDTH = 32  # characters of the column of terms
# A point as one argument, as tables and papers have it: "-24, -4, -18".
POINT_SEPARATOR = re.compile(r"\s*[,;\s]\s*")
POINT = re.compile(rf"\s*[-+\d.]+(?:{POINT_SEPARATOR.pattern}[-+\d.]+){{2}}\s*")

LISTED = "; "  # between terms, which may hold commas
NUMBERS = "%.6g"
COLUMNS = ("id", "term", "score", "ratio", "terms", "studies", "problem")


def term(
    output: Output,
    name: Annotated[
        str | None, typer.Argument(metavar="[TERM]", help="Term, with or without a side.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Write the maps of all terms of the model.")
    ] = False,
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the maps of the terms in this file, one per line."
        ),
    ] = None,
    as_table: Annotated[
        bool,
        typer.Option(
            "--csv", help="Write the mean of each map in each region of an atlas, and no images."
        ),
    ] = False,
    atlas: AtlasOption = None,
    model: ModelOption = None,
    resolution: Resolution = None,
    like: Like = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the map of a term as an image (map.nii.gz) and as a figure of slices (map.png).

    With --all or --terms, write the maps of many terms: one 4-D image (maps.nii.gz, maps.json), or
    with --csv or --atlas a table of terms by regions (regions.csv, regions.json).

    Example:

        neurowhere term "left amygdala" --model model -o left-amygdala

        neurowhere term --all --csv -o terms-by-aal3

        neurowhere term --terms words.txt --atlas parcels.nii.gz:parcels.csv -o terms-by-parcel
    """
    _check_usage(name, every, terms, as_table or atlas is not None)
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    if name is not None:
        from neurowhere.model.methods import OF_TERM, write_methods
        from neurowhere.report.maps import write_term

        found = encoder.term_map(name)
        write_term(
            found,
            output,
            resolution_mm=resolution,
            like=like,
            overwrite=overwrite,
            methods=write_methods(encoder.summary(), {}, formula=OF_TERM.format(unit=found.unit)),
        )
        typer.echo(f"{found.title}: written to {output}")
        return
    from neurowhere.report.maps import write_term_maps

    n_terms = write_term_maps(
        encoder,
        output,
        None if terms is None else _read_terms(terms),
        as_table=as_table,
        atlas=None if atlas is None else read_atlas(atlas),
        resolution_mm=resolution,
        like=like,
        overwrite=overwrite,
    )
    typer.echo(f"maps of {n_terms:,} terms: written to {output}")


def _check_usage(name: str | None, every: bool, terms: Path | None, as_table: bool) -> None:
    """Refuse all but one way to say which terms, and a table of one term."""
    if (name is not None) + every + (terms is not None) != 1:
        raise typer.BadParameter("expected one of TERM, --all and --terms FILE")
    if name is not None and as_table:
        raise typer.BadParameter("--csv and --atlas are for many terms; add --all or --terms FILE")


def _read_terms(path: Path) -> list[str]:
    from neurowhere._tools.files import open_text

    with open_text(expanded(path)) as stream:
        return [line.strip() for line in stream if line.strip()]


def decode(
    place: Annotated[
        list[str],
        typer.Argument(
            metavar="X Y Z | PEAKS.csv | MAP.nii.gz ... | FOLDER",
            help="A point in MNI mm, a table of peaks, an image, or many images.",
        ),
    ],
    output: OptionalOutput = None,
    model: ModelOption = None,
    terms: Annotated[int, typer.Option(min=1, help="Number of terms to list.")] = 20,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Ignore values of a map up to this threshold.",
            show_default="0, or what stands out from noise in an unthresholded map",
        ),
    ] = None,
    talairach: Annotated[
        bool, typer.Option("--talairach", help="Points and peaks are in Talairach space.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Decode the peaks of each value of this column separately; with row, each row.",
            show_default="all peaks together",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write the table of many places to.",
            show_default="the terminal",
        ),
    ] = None,
    keep_formulas: KeepFormulas = False,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going",
            help="Leave out rows of a table without three numbers, and exit with code 0 even if "
            "some places fail.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """List the terms and studies associated with a point, with peaks or with a map.

    Many places, each decoded on its own, give a table: a folder of maps, several maps, or a table
    of peaks with --by.

    Example:

        neurowhere decode -24 -4 -18

        neurowhere decode peaks.csv --terms 50 -o decoded

        neurowhere decode zmap.nii.gz --threshold 3.1 --json

        neurowhere decode peaks.csv --by id --table decoded.csv

        neurowhere decode maps --table decoded.csv
    """
    if by is not None or _are_maps(place):
        if output is not None:
            raise typer.BadParameter("many places give a table; give --table FILE instead of -o")
        decode_places(
            place,
            by,
            table,
            talairach=talairach,
            model=model,
            options={"threshold": threshold, "n_terms": terms},
            style=Style(as_json, keep_formulas, keep_going, overwrite),
        )
        return
    if table is not None:
        raise typer.BadParameter("--table is for many places; add --by, or give a folder of maps")
    from neurowhere.model.decoding import decode
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    found = decode(
        encoder, _read_place(place, talairach, keep_going), threshold=threshold, n_terms=terms
    )
    if output is not None:
        _write(found, output, " ".join(place), overwrite, encoder)
    if as_json:
        typer.echo(json.dumps(summarise(found), indent=2, ensure_ascii=False))
    else:
        _print(found, output)


class Style(NamedTuple):
    """How the table of many places is written."""

    as_json: bool
    keep_formulas: bool
    keep_going: bool
    overwrite: bool


def _are_maps(arguments: list[str]) -> bool:
    """Return whether the arguments are several maps, or a folder."""
    if len(arguments) > 1:
        return all(each.lower().endswith((".nii", ".nii.gz")) for each in arguments)
    return expanded(arguments[0]).is_dir()


def _read_place(arguments: list[str], talairach: bool, keep_going: bool) -> Any:
    """Return a point or peaks as an array in MNI mm, or the path of a map."""
    import numpy as np

    from neurowhere.corpus.coordinates import talairach_to_mni

    if len(arguments) == 1 and POINT.fullmatch(arguments[0]):
        arguments = POINT_SEPARATOR.split(arguments[0].strip())
    elif len(arguments) == 1 and not arguments[0].lower().endswith(TABLE_SUFFIXES):
        return arguments[0]
    if len(arguments) == 1:
        from neurowhere.inputs.places import read_peaks

        points = read_peaks(expanded(arguments[0]), keep_going=keep_going)
    else:
        try:
            x, y, z = map(float, arguments)
        except ValueError as error:
            raise typer.BadParameter(
                f"expected X Y Z as three numbers, or one file, got {' '.join(arguments)!r}"
            ) from error
        points = np.array([[x, y, z]])
    return talairach_to_mni(points) if talairach else points


def _write(
    found: "Decoding", folder: Path, place: str, overwrite: bool, encoder: "Encoder"
) -> None:
    from neurowhere._tools.files import new_folder, write_info
    from neurowhere.model.methods import OF_PLACE, write_methods
    from neurowhere.report.tables import write_csv

    with new_folder(folder, overwrite=overwrite) as temporary:
        write_csv(found.terms, temporary / "terms.csv")
        if found.studies is not None:
            write_csv(found.studies, temporary / "studies.csv")
        write_methods(encoder.summary(), {}, formula=OF_PLACE).write(temporary)
        write_info(temporary, {"kind": "decoding", "place": place})


def summarise(found: "Decoding") -> dict[str, Any]:
    """Return what was decoded as plain data, for JSON."""
    tables = {"terms": found.terms}
    if found.studies is not None:
        tables["studies"] = found.studies
    rows = {name: table.round(DIGITS).to_dict("records") for name, table in tables.items()}
    return rows if found.threshold is None else {"threshold": found.threshold, **rows}


def _print(found: "Decoding", output: Path | None) -> None:
    if found.threshold:
        typer.echo(f"values above {found.threshold:.3g} count; --threshold changes that\n")
    width = max([MIN_WIDTH, *(len(term) + 1 for term in found.terms["term"])])
    typer.echo(f"{'term':{width}}{'score':>8}{'to its base rate':>18}  much the same map")
    for row in found.terms.to_dict("records"):
        alike = f"  {row['alike']}" if row["alike"] else ""
        typer.echo(f"{row['term']:{width}}{row['score']:8.2f}{row['ratio']:17.1f}×{alike}")
    if found.studies is not None:
        from neurowhere.cli.terminal import study_line
        from neurowhere.model.summary import studies_of

        typer.echo("\nclosest studies\n" + "\n".join(map(study_line, studies_of(found.studies))))
    if output is not None:
        typer.echo(f"\nwritten to {output}")


def decode_places(
    sources: list[str],
    by: str | None,
    path: Path | None,
    *,
    talairach: bool,
    model: Path | None,
    options: dict[str, Any],
    style: Style,
) -> None:
    """Decode the places of a table, or maps, and write a row for each as it is done."""
    from neurowhere._tools.parallel import track
    from neurowhere.cli.batch import Stop
    from neurowhere.model.store import load_model

    places = list(_find_places(sources, by, talairach, style.keep_going))
    encoder = load_model(model)
    found = _decode_each(encoder, track(places, "decoding"), options)
    target = new_file(path, overwrite=style.overwrite) if path else nullcontext(sys.stdout)
    n_done = n_failed = 0
    stop = Stop()
    with target as stream:
        with stop.until_stopped():
            for each in found:
                with stop.undisturbed():
                    stream.write(_as_line(each, style, header=n_done == 0))
                    n_done += 1
                    if each.problem is not None:
                        n_failed += 1
                        told = one_line(f"{each.name}: {each.problem}")
                        typer.echo(f"neurowhere: {told}", err=True)
                stop.heed()
        if not n_done:
            stop.end_as_stopped()
        if n_failed == n_done:
            raise PartitionError(f"none of the {n_failed:,} places could be decoded; see above")
    if path is not None:
        stopped = "; stopped before the end" * bool(stop.signal)
        typer.echo(f"{path}: {n_done - n_failed:,} places decoded, {n_failed:,} not{stopped}")
    stop.end_as_stopped()
    if n_failed and not style.keep_going:
        raise PartitionError(f"{n_failed:,} of {n_done:,} places failed; see above")


def _decode_each(
    encoder: "Encoder", places: "Iterable[NamedPlace]", options: dict[str, Any]
) -> "Iterator[Decoded]":
    """Decode places one after another, but for those that cannot be read."""
    from neurowhere.model.decoding import Decoded, decode_many

    for name, place, problem in places:
        if problem is None:
            yield from decode_many(encoder, [(name, place)], **options)
        else:
            yield Decoded(name, None, problem)


def _find_places(
    sources: list[str], by: str | None, talairach: bool, keep_going: bool
) -> "Iterable[NamedPlace]":
    from neurowhere.inputs.places import iter_maps, iter_points

    if by is None:
        return iter_maps(sources)
    if len(sources) > 1 or not sources[0].lower().endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(f"expected one table of peaks with --by, got {' '.join(sources)}")
    return iter_points(expanded(sources[0]), by, talairach=talairach, keep_going=keep_going)


def _as_line(each: "Decoded", style: Style, *, header: bool) -> str:
    """Return a place as a row of CSV, or as a line of JSON."""
    if style.as_json:
        tables = {} if each.decoding is None else summarise(each.decoding)
        return json.dumps({"id": each.name, **tables, "problem": each.problem}) + "\n"
    import pandas as pd

    from neurowhere.report.tables import to_csv

    row = pd.DataFrame([dict(_cells(each))], columns=list(COLUMNS))
    return to_csv(row, header=header, keep_formulas=style.keep_formulas, float_format=NUMBERS)


def _cells(each: "Decoded") -> Iterator[tuple[str, Any]]:
    yield "id", each.name
    yield "problem", each.problem
    if each.decoding is None:
        return
    terms, studies = each.decoding.terms, each.decoding.studies
    yield from terms.iloc[0][["term", "score", "ratio"]].items()  # type: ignore[misc]
    yield "terms", LISTED.join(terms["term"])
    if studies is not None:
        yield "studies", " ".join(studies["id"])
