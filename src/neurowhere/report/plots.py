"""Plot maps as matplotlib figures with nilearn; `maps` draws the pictures of reports."""

import warnings
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from neurowhere.corpus.documents import XYZ
from neurowhere.exceptions import DataWarning, PartitionError
from neurowhere.model.encoding import Encoding
from neurowhere.report.encoding import title_of_picture
from neurowhere.report.maps import DENSITY_COLOURS, LARGEST, SHOWN, SIGNED_COLOURS, shown_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

View = Literal["slices", "glass", "surface"]
VIEWS: tuple[View, ...] = get_args(View)
IMAGES = "log_ratio", "density"
SIZE = {"slices": (9.0, 3.4), "glass": (9.0, 3.4), "surface": (9.0, 7.0)}  # inches
ORIGIN = (0.0, 0.0, 0.0)  # mm, where the slices of an empty map meet
MESH = "fsaverage5"  # comes with nilearn


def plot_image(
    img: Any,
    view: View = "slices",
    *,
    signed: bool = True,
    title: str = "",
    place: tuple[float, float, float] | None = None,
    **options: Any,
) -> "Figure":
    """Plot a map with nilearn, as log ratios (`signed`) or densities.

    The slices meet at the `place`. The options are those of `nilearn.plotting.plot_stat_map`,
    `plot_glass_brain` or `plot_img_on_surf`.
    """
    if view not in VIEWS:
        raise PartitionError(f"expected a view of {', '.join(VIEWS)}, got {view!r}")
    from matplotlib import pyplot as plt
    from nilearn import plotting

    values = np.abs(np.asarray(img.dataobj))
    highest = float(values.max()) or LARGEST
    least = shown_above(values, SHOWN) or highest / 2
    usual: dict[str, Any] = {
        "title": title or None,
        "cmap": SIGNED_COLOURS if signed else DENSITY_COLOURS,
        "threshold": least,
        "vmax": highest,
        "colorbar": True,
        "symmetric_cbar": signed,
    }
    if view == "surface":
        usual |= {"surf_mesh": MESH, "cbar_tick_format": "%.2g"}
        figure, _ = plotting.plot_img_on_surf(img, **usual | options)
        figure.set_size_inches(SIZE[view])
        return figure  # type: ignore[no-any-return]
    figure = plt.figure(figsize=SIZE[view])
    plot = plotting.plot_stat_map
    if view == "glass":
        plot, usual["plot_abs"] = plotting.plot_glass_brain, not signed
    else:
        usual["cut_coords"] = place if values.any() else ORIGIN
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "empty mask")  # the map is zero everywhere
        plot(img, figure=figure, **usual | options)
    return figure


def plot_encoding(
    encoding: Encoding,
    view: View,
    *,
    image: Literal["log_ratio", "density"],
    title: str | None,
    **options: Any,
) -> "Figure":
    """Plot an encoding, as `Encoding.plot` says."""
    if image not in IMAGES:
        raise PartitionError(f"expected an image of {', '.join(IMAGES)}, got {image!r}")
    if encoding.is_mean_map:
        warnings.warn(
            f"the text supports no map: {encoding.support}; what is drawn is the mean map of all "
            "studies, and nothing against it",
            DataWarning,
            stacklevel=3,
        )
    if title is None:
        title = title_of_picture(encoding)
        if encoding.is_mean_map and image == "log_ratio":
            title = "the text supports no map"
    peaks = encoding.peaks[XYZ].to_numpy(float).tolist()
    return plot_image(
        encoding.log_ratio_img if image == "log_ratio" else encoding.density_img,
        view,
        signed=image == "log_ratio",
        title=title,
        place=tuple(peaks[0]) if peaks else None,
        **options,
    )
