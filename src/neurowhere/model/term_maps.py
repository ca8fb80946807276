r"""Maps of terms: drawn one by one or by region, and all of them known well enough to compare.

With e_tk what a text that is term t alone adds to the exponent, and q̄ the mean map, the map of the
term over the mean map, and its log where the term is mixed half with the mean map, are

    ρ_tk = exp(e_tk − log Z_t),   Z_t = Σ_k q̄_k exp(e_tk),        r_tk = log(½ + ½ ρ_tk).

A place touches few regions k, and Z_t never changes: once it is known, some regions of the map cost
as much as these regions, not as the whole brain. So are the mean c_t and the standard deviation σ_t
of r_t under q̄, by which the maps of different terms compare (`TermScales`).

With h the hidden vector of a text, and h_t that of a term, the closeness of the term to the text is

    hᵀh_t / (|h| (|h_t| + c)),    c the median of all |h_t|,

a cosine that is small for terms that hardly point anywhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import FitError, VocabularyError
from neurowhere.learn import LogLinear
from neurowhere.learn.predictor import RAREST, Predictor
from neurowhere.model.encoding import Encoding
from neurowhere.model.estimator import check_fitted
from neurowhere.model.text_model import TextModel
from neurowhere.space import Atlas, Partition, default_atlas
from neurowhere.space.geometry import gazetteer_of
from neurowhere.text.features import LATERAL
from neurowhere.text.places import Side, without_side

Floats = NDArray[np.floating]
Float32 = NDArray[np.float32]
Ints = NDArray[np.integer]

CHUNK = 256  # terms whose features are made at a time
N_AT_ONCE = 64  # maps of the whole brain that are held at a time
N_NAMED = 5  # unknown terms in an error
LEAST_SPREAD = 1e-6  # of a term that says nothing
NO_TERMS = "a model of the mean map knows no terms; fit one with text"


@dataclass(frozen=True, eq=False, repr=False)
class TermMap:
    """The map that a model associates with a term.

    Attributes
    ----------
    name : str
        What was asked for.
    term : str
        The term of the vocabulary that it stands for.
    side : "left", "right" or None
        Side that was asked for.
    method : "learned" or "restricted"
        Whether the map of that side was learned from texts, or is the map of the term, restricted
        to the hemisphere. A term without a side is always learned.
    effect : array of shape (m,)
        What the term adds to each region.
    unit : "probability" or "log probability"
        Of the effect.
    partition : Partition
        Regions of the model.
    """

    name: str
    term: str
    side: Side | None
    method: Literal["learned", "restricted"]
    effect: NDArray[np.float32]
    unit: str
    partition: Partition

    @cached_property
    def img(self) -> Any:
        """Effect as an image: a density in mm⁻³, or a difference of log densities.

        A restricted map is zero on the other side.
        """
        return self.to_img()

    @property
    def values(self) -> Floats:
        """Effect in each region as the image has it: per mm³, or a difference of logs."""
        is_log = self.unit == "log probability"
        return self.effect if is_log else self.effect / self.partition.volumes_mm3

    def to_img(self, *, resolution_mm: float | None = None, like: Any = None) -> Any:
        """Make the image on another grid.

        Parameters
        ----------
        resolution_mm, like
            Grid of the image, as in `Partition.to_img`.

        Returns
        -------
        NIfTI image
        """
        image = self.partition.to_img(self.values, resolution_mm=resolution_mm, like=like)
        if self.method == "restricted":
            image.dataobj[_other_side(image, self.side)] = 0
        return image

    @property
    def title(self) -> str:
        """Name, and how its map came about."""
        if self.method == "learned":
            return f"{self.name} (learned)"
        return f"{self.name} (map of {self.term}, restricted to the {self.side} hemisphere)"

    def plot(self, view: Literal["slices", "glass", "surface"] = "slices", **options: Any) -> Any:
        """Plot the map with nilearn, as `Encoding.plot` does.

        Parameters
        ----------
        view : "slices", "glass" or "surface"
        options
            Of `nilearn.plotting.plot_stat_map`, `plot_glass_brain` or `plot_img_on_surf`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from neurowhere.report.plots import plot_image

        return plot_image(self.img, view, **{"title": self.title, **options})

    def __repr__(self) -> str:
        return f"TermMap: {self.title}"

    def _repr_html_(self) -> str:
        from neurowhere.report.notebook import term_html

        return term_html(self)


def map_of_term(model: TextModel, name: str) -> TermMap:
    """Return what a model associates with a term, which may begin with a side.

    Parameters
    ----------
    model : Encoder
    name : str

    Returns
    -------
    TermMap
        See `Encoder.term_map`.
    """
    return next(iter_term_maps(model, [name]))


