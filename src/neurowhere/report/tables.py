"""Tables of one encoding, of many texts (a row each) and of a comparison, as CSV or Markdown."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import FitError, NeurowhereError, tell_fault
from neurowhere.inputs import Failure, Text
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding, RegionOrder
from neurowhere.model.losses import LOSSES
from neurowhere.model.regions import first_region, region_table, shown_terms
from neurowhere.model.schema import Span, Summary
from neurowhere.model.text_model import CHUNK_ENCODED
from neurowhere.space import Atlas

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = ("id", "terms", "support", "nats", "region", "probability", "ratio", *XYZ, "heaviest")
N_TERMS = 5  # heaviest terms that a row names
CHARACTERS_ENCODED = 10_000  # a longer text ends its chunk

Outcome = Encoding | str  # what became of a text: its encoding, or the problem with it
Pair = tuple[Text | Failure, Outcome]


class LossNames(dict[str, str]):
    """Names of models in tables and figures; a registered loss has a title."""

    def __missing__(self, loss: str) -> str:
        return LOSSES[loss].title if loss in LOSSES else loss


LOSS_NAMES = LossNames({"mean": "mean map"})
HEADER = (
    "partition",
    "model",
    "folds",
    "log-likelihood",
    "nats above uniform",
    "total variation",
    "minus mean map",
    "minus ℓ2",
)

Cells = list[list[str]]


def summary_cells(summary: pd.DataFrame) -> Cells:
    """Return the summary of a comparison as rows of text under `HEADER`."""
    return [
        [
            row["partition"],
            LOSS_NAMES[row["loss"]],
            f"{row['folds']}",
            _mean_and_spread(row, "log_likelihood"),
            _mean_and_spread(row, "nats_above_uniform"),
            _mean_and_spread(row, "total_variation"),
            _difference(row, "minus_mean_map"),
            _difference(row, "minus_l2"),
        ]
        for row in summary.to_dict("records")
    ]


def _mean_and_spread(row: dict[Hashable, Any], name: str) -> str:
    spread = row[f"{name}_std"]
    return f"{row[name]:.4f}" if pd.isna(spread) else f"{row[name]:.4f} ± {spread:.4f}"


def _difference(row: dict[Hashable, Any], name: str) -> str:
    if pd.isna(row[name]):
        return ""
    if pd.isna(row[f"{name}_low"]):
        return f"{row[name]:+.4f}"
    interval = f"[{row[f'{name}_low']:+.4f}, {row[f'{name}_high']:+.4f}]"
    return f"{row[name]:+.4f} {interval}, {row[f'{name}_wins']:.0%} of folds"


def write_csv(table: pd.DataFrame, path: Path, *, keep_formulas: bool = False) -> None:
    """Write a table without its index, as `to_csv` does; the same bytes on every system."""
    path.write_bytes(to_csv(table, keep_formulas=keep_formulas).encode("utf-8"))


def to_csv(
    table: pd.DataFrame,
    *,
    header: bool = True,
    keep_formulas: bool = False,
    float_format: str | None = None,
) -> str:
    """Return a table as CSV, without its index.

    A program that opens the file may run a text that begins like a formula. Unless `keep_formulas`
    is given, such a cell gets an apostrophe in front, by which spreadsheets know a text. Numbers
    stay as they are.

    >>> table = pd.DataFrame({"id": ["=1+1", "-5", "b"], "x": [-1.5, 2.0, 0.0]})
    >>> print(to_csv(table), end="")
    id,x
    '=1+1,-1.5
    -5,2.0
    b,0.0
    """
    if not keep_formulas:
        table = table.rename(columns=_escape)
        for column, kind in enumerate(table.dtypes):
            if not pd.api.types.is_numeric_dtype(kind):
                table.isetitem(column, table.iloc[:, column].map(_escape).to_numpy())
    text: str = table.to_csv(
        None, index=False, header=header, float_format=float_format, lineterminator="\n"
    )
    return text


def _escape(cell: Any) -> Any:
    """Put an apostrophe before a text that begins like a formula, and is no number."""
    if not (isinstance(cell, str) and cell.startswith(FORMULA_STARTS)):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def to_markdown(header: Sequence[str], cells: Cells) -> str:
    r"""Return a table in Markdown.

    >>> print(to_markdown(["a", "b"], [["1", "x|y"]]), end="")
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    rows = [header, ["---"] * len(header), *cells]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows
    )


