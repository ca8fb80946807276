"""The `neurowhere fit` command: from a corpus to a model."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli.model import print_summary
from neurowhere.cli.options import (
    CorpusPath,
    Format,
    Jobs,
    Json,
    Output,
    Overwrite,
    VocabularyOption,
    read_partition,
)


class Constraint(StrEnum):
    """What the coefficients are held to."""

    none = "none"
    labels = "labels"


class Text(StrEnum):
    """What a model learns from the text."""

    terms = "terms"
    none = "none"


def fit(
    corpus: CorpusPath,
    output: Output,
    format: Format = None,
    partition: Annotated[
        str,
        typer.Option(
            metavar="PARTITION",
            help="Regions to predict: voxels:MM or atlas:IMAGE.",
        ),
    ] = "voxels:4",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of the names of the atlas's regions: index, name.",
            show_default=False,
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
        int | None,
        typer.Option(min=1, help="Number of dimensions of a log-linear model.", show_default=False),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of log-linear fits to average.")] = 2,
    small: Annotated[
        bool, typer.Option("--small", help="Round the large arrays of the model to 8 bits.")
    ] = False,
    constraint: Annotated[
        Constraint,
        typer.Option(help="With labels, predict each region of an atlas only from its label."),
    ] = Constraint.none,
    text: Annotated[
        Text, typer.Option(help="With none, ignore the text and predict the mean map.")
    ] = Text.terms,
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
    constrained = None if constraint is Constraint.none else constraint.value
    _check_loss(loss, constrained)
    regions = read_partition(partition, labels)
    from neurowhere._tools.files import new_folder
    from neurowhere.corpus import read_corpus
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.store import write_files

    model = Encoder(
        regions,
        loss,
        text=text.value,
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
    print_summary(model, as_json)


def _check_loss(loss: str, constraint: str | None) -> None:
    """Refuse a loss that is not registered before any long work."""
    from neurowhere.exceptions import FitError
    from neurowhere.model.losses import find_loss

    try:
        find_loss(loss, constraint)
    except FitError as error:
        raise typer.BadParameter(str(error), param_hint="--loss") from error