def iter_term_maps(model: TextModel, names: Iterable[str] | None = None) -> Iterator[TermMap]:
    """Yield the maps of many terms, in the order of their names.

    One map is held at a time, so that memory does not grow with their number.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional
        Terms, each with or without a side; by default all terms of the model. A name that comes
        twice counts once. One that the model does not know is an error before the first map.

    Yields
    ------
    TermMap
        As from `Encoder.term_map`.

    Examples
    --------
    >>> from neurowhere import load_model
    >>> for found in iter_term_maps(load_model(), ["pain", "left amygdala"]):
    ...     print(found)
    TermMap: pain (learned)
    TermMap: left amygdala (map of amygdala, restricted to the left hemisphere)
    """
    wanted = find_terms(model, names)
    return _iter_maps(model, wanted)


class WantedTerm(NamedTuple):
    """A term that a name stands for."""

    name: str
    term: str
    side: Side | None
    column: int  # of the features
    is_learned: bool  # on this side


def find_terms(model: TextModel, names: Iterable[str] | None = None) -> list[WantedTerm]:
    """Find the terms that names stand for, or all of a model.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional

    Returns
    -------
    list of WantedTerm
    """
    check_fitted(model)
    if model.text == "none":
        raise FitError(NO_TERMS)
    columns = {name: column for column, name in enumerate(model.extractor_.terms)}
    found, problems = [], []
    for name in columns if names is None else dict.fromkeys(names):
        try:
            found.append(_find_term(model, name, columns))
        except VocabularyError as error:
            problems.append((name, error))
    if len(problems) > 1:
        raise VocabularyError(_describe([name for name, _ in problems]))
    if problems:
        raise problems[0][1]
    if not found:
        raise VocabularyError("expected at least one term, got none")
    return found


def _describe(unknown: Sequence[str]) -> str:
    some = ", ".join(map(repr, unknown[:N_NAMED])) + ", ..." * (len(unknown) > N_NAMED)
    return f"{len(unknown):,} names are not among the terms of the model or their synonyms: {some}"


def _find_term(model: TextModel, name: str, columns: dict[str, int]) -> WantedTerm:
    if name in columns and name not in model.vocabulary_:  # a term on a side, as it was learned
        term, side = without_side(name)
        return WantedTerm(name, term, side, columns[name], True)
    term, side = (name, None) if name in model.vocabulary_ else without_side(name)
    index = model.vocabulary_.index(term)
    term = model.extractor_.terms[index]
    sided = columns.get(f"{side} {term}")
    is_learned = sided is not None or side not in LATERAL
    return WantedTerm(name, term, side, index if sided is None else sided, is_learned)


def _iter_maps(model: TextModel, wanted: Sequence[WantedTerm]) -> Iterator[TermMap]:
    for chunk in slices(len(wanted), CHUNK):
        some = wanted[chunk]
        features = term_features(model, np.array([each.column for each in some]))
        for row, each in enumerate(some):
            yield TermMap(
                name=each.name,
                term=each.term,
                side=each.side,
                method="learned" if each.is_learned else "restricted",
                effect=model.predictor_.added(features[row]).sum(axis=0),
                unit=model.predictor_.unit,
                partition=model.partition_,
            )


def parcellate_terms(
    model: TextModel, names: Iterable[str] | None = None, *, atlas: Atlas | None = None
) -> pd.DataFrame:
    """Return the mean of the map of each term in each region of an atlas.

    With f the map, and v_jk the volume that region j of the atlas shares with region k of the
    model, the mean is Σ_k v_jk f_k / Σ_k v_jk.

    Parameters
    ----------
    model : Encoder
    names : iterable of str, optional
        As in `iter_term_maps`.
    atlas : Atlas, optional
        By default the model's own if it predicts the regions of one, or AAL3.

    Returns
    -------
    DataFrame of shape (n_terms, n_regions)
        Indexed by term; NaN for regions outside of the model's brain.

    Examples
    --------
    >>> from neurowhere import load_model
    >>> table = parcellate_terms(load_model(), ["hand movement", "reading"])
    >>> table[["Precentral_L", "Calcarine_L"]].idxmax()
    Precentral_L    hand movement
    Calcarine_L           reading
    dtype: ...
    """
    means = RegionMeans(model, atlas)
    rows = {each.name: means.of(each) for each in iter_term_maps(model, names)}
    index = pd.Index(list(rows), name="term")
    return pd.DataFrame(list(rows.values()), index=index, columns=list(means.atlas.names))


