"""The `neurowhere encode` command: from a text, or many, to maps, regions and reasons."""

import json
import sys
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from neurowhere.cli import options as cli
from neurowhere.cli.options import flag, option, with_groups
from neurowhere.exceptions import TextError

if TYPE_CHECKING:
    from neurowhere.inputs import Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.encoding import Encoding
    from neurowhere.space import Atlas


LONGEST_NAME = 40  # characters of a text that stand for it
SAME_PLACES = 0.001  # total-variation distance below which two maps are one


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to encode, and what to write."""

    output: cli.OptionalOutput = None
    table: Path | None = option(
        "CSV file to write, one row per text.", metavar="FILE", callback=cli.checked_output
    )
    model: cli.ModelOption = None
    atlas: cli.AtlasOption = None
    plus: list[str] | None = option("Add the map of another text; can be repeated.", metavar="TEXT")
    minus: list[str] | None = option(
        "Subtract the map of another text; can be repeated.", metavar="TEXT"
    )
    sentences: bool = flag("Encode each sentence separately.")
    all_regions: bool = flag("Add the probability of every region to the table.")
    negation: bool = option(
        "Ignore terms that the text negates.", "--negation/--no-negation", default=True
    )
    sides: bool = option(
        "Shift the map to the sides that the text gives.", "--sides/--no-sides", default=True
    )
    all_sections: bool = flag(
        "Read sections of a report that hold no findings too: technique, indication, history, "
        "comparison, plan, affiliations."
    )
    hedge_weight: float = option(
        "Weight of findings that the text leaves open.", default=1.0, min=0, max=1
    )
    as_kind: Literal["report", "study"] | None = option(
        "Draw the text as a report, from the places of its findings, or as a study, from all its "
        "words. By default its words decide.",
        "--as",
    )
    sort: Literal["excess", "probability", "ratio"] = option(
        "Order of the regions: by excess over the mean map, probability or ratio.", default="excess"
    )
    column: str | None = option("Column of a CSV file that holds the texts.", metavar="NAME")
    no_text: bool = flag("Leave the text out of all files.")
    maps: Literal["none", "nifti", "all"] = option(
        "Files of maps in a folder: none but tables; nifti images and the page; or all, with PNG "
        "files, which take a second per text.",
        default="all",
    )
    no_pictures: bool = flag("Draw no PNG files: the same as --maps nifti.")
    jobs: int = option(
        "Processes that encode the texts of a batch, -1 for one on each core.", default=1
    )
    cluster: cli.Cluster = None
    draw_anyway: bool = flag(
        "Show and write maps that are withheld, such as that of a finding outside the brain."
    )
    explain: bool = flag(
        "Print how one text is read, and encode nothing: sentences, clauses, cues and phrases, "
        "and the rows of the tables that gave status and side."
    )
    resolution: cli.Resolution = None
    like: cli.Like = None
    keep_formulas: cli.KeepFormulas = False
    keep_going: bool = flag("Exit with code 0 even if some texts fail.")
    overwrite: cli.Overwrite = False
    as_json: cli.Json = False

    @cached_property
    def reading(self) -> dict[str, Any]:
        """How texts are read, as `Encoder.encode` takes it."""
        return {
            "negation": self.negation,
            "sides": self.sides,
            "findings": not self.all_sections,
            "hedge_weight": self.hedge_weight,
            "kind": self.as_kind,
        }

    @cached_property
    def regions(self) -> "Atlas":
        """Atlas that names the regions."""
        return cli.read_atlas(self.atlas)

    @property
    def written_maps(self) -> Literal["none", "nifti", "all"]:
        """Files of maps that are written."""
        return "nifti" if self.no_pictures and self.maps == "all" else self.maps

    def check(self, many: bool) -> None:
        """Refuse options that contradict each other."""
        is_sum = bool(self.plus or self.minus)
        if many and is_sum:
            raise typer.BadParameter("expected one text to add to and subtract from; give one")
        if self.output is not None and self.table is not None:
            raise typer.BadParameter("expected --output or --table; give one of them")
        if self.explain and any((many, is_sum, self.output is not None, self.as_json)):
            raise typer.BadParameter("expected one text beside --explain, and no output")


@with_groups
def encode(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...",
            help="A text in quotes, files, folders, or - for standard input.",
        ),
    ],
    options: Options,
) -> None:
    """Map where in the brain a text points, and show which of its words say so.

    A file may be plain text, Markdown, HTML, JATS XML, PDF or docx. Several files, a folder, CSV or
    JSON lines are a batch: each text becomes a row of a table, or a folder.

    Example:

        neurowhere encode "Fear conditioning and the left amygdala" -o fear

        neurowhere encode "speech production" --minus "speech perception"

        neurowhere encode abstracts.csv --table regions.csv
    """
    from neurowhere.inputs import holds_many, read_text

    many = options.table is not None or options.sentences or holds_many(texts)
    options.check(many)
    if options.explain:
        _explain(read_text(texts[0]), options.model)
        return
    _ = options.regions  # a mistake is told before the work
    if many:
        from neurowhere.cli.batch import encode_texts

        encode_texts(texts, options)
        return
    added = [(_named(read_text(source), "--plus"), 1) for source in options.plus or ()]
    added += [(_named(read_text(source), "--minus"), -1) for source in options.minus or ()]
    from threadpoolctl import threadpool_limits

    # One text takes a few small products: threads that share them would only wait for each other.
    with threadpool_limits(1, user_api="blas"):
        _encode_one(read_text(texts[0]), added, options)


def _explain(text: "Text", folder: Path | None) -> None:
    """Print how a text is read."""
    from neurowhere.model.store import load_model
    from neurowhere.text.reading.mentions import explain
    from neurowhere.text.words import without_markup

    extractor = load_model(folder).extractor_
    for line in explain(without_markup(text.content), extractor.counter):
        typer.echo(line)


def _named(text: "Text", name: str) -> "Text":
    """Return a text under the name of its option, so that an error says which one it is."""
    return text._replace(name=f"{name} {textwrap.shorten(text.content, LONGEST_NAME)!r}")


def _encode_one(text: "Text", added: "list[tuple[Text, int]]", options: Options) -> None:
    """Encode a text, others added (1) or subtracted (−1), and show or write the result."""
    from neurowhere.model.store import load_model
    from neurowhere.model.summary import summarise

    model = load_model(options.model)
    (encoding,) = model.encode_many([text.content], **options.reading)
    encoding.checked()
    if added:
        encoding = _combined(model, encoding, text, added, options)
    is_withheld = withholds(encoding, options)
    if options.output is not None and not is_withheld:
        write_folder(encoding, options.output, text.name, options)
    summary = summarise(encoding, options.regions, sort=options.sort, with_text=not options.no_text)
    if options.as_json:
        # Written as it is made: that of a long text is long.
        json.dump(summary.to_dict(), sys.stdout, indent=2, ensure_ascii=False)
        typer.echo()
    elif is_withheld:
        typer.echo(_refusal(encoding, options))
    else:
        is_same = any(sign < 0 for _, sign in added) and _is_nothing(encoding)
        _show(encoding, summary, options, with_places=not is_same)


def withholds(encoding: "Encoding", options: Options) -> bool:
    """Return whether a text has no map, or one that is shown only if it is asked for."""
    if encoding.support.withheld is None:
        return False
    return encoding.is_mean_map or not options.draw_anyway


def _refusal(encoding: "Encoding", options: Options) -> str:
    """Return why a text has no map, in the words of its support, and what to do about it."""
    words = encoding.support.summary
    if not encoding.is_mean_map:
        words += "; --draw-anyway shows the map"
    elif near := sorted(
        {name for word in encoding.unknown for name in encoding.source.suggest(word.word)[:1]}
    ):
        words += f"; did you mean {' or '.join(near)}?"
    elif encoding.is_silent and not encoding.support.foreign:
        words += "; name parts of the brain, functions or disorders"
    return words + "; nothing was written" * (options.output is not None)


def _show(encoding: "Encoding", summary: Any, options: Options, *, with_places: bool) -> None:
    """Draw the map, on a terminal that has colours, and print the summary."""
    from neurowhere.cli.terminal import draw, lines
    from neurowhere.model.regions import usual_in_words

    if sys.stdout.isatty():
        from rich.console import Console

        console = Console()
        if console.color_system:
            draw(encoding, console)
    sort = "probability" if encoding.is_mean_map else options.sort
    usual = usual_in_words(encoding)
    for line in lines(summary, encoding.text, sort=sort, usual=usual, with_places=with_places):
        typer.echo(line)
    if not with_places:
        typer.echo("\nThe texts point to the same places: nothing is left of the difference.")
    if options.output is not None:
        typer.echo(f"\n{options.output / 'report.html'}: open it in a browser")


def _combined(
    model: "Encoder",
    first: "Encoding",
    text: "Text",
    added: "list[tuple[Text, int]]",
    options: Options,
) -> "Encoding":
    """Add and subtract the maps of texts, each of which must have one."""
    from neurowhere.model.algebra import combine

    others = model.encode_many([each.content for each, _ in added], **options.reading)
    encodings = [first, *(each.checked() for each in others)]
    for each, (operand, _) in zip(encodings, [(text, 1), *added], strict=True):
        if each.is_silent and model.text != "none":
            raise TextError(f"{operand.name}: {each.support.summary}")
    return combine(encodings, [1, *(sign for _, sign in added)])


def _is_nothing(difference: "Encoding") -> bool:
    """Return whether a difference is the mean map, by its total-variation distance."""
    distance = abs(difference.probabilities - difference.mean_map).sum() / 2
    return bool(distance < SAME_PLACES)


def write_folder(
    encoding: "Encoding", folder: Path, name: str, options: Options, *, key: str = ""
) -> None:
    """Write all files of an encoding; in a batch, info.json has the key of the text."""
    from neurowhere.report.encoding import write_encoding

    about: dict[str, Any] = {
        "model": "shipped" if options.model is None else str(options.model),
        **options.reading,
        **({"key": key} if key else {}),
        **({} if options.no_text else {"name": name}),
    }
    write_encoding(
        encoding,
        folder,
        atlas=options.regions,
        resolution_mm=options.resolution,
        like=options.like,
        with_text=not options.no_text,
        maps=options.written_maps,
        keep_formulas=options.keep_formulas,
        sort=options.sort,
        overwrite=options.overwrite,
        about=about,
    )
