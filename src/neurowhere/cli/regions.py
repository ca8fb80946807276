"""The `regions` command: coordinates and cluster tables, named by an atlas."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from neurowhere.cli import options as cli


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
