"""The overlay of a batch: where the seats of its reports are, and which contradict themselves."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neurowhere._tools.files import DAMAGE
from neurowhere.cli.encode import Options
from neurowhere.cli.tally import MOST_TOLD
from neurowhere.exceptions import OutputError, one_line

if TYPE_CHECKING:
    from neurowhere.model import Encoder
    from neurowhere.model.seats import Seats

FILES = ("overlay.nii.gz", "overlay.png", "seats.csv", "methods.txt")


def write_overlay(folder: Path, table: Path, model: "Encoder", options: Options) -> None:
    """Write the overlay of the texts of a batch into its folder, one of them in memory at a time.

    It is made of what is in the folders of the texts, so that it has those of earlier runs too.
    """
    from neurowhere.model.methods import OF_SEATS, write_methods
    from neurowhere.report.overlay import write_overlay as write

    made = write(
        _told(_read(folder, table)),
        model.partition_,
        folder,
        resolution_mm=options.resolution,
        like=options.like,
        pictures=options.written_maps == "all",
        keep_formulas=options.keep_formulas,
        methods=write_methods(model.summary(), options.reading, "report", also=OF_SEATS),
    )
    if made.n_seated:
        typer.echo(f"{folder / FILES[0]}: {made}")


def _read(folder: Path, table: Path) -> "Iterator[tuple[str, Seats | None]]":
    """Yield the names of the texts that have a folder, and their seats, as the table has them."""
    from neurowhere.model.seats import read_seats

    seen = {""}  # the folder of a text without one, and those of texts that were encoded again
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["folder"] in seen:
                continue
            seen.add(row["folder"])
            try:
                yield row["id"], read_seats(folder / row["folder"])
            except DAMAGE as error:
                raise OutputError(
                    f"{folder / row['folder']} is damaged; remove it, and run the command again"
                ) from error


def _told(found: "Iterator[tuple[str, Seats | None]]") -> "Iterator[tuple[str, Seats | None]]":
    """Tell which reports contradict themselves, the first ones by their words."""
    n_found = 0
    for name, seats in found:
        yield name, seats
        for contradiction in seats.contradictions if seats else ():
            n_found += 1
            if n_found <= MOST_TOLD:
                words = one_line(f"{name}: the report contradicts itself: {contradiction}")
                typer.echo(f"neurowhere: warning: {words}", err=True)
    if (more := n_found - MOST_TOLD) > 0:
        typer.echo(f"neurowhere: warning: and {more:,} more contradictions", err=True)
