"""The `neurowhere encode` command: from a text, or many, to maps, regions and reasons."""

import json
import sys
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from neurowhere.cli.options import (
    AtlasOption,
    BatchJobs,
    Cluster,
    Json,
    KeepFormulas,
    Like,
    ModelOption,
    OptionalOutput,
    Overwrite,
    Resolution,
    checked_output,
    read_atlas,
)
from neurowhere.exceptions import DataWarning, TextError

if TYPE_CHECKING:
    from neurowhere.inputs import Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.model.encoding import Encoding, Maps, RegionOrder
    from neurowhere.space import Atlas
    from neurowhere.text.kinds import Kind


LONGEST_NAME = 40  # characters of a text that stand for it
SAME_PLACES = 0.001  # total-variation distance below which two maps are one


@dataclass(frozen=True)
class Options:
    """How to encode, and what to write."""

    model: Path | None
    atlas: "Atlas"
    negation: bool
    sides: bool
    findings: bool
    hedge_weight: float
    kind: "Kind | None"
    sort: "RegionOrder"
    with_text: bool
    maps: "Maps"
    resolution_mm: float | None
    like: Path | None
    overwrite: bool
    as_json: bool
    keep_formulas: bool
    keep_going: bool
    draw_anyway: bool

    @property
    def reading(self) -> dict[str, Any]:
        """How texts are read, as `Encoder.encode` takes it."""
        return {
            "negation": self.negation,
            "sides": self.sides,
            "findings": self.findings,
            "hedge_weight": self.hedge_weight,
            "kind": self.kind,
        }


def encode(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT|FILE|-...",
            help="A text in quotes, files, folders, or - for standard input.",
        ),
    ],
    output: OptionalOutput = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV file to write, one row per text.", callback=checked_output
        ),
    ] = None,
    model: ModelOption = None,
    atlas: AtlasOption = None,
    plus: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Add the map of another text; can be repeated."),
    ] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Subtract the map of another text; can be repeated."),
    ] = None,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Encode each sentence separately.")
    ] = False,
    all_regions: Annotated[
        bool,
        typer.Option("--all-regions", help="Add the probability of every region to the table."),
    ] = False,
    negation: Annotated[
        bool, typer.Option("--negation/--no-negation", help="Ignore terms that the text negates.")
    ] = True,
    sides: Annotated[
        bool,
        typer.Option("--sides/--no-sides", help="Shift the map to the sides that the text gives."),
    ] = True,
    all_sections: Annotated[
        bool,
        typer.Option(
            "--all-sections",
            help="Read sections of a report that hold no findings too: technique, indication, "
            "history, comparison, plan, affiliations.",
        ),
    ] = False,
    hedge_weight: Annotated[
        float, typer.Option(min=0, max=1, help="Weight of findings that the text leaves open.")
    ] = 1.0,
    as_kind: Annotated[
        Literal["report", "study"] | None,
        typer.Option(
            "--as",
            help="Draw the text as a report, from the places of its findings, or as a study, from "
            "all its words. By default its words decide.",
        ),
    ] = None,
    sort: Annotated[
        Literal["excess", "probability", "ratio"],
        typer.Option(
            help="Order of the regions: by excess over the mean map, probability or ratio."
        ),
    ] = "excess",
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of a CSV file that holds the texts.")
    ] = None,
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Leave the text out of all files.")
    ] = False,
    maps: Annotated[
        Literal["none", "nifti", "all"],
        typer.Option(
            help="Files of maps in a folder: none but tables; nifti images and the page; or all, "
            "with PNG files, which take a second per text."
        ),
    ] = "all",
    no_pictures: Annotated[
        bool, typer.Option("--no-pictures", help="Draw no PNG files: the same as --maps nifti.")
    ] = False,
    jobs: BatchJobs = 1,
    cluster: Cluster = None,
    draw_anyway: Annotated[
        bool,
        typer.Option(
            "--draw-anyway",
            help="Show and write maps that are withheld, such as that of a finding outside the "
            "brain.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print how one text is read, and encode nothing: sentences, clauses, cues and "
            "phrases, and the rows of the tables that gave status and side.",
        ),
    ] = False,
    resolution: Resolution = None,
    like: Like = None,
    keep_formulas: KeepFormulas = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Exit with code 0 even if some texts fail.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
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

    many = table is not None or sentences or holds_many(texts)
    if many and (plus or minus):
        raise typer.BadParameter("expected one text to add to and subtract from; give one")
    if output is not None and table is not None:
        raise typer.BadParameter("expected --output or --table; give one of them")
    if explain:
        if many or output is not None or plus or minus or as_json:
            raise typer.BadParameter("expected one text beside --explain, and no output")
        _explain(read_text(texts[0]), model)
        return
    options = Options(
        model=model,
        atlas=read_atlas(atlas),
        negation=negation,
        sides=sides,
        findings=not all_sections,
        hedge_weight=hedge_weight,
        kind=as_kind,
        sort=sort,
        with_text=not no_text,
        maps="nifti" if no_pictures and maps == "all" else maps,
        resolution_mm=resolution,
        like=like,
        overwrite=overwrite,
        as_json=as_json,
        keep_formulas=keep_formulas,
        keep_going=keep_going,
        draw_anyway=draw_anyway,
    )
    if many:
        from neurowhere.cli.batch import encode_texts

        encode_texts(
            texts,
            options,
            output=output,
            table=table,
            sentences=sentences,
            all_regions=all_regions,
            column=column,
            jobs=jobs,
            cluster=cluster,
        )
        return
    added = [(_named(read_text(source), "--plus"), 1) for source in plus or ()]
    added += [(_named(read_text(source), "--minus"), -1) for source in minus or ()]
    from threadpoolctl import threadpool_limits

    # One text takes a few small products: threads that share them would only wait for each other.
    with threadpool_limits(1, user_api="blas"):
        _encode_one(read_text(texts[0]), added, output, options)