class RegionMeans:
    """Means of maps in the regions of an atlas.

    Parameters
    ----------
    model : Encoder
    atlas : Atlas, optional
        As in `parcellate_terms`.
    """

    def __init__(self, model: TextModel, atlas: Atlas | None = None) -> None:
        own = model.partition_
        if atlas is None:
            atlas = own if isinstance(own, Atlas) else default_atlas()
        self.atlas = atlas
        self._shared = gazetteer_of(atlas, own).shared_mm3  # (n_regions, m)
        self._total = np.asarray(self._shared.sum(axis=1)).ravel()
        self._x_mm = own.centers_mm[:, 0]

    def of(self, term: TermMap) -> NDArray[np.float32]:
        """Return the mean of a map in each region, NaN outside of the model's: (n_regions,)."""
        values = term.values
        if term.method == "restricted":
            is_other = self._x_mm >= 0 if term.side == "left" else self._x_mm <= 0
            values = np.where(is_other, 0, values)
        with np.errstate(invalid="ignore"):  # 0 / 0 outside
            means: NDArray[np.float32] = (self._shared @ values / self._total).astype(np.float32)
        return means


def _other_side(image: Any, side: Side | None) -> NDArray[np.bool_]:
    """Voxels whose centre is not on this side of the midplane: left is x < 0."""
    voxels = np.indices(image.shape)  # (3, x, y, z)
    row = image.affine[0]
    x_mm = np.tensordot(row[:3], voxels, axes=1) + row[3]
    outside: NDArray[np.bool_] = x_mm >= 0 if side == "left" else x_mm <= 0
    return outside


# ---- terms alone


def term_features(model: TextModel, terms: Ints | None = None) -> sparse.csr_matrix:
    """Return the features of texts that are one term each, by default every term.

    A term on a side is mentioned without it too.
    """
    extractor = model.extractor_
    if terms is None:
        terms = np.arange(len(extractor.terms))
    n_plain = len(extractor.vocabulary)
    rows, columns = list(range(len(terms))), terms.tolist()
    for row, column in enumerate(terms.tolist()):
        if column >= n_plain:
            _, _, name = extractor.terms[column].partition(" ")
            rows.append(row)
            columns.append(extractor.vocabulary.index(name))
    shape = (len(terms), len(extractor.terms))
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    return model.weighting_.transform(extractor.weigh({"body": counts}))


class TermsAlone:
    """What each term alone adds to the exponent of a log-linear model.

    Parameters
    ----------
    model : TextModel
    predictor : LogLinear
        Of the model. It is not kept, so that this can be kept as long as it.
    """

    def __init__(self, model: TextModel, predictor: LogLinear) -> None:
        features = term_features(model)
        self.hidden = predictor.project(features)  # (n_terms, r)
        self.named: sparse.csr_matrix | None = None  # strength of each prior: (n_terms, k)
        if predictor.prior is not None:
            self.named = predictor.prior.strengths(features)

    @cached_property
    def directions(self) -> Floats:
        """Return h_t over |h_t| + c: (n_terms, r)."""
        norms = np.linalg.norm(self.hidden, axis=1, keepdims=True)
        directions: Floats = self.hidden / (norms + np.median(norms))
        return directions

    def added(self, predictor: LogLinear, terms: Ints, regions: Ints | slice) -> Float32:
        """Return e of some terms in some regions: (n, k)."""
        exponent: Float32 = self.hidden[terms] @ predictor.components[:, regions]
        if self.named is not None and predictor.prior is not None:
            strengths = self.named[terms]
            rows = np.flatnonzero(np.diff(strengths.indptr))
            strengths = strengths[rows]
            named = np.unique(strengths.indices)
            maps: Any = predictor.prior.maps[named]
            exponent[rows] += (strengths[:, named] @ maps[:, regions]).toarray()
            total = np.asarray(strengths.sum(axis=1)).ravel()
            exponent[rows] -= np.outer(total, predictor.prior.baseline[regions])
        return exponent


class TermScales(NamedTuple):
    """What makes the maps of terms alone comparable: log Z, c and σ of each, (n_terms,)."""

    log_totals: Float32
    centres: Float32
    spreads: Float32


_alone: "WeakKeyDictionary[LogLinear, TermsAlone]" = WeakKeyDictionary()
_scales: "WeakKeyDictionary[Predictor, TermScales]" = WeakKeyDictionary()


def terms_alone(model: TextModel, predictor: LogLinear) -> TermsAlone:
    """Return what is known of the terms of a model alone; it is kept as long as the model is."""
    if predictor not in _alone:
        _alone[predictor] = TermsAlone(model, predictor)
    return _alone[predictor]


