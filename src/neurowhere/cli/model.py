"""The commands on models: `model info`, `model verify`, `fit`, `score`, `compare`, `benchmark`."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from neurowhere.cli.options import (
    Cluster,
    CorpusPath,
    Format,
    Jobs,
    Json,
    ModelPath,
    OptionalModelPath,
    Output,
    Overwrite,
    VocabularyOption,
    print_summary,
    read_partition,
    split_list,
)

if TYPE_CHECKING:
    from neurowhere.evaluate import Candidate
    from neurowhere.evaluate.protocol import Entry
    from neurowhere.space import VoxelGrid

DEFAULT_ENTRIES = "mean,l2,l1,nearest,loglinear"  # entries of the benchmark
REFERENCE = "mean"  # beside models and maps that are given
GET_CORPUS = "fetch one with: neurowhere corpus download neuroquery -o neuroquery"

model_app = typer.Typer(no_args_is_help=True, help="Summarise and verify models.")


@model_app.command("info")
def info(path: OptionalModelPath = None, as_json: Json = False) -> None:
    """Summarise a model: what it predicts, from which terms, and its training data.

    Example:

        neurowhere model info

        neurowhere model info model --json
    """
    from neurowhere.model.store import load_model

    print_summary(load_model(path).summary(), as_json)


@model_app.command("verify")
def verify(path: OptionalModelPath = None, as_json: Json = False) -> None:
    """Check that the files of a model are intact, and that its predictions are densities.

    Example:

        neurowhere model verify model
    """
    from neurowhere.model.store import verify_model

    n_files = verify_model(path)
    typer.echo(
        json.dumps({"files": n_files})
        if as_json
        else f"{path or 'the shipped model'} is whole: {n_files} files"
    )


def fit(
    corpus: CorpusPath,
    output: Output,
    format: Format = None,
    partition: Annotated[
        str, typer.Option(metavar="PARTITION", help="Regions to predict: voxels:MM or atlas:IMAGE.")
    ] = "voxels:4",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of the names of the atlas's regions, with columns index and name.",
        ),
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="Loss: l1 (total variation), l2 (least squares) or likelihood (log-linear).",
        ),
    ] = "l1",
    rank: Annotated[
        int | None, typer.Option(min=1, help="Number of dimensions of a log-linear model.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of log-linear fits to average.")] = 2,
    small: Annotated[
        bool, typer.Option("--small", help="Round the large arrays of the model to 8 bits.")
    ] = False,
    constraint: Annotated[
        Literal["none", "labels"],
        typer.Option(help="With labels, predict each region of an atlas only from its label."),
    ] = "none",
    text: Annotated[
        Literal["terms", "none"],
        typer.Option(help="With none, ignore the text and predict the mean map."),
    ] = "terms",
    bandwidth: Annotated[
        float, typer.Option(min=0.0, help="Standard deviation of the kernel, in voxels.")
    ] = 1.0,
    vocabulary: VocabularyOption = None,
    min_studies: Annotated[
        int, typer.Option(min=1, help="Leave out terms that fewer studies mention.")
    ] = 5,
    laterality: Annotated[
        bool, typer.Option("--laterality", help="Learn left and right separately, from texts.")
    ] = False,
    nested: Annotated[
        bool | None,
        typer.Option(
            "--nested/--not-nested",
            help="Also count terms within longer terms.",
            show_default="for the likelihood",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the validation split.")] = 0,
    jobs: Jobs = -1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for finished blocks of an l1 fit, to resume it."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Train a model on a corpus with coordinates, and write it as a folder.

    Example:

        neurowhere fit corpus -o model --partition voxels:4 --loss l1
    """
    constrained = None if constraint == "none" else constraint
    _check_loss(loss, constrained)
    regions = read_partition(partition, labels)
    from neurowhere._tools.files import new_folder
    from neurowhere.corpus import read_corpus
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.store import write_files

    model = Encoder(
        regions,
        loss,
        text=text,
        constraint=constrained,
        vocabulary=vocabulary,
        min_studies=min_studies,
        laterality=laterality,
        nested=nested,
        bandwidth=bandwidth,
        rank=rank,
        repeats=repeats,
        seed=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    with new_folder(output, overwrite=overwrite) as folder:  # refused before the long work
        model.fit(read_corpus(corpus, format=format, progress=True))
        write_files(model, folder, small=small)
    print_summary(model.summary(), as_json)


def _check_loss(loss: str, constraint: str | None) -> None:
    """Refuse a loss that is not registered before any long work."""
    from neurowhere.exceptions import FitError
    from neurowhere.model.losses import find_loss

    try:
        find_loss(loss, constraint)
    except FitError as error:
        raise typer.BadParameter(str(error), param_hint="--loss") from error


def score(
    model: ModelPath, corpus: CorpusPath, format: Format = None, as_json: Json = False
) -> None:
    """Score a model on a corpus by the mean log-likelihood of the peaks, beside two baselines.

    Example:

        neurowhere score model corpus --json
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    summary = encoder.score_summary(read_corpus(corpus, format=format, progress=True))
    print_summary(summary, as_json)


def compare(
    corpus: CorpusPath,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder to write, or to continue.")
    ],
    format: Format = None,
    partitions: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Partitions, separated by commas: voxels:MM, atlas:IMAGE, atlas:IMAGE:LABELS.",
        ),
    ] = "voxels:4",
    losses: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Losses, separated by commas: l1, l2, likelihood, l1-literal, l2-literal; labels, "
            "labels-l1 and labels-literal for atlases with LABELS.",
        ),
    ] = "l1,l2,labels",
    bandwidths: Annotated[
        str, typer.Option(metavar="LIST", help="Kernel widths, in voxels, separated by commas.")
    ] = "1",
    folds: Annotated[int, typer.Option(min=1, help="Number of random test sets.")] = 100,
    vocabulary: VocabularyOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the test sets.")] = 0,
    jobs: Jobs = -1,
    cluster: Cluster = None,
) -> None:
    """Compare partitions of the brain and losses by cross-validation, and write a report.

    After an interruption, the same command continues where it stopped.

    Example:

        neurowhere compare corpus -o out --partitions voxels:4,atlas:aal.nii:aal.csv --folds 10
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.evaluate import compare as run
    from neurowhere.text import Vocabulary

    chosen = candidates(partitions, bandwidths)
    terms = None if vocabulary is None else Vocabulary.load(vocabulary)
    comparison = run(
        read_corpus(corpus, format=format, progress=True),
        output,
        chosen,
        vocabulary=terms,
        losses=split_list(losses),
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        cluster=cluster,
    )
    comparison.save()
    typer.echo((output / "summary.md").read_text("utf-8"))
    typer.echo(f"{output / 'report.html'}: open it in a browser")


def candidates(partitions: str, bandwidths: str) -> "list[Candidate]":
    """Return partitions as the command line names them; grids once for each bandwidth."""
    from neurowhere.evaluate import Candidate
    from neurowhere.space import VoxelGrid

    found = []
    for item in split_list(partitions):
        partition = read_partition(item)
        if isinstance(partition, VoxelGrid):
            found += grids(partition, bandwidths)
        else:
            found.append(Candidate(_atlas_name(item), partition))
    return found


def grids(grid: "VoxelGrid", bandwidths: str) -> "list[Candidate]":
    """Return a grid once for each bandwidth of a list."""
    from neurowhere.evaluate import Candidate

    name = f"voxels {grid.resolution_mm:g} mm"
    return [
        Candidate(name if width == 1 else f"{name} (h {width:g})", grid, width)
        for width in map(_width, split_list(bandwidths))
    ]


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"expected widths in voxels, got {text!r}", param_hint="--bandwidths"
        ) from error


