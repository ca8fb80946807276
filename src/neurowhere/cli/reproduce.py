"""The `reproduce` command: the paper's study on public data, from the download to the report."""

from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli.options import Cluster, Jobs, split_list

RELEASE, STUDY, MAPS = "release", "comparison", "maps"  # folders within the output
SHOWN = ("anterior cingulate cortex", "amygdala")  # terms whose learned maps are written


def reproduce(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder to write, or to continue.", show_default=False),
    ],
    folds: Annotated[int, typer.Option(min=1, help="Number of random test sets.")] = 3,
    resolution: Annotated[
        float, typer.Option("--resolution", min=1, metavar="MM", help="Size of the voxels.")
    ] = 4,
    bandwidths: Annotated[
        str, typer.Option(metavar="LIST", help="Kernel widths, in voxels, separated by commas.")
    ] = "1",
    losses: Annotated[
        str, typer.Option(metavar="LIST", help="Losses, separated by commas.")
    ] = "l1,l2,labels",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corpus to use instead of the public release.",
            show_default="NeuroQuery, downloaded",
        ),
    ] = None,
    jobs: Jobs = -1,
    cluster: Cluster = None,
) -> None:
    """Run the study of the paper on public data: download, folds, tables, figures, learned maps.

    NeuroQuery's release is downloaded once and checked. Voxels and the AAL3 atlas are compared with
    all losses on the same folds: box plot, table, paired differences, and three studies with their
    predictions. After an interruption, or with more folds, the same command continues.

    Example:

        neurowhere reproduce -o study --folds 3 --resolution 8

        neurowhere reproduce -o study --folds 100 --cluster tcp://127.0.0.1:8786
    """
    from neurowhere.cli.model import grids
    from neurowhere.corpus import read_corpus
    from neurowhere.corpus.download import download
    from neurowhere.evaluate import Candidate
    from neurowhere.evaluate import compare as run
    from neurowhere.model import Encoder
    from neurowhere.report.maps import write_term
    from neurowhere.space import VoxelGrid, default_atlas
    from neurowhere.text.building.anatomy import builtin_anatomy

    source = download("neuroquery", output / RELEASE) if corpus is None else corpus
    studies = read_corpus(source, progress=True)
    grid = VoxelGrid(resolution)
    comparison = run(
        studies,
        output / STUDY,
        [*grids(grid, bandwidths), Candidate("AAL3", default_atlas())],
        losses=split_list(losses),
        folds=folds,
        n_jobs=jobs,
        cluster=cluster,
    )
    comparison.save()
    model = Encoder(grid, loss="l1", vocabulary=builtin_anatomy(), n_jobs=jobs).fit(studies)
    for name in SHOWN:
        if name in model.extractor_.terms:
            folder = output / MAPS / name.replace(" ", "-")
            write_term(model.term_map(name), folder, overwrite=True)
    typer.echo((output / STUDY / "summary.md").read_text("utf-8"))
    typer.echo(f"{output / STUDY / 'report.html'}: open it in a browser")
