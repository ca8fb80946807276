"""Picture: three slices through a map, drawn with half blocks on a terminal that has colours."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rich.console import Console

    from neurowhere.model.encoding import Encoding

CELL_MM = 6.0  # of the brain, for each half of a character
LOW_MM, HIGH_MM = np.array([-78.0, -112.0, -64.0]), np.array([78.0, 80.0, 86.0])
BRAIN, HOT = np.array([52.0, 54.0, 62.0]), np.array([255.0, 176.0, 32.0])
UPPER_HALF = "▀"
# Axes that go right and up in a slice, and the one that it cuts: axial, coronal, sagittal.
VIEWS = ((0, 1, 2), (0, 2, 1), (1, 2, 0))


def draw(encoding: "Encoding", console: "Console") -> None:
    """Draw the density in axial, coronal and sagittal slices through its highest peak.

    Left is left. A narrow terminal gets as many slices as fit.
    """
    from rich.text import Text

    if encoding.peaks.empty:
        return
    place = encoding.peaks.loc[0, ["x", "y", "z"]].to_numpy(np.float64)
    slices = [_slice(encoding, place, view) for view in VIEWS]
    while len(slices) > 1 and sum(image.shape[1] + 2 for image in slices) > console.width:
        slices.pop()
    tall = max(len(image) for image in slices)
    tall += tall % 2
    padded = [np.pad(image, ((0, tall - len(image)), (0, 2), (0, 0))) for image in slices]
    pixels = np.concatenate(padded, axis=1).astype(int)  # (height, width, rgb)
    for above, below in zip(pixels[::2], pixels[1::2], strict=True):
        line = Text()
        for top, bottom in zip(above.tolist(), below.tolist(), strict=True):
            if not any(top) and not any(bottom):
                line.append(" ")
            else:
                line.append(UPPER_HALF, style=f"{_colour(top)} on {_colour(bottom)}")
        console.print(line)


def _slice(
    encoding: "Encoding", place: NDArray[np.float64], view: tuple[int, int, int]
) -> NDArray[np.float64]:
    """Colours of a slice, its upper edge first: (height, width, 3); black outside the brain."""
    right, up, through = view
    columns = np.arange(LOW_MM[right], HIGH_MM[right], CELL_MM)
    rows = np.arange(LOW_MM[up], HIGH_MM[up], CELL_MM)[::-1]
    points = np.empty((len(rows), len(columns), 3))
    points[..., right], points[..., up] = columns, rows[:, None]
    points[..., through] = place[through]
    region = encoding.partition.region_of(points.reshape(-1, 3)).reshape(points.shape[:2])
    heat = np.sqrt(encoding.density / encoding.density.max())[region][..., None]
    return np.where(region[..., None] >= 0, BRAIN + heat * (HOT - BRAIN), 0.0)


def _colour(rgb: list[int]) -> str:
    red, green, blue = rgb
    return f"#{red:02x}{green:02x}{blue:02x}" if any(rgb) else "default"
