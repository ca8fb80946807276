"""Tables of an encoding: what its files and its page tell, as plain data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.coordinates import transform_points
from neurowhere.corpus.frames import XYZ
from neurowhere.model.encoding import Encoding
from neurowhere.space import Atlas
from neurowhere.space.geometry import overlap_mm3
from neurowhere.space.partition import OUTSIDE

N_EXPLAINED = 60  # regions, the most probable ones, whose reasons are told
N_REASONS = 6  # terms for each


@dataclass(frozen=True, eq=False)
class EncodingTables:
    """What there is to tell of an encoding.

    Attributes
    ----------
    terms : DataFrame
        term, count, weight, where ("start-end" of each mention in the text), contribution.
    peaks : DataFrame
        x, y, z, density, ratio, and with an atlas the region.
    regions : DataFrame or None
        region, probability, ratio, and the x, y, z where the density in it is highest.
    studies : DataFrame or None
        id, similarity, link.
    atlas : Atlas or None
        Names the regions.
    reasons : dict of str to DataFrame
        By region, the terms that raise or lower it, and their contribution.
    """

    terms: pd.DataFrame
    peaks: pd.DataFrame
    regions: pd.DataFrame | None
    studies: pd.DataFrame | None
    atlas: Atlas | None
    reasons: dict[str, pd.DataFrame]

    @property
    def files(self) -> dict[str, pd.DataFrame]:
        """Tables that there are, by the name of their file."""
        named = {
            "terms": self.terms,
            "peaks": self.peaks,
            "regions": self.regions,
            "studies": self.studies,
        }
        return {f"{name}.csv": table for name, table in named.items() if table is not None}


def tabulate(encoding: Encoding, atlas: Atlas | None = None) -> EncodingTables:
    """Make the tables of an encoding, with names of the atlas or of the model's own."""
    if atlas is None and isinstance(encoding.partition, Atlas):
        atlas = encoding.partition
    where = [" ".join(f"{start}-{end}" for start, end in row) for row in encoding.terms["where"]]
    terms = encoding.terms.assign(where=where)
    if atlas is None:
        return EncodingTables(terms, encoding.peaks, None, encoding.similar, None, {})
    regions = encoding.regions(atlas)
    places = dict(zip(atlas.names, densest_places(encoding, atlas), strict=True))
    xyz = np.array([places[name] for name in regions["region"]])
    return EncodingTables(
        terms=terms,
        peaks=encoding.peaks.assign(region=_names_of(encoding.peaks[XYZ], atlas)),
        regions=regions.assign(**dict(zip(XYZ, xyz.T.round(1), strict=True))),
        studies=encoding.similar,
        atlas=atlas,
        reasons=_reasons(encoding, atlas, regions["region"].head(N_EXPLAINED).tolist()),
    )


def _names_of(points: pd.DataFrame, atlas: Atlas) -> list[str]:
    """Region of each point, or nothing where the atlas has none."""
    names = (*atlas.names, "")  # index −1 finds the last
    return [names[region] for region in atlas.region_of(points.to_numpy(np.float64))]


def densest_places(encoding: Encoding, atlas: Atlas) -> NDArray[np.float64]:
    """Centre of the voxel of each region where the density is highest: (n_regions, 3), in mm.

    Of several as high, it is the one closest to the centre of the region.
    """
    voxels = np.argwhere(atlas.regions != OUTSIDE)  # (n_voxels, 3)
    xyz = transform_points(atlas.affine, voxels)
    region = atlas.regions[tuple(voxels.T)]
    density = np.append(encoding.density, 0.0)[encoding.partition.region_of(xyz)]  # 0 outside
    distance = np.linalg.norm(xyz - atlas.centers_mm[region], axis=1)
    order = np.lexsort((distance, -density, region))
    _, first = np.unique(region[order], return_index=True)
    places: NDArray[np.float64] = xyz[order[first]]
    return places


def _reasons(encoding: Encoding, atlas: Atlas, names: list[str]) -> dict[str, pd.DataFrame]:
    if encoding.is_mean_map:
        return {}
    weights: Any = np.eye(atlas.n_regions)
    if atlas is not encoding.partition:
        weights = overlap_mm3(atlas, encoding.partition).toarray()  # (n_regions, m)
        weights = weights / encoding.partition.volumes_mm3
    index = {name: number for number, name in enumerate(atlas.names)}
    return {name: encoding.why(weights[index[name]]).head(N_REASONS) for name in names}