def encoding_tables(summary: Summary) -> dict[str, pd.DataFrame]:
    """Return the tables of an encoding by the names of their files.

    The column `where` of terms.csv has "start-end" of each mention, if the summary has the text,
    and `implied` says whether only rules point to the term. Regions are in the order of the
    summary, with the place where each is densest.
    """
    with_text = all(row.where is not None for row in summary.terms)
    terms = _table(
        "term count weight where contribution implied",
        (
            (row.term, row.count, row.weight, _spans(row.where), row.contribution, row.implied)
            for row in summary.terms
        ),
    )
    peaks = _table(
        "x y z density ratio region name",
        ((*p.at, p.density, p.ratio, p.region or "", p.name or "") for p in summary.peaks),
    )
    places = pd.DataFrame([row.at for row in summary.regions], columns=XYZ, dtype=float)
    regions = pd.concat([region_table(summary.regions), places], axis=1)
    tables = {
        "terms.csv": terms if with_text else terms.drop(columns="where"),
        "peaks.csv": peaks,
        "regions.csv": regions,
    }
    return tables | _studies(summary)


def _studies(summary: Summary) -> dict[str, pd.DataFrame]:
    rows = [(row.id, row.title or "", row.similarity, row.link) for row in summary.similar]
    return {"studies.csv": _table("id title similarity link", rows)} if rows else {}


def _table(columns: str, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns.split())


def _spans(where: list[Span] | None) -> str:
    return " ".join(f"{start}-{end}" for start, end in where or ())


# ---- rows: the encodings of many texts, whatever became of each


def encode_items(model: Encoder, items: Iterable[Text | Failure], **options: Any) -> Iterator[Pair]:
    """Yield each text with its encoding, or with its problem; options of `Encoder.encode_many`."""
    if model.text == "none":
        raise FitError("a model of the mean map says the same of every text; fit one with text")
    for chunk in chunks_of(items):
        contents = [item.content for item in chunk if isinstance(item, Text)]
        encodings = model.encode_many(contents, **options)
        for item in chunk:
            if isinstance(item, Failure):
                yield item, item.reason
            else:
                encoding = next(encodings)
                yield item, encoding.problem or encoding


def chunks_of(items: Iterable[Text | Failure]) -> Iterator[list[Text | Failure]]:
    """Yield chunks of a few texts, or of a long one: an interruption loses at most a chunk."""
    chunk = list[Text | Failure]()
    for item in items:
        chunk.append(item)
        size = len(item.content) if isinstance(item, Text) else 0
        if len(chunk) == CHUNK_ENCODED or size > CHARACTERS_ENCODED:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Makes rows of a table, each of which sums up one text.

    A row has the id, the number of known terms, how well these support a map, the first region of
    the summary with its probability and its ratio to the mean map, the strongest place in mm, the
    heaviest terms, and the problem of a text that could not be encoded. The row of a text without a
    map, or whose map is withheld unless `draw_anyway` is given, says why in place of the support.
    `all_regions` adds the probability of every region, and `with_text` the text.
    """

    atlas: Atlas
    all_regions: bool = False
    with_text: bool = False
    sort: RegionOrder = "excess"
    draw_anyway: bool = False

    def table(self, pairs: Sequence[Pair]) -> pd.DataFrame:
        """Make the rows of some texts."""
        columns = [*COLUMNS, "problem", *(self.atlas.names if self.all_regions else ())]
        if self.with_text:
            columns.insert(1, "text")
        rows = [self._row(item, outcome) for item, outcome in pairs]
        return pd.DataFrame(rows, columns=columns).astype({"terms": "Int64", "problem": object})

    def _row(self, item: Text | Failure, outcome: Outcome) -> dict[str, Any]:
        row: dict[str, Any] = {"id": item.name}
        if self.with_text and isinstance(item, Text):
            row["text"] = item.content
        if isinstance(outcome, Encoding):
            try:
                return row | self._tell(outcome)
            except NeurowhereError:
                raise
            except Exception as error:
                outcome = tell_fault(error, outcome.text)
        return row | {"problem": outcome}

    def _tell(self, encoding: Encoding) -> dict[str, Any]:
        gazetteer, support = encoding.gazetteer(self.atlas), encoding.support
        known = {"terms": support.terms, "nats": support.nats}
        if support.withheld and (encoding.is_mean_map or not self.draw_anyway):
            return known | {"support": support.withheld}
        name, probability, ratio = first_region(encoding, gazetteer, self.sort) or (None,) * 3
        place = encoding.partition.centers_mm[encoding.density.argmax()]
        return known | {
            "support": support.withheld or support.level,
            "region": name,
            "probability": probability,
            "ratio": ratio,
            **dict(zip(XYZ, place.tolist(), strict=True)),
            "heaviest": "; ".join(islice(shown_terms(encoding), N_TERMS)),
            **(self._all_regions(encoding) if self.all_regions else {}),
        }

    def _all_regions(self, encoding: Encoding) -> dict[str, float]:
        shares = encoding.gazetteer(self.atlas).shares(encoding.density).tolist()
        return dict(zip(self.atlas.names, shares, strict=True))
