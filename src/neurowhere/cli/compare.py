"""The `neurowhere compare` command: the paper's study on any corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neurowhere.cli.options import (
    Cluster,
    CorpusPath,
    Format,
    Jobs,
    VocabularyOption,
    read_partition,
    split_list,
)

if TYPE_CHECKING:
    from neurowhere.evaluate import Candidate


def compare(
    corpus: CorpusPath,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder to write, or to continue.", show_default=False),
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
            help="Losses, separated by commas: l1, l2, likelihood; labels and labels-l1 for "
            "atlases with LABELS.",
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
    """Compare partitions of the brain and losses by cross-validation, and report.

    After an interruption, the same command continues where it stopped.

    Example:

        neurowhere compare corpus -o out --partitions voxels:4,atlas:aal.nii:aal.csv --folds 10
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.evaluate import compare as run
    from neurowhere.report.comparison import write_report
    from neurowhere.text import Vocabulary

    candidates = _candidates(partitions, bandwidths)
    terms = None if vocabulary is None else Vocabulary.load(vocabulary)
    comparison = run(
        read_corpus(corpus, format=format, progress=True),
        output,
        candidates,
        vocabulary=terms,
        losses=split_list(losses),
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        cluster=cluster,
    )
    report = write_report(comparison)
    typer.echo((output / "summary.md").read_text("utf-8"))
    typer.echo(f"{report}: open it in a browser")


def _candidates(partitions: str, bandwidths: str) -> "list[Candidate]":
    """Partitions as the command line names them; grids once for each bandwidth."""
    from neurowhere.evaluate import Candidate
    from neurowhere.space import VoxelGrid

    widths = [_width(text) for text in split_list(bandwidths)]
    candidates = []
    for item in split_list(partitions):
        partition = read_partition(item)
        if isinstance(partition, VoxelGrid):
            name = f"voxels {partition.resolution_mm:g} mm"
            candidates += [
                Candidate(name if width == 1 else f"{name} (h {width:g})", partition, width)
                for width in widths
            ]
        else:
            candidates.append(Candidate(_atlas_name(item), partition))
    return candidates


def _width(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"expected widths in voxels, got {text!r}", param_hint="--bandwidths"
        ) from error


def _atlas_name(item: str) -> str:
    """Name of the image's file, without what it ends in."""
    return Path(item.split(":")[1]).name.removesuffix(".gz").removesuffix(".nii")
