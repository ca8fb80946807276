r"""Decoding: the terms and the studies associated with a place, with peaks or with a map.

With w the distribution over regions of what is decoded, q̄ the mean map, q_t the map of a text that
is term t alone, as `Encoder.term_map` draws it, and both against the mean map,

    u_k = log(½ + ½ w_k / q̄_k),        r_tk = log(½ + ½ q_tk / q̄_k),

the score of a term is the correlation c_t of u and r_t under q̄. The map of a term therefore decodes
to the term. Neither a term with a sharp map nor one that many studies mention has an advantage from
that; but what few studies have taught is less certain. With n_t the training studies that mention
the term, the score is the correlation

    tanh(artanh c_t + ⅕ log(n_t / (n_t + 10))).

The ratio of a term is exp(Σ_k w_k r_tk): how much likelier peaks of w are in a study that is half
about the term than in any study. By Bayes' rule it is also how much likelier the term becomes by
such a peak. Generic words and extra words are not listed. A term whose map is all but that of a
better one is told beside it.
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
from neurowhere.exceptions import DataWarning, FitError, ModelError, PartitionError
from neurowhere.learn import LogLinear
from neurowhere.learn.exponent import STRENGTH
from neurowhere.learn.predictor import RAREST
from neurowhere.model.term_maps import (
    N_AT_ONCE,
    NO_TERMS,
    Ints,
    log_ratios,
    term_scales,
)
from neurowhere.model.text_model import TextModel
from neurowhere.space import Partition, make_targets
from neurowhere.space.images import OUTSIDE, ImageLike, read_volume, transform_points, voxel_index
from neurowhere.space.partition import as_points

Floats = NDArray[np.floating]
Float32 = NDArray[np.float32]

BOTH_SIGNS = 0.1  # share of the brain of either sign in an unthresholded map
TOP, HIGHEST = 0.95, 0.999  # quantiles: of what counts, of what should stand out
MAD_TO_SD, NOISE, CERTAIN = 1.4826, 3.5, 5.0  # standard deviations
MOSTLY_PRIOR = 0.9  # share λ of the prior of a name: fewer than a dozen studies mention it
N_DRAWN, N_CANDIDATES = 192, 160  # regions that every term is scored in; terms scored in all
N_COMPARED = 1024  # regions in which maps of terms are compared
ALIKE = 0.95  # correlation of maps that are all but the same
MORE_ROWS = 3  # times the terms asked for are looked at for that
DISCOUNT, FEW_STUDIES = 0.2, 10  # of terms that few studies mention
HIGHEST_CORRELATION = 1 - 1e-9
TINY = 1e-12
GENERIC = "generic"  # category of words that say nothing of where by themselves
LISTED = "; "
N_VALUES = 2**20  # of maps of terms that are held at a time, or of `N_AT_ONCE` whole maps
N_SLABS = 4  # of an image that are looked at together


@dataclass(frozen=True, eq=False, repr=False)
class Decoding:
    """Terms and studies associated with a place, with peaks or with a map.

    Attributes
    ----------
    weights : array of shape (m,)
        The distribution w over the regions of the model that was decoded.
    terms : DataFrame
        term, score, ratio to the term's base rate, and the terms with all but the same map, joined
        by "; "; the highest score first.
    studies : DataFrame or None
        Training studies whose texts point there most: id, title, similarity, link to PubMed. None
        for a model that does not know its studies.
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
        from neurowhere.report.notebook import decoding_html

        return decoding_html(self)


def decode(
    model: TextModel, place: Any, *, threshold: float | None = None, n_terms: int = 20
) -> Decoding:
    """Find the terms and studies associated with a place, with peaks or with a map.

    Parameters
    ----------
    model : Encoder
    place : (x, y, z), array of shape (n, 3), or image
        A point or peaks in MNI mm, or a map as a path or an image: a density, a statistic or a
        mask. What is not positive in a map does not count.
    threshold : float, optional
        Values of a map up to this do not count. By default 0, and for a map with values of both
        signs all over the brain, an unthresholded statistic, what stands out from its noise; see
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
    """Decode places one after another; one that fails is reported and does not stop the others.

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
    a Decoding: amygdala... None
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
    positive. What lies within 3.5 robust standard deviations (1.4826 times the median absolute
    deviation) of the median is then taken as noise, and so are the lower 95 % of the brain. Where
    neither the highest thousandth stands out from noise nor any value by 5 standard deviations, a
    warning says so, and the highest 5 % count.

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
    noise, top = centre + NOISE * spread, np.quantile(here, TOP)
    if np.quantile(here, HIGHEST) >= noise or here.max() >= centre + CERTAIN * spread:
        return max(float(top), float(noise), 0.0)
    warnings.warn(
        "the map has no values that stand out from noise, so that its terms mean little; "
        "check that it is the right one, or give a threshold",
        DataWarning,
        stacklevel=3,
    )
    return max(float(top), 0.0)


