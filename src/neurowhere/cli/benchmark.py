"""The `neurowhere benchmark` command: the open benchmark of models from text to brain maps."""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neurowhere.cli.options import Format, split_list

if TYPE_CHECKING:
    from neurowhere.evaluate.protocol import Entry
    from neurowhere.space import VoxelGrid

DEFAULT_ENTRIES = "mean,l2,l1,nearest,loglinear"
REFERENCE = "mean"  # beside models and maps that are given
GET_CORPUS = "fetch one with: neurowhere corpus download neuroquery -o neuroquery"


def benchmark(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL | MAPS]...",
            help="Models or maps to score: folders of models, folders of images named by PubMed "
            "id, or .npz files.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write, or to continue.", show_default=False),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="CORPUS", help="Corpus of the benchmark.", show_default=False),
    ] = None,
    format: Format = None,
    entries: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Entries, separated by commas: names that --list prints, or module:object.",
            show_default=f"{DEFAULT_ENTRIES}; {REFERENCE} if a model or maps are given",
        ),
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]PATH", help="Maps to score; can be repeated."),
    ] = None,
    trained_on: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of the ids of the studies that the given models and maps were trained on, "
            "one per line.",
            show_default=False,
        ),
    ] = None,
    articles: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corpus of the texts of articles, without tables, with the ids of the studies.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=1, max=10, help="Number of folds to run.")] = 10,
    list_entries: Annotated[
        bool, typer.Option("--list", help="List the entries that are shipped, and exit.")
    ] = False,
) -> None:
    """Score models, or maps made elsewhere, on the fixed folds of the open benchmark.

    After an interruption, the same command continues where it stopped.

    Example:

        neurowhere benchmark -o scores --corpus neuroquery --entries mean,l2 --folds 2

        neurowhere benchmark maps.npz -o scores --corpus neuroquery
    """
    if list_entries:
        _print_entries()
        return
    if output is None or corpus is None:
        missing = "-o DIR" if output is None else f"--corpus CORPUS; {GET_CORPUS}"
        raise typer.BadParameter(f"expected {missing}")
    given = [*(sources or ()), *(maps or ())]
    names = split_list(entries or (REFERENCE if given else DEFAULT_ENTRIES))
    _check_names(names)
    from neurowhere.corpus import read_corpus
    from neurowhere.evaluate import benchmark as run
    from neurowhere.evaluate.protocol import Protocol
    from neurowhere.report.benchmark import write_benchmark

    texts = None if articles is None else read_corpus(articles, progress=True)
    protocol = Protocol.prepare(read_corpus(corpus, format=format, progress=True), texts)
    seen = None if trained_on is None else _read_ids(trained_on)
    models = [
        *(name if ":" not in name else _import(name) for name in names),
        *(_read_source(source, protocol.grid, seen) for source in given),
    ]
    results = run(protocol.corpus, output, models, folds=folds, protocol=protocol)
    write_benchmark(results)
    typer.echo((output / "summary.md").read_text("utf-8"))
    typer.echo(f"{output / 'report.html'}: open it in a browser")


def _print_entries() -> None:
    from neurowhere.evaluate.entries import ENTRIES

    width = max(map(len, ENTRIES))
    for name, entry in ENTRIES.items():
        typer.echo(f"{name:{width}}  {entry.description}")


def _check_names(names: list[str]) -> None:
    """Refuse an entry that is not shipped before any long work."""
    from neurowhere.evaluate.entries import ENTRIES

    for name in names:
        if ":" not in name and name not in ENTRIES:
            raise typer.BadParameter(
                f"expected entries among {', '.join(ENTRIES)}, or module:object; got {name!r}",
                param_hint="--entries",
            )


def _import(name: str) -> Any:
    """Return the object that "module:object" names, of a module that may be in this folder."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # of a module of the user's, which may raise anything
        raise typer.BadParameter(
            f"cannot import {attribute!r} from {module!r}: {type(error).__name__}: {error}",
            param_hint="--entries",
        ) from error


def _read_ids(path: Path) -> list[str]:
    from neurowhere.exceptions import CorpusError

    try:
        return path.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"expected ids of studies, one a line, but cannot read {path}") from error


def _read_source(text: str, grid: "VoxelGrid", seen: list[str] | None) -> "Entry":
    """Read a model or maps: a folder with model.json is a model."""
    from neurowhere.evaluate.entries import Pretrained, read_maps
    from neurowhere.model import load_model
    from neurowhere.model.store import MODEL_NAME

    name, _, path = text.rpartition("=")
    source = Path(path)
    if (source / MODEL_NAME).is_file():
        return Pretrained(name or source.name, load_model(source), seen, grid=grid)
    found = read_maps(source, grid, name or None)
    found.trained_on = found.trained_on.union(seen or ())
    return found
