"""Tools for assistants: the Model Context Protocol over standard input and output.

Each tool answers with typed data and, where there is a map, a small picture. What a user can cause
is a tool error of one line. No tool reaches the network. None writes, but for the user's cache, in
which `contrast` keeps what was read of documents, as the command does.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, create_model

from neurowhere.contrast import contrast_documents
from neurowhere.exceptions import NeurowhereError, one_line
from neurowhere.inputs import read_text
from neurowhere.inputs.regions import name_regions
from neurowhere.model.algebra import subtract
from neurowhere.model.decoding import decode as decode_place
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding
from neurowhere.model.regions import N_REGIONS
from neurowhere.model.schema import Contradiction, Study, Summary, names_of, to_plain
from neurowhere.model.summary import contradictions_of, studies_of, summarise
from neurowhere.report.contrast import draw_found
from neurowhere.report.maps import draw_encoding, draw_map, shown_term, write_png
from neurowhere.space import strongest_regions

INSTRUCTIONS = (
    "neurowhere maps text to the brain (MNI152 mm), learned from published studies. Its maps are "
    "for research, not for diagnosis: say so to whoever asks about a patient."
)
PICTURE_PIXELS = 720  # width
N_PLACES = 5
OTHER_SIDE = {"left": 1, "right": -1, "bilateral": 0, None: 0}  # sign of x
READS_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)

# The summary as a model, because the package finds no schema for a class with class variables.
_HINTS = get_type_hints(Summary)
_FIELDS: dict[str, Any] = {name: (_HINTS[name], ...) for name in names_of(Summary)}
SUMMARY: Any = create_model("Summary", __doc__=Summary.__doc__, **_FIELDS)

Row = dict[str, Any]
Text = Annotated[str, Field(description="The text, or the path of a file that holds it.")]


@dataclass(frozen=True)
class Decoded:
    """Terms and training studies that a place or a map speaks for, the best first."""

    terms: list[Row]
    studies: list[Study]


@dataclass(frozen=True)
class TermPlaces:
    """Where the map of a term is strongest, the strongest first."""

    term: str
    side: str | None
    method: Literal["learned", "restricted"]
    places: list[Row]


@dataclass(frozen=True)
class Contrasted:
    """Regions where documents about a term differ most from what is expected of their kind."""

    group: str
    against: str
    outcome: str
    documents: int
    regions: list[Row]


@dataclass(frozen=True)
class Sides:
    """Where a report contradicts itself on the side of a lesion."""

    contradictions: list[Contradiction]
    in_words: list[str]


class Tools:
    """The tools of one model, which handle one call at a time."""

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self._lock = Lock()

    def _encode(self, text: str, kind: Any = None) -> Encoding:
        content = read_text(text).content
        return next(self._model.encode_many([content], kind=kind)).checked()

    def encode(
        self,
        text: Text,
        minus: Annotated[str | None, Field(description="A text to subtract.")] = None,
        read_as: Annotated[
            Literal["report", "study"] | None,
            Field(description="How to read the text; by default its words decide."),
        ] = None,
    ) -> Annotated[CallToolResult, SUMMARY]:
        """Map where in the brain a text points: terms, sides, denials, regions, peaks, support.

        For a sentence, an abstract, a radiology report or a case history, in English.
        """
        encoding = self._encode(text, read_as)
        if minus is not None:
            encoding = subtract(encoding, self._encode(minus))
        withheld = encoding.support.withheld is not None or encoding.is_mean_map
        return _answer(summarise(encoding), None if withheld else draw_encoding(encoding))

    def decode(
        self,
        place: Annotated[
            tuple[float, float, float] | str,
            Field(description="A point (x, y, z) in MNI mm, or the path of a NIfTI map."),
        ],
    ) -> Annotated[CallToolResult, Decoded]:
        """List the terms and studies associated with a point or a map of the brain."""
        found = decode_place(self._model, place)
        studies = [] if found.studies is None else studies_of(found.studies)
        return _answer(Decoded(_rows(found.terms), studies))

    def term(
        self, name: Annotated[str, Field(description='A term, such as "left amygdala".')]
    ) -> Annotated[CallToolResult, TermPlaces]:
        """Show the map that the model associates with one term, and its strongest places."""
        found = self._model.term_map(name)
        centres = found.partition.centers_mm
        is_shown = found.method == "learned" or np.sign(centres[:, 0]) != OTHER_SIDE[found.side]
        places = strongest_regions(found.partition, found.values * is_shown, N_PLACES)
        named = name_regions(centres[places])
        shown, unit = shown_term(found)
        picture = draw_map(shown, signed=True, title=found.title, unit=unit)
        return _answer(TermPlaces(found.term, found.side, found.method, _rows(named)), picture)

    def contrast(
        self,
        documents: Annotated[str, Field(description="File or folder of documents.")],
        term: Annotated[
            str, Field(description="Query: a word, a phrase, aphasi*, AND, OR and NOT.")
        ],
    ) -> Annotated[CallToolResult, Contrasted]:
        """Map where documents about a term point more, or less, than expected from their kind."""
        found = contrast_documents([Path(documents)], term, model=self._model)
        n_documents = found.about["documents_in_group"]
        rows = _rows(found.regions().head(N_REGIONS))
        picture = draw_found(found)
        answer = Contrasted(found.group, found.against, found.outcome, n_documents, rows)
        return _answer(answer, picture)

    def check_sides(self, report: Text) -> Annotated[CallToolResult, Sides]:
        """Check whether a report says left of a lesion in one sentence and right in another."""
        found = contradictions_of(self._encode(report, "report"))
        return _answer(Sides(found, list(map(str, found))))

    def guarded(self, name: str) -> Callable[..., CallToolResult]:
        """Return a tool whose errors are one line, and which waits for the call before it."""
        tool = getattr(self, name)

        @wraps(tool)
        def call(*arguments: Any, **options: Any) -> CallToolResult:
            with self._lock:
                try:
                    answer: CallToolResult = tool(*arguments, **options)
                except (NeurowhereError, OSError) as error:
                    raise ToolError(one_line(str(error))) from error
                return answer

        return call


def make_tools(model: Encoder) -> MCPServer:
    """Return the server of the tools."""
    server: MCPServer = MCPServer(
        "neurowhere", instructions=INSTRUCTIONS, version=version("neurowhere"), log_level="WARNING"
    )
    tools = Tools(model)
    for name in ("encode", "decode", "term", "contrast", "check_sides"):
        server.add_tool(tools.guarded(name), annotations=READS_ONLY)
    return server


def _rows(table: Any) -> list[Row]:
    return [dict(row) for row in table.to_dict("records")]


def _answer(found: Any, picture: Any = None) -> CallToolResult:
    """Return typed data, the same as text, and a picture."""
    plain: dict[str, Any] = to_plain(found)
    content: list[Any] = [TextContent(type="text", text=json.dumps(plain, ensure_ascii=False))]
    if picture is not None:
        content.append(Image(data=_small(picture), format="png").to_image_content())
    return CallToolResult(content=content, structured_content=plain)


def _small(picture: Any) -> bytes:
    """Return a picture as PNG, no wider than an assistant needs."""
    picture.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
    stream = io.BytesIO()
    write_png(picture, stream)
    return stream.getvalue()
