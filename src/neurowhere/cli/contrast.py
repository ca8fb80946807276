"""The `neurowhere contrast` command: where documents that mention a term differ from all."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neurowhere.cli.options import (
    AtlasOption,
    Cluster,
    Format,
    Jobs,
    Json,
    KeepFormulas,
    KeepGoing,
    Like,
    ModelOption,
    Output,
    Overwrite,
    Resolution,
    print_pairs,
    read_atlas,
)

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast
    from neurowhere.contrast.selection import Group
    from neurowhere.space import Atlas

SHOWN = 10  # regions


def contrast(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="DOCUMENTS...", help="Files or folders of documents.", show_default=False
        ),
    ],
    output: Output,
    term: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            show_default=False,
            help="Term to look for: a word, a phrase, a prefix (aphasi*), a /regular expression/, "
            "or several of them with AND, OR and NOT.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column that defines the group.", show_default=False),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Value of --column in the group.", show_default=False),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY|VALUE",
            help="Second group: a query as in --term, or a value of --column.",
            show_default="all documents",
        ),
    ] = None,
    format: Format = None,
    model: ModelOption = None,
    min_mentions: Annotated[
        int, typer.Option(min=1, help="Minimum number of mentions per document.")
    ] = 1,
    by_mentions: Annotated[
        bool, typer.Option("--by-mentions", help="Weight documents by their number of mentions.")
    ] = False,
    without_term: Annotated[
        bool,
        typer.Option("--without-term", help="Remove the term itself from the encoding."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUERY", help="Remove these terms too; can be repeated.", show_default=False
        ),
    ] = None,
    matched: Annotated[
        bool,
        typer.Option(
            "--matched",
            help="Contrast with documents of the same kind: source, length, species, methods.",
        ),
    ] = False,
    min_ratio: Annotated[
        float,
        typer.Option(
            min=1, help="Smallest effect that passes the threshold: this ratio, or its inverse."
        ),
    ] = 1.0,
    atlas: AtlasOption = None,
    resolution: Resolution = None,
    like: Like = None,
    replicates: Annotated[int, typer.Option(min=2, help="Number of bootstrap replicates.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for encoded documents and a copy of their texts.",
            show_default="the user's cache",
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Do not keep encoded documents.")
    ] = False,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave titles out of tables and report.")
    ] = False,
    keep_formulas: KeepFormulas = False,
    keep_going: KeepGoing = False,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Map where documents that mention a term point more, or less, than all documents do.

    The documents need no coordinates. They are encoded once and kept, with a compressed copy of
    their texts, so that the next term takes seconds.

    Example:

        neurowhere contrast articles --term huntington -o huntington

        neurowhere contrast articles --term "aphasi* AND NOT review" --without-term -o aphasia

        neurowhere contrast articles --term parkinson* --matched --min-ratio 1.25 -o parkinson

        neurowhere contrast reports.csv --column arm --group patients --against controls -o arms
    """
    first, second = _groups(term, column, group, against, min_mentions)
    from neurowhere._tools.files import new_folder
    from neurowhere.contrast import contrast_documents
    from neurowhere.model.store import load_model
    from neurowhere.report.contrast import write_files

    with new_folder(output, overwrite=overwrite) as folder:  # refused before the long work
        encoder = load_model(model)
        regions = read_atlas(atlas, encoder.partition_)
        result = contrast_documents(
            documents,
            first,
            against=second,
            model=encoder,
            format=format,
            weighted=by_mentions,
            without_term=without_term,
            without=without or (),
            matched=matched,
            min_ratio=min_ratio,
            replicates=replicates,
            seed=seed,
            cache=cache,
            keep=not no_cache,
            keep_going=keep_going,
            n_jobs=jobs,
            cluster=cluster,
        )
        write_files(
            result,
            folder,
            atlas=regions,
            resolution_mm=resolution,
            like=like,
            titles=not no_text,
            keep_formulas=keep_formulas,
        )
    _print(result, regions, output, as_json)


def _groups(
    term: str | None, column: str | None, group: str | None, against: str | None, least: int
) -> "tuple[Group, Group | None]":
    """Find the groups that the options stand for."""
    from neurowhere.contrast import ByColumn, ByTerm

    if (term is None) == (column is None) or (column is None) != (group is None):
        raise typer.BadParameter("expected --term, or --column with --group; give one of them")
    if term is not None:
        return ByTerm(term, least), None if against is None else ByTerm(against, least)
    name, value = str(column), str(group)
    return ByColumn(name, value), None if against is None else ByColumn(name, against)


def _print(result: "Contrast", atlas: "Atlas", output: Path, as_json: bool) -> None:
    from neurowhere.text.labels import region_names

    regions = result.regions(atlas).head(SHOWN)
    names = regions["region"].map(region_names(atlas.names))
    if as_json:
        about = {"group": result.group, "against": result.against, **result.about}
        typer.echo(json.dumps({**about, "regions": regions.assign(name=names).to_dict("records")}))
        return
    typer.echo(repr(result))
    about = {**result.about, "weighted": "by mentions" if result.about["weighted"] else ""}
    print_pairs({name: value for name, value in about.items() if value})
    typer.echo(regions.assign(region=names).to_string(index=False, float_format="{:.3g}".format))
    typer.echo(f"{output / 'report.html'}: open it in a browser")
