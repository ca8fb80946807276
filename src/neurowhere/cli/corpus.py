"""The `corpus` and `vocabulary` commands."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from neurowhere.cli import options as cli
from neurowhere.exceptions import DamageWarning

if TYPE_CHECKING:
    from neurowhere.corpus import Corpus

# The defaults of `read_corpus`, which is imported when it is needed.
DROPPED = "duplicates,statistics,columns,misplaced"
CONVERTED = "voxels,mirrored"

corpus_app = typer.Typer(no_args_is_help=True, help="Import, summarise and download corpora.")

Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="File or folder to read.")]
Drop = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Problems whose peaks or documents are dropped: duplicates, statistics, columns, "
        "voxels, mirrored, misplaced, repeated, outside, unsigned, empty, without_peaks.",
    ),
]
Convert = Annotated[
    str, typer.Option(metavar="NAMES", help="Problems whose peaks are corrected: voxels, mirrored.")
]
Spaces = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        help="TSV file with columns id and space, for documents without a stated space.",
    ),
]
KeepTalairach = Annotated[
    bool, typer.Option("--keep-talairach", help="Do not convert Talairach peaks to MNI.")
]
vocabulary_app = typer.Typer(no_args_is_help=True, help="Build and summarise vocabularies.")


@corpus_app.command("import")
def import_corpus(
    source: Source,
    output: cli.Output,
    format: cli.Format = None,
    drop: Drop = DROPPED,
    convert: Convert = CONVERTED,
    spaces: Spaces = None,
    keep_talairach: KeepTalairach = False,
    keep_going: cli.KeepGoing = False,
    overwrite: cli.Overwrite = False,
    as_json: cli.Json = False,
) -> None:
    """Read a corpus in any known format and write it as a folder of plain files.

    Example:

        neurowhere corpus import downloads/neuroquery -o corpus
    """
    from neurowhere._tools.files import new_folder
    from neurowhere.corpus.folder import write_files

    if keep_going:
        warnings.simplefilter("always", DamageWarning)
    with new_folder(output, overwrite=overwrite) as folder:  # refused before the long reading
        corpus = _read(source, format, drop, convert, spaces, keep_talairach)
        write_files(corpus, folder)
    _print_summary(corpus, as_json)


@corpus_app.command("info")
def corpus_info(path: Source, format: cli.Format = None, as_json: cli.Json = False) -> None:
    """Summarise a corpus: documents, peaks, space, years, frequent terms, problems.

    Example:

        neurowhere corpus info corpus
    """
    warnings.simplefilter("always", DamageWarning)  # it tells what can be read
    _print_summary(_read(path, format), as_json)


@corpus_app.command("export")
def export_corpus(
    source: Source,
    output: Annotated[Path, typer.Option("-o", "--output", help="JSON file to write.")],
    format: cli.Format = None,
    overwrite: cli.Overwrite = False,
) -> None:
    """Write a corpus as a NIMADS studyset, which NiMARE and NeuroStore read.

    Example:

        neurowhere corpus export corpus -o studyset.json
    """
    corpus = _read(source, format)
    corpus.to_nimads(output, overwrite=overwrite)
    typer.echo(f"{output}: {len(corpus):,} studies, {len(corpus.peaks):,} peaks")


@corpus_app.command("download")
def download(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a corpus: neuroquery or neurosynth.")
    ],
    output: cli.Output,
) -> None:
    """Download a public corpus as released; an interrupted download is resumed.

    Example:

        neurowhere corpus download neuroquery -o downloads/neuroquery
    """
    from neurowhere.corpus.download import download

    folder = download(name, output)
    typer.echo(f"{folder}: import it with neurowhere corpus import {folder} -o FOLDER")


def _read(
    source: Path,
    format: str | None,
    drop: str = DROPPED,
    convert: str = CONVERTED,
    spaces: Path | None = None,
    keep_talairach: bool = False,
) -> "Corpus":
    from neurowhere.corpus import read_corpus

    return read_corpus(
        source,
        format=format,
        drop=cli.split_list(drop),
        convert=cli.split_list(convert),
        talairach_to_mni=not keep_talairach,
        spaces=spaces,
        progress=True,
    )


def _print_summary(corpus: "Corpus", as_json: bool) -> None:
    from neurowhere.corpus.review import summarise

    summary = summarise(corpus)
    if as_json:
        typer.echo(json.dumps(summary.to_dict(), indent=2, ensure_ascii=False))
    else:
        typer.echo(summary.to_text())


@vocabulary_app.command("build")
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="CSV file to write.")],
    sources: Annotated[Path, typer.Option(metavar="DIR", help="Folder with the lists of names.")],
    kind: Annotated[
        Literal["anatomy", "full", "wide"],
        typer.Option(
            help="Kind of vocabulary: anatomy (brain structures), full (NeuroQuery's terms) or "
            "wide (the names that people use, from all lists and from --corpus and --texts)."
        ),
    ] = "anatomy",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="SOURCE", help="Corpus to count terms in; keep only terms that occur in it."
        ),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SOURCE",
            help="More documents that show how names are used, for wide; can be repeated.",
        ),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Minimum number of documents per term: 1 by default; 10 for wide, but 3 for "
            "parts of the brain, disorders and signs.",
        ),
    ] = None,
    as_json: cli.Json = False,
) -> None:
    """Build a vocabulary from public lists of names.

    Example:

        neurowhere vocabulary build -o anatomy.csv --sources lists
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.text.building.anatomy import build_anatomy, build_full
    from neurowhere.text.building.wide import build_wide, frequent_terms

    if kind == "wide":
        if corpus is None:
            raise typer.BadParameter("--kind wide needs the studies: give --corpus SOURCE")
        corpora = [read_corpus(source) for source in (corpus, *(texts or []))]
        vocabulary = build_wide(sources, corpora, minimum=min_documents)
    else:
        vocabulary = build_anatomy(sources) if kind == "anatomy" else build_full(sources)
        if corpus is not None:
            vocabulary = frequent_terms(vocabulary, read_corpus(corpus), min_documents or 1)
    vocabulary.save(output)
    cli.print_summary(vocabulary.summary(), as_json)


@vocabulary_app.command("info")
def vocabulary_info(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Vocabulary to read.")],
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file of synonyms.")
    ] = None,
    as_json: cli.Json = False,
) -> None:
    """Summarise a vocabulary: terms, synonyms, categories.

    Example:

        neurowhere vocabulary info anatomy.csv --json
    """
    from neurowhere.text import Vocabulary

    cli.print_summary(Vocabulary.load(path, mapping).summary(), as_json)
