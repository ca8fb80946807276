"""The `reproduce` command: the paper's study on public data, from the download to the report."""

from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli import options as cli

RELEASE, STUDY, MAPS = "release", "comparison", "maps"  # folders within the output
SHOWN = ("anterior cingulate cortex", "left amygdala", "amygdala", "right amygdala")


def reproduce(
    output: Annotated[Path, cli.CONTINUED],
    folds: cli.Folds = 3,
    resolution: Annotated[
        float, typer.Option("--resolution", min=1, metavar="MM", help="Size of the voxels.")
    ] = 4,
    bandwidths: cli.Bandwidths = "0.5,1,2",
    losses: Annotated[
        str, typer.Option(metavar="LIST", help="Losses, separated by commas.")
    ] = "l1,l2,labels",
    atlases: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Atlases to compare too, separated by commas: atlas:IMAGE, atlas:IMAGE:LABELS.",
        ),
    ] = "",
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corpus to use instead of the public release.",
            show_default="NeuroQuery, downloaded",
        ),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Articles with coordinates, to learn the maps of left and right from.",
            show_default="the corpus, without sides if it has counts alone",
        ),
    ] = None,
    jobs: cli.Jobs = -1,
    cluster: cli.Cluster = None,
) -> None:
    """Run the study of the paper on public data: download, folds, tables, figures, learned maps.

    NeuroQuery's release is downloaded once and checked. Voxels, with each kernel width, and the
    AAL3 atlas are compared with all losses on the same folds: box plot, table, paired differences,
    and three studies with their predictions. Maps of the left, of any and of the right amygdala are
    learned from texts. After an interruption, or with more folds, the same command continues.

    Example:

        neurowhere reproduce -o study --folds 3 --resolution 8 --bandwidths 1

        neurowhere reproduce -o study --folds 100 --cluster tcp://127.0.0.1:8786
    """
    from neurowhere.cli.model import candidates, grids
    from neurowhere.corpus import read_corpus
    from neurowhere.corpus.download import download
    from neurowhere.evaluate import Candidate
    from neurowhere.evaluate import compare as run
    from neurowhere.model import Encoder
    from neurowhere.report.maps import write_terms
    from neurowhere.space import VoxelGrid, default_atlas

    source = download("neuroquery", output / RELEASE) if corpus is None else corpus
    studies = read_corpus(source, progress=True)
    grid = VoxelGrid(resolution)
    comparison = run(
        studies,
        output / STUDY,
        [
            *grids(grid, bandwidths),
            Candidate("AAL3", default_atlas()),
            *candidates(atlases, bandwidths),
        ],
        losses=cli.split_list(losses),
        folds=folds,
        n_jobs=jobs,
        cluster=cluster,
    )
    comparison.save()
    if not (output / MAPS).exists():
        articles = studies if texts is None else read_corpus(texts, progress=True)
        model = Encoder(grid, loss="l1", laterality=articles.texts is not None, n_jobs=jobs)
        write_terms(model.fit(articles), output / MAPS, SHOWN)
    cli.print_report(output / STUDY)
