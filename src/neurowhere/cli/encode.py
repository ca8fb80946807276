"""The `neurowhere encode` command: from a text, or many, to maps, regions and reasons."""

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from neurowhere.cli.options import Json, Like, ModelOption, Overwrite, Resolution
from neurowhere.exceptions import DataWarning, OutputError, TextError
from neurowhere.files import new_file

if TYPE_CHECKING:
    import pandas as pd

    from neurowhere.batch import TableMaker
    from neurowhere.encoder import Encoder
    from neurowhere.encoding import Encoding
    from neurowhere.inputs import Failure, Text
    from neurowhere.space import Atlas

LONGEST_NAME = 80  # characters of the name of a text's folder
TABLE_NAME = "table.csv"
NUMBERS = "%.6g"
STOPPED = 130  # exit code of what Ctrl-C ends


@dataclass(frozen=True)
class Options:
    """How to encode, and what to write."""

    model: Path | None
    atlas: "Atlas"
    negation: bool
    laterality: bool
    with_text: bool
    pictures: bool
    resolution_mm: float | None
    like: Path | None
    overwrite: bool
    as_json: bool


def encode(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...",
            help="A text in quotes, files, folders, or - for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write.", show_default=False),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV file to write, a row for each text.", show_default=False
        ),
    ] = None,
    model: ModelOption = None,
    atlas: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE[:LABELS]", help="Atlas that names regions.", show_default="AAL3"
        ),
    ] = None,
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
    from neurowhere.inputs import holds_many, iter_texts, read_text

    many = table is not None or sentences or holds_many(texts)
    if many and (plus or minus):
        raise typer.BadParameter("expected one text to add to and subtract from; give one")
    if output is not None and table is not None:
        raise typer.BadParameter("expected --output or --table; give one of them")
    options = Options(
        model=model,
        atlas=_read_atlas(atlas),
        negation=negation,
        laterality=laterality,
        with_text=not no_text,
        pictures=not no_pictures,
        resolution_mm=resolution,
        like=like,
        overwrite=overwrite,
        as_json=as_json,
    )
    if not many:
        added = [(read_text(source), 1) for source in plus or ()]
        added += [(read_text(source), -1) for source in minus or ()]
        _encode_one(read_text(texts[0]), added, output, options)
        return
    from neurowhere.store import load_model

    encoder = load_model(model)
    found = iter_texts(texts)
    if sentences:
        found = _split(found, encoder)
    maker = _table_maker(encoder, options, all_regions=all_regions, with_text=sentences)
    if output is None:
        _write_table(maker, found, table, options)
    else:
        _write_folders(maker, found, output, options)


def _read_atlas(text: str | None) -> "Atlas":
    from neurowhere.space import Atlas
    from neurowhere.space.aal3 import default_atlas

    if text is None:
        return default_atlas()
    image, _, labels = text.partition(":")
    atlas = Atlas(image, labels or None)
    _ = atlas.names  # read now, so that a mistake is told before the work
    return atlas


# ---- one text


def _encode_one(
    text: "Text", added: "list[tuple[Text, int]]", output: Path | None, options: Options
) -> None:
    from neurowhere.cli.answer import summarise
    from neurowhere.store import load_model

    model = load_model(options.model)
    encodings = [_encode(model, each, options) for each, _ in [(text, 1), *added]]
    encoding = encodings[0]
    if added:
        from neurowhere.algebra import combine

        encoding = combine(encodings, [1, *(sign for _, sign in added)])
    if output is not None:
        _write_folder(encoding, output, text.name, options)
    answer = summarise(encoding, options.atlas, with_text=options.with_text)
    if options.as_json:
        folder = None if output is None else str(output)
        typer.echo(json.dumps({**answer, "folder": folder}, indent=2, ensure_ascii=False))
    else:
        _print(encoding, answer, output)


def _encode(model: "Encoder", text: "Text", options: Options) -> "Encoding":
    """Encode; a text that tells the model nothing is an error."""
    from neurowhere.inputs import is_foreign

    if is_foreign(text.content):
        warnings.warn(
            f"{text.name} does not seem to be in English, the one language that models know; "
            "translate it",
            DataWarning,
            stacklevel=2,
        )
    encoding = model.encode(text.content, negation=options.negation, laterality=options.laterality)
    if encoding.is_mean_map and model.text != "none":
        raise TextError(_why_nothing(encoding, text))
    return encoding


def _why_nothing(encoding: "Encoding", text: "Text") -> str:
    if len(encoding.mentions):
        denied = ", ".join(dict.fromkeys(mention.term for mention in encoding.mentions))
        return (
            f"{text.name} denies all terms that the model knows ({denied}), so that there is "
            "nothing to map; --no-negation takes them as present"
        )
    return (
        f"the model knows no word of {text.name}, so that there is nothing to map; "
        "name parts of the brain, functions or disorders, in English"
    )


def _write_folder(encoding: "Encoding", folder: Path, name: str, options: Options) -> None:
    from neurowhere.report.encoding import write_encoding

    about: dict[str, Any] = {
        "model": "shipped" if options.model is None else str(options.model),
        "negation": options.negation,
        "laterality": options.laterality,
    }
    write_encoding(
        encoding,
        folder,
        atlas=options.atlas,
        resolution_mm=options.resolution_mm,
        like=options.like,
        with_text=options.with_text,
        pictures=options.pictures,
        overwrite=options.overwrite,
        about=about | ({"name": name} if options.with_text else {}),
    )


