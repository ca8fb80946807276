"""Overlay: how many reports have their seat at each place, and a table of the seats."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import added_files
from neurowhere.exceptions import TextError
from neurowhere.model.encoding import Encoding
from neurowhere.model.methods import MethodsText
from neurowhere.model.seats import Seats, seats_of
from neurowhere.report.canvas import BAR_WIDTH_MM, LARGE, SMALL, Canvas, Colours, add_bar
from neurowhere.report.maps import write_png
from neurowhere.report.panels import Panel, add_slice, volume_of
from neurowhere.report.tables import to_csv
from neurowhere.space import Partition

IMAGE, PICTURE, TABLE = "overlay.nii.gz", "overlay.png", "seats.csv"
COLUMNS = ("text", "region", "side", "what", "size_mm", "share", "status", "contradiction")
PALETTE = "YlOrRd"
SLICES_MM = (-48.0, -38.0, -28.0, -18.0, -8.0, 2.0, 12.0, 22.0, 32.0, 42.0, 52.0, 62.0)
PER_ROW = 6
GAP_MM, MARGIN_MM, TITLE_MM, BAR_MM, UNIT_MM = 4.0, 8.0, 34.0, 40.0, 24.0
HALF = 0.5  # counts below it are not drawn
MOST_TICKS = 6
NUMBERS = "%.3g"


@dataclass(eq=False)
class Overlay:
    """How many reports have their seat in each region of a partition.

    Attributes
    ----------
    partition : Partition
    counts : array of shape (m,)
        Number of reports whose seats are there.
    n_seated : int
        Number of reports that have a seat.
    n_unseated : int
        Number of those that have none, or say that nothing is wrong.
    n_studies : int
        Number of studies, which are left out.
    rows : list of tuple
        One of `COLUMNS` for each seat.
    """

    partition: Partition
    counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    n_seated: int = 0
    n_unseated: int = 0
    n_studies: int = 0
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.counts.size:
            self.counts = np.zeros(self.partition.n_regions, np.int32)

    def add(self, text: str, seats: Seats | None) -> None:
        """Add the seats of a report.

        Parameters
        ----------
        text : str
            Name of the text.
        seats : Seats or None
            None for a study, which is left out.
        """
        if seats is None:
            self.n_studies += 1
            return
        contradiction = "; ".join(map(str, seats.contradictions))
        for each in seats.seats:
            said = (each.region, each.side, each.what, each.size_mm, each.share, each.status)
            self.rows.append((text, *said, contradiction))
        for first, end in seats.runs:
            self.counts[first:end] += 1
        self.n_seated += bool(seats.runs)
        self.n_unseated += not seats.runs

    @property
    def table(self) -> pd.DataFrame:
        """The seats, a row of `COLUMNS` each."""
        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    def to_img(self, *, resolution_mm: float | None = None, like: Any = None) -> Any:
        """Return the counts as a NIfTI image of whole numbers.

        Parameters
        ----------
        resolution_mm, like
            Grid of the image, as in `Partition.to_img`.

        Returns
        -------
        nibabel.Nifti1Image
        """
        image = self.partition.to_img(self.counts, resolution_mm=resolution_mm, like=like)
        voxels = np.asarray(image.dataobj).astype(np.int16)
        counted = type(image)(voxels, image.affine, image.header, dtype=np.int16)
        counted.header["descrip"] = f"reports with their seat here, of {self.n_seated}".encode()
        return counted

    def draw(self) -> Any:
        """Draw the counts on axial slices, with a legend.

        Returns
        -------
        PIL.Image.Image
        """
        return _draw(self)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write overlay.nii.gz, overlay.png and seats.csv into a folder.

        Parameters
        ----------
        folder : path
            Made if it is not there; its other files stay.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        with added_files(Path(folder)) as temporary:
            (temporary / TABLE).write_text(_csv(self, header=True), "utf-8", newline="")
            self.to_img().to_filename(temporary / IMAGE)
            write_png(self.draw(), temporary / PICTURE)

    def __str__(self) -> str:
        told = f"seats of {_number(self.n_seated, 'report')}"
        left = [
            _number(self.n_unseated, "report") + " without a seat" if self.n_unseated else "",
            _number(self.n_studies, "study", "studies") if self.n_studies else "",
        ]
        left = [each for each in left if each]
        return told + (f" ({' and '.join(left)} left out)" if left else "")


def overlay(encodings: Iterable[Encoding | tuple[str, Encoding]]) -> Overlay:
    """Count how many reports have their seat at each place.

    Parameters
    ----------
    encodings : iterable of Encoding, or of (str, Encoding)
        Encodings of one model, each with the name of its text, or else numbered from 1. They are
        read one by one, so that a stream such as that of `Encoder.encode_many` stays small.

    Returns
    -------
    Overlay
        Studies are counted, and left out.

    Examples
    --------
    >>> from neurowhere import load_model, overlay
    >>> texts = ["CT: 3 cm bleed in the left thalamus.", "MRI: 9 mm infarct, left thalamus."]
    >>> found = overlay(load_model().encode_many(texts))
    >>> print(found)
    seats of 2 reports
    >>> found.table["region"].tolist(), int(found.counts.max())
    (['thalamus', 'thalamus'], 2)
    """
    made: Overlay | None = None
    for number, each in enumerate(encodings, 1):
        name, encoding = each if isinstance(each, tuple) else (str(number), each)
        made = made or Overlay(encoding.partition)
        made.add(name, seats_of(encoding.checked()))
    if made is None:
        raise TextError("expected encodings of reports, got none; give at least one")
    return made


def write_overlay(
    found: Iterable[tuple[str, Seats | None]],
    partition: Partition,
    folder: Path,
    *,
    resolution_mm: float | None = None,
    like: Any = None,
    pictures: bool = True,
    keep_formulas: bool = False,
    methods: MethodsText | None = None,
) -> Overlay:
    """Write the overlay of many reports into a folder, with one of them in memory at a time.

    `found` yields names of texts and their seats, None for a study. The overlay that is returned
    has no rows. Nothing is written if no report has a seat.
    """
    made = Overlay(partition)
    with added_files(folder) as temporary:
        with (temporary / TABLE).open("w", encoding="utf-8", newline="") as stream:
            stream.write(_csv(made, header=True))
            for name, seats in found:
                made.add(name, seats)
                stream.write(_csv(made, header=False, keep_formulas=keep_formulas))
                made.rows.clear()
        if made.n_seated:
            image = made.to_img(resolution_mm=resolution_mm, like=like)
            image.to_filename(temporary / IMAGE)
            if pictures:
                write_png(made.draw(), temporary / PICTURE)
            if methods is not None:
                methods.write(temporary)
        else:
            (temporary / TABLE).unlink()
    return made


def _csv(made: Overlay, *, header: bool, keep_formulas: bool = False) -> str:
    if not (header or made.rows):
        return ""
    return to_csv(made.table, header=header, keep_formulas=keep_formulas, float_format=NUMBERS)


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


# ---- the picture


class _Counts(Colours):
    """Colours of counts, with whole numbers at the bar."""

    __slots__ = ()

    @property
    def ticks(self) -> dict[float, str]:
        """A few whole numbers from 1 to the highest.

        >>> list(_Counts("YlOrRd", 0, 23, 0.5).ticks.values())
        ['1', '5', '10', '15', '20', '23']
        """
        highest = round(self.highest)
        steps = (n * 10**power for power in count() for n in (1, 2, 5))
        step = next(n for n in steps if highest / n < MOST_TICKS)
        inner = [n for n in range(step, highest, step) if n > 1 and highest - n >= step / 2]
        return {float(n): f"{n:,}" for n in sorted({1, *inner, highest})}


def _draw(made: Overlay) -> Any:
    panel = Panel(2, 0, 0)
    n_rows = -(-len(SLICES_MM) // PER_ROW)
    height = n_rows * (panel.height + GAP_MM)
    width = PER_ROW * (panel.width + GAP_MM) + BAR_MM
    canvas = Canvas(width + 2 * MARGIN_MM, height + TITLE_MM + MARGIN_MM)
    highest = int(made.counts.max(initial=0))
    colours = _Counts(PALETTE, 0, max(highest, 1), HALF)
    volume = volume_of(made.to_img())
    for number, z in enumerate(SLICES_MM):
        row, column = divmod(number, PER_ROW)
        left = MARGIN_MM + column * (panel.width + GAP_MM)
        bottom = MARGIN_MM + height - (row + 1) * (panel.height + GAP_MM)
        add_slice(canvas, Panel(2, left, bottom), volume, z, colours)
    right = width + MARGIN_MM
    bar = (right - BAR_WIDTH_MM, right, MARGIN_MM, MARGIN_MM + height - UNIT_MM)
    add_bar(canvas, bar, colours, "reports")
    title = str(made)
    top = MARGIN_MM + height
    canvas.write(MARGIN_MM, top + TITLE_MM / 2, title[0].upper() + title[1:], size=LARGE)
    at_most = (
        f"How many reports have their seat at each place: at most {highest:,} of {made.n_seated:,}"
    )
    canvas.write(MARGIN_MM, top + TITLE_MM / 2 - 12, at_most, size=SMALL)
    return canvas.picture
