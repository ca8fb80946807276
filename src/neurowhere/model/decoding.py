r"""Decoding: the terms and the studies that a place, peaks or a map speak for.

With w the distribution over regions of what is decoded, q_t the map of a text that is term t
alone, and q̄ the mean map, the score of a term is

    s_t = Σ_k w_k log(½ + ½ q_tk / q̄_k),

how much likelier peaks of w are in a study that is half about the term than in any study. The other
half, which is like any study, keeps a few peaks off the term's map from deciding. By Bayes' rule
exp(s_t) is also how much likelier the term becomes by such a peak: a term that many studies
mention has no advantage from that.
"""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import DataWarning, FitError, PartitionError
from neurowhere.learn import LogLinear
from neurowhere.learn.exponent import STRENGTH
from neurowhere.learn.predictor import FLOOR, Predictor
from neurowhere.model.alone import known, term_features, terms_alone
from neurowhere.model.text_model import TextModel
from neurowhere.space import Partition, make_targets
from neurowhere.space.images import OUTSIDE, ImageLike, read_volume, transform_points, voxel_index
from neurowhere.space.partition import as_points

Floats = NDArray[np.floating]

BOTH_SIGNS = 0.1  # share of the brain of either sign in an unthresholded map
TOP, HIGHEST = 0.95, 0.999  # quantiles: of what counts, of what should stand out
MAD_TO_SD, NOISE = 1.4826, 3.5  # standard deviations
MOSTLY_PRIOR = 0.9  # share λ of the prior of a name: fewer than a dozen studies mention it
N_SHOWN = 10  # terms and studies in a notebook
NO_TERMS = "a model of the mean map knows no terms; fit one with text"
N_CANDIDATES = 400  # terms whose maps are looked at, those with the highest linear score
N_SLABS = 4  # of an image that are looked at together
N_AT_ONCE = 64  # of them, so that a map of the whole brain takes some megabytes


@dataclass(frozen=True, eq=False, repr=False)
class Decoding:
    """What a place, some peaks or a map speak for.

    Attributes
    ----------
    weights : array of shape (m,)
        The distribution w over the regions of the model that was decoded.
    terms : DataFrame
        term, score s_t, ratio exp(s_t) to the term's base rate; the highest first.
    studies : DataFrame or None
        Training studies whose texts speak for it most: id, similarity, link to PubMed. None for a
        model that does not know its studies.
    threshold : float or None
        Values of a map above this were counted; None for points.
    """

    weights: Floats
    terms: pd.DataFrame
    studies: pd.DataFrame | None
    threshold: float | None = None

    def __repr__(self) -> str:
        return f"Decoding: {', '.join(self.terms['term'].head())}, ..."

    def _repr_html_(self) -> str:
        tables = [self.terms] if self.studies is None else [self.terms, self.studies]
        return "".join(table.head(N_SHOWN).to_html(index=False) for table in tables)


def decode(
    model: TextModel, place: Any, *, threshold: float | None = None, n_terms: int = 20
) -> Decoding:
    """Find the terms and studies that speak for a place, for peaks, or for a map.

    Parameters
    ----------
    model : Encoder
    place : (x, y, z), array of shape (n, 3), or image
        A point or peaks in MNI mm, or a map as a path or an image: a density, a statistic or a
        mask. What is not positive in a map does not count.
    threshold : float, optional
        Values of a map up to this do not count. By default 0, and for a map with values of both
        signs all over the brain, an unthresholded statistic, its 95th percentile in the brain; see
        `robust_threshold`.
    n_terms : int
        Number of terms.

    Returns
    -------
    Decoding

    Examples
    --------
    >>> from neurowhere import Encoder, VoxelGrid
    >>> peaks = {"vision": [[8, -92, 2]], "speech": [[-56, -20, 4]]}
    >>> texts, places = list(peaks) * 9, list(peaks.values()) * 9
    >>> model = Encoder(VoxelGrid(8), "l2", vocabulary=list(peaks)).fit(texts, places)
    >>> decode(model, (8, -92, 2)).terms["term"].tolist()
    ['vision', 'speech']
    """
    if model.text == "none":
        raise FitError(NO_TERMS)
    if isinstance(place, (str, os.PathLike)) or hasattr(place, "dataobj"):
        if threshold is None:
            threshold = robust_threshold(model.partition_, place)
        weights = map_weights(model.partition_, place, threshold)
    else:
        threshold, weights = None, peak_weights(model, place)
    terms = rank_terms(model, weights, n_terms)
    return Decoding(weights, terms, _studies(model, weights), threshold)


class Decoded(NamedTuple):
    """One of many places that were decoded.

    Attributes
    ----------
    name : str
    decoding : Decoding or None
        None where there was a problem.
    problem : str or None
        Why it could not be decoded, in one line.
    """

    name: str
    decoding: Decoding | None
    problem: str | None = None


