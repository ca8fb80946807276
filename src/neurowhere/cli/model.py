"""The commands on models: `model info`, `model verify`, `fit`, `score`, `compare`, `benchmark`."""

import json
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from neurowhere.cli import options as cli
from neurowhere.cli.options import flag, option, with_groups

if TYPE_CHECKING:
    from neurowhere.evaluate import Candidate
    from neurowhere.evaluate.protocol import Entry, Protocol
    from neurowhere.space import VoxelGrid

DEFAULT_ENTRIES = "mean,l2,l1,nearest,loglinear"  # entries of the benchmark
REFERENCE = "mean"  # beside models and maps that are given
GET_CORPUS = "fetch one with: neurowhere corpus download neuroquery -o neuroquery"

model_app = typer.Typer(no_args_is_help=True, help="Summarise and verify models.")


@model_app.command("info")
def info(path: cli.OptionalModelPath = None, as_json: cli.Json = False) -> None:
    """Summarise a model: what it predicts, from which terms, and its training data.

    Example:

        neurowhere model info

        neurowhere model info model --json
    """
    from neurowhere.model.store import load_model

    cli.print_summary(load_model(path).summary(), as_json)


@model_app.command("verify")
def verify(path: cli.OptionalModelPath = None, as_json: cli.Json = False) -> None:
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


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of `fit`: the model, its training, and what is written."""

    format: cli.Format = None
    partition: str = option(
        "Regions to predict: voxels:MM or atlas:IMAGE.", default="voxels:4", metavar="PARTITION"
    )
    labels: Path | None = option(
        "Table of the names of the atlas's regions, with columns index and name.", metavar="FILE"
    )
    loss: str = option(
        "Loss: l1 (total variation), l2 (least squares) or likelihood (log-linear).",
        default="l1",
        metavar="LOSS",
    )
    rank: int | None = option("Number of dimensions of a log-linear model.", min=1)
    repeats: int = option("Number of log-linear fits to average.", default=2, min=1)
    small: bool = flag("Round the large arrays of the model to 8 bits.")
    constraint: Literal["none", "labels"] = option(
        "With labels, predict each region of an atlas only from its label.", default="none"
    )
    text: Literal["terms", "none"] = option(
        "With none, ignore the text and predict the mean map.", default="terms"
    )
    bandwidth: float = option("Standard deviation of the kernel, in voxels.", default=1.0, min=0.0)
    vocabulary: cli.VocabularyOption = None
    min_studies: int = option("Leave out terms that fewer studies mention.", default=5, min=1)
    laterality: bool = flag("Learn left and right separately, from texts.")
    nested: bool | None = option(
        "Also count terms within longer terms.",
        "--nested/--not-nested",
        show_default="for the likelihood",
    )
    seed: int = option("Seed of the validation split.", default=0, min=0)
    jobs: cli.Jobs = -1
    checkpoint: Path | None = option(
        "Folder for finished blocks of an l1 fit, to resume it.", metavar="DIR"
    )
    overwrite: cli.Overwrite = False
    as_json: cli.Json = False


# Options of `fit` that are parameters of `Encoder` of the same name.
PASSED_ON = (
    "text", "vocabulary", "min_studies", "laterality", "nested", "bandwidth", "rank", "repeats",
    "seed", "checkpoint",
)  # fmt: skip


@with_groups
def fit(corpus: cli.CorpusPath, output: cli.Output, options: FitOptions) -> None:
    """Train a model on a corpus with coordinates, and write it as a folder.

    Example:

        neurowhere fit corpus -o model --partition voxels:4 --loss l1
    """
    constraint = None if options.constraint == "none" else options.constraint
    _check_loss(options.loss, constraint)
    regions = cli.read_partition(options.partition, options.labels)
    from neurowhere._tools.files import new_folder
    from neurowhere.corpus import read_corpus
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.store import write_files

    passed = {name: getattr(options, name) for name in PASSED_ON}
    model = Encoder(regions, options.loss, constraint=constraint, n_jobs=options.jobs, **passed)
    with new_folder(output, overwrite=options.overwrite) as folder:  # before the long work
        model.fit(read_corpus(corpus, format=options.format, progress=True))
        write_files(model, folder, small=options.small)
    cli.print_summary(model.summary(), options.as_json)


def _check_loss(loss: str, constraint: str | None) -> None:
    """Refuse a loss that is not registered before any long work."""
    from neurowhere.exceptions import FitError
    from neurowhere.model.losses import find_loss

    try:
        find_loss(loss, constraint)
    except FitError as error:
        raise typer.BadParameter(str(error), param_hint="--loss") from error


def score(
    model: cli.ModelPath,
    corpus: cli.CorpusPath,
    format: cli.Format = None,
    as_json: cli.Json = False,
) -> None:
    """Score a model on a corpus by the mean log-likelihood of the peaks, beside two baselines.

    Example:

        neurowhere score model corpus --json
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    summary = encoder.score_summary(read_corpus(corpus, format=format, progress=True))
    cli.print_summary(summary, as_json)


def compare(
    corpus: cli.CorpusPath,
    output: Annotated[Path, cli.CONTINUED],
    format: cli.Format = None,
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
    bandwidths: cli.Bandwidths = "1",
    folds: cli.Folds = 100,
    vocabulary: cli.VocabularyOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the test sets.")] = 0,
    jobs: cli.Jobs = -1,
    cluster: cli.Cluster = None,
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
        losses=cli.split_list(losses),
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        cluster=cluster,
    )
    comparison.save()
    cli.print_report(output)