def _explain(text: "Text", folder: Path | None) -> None:
    """Print how a text is read."""
    from neurowhere.model.store import load_model
    from neurowhere.text.reading.tree import explain
    from neurowhere.text.words import without_markup

    extractor = load_model(folder).extractor_
    for line in explain(without_markup(text.content), extractor.counter):
        typer.echo(line)


def _named(text: "Text", option: str) -> "Text":
    """Return a text under the name of its option, so that an error says which one it is."""
    return text._replace(name=f"{option} {textwrap.shorten(text.content, LONGEST_NAME)!r}")


def _encode_one(
    text: "Text", added: "list[tuple[Text, int]]", output: Path | None, options: Options
) -> None:
    """Encode a text, others added (1) or subtracted (−1), and show or write the result."""
    from neurowhere.model.regions import usual_in_words
    from neurowhere.model.store import load_model
    from neurowhere.model.summary import summarise

    model = load_model(options.model)
    encodings = [_encode(model, each, options) for each, _ in [(text, 1), *added]]
    encoding = encodings[0]
    if added:
        from neurowhere.model.algebra import combine

        encoding = combine(encodings, [1, *(sign for _, sign in added)])
    withheld = None if options.draw_anyway else encoding.support.withheld
    if output is not None and withheld is None:
        write_folder(encoding, output, text.name, options)
    summary = summarise(encoding, options.atlas, sort=options.sort, with_text=options.with_text)
    if options.as_json:
        # Written as it is made: that of a long text is long.
        json.dump(summary.to_dict(), sys.stdout, indent=2, ensure_ascii=False)
        typer.echo()
        return
    if withheld is not None:
        hint = "; --draw-anyway shows the map" * (not encoding.is_mean_map)
        typer.echo(
            f"{summary.support.summary}{hint}{'; nothing was written' * (output is not None)}"
        )
        return
    from neurowhere.cli.terminal import lines

    _draw(encoding)
    sort: RegionOrder = "probability" if encoding.is_mean_map else options.sort
    says_something = not (any(sign < 0 for _, sign in added) and _is_nothing(encoding))
    told = lines(
        summary,
        encoding.text,
        sort=sort,
        usual=usual_in_words(encoding),
        with_places=says_something,
    )
    for line in told:
        typer.echo(line)
    if not says_something:
        typer.echo("\nThe texts point to the same places: nothing is left of the difference.")
    if output is not None:
        typer.echo(f"\n{output / 'report.html'}: open it in a browser")


def _is_nothing(difference: "Encoding") -> bool:
    """Return whether a difference is the mean map, by its total-variation distance."""
    distance = abs(difference.probabilities - difference.mean_map).sum() / 2
    return bool(distance < SAME_PLACES)


def _encode(model: "Encoder", text: "Text", options: Options) -> "Encoding":
    """Encode; a text that tells the model nothing is an error."""
    from neurowhere.text.language import is_foreign

    if is_foreign(text.content):
        warnings.warn(
            f"{text.name} does not seem to be in English, the one language that models know; "
            "translate it",
            DataWarning,
            stacklevel=2,
        )
    encoding = next(model.encode_many([text.content], **options.reading)).checked()
    if encoding.support.withheld and not encoding.is_silent and not options.draw_anyway:
        return encoding
    if encoding.is_mean_map and model.text != "none":
        raise TextError(_why_nothing(encoding, text))
    return encoding


def _why_nothing(encoding: "Encoding", text: "Text") -> str:
    """Say why a text has no map, and what to do about it."""
    found = [mention for mention in encoding.mentions if not mention.is_generic]
    denied = ", ".join(dict.fromkeys(mention.term for mention in found if mention.is_negated))
    if denied:
        return (
            f"{text.name} denies all terms that the model knows ({denied}), so that there is "
            "nothing to map; --no-negation takes them as present"
        )
    if present := encoding.mentions.present:
        generic = ", ".join(dict.fromkeys(mention.term for mention in present))
        reason = f"the model knows only words of {text.name} that point nowhere alone ({generic})"
    else:
        reason = f"the model knows no word of {text.name}, so that there is nothing to map"
    near = {name for word in encoding.unknown for name in encoding.source.suggest(word.word)[:1]}
    if near:
        return f"{reason}; did you mean {' or '.join(sorted(near))}?"
    return f"{reason}; name parts of the brain, functions or disorders, in English"


def write_folder(
    encoding: "Encoding", folder: Path, name: str, options: Options, *, key: str = ""
) -> None:
    """Write all of an encoding, and how it came about; in a batch with the key of the text."""
    from neurowhere.report.encoding import write_encoding

    about: dict[str, Any] = {
        "model": "shipped" if options.model is None else str(options.model),
        **options.reading,
        **({"key": key} if key else {}),
    }
    write_encoding(
        encoding,
        folder,
        atlas=options.atlas,
        resolution_mm=options.resolution_mm,
        like=options.like,
        with_text=options.with_text,
        maps=options.maps,
        keep_formulas=options.keep_formulas,
        sort=options.sort,
        overwrite=options.overwrite,
        about=about | ({"name": name} if options.with_text else {}),
    )


def _draw(encoding: "Encoding") -> None:
    """Draw the map, on a terminal that has colours."""
    if not sys.stdout.isatty():
        return
    from rich.console import Console

    from neurowhere.cli.terminal import draw

    console = Console()
    if console.color_system:
        draw(encoding, console)