def _atlas_name(item: str) -> str:
    """Return the name of the image's file without its suffixes."""
    return Path(item.split(":")[1]).name.removesuffix(".gz").removesuffix(".nii")


def benchmark(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL | MAPS]...",
            help="Models or maps to score: folders of models, folders of images named by PubMed "
            "id, or .npz files.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to write, or to continue.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Corpus of the benchmark.")
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
    command: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="Command to score, which reads and prints JSON lines; can be repeated.",
        ),
    ] = None,
    trained_on: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of the ids of the studies that the given models, maps and commands were "
            "trained on, one per line; none if there are none.",
            show_default="what they declare, or unknown",
        ),
    ] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Frozen list of the studies to score: neuroquery, or a file.",
            show_default="all studies of the corpus",
        ),
    ] = None,
    articles: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corpus of the texts of articles, without tables, with the ids of the studies.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=0, max=10, help="Number of random folds to run.")] = 10,
    newest: Annotated[
        bool, typer.Option("--newest", help="Test the newest tenth of the studies too.")
    ] = False,
    list_entries: Annotated[
        bool, typer.Option("--list", help="List the entries that are shipped, and exit.")
    ] = False,
) -> None:
    """Score models, or maps made elsewhere, on the fixed folds of the open benchmark.

    After an interruption, the same command continues where it stopped.

    Example:

        neurowhere benchmark -o scores --corpus neuroquery --ids neuroquery --entries mean,l2

        neurowhere benchmark maps.npz -o scores --corpus neuroquery --command "mine=python mine.py"
    """
    if list_entries:
        _print_entries()
        return
    if output is None or corpus is None:
        missing = "-o DIR" if output is None else f"--corpus CORPUS; {GET_CORPUS}"
        raise typer.BadParameter(f"expected {missing}")
    commands = [_named(each) for each in command or ()]
    names = split_list(entries or (REFERENCE if sources or commands else DEFAULT_ENTRIES))
    _check_names(names)
    from neurowhere.corpus import read_corpus
    from neurowhere.evaluate import benchmark as run
    from neurowhere.evaluate.entries import Command
    from neurowhere.evaluate.protocol import NEWEST, UNKNOWN, Protocol
    from neurowhere.evaluate.studies import StudyList
    from neurowhere.report.benchmark import write_benchmark

    studies = None if ids is None else StudyList.read(ids)
    seen = None if trained_on is None else _read_ids(trained_on)
    texts = None if articles is None else read_corpus(articles, progress=True)
    read = read_corpus(corpus, format=format, progress=True)
    protocol = Protocol.prepare(read, texts, ids=studies)
    told = UNKNOWN if seen is None else seen
    models = [
        *(name if ":" not in name else _import(name) for name in names),
        *(_read_source(source, protocol.grid, seen) for source in sources or ()),
        *(Command(name, line, grid=protocol.grid, trained_on=told) for name, line in commands),
    ]
    chosen = [*range(folds), *([NEWEST] if newest else [])]
    results = run(protocol.corpus, output, models, folds=chosen, protocol=protocol)
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
    except Exception as error:  # the user's module may raise anything
        raise typer.BadParameter(
            f"cannot import {attribute!r} from {module!r}: {type(error).__name__}: {error}",
            param_hint="--entries",
        ) from error


def _named(text: str) -> tuple[str, str]:
    """Split NAME=COMMAND."""
    name, equals, command = text.partition("=")
    if not equals or not name or not command.strip():
        raise typer.BadParameter(f"expected NAME=COMMAND, got {text!r}", param_hint="--command")
    return name, command


def _read_ids(text: str) -> list[str]:
    from neurowhere.exceptions import CorpusError

    if text == "none":
        return []
    try:
        return Path(text).read_text("utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"expected ids of studies, one a line, but cannot read {text}") from error


def _read_source(text: str, grid: "VoxelGrid", seen: list[str] | None) -> "Entry":
    """Read a model or maps: a folder with model.json is a model."""
    from neurowhere.evaluate.entries import Pretrained, read_maps
    from neurowhere.model import load_model
    from neurowhere.model.store import MODEL_NAME

    name, _, path = text.rpartition("=")
    source = Path(path)
    if (source / MODEL_NAME).is_file():
        return Pretrained(name or source.name, load_model(source), seen, grid=grid)
    return read_maps(source, grid, name or None, seen)
