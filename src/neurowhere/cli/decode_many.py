"""Many places decoded, one row of a table each; some may fail."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neurowhere._tools.files import expanded, new_file
from neurowhere.cli.decode import TABLE_SUFFIXES, Style, summarise
from neurowhere.exceptions import PartitionError, one_line

if TYPE_CHECKING:
    from neurowhere.inputs.places import NamedPlace
    from neurowhere.model.decoding import Decoded

LISTED = "; "  # between terms, which may hold commas
NUMBERS = "%.6g"
COLUMNS = ("id", "term", "score", "ratio", "terms", "studies", "problem")


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
    from neurowhere.model.decoding import decode_many
    from neurowhere.model.store import load_model

    places = list(_find_places(sources, by, talairach))
    encoder = load_model(model)
    found = decode_many(encoder, track(places, "decoding"), **options)
    target = new_file(path, overwrite=style.overwrite) if path else nullcontext(sys.stdout)
    n_failed = 0
    with target as stream:
        for number, each in enumerate(found):
            stream.write(_as_line(each, style, header=number == 0))
            if each.problem is not None:
                n_failed += 1
                typer.echo(f"neurowhere: {one_line(f'{each.name}: {each.problem}')}", err=True)
        if n_failed == len(places):
            raise PartitionError(f"none of the {n_failed:,} places could be decoded; see above")
    if path is not None:
        typer.echo(f"{path}: {len(places) - n_failed:,} places decoded, {n_failed:,} not")
    if n_failed and not style.keep_going:
        raise PartitionError(f"{n_failed:,} of {len(places):,} places failed; see above")


def _find_places(sources: list[str], by: str | None, talairach: bool) -> "Iterable[NamedPlace]":
    from neurowhere.inputs.places import iter_maps, iter_points

    if by is None:
        return iter_maps(sources)
    if len(sources) > 1 or not sources[0].lower().endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(f"expected one table of peaks with --by, got {' '.join(sources)}")
    return iter_points(expanded(sources[0]), by, talairach=talairach)


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
