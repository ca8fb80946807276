"""Maps as pictures: slices through the brain, the strongest place first."""

import base64
import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIGURE_INCHES = (10.0, 5.6)
DPI = 120
SLICES_MM = (-40, -24, -8, 8, 24, 40, 56)  # the same for all maps, so that they compare
SHOWN = 0.05  # share of the voxels, those where the map is highest, that get a colour
SIGNED_COLOURS, DENSITY_COLOURS = "RdBu_r", "inferno"


def draw_map(img: Any, *, signed: bool = False, title: str = "") -> Any:
    """Draw orthogonal slices through the strongest place, and a row of axial ones.

    Parameters
    ----------
    img : NIfTI image
    signed : bool
        Whether the sign matters (coefficients, log ratios), or values are densities.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: it draws without a screen and needs no closing.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from nilearn.plotting import plot_stat_map

    figure = Figure(figsize=FIGURE_INCHES, dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    data = np.asarray(img.dataobj)
    options = {
        "figure": figure,
        "threshold": _threshold(data),
        "cmap": SIGNED_COLOURS if signed else DENSITY_COLOURS,
        "symmetric_cbar": signed,
        "black_bg": False,
    }
    place = strongest_place(img)
    plot_stat_map(img, display_mode="ortho", cut_coords=place, axes=(0, 0.42, 1, 0.5), **options)
    options["colorbar"] = False
    plot_stat_map(img, display_mode="z", cut_coords=SLICES_MM, axes=(0, 0, 1, 0.4), **options)
    figure.suptitle(title)
    return figure


def strongest_place(img: Any) -> tuple[float, float, float]:
    """Centre of the highest voxel, in mm."""
    data = np.asarray(img.dataobj)
    voxel = np.unravel_index(int(np.argmax(data)), data.shape)
    x, y, z = (img.affine @ [*voxel, 1])[:3].tolist()
    return x, y, z


def _threshold(data: NDArray[np.floating]) -> float:
    """Value that the highest voxels of the map exceed."""
    values = data[data != 0]
    return max(float(np.quantile(values, 1 - SHOWN)), 0.0) if values.size else 0.0


def write_png(figure: Any, path: str | os.PathLike[str] | io.BytesIO) -> None:
    """Write a figure as PNG; the same figure gives the same bytes."""
    figure.savefig(path, format="png", metadata={"Software": None})


def to_html(figure: Any, alt: str = "") -> str:
    """Image element that holds the figure itself."""
    stream = io.BytesIO()
    write_png(figure, stream)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<img alt="{alt}" src="data:image/png;base64,{data}">'