def term_scales(model: TextModel) -> TermScales:
    """Return the scales of all terms; made once, if the model was not stored with them."""
    if model.predictor_ not in _scales:
        _scales[model.predictor_] = _make_scales(model)
    return _scales[model.predictor_]


def keep_scales(model: TextModel, scales: TermScales) -> None:
    """Keep scales that were stored with a model."""
    _scales[model.predictor_] = scales


def _make_scales(model: TextModel) -> TermScales:
    mean = _floored_mean(model)
    scales = np.zeros((3, len(model.extractor_.terms)), np.float32)
    for some in slices(scales.shape[1], N_AT_ONCE):
        terms = np.arange(some.start, min(some.stop, scales.shape[1]))
        ratios, scales[0, terms] = _ratios(model, terms, slice(None), None)
        logs = _half_logs(ratios)
        scales[1, terms] = centres = logs @ mean
        logs *= logs
        scales[2, terms] = np.sqrt(np.maximum(logs @ mean - centres**2, LEAST_SPREAD**2))
    return TermScales(*scales)


def log_ratios(model: TextModel, terms: Ints, regions: Ints | None = None) -> Float32:
    """Return r of some terms, in all regions or in some: (n, k)."""
    where: slice | Ints = slice(None)  # which copies nothing
    if regions is not None and len(regions) < len(model.mean_map_):
        where = regions
    ratios, _ = _ratios(model, terms, where, term_scales(model).log_totals)
    return _half_logs(ratios)


def _ratios(
    model: TextModel, terms: Ints, regions: Ints | slice, log_totals: Float32 | None
) -> tuple[Float32, Float32]:
    """Return ρ of some terms in some regions, and log Z, which the whole brain tells."""
    predictor = model.predictor_
    if not isinstance(predictor, LogLinear):
        ratios = predictor.predict(term_features(model, terms))[:, regions]
        ratios /= _floored_mean(model)[regions]
        return ratios, np.zeros(len(terms), np.float32)
    exponent = terms_alone(model, predictor).added(predictor, terms, regions)
    if log_totals is None:
        highest = exponent.max(axis=1, keepdims=True)
        exponent -= highest
        np.exp(exponent, out=exponent)
        totals = (exponent @ _floored_mean(model))[:, None]
        exponent /= totals
        return exponent, (highest + np.log(totals))[:, 0]
    exponent -= log_totals[terms, None]
    return np.exp(exponent, out=exponent), log_totals[terms]


def _half_logs(ratios: Float32) -> Float32:
    """Return log(½ + ½ ρ), in place."""
    ratios += 1
    ratios /= 2
    return np.log(ratios, out=ratios)


def _floored_mean(model: TextModel) -> Float32:
    mean: Float32 = np.maximum(model.mean_map_, RAREST).astype(np.float32)
    return mean


def related_terms(model: TextModel, encoding: Encoding, n_terms: int = 12) -> pd.DataFrame:
    """Find the terms that are closest to a text and not in it.

    Parameters
    ----------
    model : TextModel
    encoding : Encoding
        A text that this model has read.
    n_terms : int

    Returns
    -------
    DataFrame
        term, closeness; the closest first. It is empty for a text without a known term, and for a
        model that is not log-linear.
    """
    predictor = model.predictor_
    if model.text == "none" or not isinstance(predictor, LogLinear) or not encoding.uses:
        return pd.DataFrame({"term": [], "closeness": []})
    terms = model.extractor_.terms
    text = _features(terms, encoding)
    hidden = predictor.project(text)[0]  # (r,)
    directions = terms_alone(model, predictor).directions
    closeness = directions @ (hidden / max(np.linalg.norm(hidden), 1e-9))
    closeness[text.indices] = -np.inf
    closeness[model.extractor_.is_generic] = -np.inf  # which have no map of their own
    if predictor.gates is not None:
        closeness[predictor.gates.is_extra] = -np.inf
    best = np.argsort(-closeness, kind="stable")[:n_terms]
    best = best[closeness[best] > 0]
    return pd.DataFrame({"term": [terms[i] for i in best], "closeness": closeness[best].tolist()})


def _features(terms: tuple[str, ...], encoding: Encoding) -> sparse.csr_matrix:
    place = {term: i for i, term in enumerate(terms)}
    columns = [place[term] for term in encoding.uses]
    weights = np.array([use.weight for use in encoding.uses.values()], dtype=np.float32)
    shape = (1, len(terms))
    return sparse.csr_matrix((weights, ([0] * len(columns), columns)), shape=shape)
