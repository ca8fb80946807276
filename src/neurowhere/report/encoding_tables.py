"""Tables of an encoding: what its files and its page tell, as plain data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.model.encoding import Encoding
from neurowhere.model.summary import summarise
from neurowhere.space import Atlas
from neurowhere.space.geometry import overlap_mm3

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
    """Make the tables of an encoding, with names of the atlas, or of the usual one."""
    summary = summarise(encoding, atlas, n_regions=None)
    atlas = encoding.gazetteer(atlas).atlas
    where = [" ".join(f"{start}-{end}" for start, end in row) for row in encoding.terms["where"]]
    regions = pd.DataFrame(
        [(row.region, row.name, row.probability, row.ratio, *row.at) for row in summary.regions],
        columns=["region", "name", "probability", "ratio", *XYZ],
    ).astype({"ratio": float})
    return EncodingTables(
        terms=encoding.terms.assign(where=where),
        peaks=encoding.peaks.assign(region=[peak.region or "" for peak in summary.peaks]),
        regions=regions,
        studies=encoding.similar,
        atlas=atlas,
        reasons=_reasons(encoding, atlas, regions["region"].head(N_EXPLAINED).tolist()),
    )


def _reasons(encoding: Encoding, atlas: Atlas, names: list[str]) -> dict[str, pd.DataFrame]:
    if encoding.is_mean_map:
        return {}
    weights: Any = np.eye(atlas.n_regions)
    if atlas is not encoding.partition:
        weights = overlap_mm3(atlas, encoding.partition).toarray()  # (n_regions, m)
        weights = weights / encoding.partition.volumes_mm3
    index = {name: number for number, name in enumerate(atlas.names)}
    return {name: encoding.why(weights[index[name]]).head(N_REASONS) for name in names}
