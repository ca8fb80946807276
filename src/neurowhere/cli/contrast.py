"""The `neurowhere contrast` command: where documents that mention a term differ from all."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere.cli import options as cli
from neurowhere.cli.options import flag, option, with_groups

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast
    from neurowhere.contrast.selection import Group

SHOWN = 10  # regions


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `contrast`: the groups, how they are contrasted, and what is written."""

    term: str | None = option(
        "Term to look for: a word, a phrase, a prefix (aphasi*), a /regular expression/, or "
        "several of them with AND, OR and NOT.",
        metavar="QUERY",
        show_default=False,
    )
    terms: Path | None = option(
        "File with a query in each line, which are contrasted and corrected together.",
        metavar="FILE",
        show_default=False,
    )
    column: str | None = option(
        "Column that defines the group.", metavar="NAME", show_default=False
    )
    group: str | None = option(
        "Value of --column in the group.", metavar="VALUE", show_default=False
    )
    against: str | None = option(
        "Second group: a query as in --term, or a value of --column.",
        metavar="QUERY|VALUE",
        show_default="all documents",
    )
    format: cli.Format = None
    model: cli.ModelOption = None
    min_mentions: int = option("Minimum number of mentions per document.", default=1, min=1)
    weighted: bool = flag("Weight documents by their number of mentions.", "--by-mentions")
    unadjusted: bool = flag(
        "Contrast all documents that mention the term with all documents, whatever their kind, as "
        "in the paper."
    )
    without_term: bool = flag("Remove the term itself from an unadjusted encoding, too.")
    without: list[str] | None = option(
        "Remove these terms too; can be repeated.", metavar="QUERY", show_default=False
    )
    matched: bool = flag(
        "Contrast with the nearest documents of the same kind instead of adjusting."
    )
    min_ratio: float = option(
        "Smallest effect that passes the threshold: this ratio, or its inverse.", default=1.0, min=1
    )
    atlas: cli.AtlasOption = None
    resolution: cli.Resolution = None
    like: cli.Like = None
    cache: Path | None = option(
        "Folder for encoded documents and a copy of their texts.",
        metavar="FOLDER",
        show_default="the user's cache",
    )
    no_cache: bool = flag("Do not keep encoded documents.")
    no_text: bool = flag("Leave titles out of tables and report.")
    keep_formulas: cli.KeepFormulas = False
    keep_going: cli.KeepGoing = False
    jobs: cli.Jobs = -1
    cluster: cli.Cluster = None
    overwrite: cli.Overwrite = False
    as_json: cli.Json = False

    def check(self) -> None:
        """Refuse options that contradict each other."""
        if self.unadjusted and self.matched:
            raise typer.BadParameter(
                "expected --unadjusted or --matched, got both; give one of them"
            )
        n_given = sum(each is not None for each in (self.term, self.terms, self.column))
        if n_given != 1 or (self.column is None) != (self.group is None):
            raise typer.BadParameter(
                "expected --term, --terms, or --column with --group; give one of them"
            )

    def groups(self) -> "list[Group]":
        """Return the groups to contrast."""
        if self.column is not None:
            return [self._group(str(self.group))]
        return list(map(self._group, [self.term] if self.term else _read_queries(self.terms)))

    def second(self) -> "Group | None":
        """Return the group that the others are contrasted with, if there is one."""
        return None if self.against is None else self._group(self.against)

    def _group(self, what: str) -> "Group":
        from neurowhere.contrast import ByColumn, ByTerm

        return ByColumn(self.column, what) if self.column else ByTerm(what, self.min_mentions)


# Options that are parameters of `contrast_documents` of the same name.
PASSED_ON = "format weighted unadjusted matched without_term min_ratio cache keep_going cluster"


@with_groups
def contrast(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="DOCUMENTS...", help="Files or folders of documents.", show_default=False
        ),
    ],
    output: cli.Output,
    options: Options,
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
    options.check()
    wanted, second = options.groups(), options.second()
    from neurowhere._tools.files import new_folder
    from neurowhere.contrast import contrast_documents
    from neurowhere.model.store import load_model
    from neurowhere.report.contrast import chance_words, write_files, write_list

    with new_folder(output, overwrite=options.overwrite) as folder:  # before the long work
        encoder = load_model(options.model)
        how: dict[str, Any] = {name: getattr(options, name) for name in PASSED_ON.split()}
        results = contrast_documents(
            documents,
            wanted,
            against=second,
            model=encoder,
            atlas=cli.read_atlas(options.atlas, encoder.partition_),
            without=options.without or (),
            keep=not options.no_cache,
            n_jobs=options.jobs,
            **how,
        )
        written: dict[str, Any] = {
            "resolution_mm": options.resolution,
            "like": options.like,
            "titles": not options.no_text,
            "keep_formulas": options.keep_formulas,
        }
        if options.terms is None:
            write_files(results[0], folder, **written)
        else:
            write_list(results, folder, **written)
    if options.as_json:
        found = [_as_plain(result) for result in results]
        typer.echo(json.dumps(found if options.terms else found[0]))
        return
    for result in results:
        _print(result)
    about = results[0].about  # what holds for all
    typer.echo(f"What nothing looks like: {chance_words(about)}")
    if about["kept_in"]:
        typer.echo(f"Encoded documents and a copy of their texts: {about['kept_in']}")
    typer.echo(f"{output / 'report.html'}: open it in a browser")


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