def decode_many(
    model: TextModel,
    places: Mapping[str, Any] | Iterable[tuple[str, Any]],
    *,
    threshold: float | None = None,
    n_terms: int = 20,
) -> Iterator[Decoded]:
    """Decode places one after another; a bad one is told and does not stop the others.

    Parameters
    ----------
    model : Encoder
    places : mapping of str to place, or iterable of (str, place)
        Names, and what `decode` takes.
    threshold, n_terms
        As in `decode`.

    Yields
    ------
    Decoded

    Examples
    --------
    >>> from neurowhere import load_model
    >>> places = {"a": (-24, -4, -18), "b": (0, 0, 200)}
    >>> for name, decoding, problem in decode_many(load_model(), places, n_terms=1):
    ...     print(name, decoding, problem)
    a Decoding: amygdala, ... None
    b None expected points in the brain, in MNI mm, got 0, 0, 200
    """
    for name, place in places.items() if isinstance(places, Mapping) else places:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = Decoded(name, decode(model, place, threshold=threshold, n_terms=n_terms))
            except PartitionError as error:
                found = Decoded(name, None, str(error))
        for each in caught:  # one of many: say which
            warnings.warn(f"{name}: {each.message}", each.category, stacklevel=2)
        yield found


def robust_threshold(partition: Partition, image: ImageLike) -> float:
    """Return the value above which a map counts: 0, or more for an unthresholded statistic.

    A map is taken as unthresholded where a tenth of the brain or more is negative, and as much
    positive. Its threshold is the 95th percentile of its values in the brain. A warning says where
    even the highest thousandth lies within 3.5 robust standard deviations (1.4826 times the median
    absolute deviation) of the median, as in a map of noise.

    Parameters
    ----------
    partition : Partition
    image : path or image

    Returns
    -------
    float
    """
    values, affine = read_volume(image, "the map")
    if values.ndim != 3:
        return 0.0  # which `map_weights` refuses
    voxels = np.argwhere(partition.regions != OUTSIDE)
    here = np.nan_to_num(_sample(values, affine, transform_points(partition.affine, voxels)))
    if min((here < 0).mean(), (here > 0).mean()) < BOTH_SIGNS:
        return 0.0
    centre = np.median(here)
    spread = MAD_TO_SD * np.median(np.abs(here - centre))
    if np.quantile(here, HIGHEST) - centre < NOISE * spread:
        warnings.warn(
            "the map has no values that stand out from noise, so that its terms mean little; "
            "check that it is the right one, or give a threshold",
            DataWarning,
            stacklevel=3,
        )
    return max(float(np.quantile(here, TOP)), 0.0)


def peak_weights(model: TextModel, xyz_mm: ArrayLike) -> Floats:
    """Distribution over regions of some peaks, smoothed as those that the model learned from."""
    points = as_points(xyz_mm)
    outside = np.count_nonzero(model.brain_.region_of(points) == OUTSIDE)
    if outside == len(points):
        places = "; ".join(", ".join(f"{mm:g}" for mm in point) for point in points[:1])
        raise PartitionError(f"expected points in the brain, in MNI mm, got {places or 'none'}")
    if outside:
        warnings.warn(
            f"{outside:,} of {len(points):,} points lie outside of the brain",
            DataWarning,
            stacklevel=2,
        )
    study = np.zeros(len(points), np.intp)
    targets = make_targets(
        model.partition_,
        model.brain_,
        points,
        study,
        1,
        bandwidth=model.bandwidth,
        method="separable",  # as fast for one map, without the time and memory of numba
        n_jobs=1,
    )
    return _distribution(targets.rows(slice(None))[0], "points in the atlas of the model")


def map_weights(partition: Partition, image: ImageLike, threshold: float = 0.0) -> Floats:
    """Distribution over regions of what an image has above a threshold, and above zero.

    The finer of the two grids says what lies where.
    """
    values, affine = read_volume(image, "the map")
    if values.ndim != 3:
        raise PartitionError(f"expected one 3-D map, got shape {values.shape}; give one volume")
    lowest = max(threshold, 0.0)
    totals = np.zeros(partition.n_regions)
    for region, here in _regions_and_values(partition, values, affine):
        counted = np.nan_to_num(here, posinf=0.0)
        counts = (counted > lowest) & (region != OUTSIDE)
        totals += np.bincount(region[counts], counted[counts], minlength=partition.n_regions)
    return _distribution(totals, f"values above {lowest:g} in the brain in the map")


def _regions_and_values(
    partition: Partition, values: NDArray[Any], affine: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.integer], Floats]]:
    """Yield regions, and values of an image there: of its own voxels, or of the partition's.

    Of an image some slabs at a time: coordinates take ten times the memory of its voxels.
    """
    if abs(np.linalg.det(affine[:3, :3])) > partition.voxel_volume_mm3:
        voxels = np.argwhere(partition.regions != OUTSIDE)
        here = _sample(values, affine, transform_points(partition.affine, voxels))
        yield partition.regions[tuple(voxels.T)], here
        return
    for slab in slices(len(values), N_SLABS):
        some = values[slab]
        voxels = np.argwhere(some)  # NaN among them
        whole = voxels + np.array([slab.start, 0, 0])
        region = partition.region_of(transform_points(affine, whole))
        yield region, some[tuple(voxels.T)].astype(np.float64)


