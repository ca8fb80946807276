"""The `neurowhere score` command: how likely the peaks of a corpus are under a model."""

import json

import typer

from neurowhere.cli.options import CorpusPath, Format, Json, ModelPath, print_pairs


def score(
    model: ModelPath,
    corpus: CorpusPath,
    format: Format = None,
    as_json: Json = False,
) -> None:
    """Score a model on a corpus: mean log-likelihood of the peaks, beside the baselines.

    Example:

        neurowhere score model corpus --json
    """
    from neurowhere.corpus import read_corpus
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    summary = encoder.score_summary(read_corpus(corpus, format=format, progress=True))
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        print_pairs(summary)
