"""The `neurowhere contrast` command: where documents that mention a term differ from all."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere.cli import options as cli

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast
    from neurowhere.contrast.selection import Group

SHOWN = 10  # regions


def contrast(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="DOCUMENTS...", help="Files or folders of documents.", show_default=False
        ),
    ],
    output: cli.Output,
    term: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            show_default=False,
            help="Term to look for: a word, a phrase, a prefix (aphasi*), a /regular expression/, "
            "or several of them with AND, OR and NOT.",
        ),
    ] = None,
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="File with a query in each line, which are contrasted and corrected together.",
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
    format: cli.Format = None,
    model: cli.ModelOption = None,
    min_mentions: Annotated[
        int, typer.Option(min=1, help="Minimum number of mentions per document.")
    ] = 1,
    by_mentions: Annotated[
        bool, typer.Option("--by-mentions", help="Weight documents by their number of mentions.")
    ] = False,
    unadjusted: Annotated[
        bool,
        typer.Option(
            "--unadjusted",
            help="Contrast all documents that mention the term with all documents, whatever their "
            "kind, as in the paper.",
        ),
    ] = False,
    without_term: Annotated[
        bool,
        typer.Option(
            "--without-term", help="Remove the term itself from an unadjusted encoding, too."
        ),
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
            help="Contrast with the nearest documents of the same kind instead of adjusting.",
        ),
    ] = False,
    min_ratio: Annotated[
        float,
        typer.Option(
            min=1, help="Smallest effect that passes the threshold: this ratio, or its inverse."
        ),
    ] = 1.0,
    atlas: cli.AtlasOption = None,
    resolution: cli.Resolution = None,
    like: cli.Like = None,
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
    keep_formulas: cli.KeepFormulas = False,
    keep_going: cli.KeepGoing = False,
    jobs: cli.Jobs = -1,
    cluster: cli.Cluster = None,
    overwrite: cli.Overwrite = False,
    as_json: cli.Json = False,
) -> None:
    """Map where documents about a term point more, or less, than expected from their kind.

    The documents need no coordinates. They are encoded once and kept, with a compressed copy of
    their texts, so that the next term takes seconds. The term itself is left out, and source,
    length, species, people, methods and topics are adjusted for.

    Example:

        neurowhere contrast articles --term huntington -o huntington

        neurowhere contrast articles --terms diseases.txt -o diseases

        neurowhere contrast articles --term "aphasi* AND NOT review" --unadjusted -o aphasia

        neurowhere contrast reports.csv --column arm --group patients --against controls -o arms
    """
    if unadjusted and matched:
        raise typer.BadParameter("expected --unadjusted or --matched, got both; give one of them")
    wanted = _groups(term, terms, column, group, min_mentions)
    second = _second(column, against, min_mentions)
    from neurowhere._tools.files import new_folder
    from neurowhere.contrast import contrast_documents
    from neurowhere.model.store import load_model
    from neurowhere.report.contrast import write_files, write_list

    with new_folder(output, overwrite=overwrite) as folder:  # refused before the long work
        encoder = load_model(model)
        results = contrast_documents(
            documents,
            wanted,
            against=second,
            model=encoder,
            atlas=cli.read_atlas(atlas, encoder.partition_),
            format=format,
            weighted=by_mentions,
            unadjusted=unadjusted,
            matched=matched,
            without_term=without_term,
            without=without or (),
            min_ratio=min_ratio,
            cache=cache,
            keep=not no_cache,
            keep_going=keep_going,
            n_jobs=jobs,
            cluster=cluster,
        )
        options: dict[str, Any] = {
            "resolution_mm": resolution,
            "like": like,
            "titles": not no_text,
            "keep_formulas": keep_formulas,
        }
        if terms is None:
            write_files(results[0], folder, **options)
        else:
            write_list(results, folder, **options)
    if as_json:
        found = [_as_plain(result) for result in results]
        typer.echo(json.dumps(found if terms else found[0]))
        return
    for result in results:
        _print(result)
    _print_common(results[0].about)
    typer.echo(f"{output / 'report.html'}: open it in a browser")


def _groups(
    term: str | None, terms: Path | None, column: str | None, group: str | None, least: int
) -> "list[Group]":
    """Return the groups that the options define."""
    from neurowhere.contrast import ByColumn, ByTerm

    if sum(each is not None for each in (term, terms, column)) != 1 or (column is None) != (
        group is None
    ):
        raise typer.BadParameter(
            "expected --term, --terms, or --column with --group; give one of them"
        )
    if column is not None:
        return [ByColumn(column, str(group))]
    return [ByTerm(query, least) for query in ([term] if term else _read_queries(terms))]


def _second(column: str | None, against: str | None, least: int) -> "Group | None":
    from neurowhere.contrast import ByColumn, ByTerm

    if against is None:
        return None
    return ByTerm(against, least) if column is None else ByColumn(column, against)


def _read_queries(path: "Path | None") -> list[str]:
    """Read the lines of a file, without empty ones and those that begin with #."""
    from neurowhere.exceptions import QueryError

    try:
        lines = Path(path or "").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(
            f"{path}: expected a text file with a query in each line ({error})"
        ) from error
    queries = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not queries:
        raise QueryError(f"{path}: expected a query in each line, but the file has none")
    return list(dict.fromkeys(queries))


def _as_plain(result: "Contrast") -> dict[str, Any]:
    regions = result.regions().head(SHOWN).replace({float("nan"): None})
    return {
        "group": result.group,
        "against": result.against,
        "outcome": result.outcome,
        "most_raised": list(result.most_raised()["name"]),
        **result.about,
        "regions": regions.to_dict("records"),
    }


def _print(result: "Contrast") -> None:
    about = result.about
    typer.echo(repr(result))
    if not about["unadjusted"]:
        passing = about["documents_in_passing"]
        typer.echo(f"{about['documents_in_group']:,} about it, {passing:,} in passing")
    if about["terms_left_out"]:
        typer.echo(f"Terms left out: {', '.join(about['terms_left_out'])}")
    if names := list(result.most_raised()["name"].head(SHOWN)):
        typer.echo(f"Raised most: {', '.join(names)}")
    regions = result.regions().head(SHOWN)
    hidden = ["region", "probability", "reference"]
    hidden += [] if about["tested"] else ["low", "high", "t", "p", "q", "passes"]
    shown = regions.drop(columns=hidden)
    typer.echo(f"\n{shown.to_string(index=False, float_format='{:.3g}'.format)}\n")


def _print_common(about: dict[str, Any]) -> None:
    """Print what holds for all results of a run."""
    from neurowhere.report.contrast import chance_words

    typer.echo(f"What nothing looks like: {chance_words(about)}")
    if about["kept_in"]:
        typer.echo(f"Encoded documents and a copy of their texts: {about['kept_in']}")