def candidates(partitions: str, bandwidths: str) -> "list[Candidate]":
    """Read the partitions of a list; a grid is there once for each bandwidth."""
    from neurowhere.evaluate import Candidate
    from neurowhere.space import VoxelGrid

    found = []
    for item in cli.split_list(partitions):
        partition = cli.read_partition(item)
        if isinstance(partition, VoxelGrid):
            found += grids(partition, bandwidths)
        else:
            name = Path(item.split(":")[1]).name.removesuffix(".gz").removesuffix(".nii")
            found.append(Candidate(name, partition))
    return found


def grids(grid: "VoxelGrid", bandwidths: str) -> "list[Candidate]":
    """Return a grid once for each bandwidth of a list."""
    from neurowhere.evaluate import Candidate

    name = f"voxels {grid.resolution_mm:g} mm"
    return [
        Candidate(name if width == 1 else f"{name} (h {width:g})", grid, width)
        for width in map(_width, cli.split_list(bandwidths))
    ]


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"expected widths in voxels, got {text!r}", param_hint="--bandwidths"
        ) from error


@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions:
    """Options of `benchmark`: what is scored, and on which studies."""

    output: Annotated[Path | None, cli.CONTINUED] = None
    corpus: Path | None = option("Corpus of the benchmark.", metavar="CORPUS")
    format: cli.Format = None
    entries: str | None = option(
        "Entries, separated by commas: names that --list prints, or module:object.",
        metavar="LIST",
        show_default=f"{DEFAULT_ENTRIES}; {REFERENCE} if a model or maps are given",
    )
    command: list[str] | None = option(
        "Command to score, which reads and prints JSON lines; can be repeated.",
        metavar="NAME=COMMAND",
    )
    trained_on: str | None = option(
        "File of the ids of the studies that the given models, maps and commands were trained on, "
        "one per line; none if there are none.",
        metavar="FILE",
        show_default="what they declare, or unknown",
    )
    ids: str | None = option(
        "Frozen list of the studies to score: neuroquery, or a file.",
        metavar="LIST",
        show_default="all studies of the corpus",
    )
    articles: Path | None = option(
        "Corpus of the texts of articles, without tables, with the ids of the studies.",
        metavar="CORPUS",
    )
    folds: int = option("Number of random folds to run.", default=10, min=0, max=10)
    newest: bool = flag("Test the newest tenth of the studies too.")
    list_entries: bool = flag("List the entries that are shipped, and exit.", "--list")


@with_groups
def benchmark(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL | MAPS]...",
            help="Models or maps to score: folders of models, folders of images named by PubMed "
            "id, or .npz files.",
        ),
    ] = None,
    *,
    options: BenchmarkOptions,
) -> None:
    """Score models, or maps made elsewhere, on the fixed folds of the open benchmark.

    After an interruption, the same command continues where it stopped.

    Example:

        neurowhere benchmark -o scores --corpus neuroquery --ids neuroquery --entries mean,l2

        neurowhere benchmark maps.npz -o scores --corpus neuroquery --command "mine=python mine.py"
    """
    if options.list_entries:
        _print_entries()
        return
    folder = cli.given(options.output, "-o DIR")
    corpus = cli.given(options.corpus, f"--corpus CORPUS; {GET_CORPUS}")
    commands = [_named(each) for each in options.command or ()]
    names = _names(options, bool(sources or commands))
    from neurowhere.evaluate import benchmark as run
    from neurowhere.evaluate.entries import Command
    from neurowhere.evaluate.protocol import NEWEST, UNKNOWN
    from neurowhere.report.benchmark import write_benchmark

    seen = _read_ids(options.trained_on)
    protocol = _protocol(corpus, options)
    told = UNKNOWN if seen is None else seen
    models = list(map(_entry, names))
    models += [_read_source(source, protocol.grid, seen) for source in sources or ()]
    models += [Command(*each, grid=protocol.grid, trained_on=told) for each in commands]
    chosen = [*range(options.folds), *[NEWEST] * options.newest]
    results = run(protocol.corpus, folder, models, folds=chosen, protocol=protocol)
    write_benchmark(results)
    cli.print_report(folder)


def _protocol(corpus: Path, options: BenchmarkOptions) -> "Protocol":
    """Read the studies that are scored."""
    from neurowhere.corpus import read_corpus
    from neurowhere.evaluate.protocol import Protocol
    from neurowhere.evaluate.studies import StudyList

    studies = StudyList.read(options.ids) if options.ids else None
    texts = read_corpus(options.articles, progress=True) if options.articles else None
    read = read_corpus(corpus, format=options.format, progress=True)
    return Protocol.prepare(read, texts, ids=studies)


def _print_entries() -> None:
    from neurowhere.evaluate.entries import ENTRIES

    width = max(map(len, ENTRIES))
    for name, entry in ENTRIES.items():
        typer.echo(f"{name:{width}}  {entry.description}")


def _names(options: BenchmarkOptions, has_others: bool) -> list[str]:
    """Return the names of entries; one that is not shipped is refused before any long work."""
    from neurowhere.evaluate.entries import ENTRIES

    names = cli.split_list(options.entries or (REFERENCE if has_others else DEFAULT_ENTRIES))
    for name in names:
        if ":" not in name and name not in ENTRIES:
            raise typer.BadParameter(
                f"expected entries among {', '.join(ENTRIES)}, or module:object; got {name!r}",
                param_hint="--entries",
            )
    return names


def _entry(name: str) -> Any:
    """Return the name of an entry, or import the object of "module:object", also from here."""
    if ":" not in name:
        return name
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


def _read_ids(text: str | None) -> list[str] | None:
    from neurowhere.exceptions import CorpusError

    if text is None or text == "none":
        return None if text is None else []
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