def peak_weights(model: TextModel, xyz_mm: ArrayLike) -> Floats:
    """Distribution over regions of some peaks, smoothed as those that the model learned from."""
    points = as_points(xyz_mm)
    outside = np.count_nonzero(model.brain_.region_of(points) == OUTSIDE)
    if outside == len(points):
        given = np.reshape(np.asarray(xyz_mm, np.float64), (-1, 3))[:1]  # NaN is told as such
        places = "; ".join(", ".join(f"{mm:g}" for mm in point) for point in given)
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
    """Score terms for a distribution over regions.

    The scores are exact. They are computed for the terms that score best on a few regions, drawn
    evenly from what is decoded.

    Parameters
    ----------
    model : TextModel
    weights : array of shape (m,)
    n_terms : int
        Most rows.

    Returns
    -------
    DataFrame
        term, score, ratio, alike; the highest score first.
    """
    place = _Place(model, weights)
    listed = np.flatnonzero(listed_terms(model))
    if not listed.size:
        raise ModelError("the model lists no term; fit it on studies that mention some")
    drawn, shares = _drawn(place.moved, N_DRAWN)
    rough = place.correlations(listed, log_ratios(model, listed, drawn) @ shares)
    rough = _discounted(model, listed, rough)
    best = listed[np.argsort(-rough, kind="stable")[: max(N_CANDIDATES, 2 * n_terms)]]
    means, ratios = _exact_means(model, best, place)
    scores = _discounted(model, best, place.correlations(best, means))
    order = np.argsort(-scores, kind="stable")
    rows = _folded(model, best[order], n_terms)
    names = model.extractor_.terms
    kept = order[list(rows)]
    return pd.DataFrame(
        {
            "term": [names[i] for i in best[kept]],
            "score": scores[kept],
            "ratio": np.exp(ratios[kept]),
            "alike": [LISTED.join(names[best[order[i]]] for i in alike) for alike in rows.values()],
        }
    )


class _Place:
    """What is decoded: its weights, and how far they lie above the mean map.

    As u differs from log ½ only where there is weight, the covariance of u and r_t is
    Σ_k q̄_k u'_k (r_tk − c_t) with u' = log(1 + w / q̄).
    """

    def __init__(self, model: TextModel, weights: Floats) -> None:
        mean = np.maximum(model.mean_map_, RAREST)
        above = np.log1p(weights / mean)  # u'
        self.regions = np.flatnonzero(weights)
        self.weights = weights
        self.moved = mean * above
        self.total = self.moved.sum()
        self.spread = np.sqrt(max(self.moved @ above - self.total**2, TINY))
        self.scales = term_scales(model)

    def correlations(self, terms: Ints, means: Floats) -> Floats:
        """Return c of some terms, given the means of r under the distribution ∝ q̄ u'."""
        centred = means - self.scales.centres[terms]
        found: Floats = centred * (self.total / self.spread) / self.scales.spreads[terms]
        return np.clip(found, -HIGHEST_CORRELATION, HIGHEST_CORRELATION)


def _exact_means(model: TextModel, terms: Ints, place: _Place) -> tuple[Floats, Floats]:
    """Return the means of r under the distribution ∝ q̄ u', and under w."""
    columns = np.stack([place.moved / place.total, place.weights], axis=1)[place.regions]
    columns = columns.astype(np.float32)
    found = np.concatenate(
        [
            log_ratios(model, terms[some], place.regions) @ columns
            for some in slices(len(terms), max(N_AT_ONCE, N_VALUES // len(columns)))
        ]
    )
    return found[:, 0], found[:, 1]


def _drawn(weights: Floats, n: int) -> tuple[Ints, Float32]:
    """Draw regions evenly by their weights; return them, and the share of each."""
    regions = np.flatnonzero(weights)
    if len(regions) > n:
        sums = np.cumsum(weights[regions], dtype=np.float64)
        steps = (np.arange(n) + 0.5) * (sums[-1] / n)
        regions = regions[np.searchsorted(sums, steps)]
        regions, counts = np.unique(regions, return_counts=True)
        return regions, (counts / n).astype(np.float32)
    return regions, (weights[regions] / weights[regions].sum()).astype(np.float32)


def _discounted(model: TextModel, terms: Ints, correlations: Floats) -> Floats:
    """Return the scores of some terms, given their correlations."""
    if model.term_studies_ is None:
        return correlations
    n = model.term_studies_[terms]
    discount = DISCOUNT * np.log(n / (n + FEW_STUDIES))
    scores: Floats = np.tanh(np.arctanh(correlations) + discount)
    return scores


def listed_terms(model: TextModel) -> NDArray[np.bool_]:
    """Return which terms studies have taught, and which say where by themselves.

    A prior alone tells where a place is, not what studies report: hundreds of rare names would win
    by it over all that was learned.
    """
    categories = model.vocabulary_.categories
    generic = [categories.get(term) == GENERIC for term in model.extractor_.terms]
    is_listed: NDArray[np.bool_] = ~(unlearned_terms(model) | np.array(generic))
    return is_listed if model.term_studies_ is None else is_listed & (model.term_studies_ > 0)


def unlearned_terms(model: TextModel) -> NDArray[np.bool_]:
    """Return which terms studies hardly speak of: extra words, and names with all but their prior.

    A prior tells where a place is, not what studies report.
    """
    predictor = model.predictor_
    unlearned = np.zeros(len(model.extractor_.terms), dtype=bool)
    if isinstance(predictor, LogLinear) and predictor.gates is not None:
        unlearned |= predictor.gates.is_extra
    if isinstance(predictor, LogLinear) and predictor.prior is not None:
        prior = predictor.prior
        unlearned[prior.terms[prior.weights > MOSTLY_PRIOR * STRENGTH]] = True
    return unlearned


def _folded(model: TextModel, terms: Ints, n_rows: int) -> dict[int, list[int]]:
    """Return the first terms whose maps differ, each with the later ones that are like it."""
    terms = terms[: MORE_ROWS * n_rows]
    regions, shares = _drawn(model.mean_map_, N_COMPARED)
    maps = log_ratios(model, terms, regions)
    maps -= (maps @ shares)[:, None]
    maps *= np.sqrt(shares)
    maps /= np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), TINY)
    rows: dict[int, list[int]] = {}
    for i in range(len(terms)):
        kept = list(rows)
        cosines = maps[kept] @ maps[i]
        if len(kept) and cosines.max() > ALIKE:
            rows[kept[int(cosines.argmax())]].append(i)
        elif len(kept) < n_rows:
            rows[i] = []
    return rows


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
