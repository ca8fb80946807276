"""The `neurowhere vocabulary` commands: build and summarise vocabularies."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli.options import Json, print_pairs

vocabulary_app = typer.Typer(no_args_is_help=True, help="Build and summarise vocabularies.")


class Kind(StrEnum):
    """Which vocabulary to build."""

    anatomy = "anatomy"
    full = "full"
    wide = "wide"


@vocabulary_app.command("build")
def build(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="CSV file to write.", show_default=False)
    ],
    sources: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder with the lists of names.", show_default=False),
    ],
    kind: Annotated[
        Kind,
        typer.Option(
            help="Kind of vocabulary: anatomy (brain structures), full (NeuroQuery's terms) or "
            "wide (the names that people use, from all lists and from --corpus and --texts)."
        ),
    ] = Kind.anatomy,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="SOURCE", help="Corpus; keep only terms that occur in it.", show_default=False
        ),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SOURCE",
            help="More documents that show how names are used (wide; may be repeated).",
            show_default=False,
        ),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Minimum number of documents per term: 1 by default; 10 for wide, but 3 for "
            "parts of the brain, disorders and signs.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build a vocabulary from public lists of names.

    Example:

        neurowhere vocabulary build -o anatomy.csv --sources lists
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.text.building.anatomy import build_anatomy, build_full
    from neurowhere.text.building.sources import frequent_terms
    from neurowhere.text.building.wide import build_wide

    if kind == Kind.wide:
        if corpus is None:
            raise typer.BadParameter("--kind wide needs the studies: give --corpus SOURCE")
        corpora = [read_corpus(source) for source in (corpus, *(texts or []))]
        vocabulary = build_wide(sources, corpora, minimum=min_documents)
    else:
        vocabulary = build_anatomy(sources) if kind == Kind.anatomy else build_full(sources)
        if corpus is not None:
            vocabulary = frequent_terms(vocabulary, read_corpus(corpus), min_documents or 1)
    vocabulary.save(output)
    _print_summary(vocabulary.summary(), as_json)


@vocabulary_app.command("info")
def info(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Vocabulary to read.", show_default=False)
    ],
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON file of synonyms.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Summarise a vocabulary: terms, synonyms, categories.

    Example:

        neurowhere vocabulary info anatomy.csv --json
    """
    from neurowhere.text import Vocabulary

    _print_summary(Vocabulary.load(path, mapping).summary(), as_json)


def _print_summary(summary: dict[str, int], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        print_pairs(summary)
