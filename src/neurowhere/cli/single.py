"""One text encoded: told on the terminal, and written as a folder."""

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neurowhere.exceptions import DataWarning, TextError

if TYPE_CHECKING:
    from neurowhere.inputs import Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.encoding import Encoding
    from neurowhere.space import Atlas


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


def encode_text(
    text: "Text", added: "list[tuple[Text, int]]", output: Path | None, options: Options
) -> None:
    """Encode a text, others added (1) or subtracted (−1), and tell or write what came of it."""
    from neurowhere.cli.answer import summarise
    from neurowhere.model.store import load_model

    model = load_model(options.model)
    encodings = [_encode(model, each, options) for each, _ in [(text, 1), *added]]
    encoding = encodings[0]
    if added:
        from neurowhere.model.algebra import combine

        encoding = combine(encodings, [1, *(sign for _, sign in added)])
    if output is not None:
        write_folder(encoding, output, text.name, options)
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


def write_folder(encoding: "Encoding", folder: Path, name: str, options: Options) -> None:
    """Write all of an encoding, and how it came about."""
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
