"""The `neurowhere encode` command: from a text, or many, to maps, regions and reasons."""

from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli.batch import encode_texts
from neurowhere.cli.options import (
    AtlasOption,
    Json,
    Like,
    ModelOption,
    OptionalOutput,
    Overwrite,
    Resolution,
    read_atlas,
)
from neurowhere.cli.single import Options, encode_text


def encode(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...",
            help="A text in quotes, files, folders, or - for standard input.",
            show_default=False,
        ),
    ],
    output: OptionalOutput = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV file to write, a row for each text.", show_default=False
        ),
    ] = None,
    model: ModelOption = None,
    atlas: AtlasOption = None,
    plus: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Add the map of another text.", show_default=False),
    ] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Subtract the map of another text.", show_default=False),
    ] = None,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Encode each sentence by itself.")
    ] = False,
    all_regions: Annotated[
        bool, typer.Option("--all-regions", help="In the table, the probability of every region.")
    ] = False,
    negation: Annotated[
        bool, typer.Option("--negation/--no-negation", help="Leave out what the text denies.")
    ] = True,
    laterality: Annotated[
        bool, typer.Option("--laterality/--no-laterality", help="Follow the sides of places.")
    ] = True,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Keep the text out of what is written.")
    ] = False,
    no_pictures: Annotated[
        bool, typer.Option("--no-pictures", help="Draw no PNG files, which takes seconds a text.")
    ] = False,
    resolution: Resolution = None,
    like: Like = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Map where in the brain a text is about, and tell which of its words say so.

    A file may be plain text, Markdown, HTML, JATS XML or PDF. Several files, a folder, CSV or JSON
    lines are a batch: a row of a table, or a folder, for each text.

    Example:

        neurowhere encode "Fear conditioning and the left amygdala" -o fear

        neurowhere encode "speech production" --minus "speech perception"

        neurowhere encode abstracts.csv --table regions.csv
    """
    from neurowhere.inputs import holds_many, read_text

    many = table is not None or sentences or holds_many(texts)
    if many and (plus or minus):
        raise typer.BadParameter("expected one text to add to and subtract from; give one")
    if output is not None and table is not None:
        raise typer.BadParameter("expected --output or --table; give one of them")
    options = Options(
        model=model,
        atlas=read_atlas(atlas),
        negation=negation,
        laterality=laterality,
        with_text=not no_text,
        pictures=not no_pictures,
        resolution_mm=resolution,
        like=like,
        overwrite=overwrite,
        as_json=as_json,
    )
    if many:
        encode_texts(
            texts,
            options,
            output=output,
            table=table,
            sentences=sentences,
            all_regions=all_regions,
        )
        return
    added = [(read_text(source), 1) for source in plus or ()]
    added += [(read_text(source), -1) for source in minus or ()]
    encode_text(read_text(texts[0]), added, output, options)
