"""Maps as pictures: slices through the brain, the strongest place first."""

import base64
import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere.encoding import TermMap
from neurowhere.files import new_folder, write_info

FIGURE_INCHES = (10.0, 5.6)
DPI = 120
UNIT_PLACE = (0.995, 0.93)  # above the colour bar, in shares of the figure
SLICES_MM = (
    -40.0,
    -24.0,
    -8.0,
    8.0,
    24.0,
    40.0,
    56.0,
)  # the same for all maps, so that they compare
SHOWN = 0.05  # share of the voxels, those where the map is highest, that get a colour
SIGNED_COLOURS, DENSITY_COLOURS = "RdBu_r", "inferno"


def write_term(
    term: TermMap,
    folder: str | os.PathLike[str],
    *,
    resolution_mm: float | None = None,
    like: Any = None,
    overwrite: bool = False,
) -> None:
    """Write the map of a term as an image and as a picture; whole or not at all."""
    with new_folder(folder, overwrite=overwrite) as temporary:
        image = term.to_img(resolution_mm=resolution_mm, like=like)
        image.to_filename(temporary / "map.nii.gz")
        write_png(
            draw_map(term.img, signed=True, title=term.title, unit="mm⁻³"), temporary / "map.png"
        )
        about = {"name": term.name, "term": term.term, "side": term.side, "method": term.method}
        write_info(temporary, {"kind": "term map", **about})


def draw_map(img: Any, *, signed: bool = False, title: str = "", unit: str = "") -> Any:
    """Draw orthogonal slices through the strongest place, and a row of axial ones.

    Parameters
    ----------
    img : NIfTI image
    signed : bool
        Whether the sign matters (coefficients, log ratios), or values are densities.
    title : str
    unit : str
        Of the values, written at the colour bar.

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
    plot_stat_map(img, display_mode="z", cut_coords=_slices(img), axes=(0, 0, 1, 0.4), **options)
    figure.suptitle(title)
    figure.text(*UNIT_PLACE, unit, ha="right")
    return figure


def strongest_place(img: Any) -> tuple[float, float, float]:
    """Centre of the highest voxel, in mm."""
    data = np.asarray(img.dataobj)
    voxel = np.unravel_index(int(np.argmax(data)), data.shape)
    x, y, z = (img.affine @ [*voxel, 1])[:3].tolist()
    return x, y, z


def _slices(img: Any) -> list[float]:
    """Heights of the axial slices, in mm: those that the image reaches, or its strongest place."""
    corners = np.array(list(np.ndindex(2, 2, 2))) * (np.array(img.shape[:3]) - 1)
    heights = corners @ img.affine[2, :3] + img.affine[2, 3]
    reached = [z for z in SLICES_MM if heights.min() <= z <= heights.max()]
    return reached or [strongest_place(img)[2]]


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
