"""The `term`, `decode` and `regions` commands: maps of terms, and what is at places."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere._tools.files import expanded
from neurowhere.cli import options as cli
from neurowhere.cli.options import flag, option, with_groups
from neurowhere.cli.tally import Tally
from neurowhere.exceptions import PartitionError

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


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """Options of `term`: which terms, and what is written of their maps."""

    output: cli.OptionalOutput = None
    every: bool = flag("Write the maps of all terms of the model.", "--all")
    terms: Path | None = option(
        "Write the maps of the terms in this file, one per line.", metavar="FILE"
    )
    as_table: bool = flag(
        "Write the mean of each map in each region of an atlas, and no images.", "--csv"
    )
    atlas: cli.AtlasOption = None
    model: cli.ModelOption = None
    resolution: cli.Resolution = None
    like: cli.Like = None
    overwrite: cli.Overwrite = False

    def check(self, name: str | None) -> None:
        """Refuse all but one way to say which terms, and a table of one term."""
        if (name is not None) + self.every + (self.terms is not None) != 1:
            raise typer.BadParameter("expected one of TERM, --all and --terms FILE")
        if name is not None and (self.as_table or self.atlas is not None):
            raise typer.BadParameter(
                "--csv and --atlas are for many terms; add --all or --terms FILE"
            )


@with_groups
def term(
    name: Annotated[
        str | None, typer.Argument(metavar="[TERM]", help="Term, with or without a side.")
    ] = None,
    *,
    options: TermOptions,
) -> None:
    """Write the map of a term as an image (map.nii.gz) and as a figure of slices (map.png).

    With --all or --terms, write the maps of many terms: one 4-D image (maps.nii.gz, maps.json), or
    with --csv or --atlas a table of terms by regions (regions.csv, regions.json).

    Example:

        neurowhere term "left amygdala" --model model -o left-amygdala

        neurowhere term --all --csv -o terms-by-aal3

        neurowhere term --terms words.txt --atlas parcels.nii.gz:parcels.csv -o terms-by-parcel
    """
    options.check(name)
    from neurowhere.model.store import load_model
    from neurowhere.report.maps import write_term, write_term_maps

    encoder = load_model(options.model)
    image: dict[str, Any] = {
        "resolution_mm": options.resolution,
        "like": options.like,
        "overwrite": options.overwrite,
    }
    if name is not None:
        from neurowhere.model.methods import OF_TERM, write_methods

        found = encoder.term_map(name)  # first, so that a typo is told without a folder, too
        methods = write_methods(encoder.summary(), {}, formula=OF_TERM.format(unit=found.unit))
        folder = cli.given(options.output, "a folder to write: -o FOLDER")
        write_term(found, folder, methods=methods, **image)
        typer.echo(f"{found.title}: written to {folder}")
        return
    folder = cli.given(options.output, "a folder to write: -o FOLDER")
    names = None if options.terms is None else _read_terms(options.terms)
    atlas = None if options.atlas is None else cli.read_atlas(options.atlas)
    n_terms = write_term_maps(
        encoder, folder, names, as_table=options.as_table, atlas=atlas, **image
    )
    typer.echo(f"maps of {n_terms:,} terms: written to {folder}")


def _read_terms(path: Path) -> list[str]:
    from neurowhere._tools.files import open_text

    with open_text(expanded(path)) as stream:
        return [line.strip() for line in stream if line.strip()]


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """Options of `decode`: how places are decoded, and what is written."""

    output: cli.OptionalOutput = None
    model: cli.ModelOption = None
    terms: int = option("Number of terms to list.", default=20, min=1)
    threshold: float | None = option(
        "Ignore values of a map up to this threshold.",
        min=0.0,
        show_default="0, or what stands out from noise in an unthresholded map",
    )
    talairach: bool = flag("Points and peaks are in Talairach space.")
    by: str | None = option(
        "Decode the peaks of each value of this column separately; with row, each row.",
        metavar="COLUMN",
        show_default="all peaks together",
    )
    table: Path | None = option(
        "File to write the table of many places to.", metavar="FILE", show_default="the terminal"
    )
    keep_formulas: cli.KeepFormulas = False
    keep_going: bool = flag(
        "Leave out rows of a table without three numbers, and exit with code 0 even if some places "
        "fail."
    )
    overwrite: cli.Overwrite = False
    as_json: cli.Json = False


@with_groups
def decode(
    place: Annotated[
        list[str],
        typer.Argument(
            metavar="X Y Z | PEAKS.csv | MAP.nii.gz ... | FOLDER",
            help="A point in MNI mm, a table of peaks, an image, or many images.",
        ),
    ],
    options: DecodeOptions,
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
    many = options.by is not None or _are_maps(place)
    if many and options.output is not None:
        raise typer.BadParameter("many places give a table; give --table FILE instead of -o")
    if options.table is not None and not many:
        raise typer.BadParameter("--table is for many places; add --by, or give a folder of maps")
    if many:
        decode_places(place, options)
        return
    from neurowhere.model.decoding import decode
    from neurowhere.model.store import load_model

    encoder = load_model(options.model)
    found = decode(
        encoder, _read_place(place, options), threshold=options.threshold, n_terms=options.terms
    )
    if options.output is not None:
        _write(found, options.output, " ".join(place), options.overwrite, encoder)
    if options.as_json:
        cli.print_json(summarise(found))
    else:
        _print(found, options.output)


def _are_maps(arguments: list[str]) -> bool:
    """Return whether the arguments are several maps, or a folder."""
    if len(arguments) > 1:
        return all(each.lower().endswith((".nii", ".nii.gz")) for each in arguments)
    return expanded(arguments[0]).is_dir()


def _read_place(arguments: list[str], options: DecodeOptions) -> Any:
    """Return a point or peaks as an array in MNI mm, or the path of a map."""
    import numpy as np

    from neurowhere.corpus.coordinates import talairach_to_mni

    if len(arguments) == 1 and POINT.fullmatch(arguments[0]):
        arguments = POINT_SEPARATOR.split(arguments[0].strip())
    elif len(arguments) == 1 and not arguments[0].lower().endswith(TABLE_SUFFIXES):
        return arguments[0]
    if len(arguments) == 1:
        from neurowhere.inputs.places import read_peaks

        points = read_peaks(expanded(arguments[0]), keep_going=options.keep_going)
    else:
        points = np.array([cli.as_point(arguments, "X Y Z as three numbers, or one file")])
    return talairach_to_mni(points) if options.talairach else points


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


def decode_places(sources: list[str], options: DecodeOptions) -> None:
    """Decode the places of a table, or maps, and write a row for each as it is done."""
    from neurowhere._tools.parallel import track
    from neurowhere.model.store import load_model

    places = list(_find_places(sources, options))
    found = _decode_each(load_model(options.model), track(places, "decoding"), options)
    what = ("place", "places", "decoded")
    tally = Tally(what, PartitionError, keep_going=options.keep_going)
    with cli.written(options.table, options.overwrite) as stream:
        with tally.until_stopped():
            for each in found:
                with tally.undisturbed():
                    stream.write(_as_line(each, options, header=not tally.n_seen))
                tally.add(1, [] if each.problem is None else [(each.name, each.problem)])
        tally.refuse_nothing()
    tally.end(options.table)


def _decode_each(
    encoder: "Encoder", places: "Iterable[NamedPlace]", options: DecodeOptions
) -> "Iterator[Decoded]":
    """Decode places one after another; a place that cannot be read keeps its problem."""
    from neurowhere.model.decoding import Decoded, decode_many

    for name, place, problem in places:
        if problem is None:
            how: dict[str, Any] = {"threshold": options.threshold, "n_terms": options.terms}
            yield from decode_many(encoder, [(name, place)], **how)
        else:
            yield Decoded(name, None, problem)


def _find_places(sources: list[str], options: DecodeOptions) -> "Iterable[NamedPlace]":
    from neurowhere.inputs.places import iter_maps, iter_points

    if options.by is None:
        return iter_maps(sources)
    if len(sources) > 1 or not sources[0].lower().endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(f"expected one table of peaks with --by, got {' '.join(sources)}")
    how = {"talairach": options.talairach, "keep_going": options.keep_going}
    return iter_points(expanded(sources[0]), options.by, **how)


def _as_line(each: "Decoded", options: DecodeOptions, *, header: bool) -> str:
    """Return a place as a row of CSV, or as a line of JSON."""
    if options.as_json:
        tables = {} if each.decoding is None else summarise(each.decoding)
        return json.dumps({"id": each.name, **tables, "problem": each.problem}) + "\n"
    import pandas as pd

    from neurowhere.report.tables import to_csv

    row = pd.DataFrame([dict(_cells(each))], columns=list(COLUMNS))
    return to_csv(row, header=header, keep_formulas=options.keep_formulas, float_format=NUMBERS)


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


def regions(
    table: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE | X Y Z",
            help="A cluster table of nilearn, FSL, SPM or FreeSurfer, a table with columns x, y "
            "and z, or a point, in MNI mm.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--table", metavar="FILE", help="CSV file to write.", show_default="the terminal"
        ),
    ] = None,
    atlas: cli.AtlasOption = None,
    talairach: Annotated[
        bool, typer.Option("--talairach", help="Points are in Talairach space.")
    ] = False,
    voxels: Annotated[
        Path | None,
        typer.Option(
            metavar="IMAGE", help="Image whose voxel indices the table has in place of mm."
        ),
    ] = None,
    keep_formulas: cli.KeepFormulas = False,
    overwrite: cli.Overwrite = False,
    as_json: cli.Json = False,
) -> None:
    """Name the region of an atlas at each point of a table, and keep the table's columns.

    A point outside all regions gets the closest one and its distance.

    Example:

        neurowhere regions clusters.csv --table named.csv

        neurowhere regions cluster_zstat1.txt --voxels thresh_zstat1.nii.gz

        neurowhere regions -24 -4 -18
    """
    from neurowhere.inputs.regions import name_regions
    from neurowhere.report.tables import to_csv

    source: Any = table[0]
    if len(table) > 1:
        source = [cli.as_point(table, "one table, or X Y Z as three numbers")]
    named = name_regions(source, cli.read_atlas(atlas), talairach=talairach, voxels=voxels)
    if as_json:
        text = json.dumps(named.to_dict("records"), indent=2, ensure_ascii=False) + "\n"
    else:
        text = to_csv(named, keep_formulas=keep_formulas)
    with cli.written(output, overwrite) as stream:
        stream.write(text)
    if output is not None:
        typer.echo(f"{output}: {len(named):,} points named")