def _print(encoding: "Encoding", answer: dict[str, Any], output: Path | None) -> None:
    from neurowhere.cli.answer import lines

    if sys.stdout.isatty():
        from rich.console import Console

        from neurowhere.cli.picture import draw

        console = Console()
        if console.color_system:
            draw(encoding, console)
    for line in lines(answer):
        typer.echo(line)
    if output is not None:
        typer.echo(f"\n{output / 'report.html'}: open it in a browser")


# ---- many texts


def _table_maker(
    model: "Encoder", options: Options, *, all_regions: bool, with_text: bool
) -> "TableMaker":
    from neurowhere.batch import TableMaker

    return TableMaker(
        model,
        options.atlas,
        negation=options.negation,
        laterality=options.laterality,
        all_regions=all_regions,
        with_text=with_text and options.with_text,
    )


def _split(found: "Iterable[Text | Failure]", model: "Encoder") -> "Iterator[Text | Failure]":
    """Cut texts into sentences."""
    from neurowhere.inputs import Text
    from neurowhere.inputs.sentences import split_sentences

    for item in found:
        if isinstance(item, Text):
            yield from split_sentences(item, model.extractor_.counter)
        else:
            yield item


def _write_table(
    maker: "TableMaker", found: "Iterable[Text | Failure]", path: Path | None, options: Options
) -> None:
    """Write a row for each text, as CSV or as JSON lines."""
    from neurowhere.progress import track

    tally = Tally()
    target = new_file(path, overwrite=options.overwrite) if path else nullcontext(sys.stdout)
    with target as stream:
        with tally.until_stopped():
            for table in maker.tables(track(found, "encoding")):
                _append(table, stream, options.as_json, header=not tally.n_seen)
                tally.add(table)
        tally.refuse_nothing()  # before the file is there
    if path is not None:
        typer.echo(f"{path}: {tally}")
    tally.exit_if_stopped()


def _append(table: "pd.DataFrame", stream: TextIO, as_json: bool, *, header: bool) -> None:
    """Write rows, all at once, so that none is cut where the work is stopped."""
    if as_json:
        text = table.to_json(None, orient="records", lines=True, force_ascii=False)
    else:
        text = table.to_csv(
            None, index=False, header=header, float_format=NUMBERS, lineterminator="\n"
        )
    stream.write(text)


def _write_folders(
    maker: "TableMaker", found: "Iterable[Text | Failure]", output: Path, options: Options
) -> None:
    """Write a folder for each text, and a table of all; what was written stays, come what may."""
    from neurowhere.inputs import Text
    from neurowhere.progress import track

    if output.is_dir() and any(output.iterdir()) and not options.overwrite:
        raise OutputError(f"{output} is not empty; choose another folder or overwrite it")
    tally = Tally()
    names: dict[str, int] = {}
    with (
        _gone_if_empty(output),
        new_file(output / TABLE_NAME, overwrite=options.overwrite) as stream,
    ):
        with tally.until_stopped():
            for item in track(found, "encoding"):
                (table,) = maker.tables([item])
                folder = ""
                if isinstance(item, Text) and table["problem"].isna().all():
                    folder = _folder_name(item.name, names)
                    encoding = maker.model.encode(
                        item.content, negation=options.negation, laterality=options.laterality
                    )
                    _write_folder(encoding, output / folder, item.name, options)
                table.insert(1, "folder", folder)
                _append(table, stream, as_json=False, header=not tally.n_seen)
                tally.add(table)
        tally.refuse_nothing()
    typer.echo(f"{output / TABLE_NAME}: {tally}")
    tally.exit_if_stopped()


@contextmanager
def _gone_if_empty(folder: Path) -> Iterator[None]:
    """Remove a folder into which nothing was written after all."""
    try:
        yield
    finally:
        with suppress(OSError):  # not empty, or never made
            folder.rmdir()


def _folder_name(name: str, taken: dict[str, int]) -> str:
    """Name for a folder: without what file systems refuse, and not that of another text."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:LONGEST_NAME] or "text"
    taken[plain] = taken.get(plain, 0) + 1
    return plain if taken[plain] == 1 else f"{plain}-{taken[plain]}"


class Tally:
    """What became of the texts of a batch; failures are told as they come."""

    def __init__(self) -> None:
        self.n_seen = self.n_failed = 0
        self.stopped = False

    def add(self, table: "pd.DataFrame") -> None:
        """Count rows, and tell of those that have a problem."""
        self.n_seen += len(table)
        failed = table[table["problem"].notna()]
        self.n_failed += len(failed)
        for name, problem in zip(failed["id"], failed["problem"], strict=True):
            typer.echo(f"neurowhere: {name}: {problem}", err=True)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Go on to the end, or until the user stops it: what is done then is kept."""
        try:
            yield
        except KeyboardInterrupt:
            self.stopped = True

    def exit_if_stopped(self) -> None:
        """End as a command does that was stopped."""
        if self.stopped:
            raise typer.Exit(STOPPED)

    def refuse_nothing(self) -> None:
        """Refuse a batch of which nothing came."""
        if self.n_failed == self.n_seen:
            raise TextError(f"none of the {self.n_seen:,} texts could be encoded; see above")

    def __str__(self) -> str:
        told = f"{self.n_seen - self.n_failed:,} texts encoded, {self.n_failed:,} not"
        return f"{told}; stopped before the end" if self.stopped else told