def rank_terms(model: TextModel, weights: Floats, n_terms: int) -> pd.DataFrame:
    """Score terms for a distribution over regions: term, score, ratio; the highest first.

    The scores are exact. They are computed for the terms that the linear part of the model finds
    likeliest, Σ_k (w_k − q̄_k) Σ_s x_s e_sk with x the features of a text that is the term alone,
    and e_sk what term s adds to region k.
    """
    linear = _mean_moved(model, weights - model.mean_map_)
    learned = np.flatnonzero(~unlearned_terms(model))
    likely = learned[np.argsort(-linear[learned], kind="stable")[: max(N_CANDIDATES, n_terms)]]
    regions = np.flatnonzero(weights)
    scores = np.concatenate(
        [
            log_ratios(model, likely[some], regions) @ weights[regions]
            for some in slices(len(likely), N_AT_ONCE)
        ]
    )
    order = np.argsort(-scores, kind="stable")[:n_terms]
    return pd.DataFrame(
        {
            "term": [model.extractor_.terms[i] for i in likely[order]],
            "score": scores[order],
            "ratio": np.exp(scores[order]),
        }
    )


def log_ratios(
    model: TextModel, terms: NDArray[np.intp], regions: NDArray[np.intp] | None = None
) -> Floats:
    """Log of the map of each term alone, half mixed with the mean map, over it: (n, m).

    With `regions` only these are computed: (n, k).
    """
    where: slice | NDArray[np.intp] = slice(None)  # which copies nothing
    if regions is not None and len(regions) < len(model.mean_map_):
        where = regions
    predictor = _plain(model)
    if isinstance(predictor, LogLinear):
        ratios = terms_alone(model, predictor).maps(predictor, terms, where)
    else:
        ratios = predictor.predict(term_features(model, terms))[:, where]
    ratios /= np.maximum(model.mean_map_[where], FLOOR).astype(np.float32)
    ratios += 1
    ratios /= 2
    logs: Floats = np.log(ratios, out=ratios)
    return logs


def _mean_moved(model: TextModel, weights: Floats) -> Floats:
    """Average over regions what each term alone adds, with weights: (n_terms,)."""
    predictor = _plain(model)
    if isinstance(predictor, LogLinear):
        return terms_alone(model, predictor).mean_moved(predictor, weights)
    return predictor.mean_moved(term_features(model), weights)


def use_pause(model: TextModel) -> bool:
    """Get ready for other places, once one was decoded; return whether there was more to do."""
    predictor = _plain(model)
    if not isinstance(predictor, LogLinear) or predictor not in known:
        return False
    return known[predictor].learn_more(predictor)


def _plain(model: TextModel) -> Predictor:
    """Return what studies alone have taught a model.

    What helps a short text to point somewhere makes the maps of rare terms sharp, and they would
    win over the usual name of a place.
    """
    predictor = model.predictor_
    return predictor.plain if isinstance(predictor, LogLinear) else predictor


def unlearned_terms(model: TextModel) -> NDArray[np.bool_]:
    """Return which terms studies hardly speak of: extra words, and names with all but their prior.

    A prior tells where a place is, not what studies report. Rare names would win by it over all
    that was learned.
    """
    predictor = model.predictor_
    unlearned = np.zeros(len(model.extractor_.terms), dtype=bool)
    if isinstance(predictor, LogLinear) and predictor.gates is not None:
        unlearned |= predictor.gates.is_extra
    if isinstance(predictor, LogLinear) and predictor.prior is not None:
        prior = predictor.prior
        unlearned[prior.terms[prior.weights > MOSTLY_PRIOR * STRENGTH]] = True
    return unlearned


def _studies(model: TextModel, weights: Floats) -> pd.DataFrame | None:
    """Studies whose texts, in the dimensions of the model, point to where w exceeds the mean."""
    predictor = model.predictor_
    if model.neighbours_ is None or not isinstance(predictor, LogLinear):
        return None
    direction = predictor.components @ (weights - model.mean_map_).astype(np.float32)  # (r,)
    return model.neighbours_.nearest(direction)


def _sample(
    values: NDArray[Any], affine: NDArray[np.float64], points_mm: NDArray[np.float64]
) -> Floats:
    """Values of an image at points; 0 beyond its edges."""
    voxels = voxel_index(affine, points_mm)  # (n, 3)
    inside = ((voxels >= 0) & (voxels < values.shape)).all(axis=1)
    found: Floats = np.zeros(len(voxels))
    found[inside] = values[tuple(voxels[inside].T)]
    return found


def _distribution(weights: Floats, what: str) -> Floats:
    total = weights.sum(dtype=np.float64)
    if not total > 0:
        raise PartitionError(f"expected {what}, but there are none; check space and values")
    scaled: Floats = weights / total
    return scaled
