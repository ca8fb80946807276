"""Predictors: fitted regressions, from the features of texts to the probability of each region.

A linear one adds up maps of probability, a log-linear one maps of log probability. Both give the
exact share of each term of a text in each region, before the result is made a density.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.learn.blend import Blend
from neurowhere.learn.exponent import (
    Core,
    Gates,
    Opening,
    Prior,
    Turn,
    lateral_shifts,
)

Floats = NDArray[np.floating]
Float32 = NDArray[np.float32]
Ints = NDArray[np.integer]
Shifts = Iterable[tuple[int, Float32]]  # of texts: the number of each, and its shift, (m,)

BALANCED = 0.18  # root mean square of components that are in balance with loadings
RAREST = 1e-9  # least probability of a region, before terms change it


class Structures(NamedTuple):
    """Structures of some texts, by whose sides maps are shifted.

    Attributes
    ----------
    texts : array of shape (k,)
        Rows of the features X, in order.
    entries : array of shape (k,)
        Their places in X.data.
    balance : array of shape (k, n_kinds)
        d of each, as `neurowhere.learn.exponent` has it.
    """

    texts: NDArray[np.intp]
    entries: NDArray[np.intp]
    balance: Floats


@dataclass(frozen=True, eq=False)
class _Regression:
    """What both kinds start from: the mean target of each region."""

    mean: Floats

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def mean_map(self) -> Floats:
        """Mean probability of each region."""
        mean_map: Floats = self.mean / self.mean.sum()
        return mean_map


@dataclass(frozen=True, eq=False)
class Linear(_Regression):
    """The mean map plus (x − x̄)ᵀβ times the sharpness, cut at zero and rescaled.

    Attributes
    ----------
    mean : array of shape (m,)
        Mean target of each region; less than 1 in all where an atlas does not cover every peak.
    coefficients : array of shape (d, m)
    centre : array of shape (d,)
        Mean features x̄.
    sharpness : float
    intercept : bool
        Without it, the prediction is xᵀβ alone, cut and rescaled; the mean map where that is
        nowhere positive.
    """

    coefficients: Float32
    centre: Floats
    sharpness: float = 1.0
    intercept: bool = True
    unit: ClassVar[Literal["probability"]] = "probability"

    @property
    def n_terms(self) -> int:
        """Number of features."""
        return len(self.coefficients)

    @cached_property
    def _offset(self) -> Float32:
        offset: Float32 = (self.centre @ self.coefficients).astype(np.float32)
        return offset

    def predict(
        self, X: sp.csr_matrix, structures: Structures | None = None, sides: Floats | None = None
    ) -> Float32:
        """Predict the probability of each region: (n, m). Without any term, the mean map.

        The sides of `structures`, if given, shift the maps of their texts: see `shifts`.
        """
        moved = deviations(X, self.coefficients, self._offset)
        if structures is not None and sides is not None:
            for text, shift in self.shifts(X, structures, sides):
                moved[text] += shift / np.float32(self.sharpness)
        if not self.intercept:
            moved[moved.max(axis=1) <= 0] = self.mean
            return to_probabilities(np.zeros_like(self.mean), moved)
        return to_probabilities(self.mean, moved, self.sharpness)

    def lateral(self, x: sp.csr_matrix, places: Ints, balance: Floats, sides: Floats) -> Float32:
        """Return what the sides of terms add to one text; see `neurowhere.learn.exponent`.

        `places` are the entries of the row `x` that are structures.
        """
        return lateral_shifts(_added_in_blocks(self, x, places), balance, sides)

    def shifts(self, X: sp.csr_matrix, structures: Structures, sides: Floats) -> Shifts:
        """Yield how the sides of structures shift each of the texts that have some.

        `sides` are s of each kind: (n_kinds, m).
        """
        texts, entries, balance = structures
        for text in np.unique(texts).tolist():
            here = texts == text
            x, turn = X[text], Turn(sides)
            places = entries[here] - X.indptr[text]
            for block in slices(len(places), MAPS_AT_ONCE):
                turn.add(self.added(x, places[block]), balance[here][block])
            yield text, turn.shift

    def added(self, x: sp.csr_matrix, places: Ints | None = None) -> Float32:
        """Return what each term of one text adds to the probability of regions: (k, m).

        That is before the probability is cut and rescaled. `places` picks some of the entries of
        the row `x`.
        """
        some = slice(None) if places is None else places
        effects = self.coefficients[x.indices[some]] * np.float32(self.sharpness)
        added: Float32 = x.data[some, None] * effects
        return added

    def mean_added(self, x: sp.csr_matrix, weights: Floats) -> Floats:
        """Average over regions what each term of one text adds, with weights: (k,) or (k, n)."""
        added: Floats = x.data * (self.sharpness * (self.coefficients[x.indices] @ weights)).T
        return added.T

    def mean_moved(self, X: sp.csr_matrix, weights: Floats) -> Floats:
        """Average over regions what all terms of each text add, with weights: (n,)."""
        moved: Floats = X @ (self.sharpness * (self.coefficients @ weights))
        return moved

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        arrays = {
            "mean": self.mean,
            "coefficients": self.coefficients,
            "centre": self.centre,
            "sharpness": np.array(self.sharpness),
        }
        return arrays if self.intercept else arrays | {"intercept": np.array(False)}


@dataclass(frozen=True, eq=False)
class LogLinear(_Regression):
    """q = softmax(b + s xᵀ(A + g B + h D) S + prior), with b the log of the mean map.

    The gates g, h and the sharpness s follow from the number of known terms in a text, the
    prior from its names of places, see `neurowhere.learn.exponent`. A ridge may be mixed into
    the exponent of long texts, see `neurowhere.learn.blend`. What
    `neurowhere.learn.loglinear` fits to studies is the plain q = softmax(b + xᵀA S).

    Attributes
    ----------
    mean : array of shape (m,)
    loadings : array of shape (d, r)
        A, each term in r dimensions.
    components : array of shape (r, m)
        S, the maps of these dimensions.
    gates : Gates, optional
        Without them g = h = 0 and s = 1.
    short, long : array of shape (d, r), optional
        B and D, what a term says besides in a short text and in an article.
    prior : Prior, optional
        Maps of the names of places.
    blend : Blend, optional
        A ridge that is mixed into the exponent, of a model with gates.
    """

    loadings: Float32
    components: Float32
    gates: Gates | None = None
    short: Float32 | None = None
    long: Float32 | None = None
    prior: Prior | None = None
    blend: Blend | None = None
    unit: ClassVar[Literal["log probability"]] = "log probability"

    @property
    def n_terms(self) -> int:
        """Number of features."""
        return len(self.loadings)

    @cached_property
    def bias(self) -> Float32:
        """Log of the mean map."""
        bias: Float32 = np.log(np.maximum(self.mean_map, RAREST)).astype(np.float32)
        return bias

    def project(self, X: sp.csr_matrix, opening: Opening | None = None) -> Float32:
        """Place texts in the r dimensions, where neighbours have similar maps: (n, r).

        Gates may be given, where X is only part of the texts.
        """
        hidden: Float32 = np.asarray(X @ self.loadings, dtype=np.float32)
        if self.gates is None:
            return hidden
        opening = self.opening(X) if opening is None else opening
        for gate, loadings in zip(opening, (self.short, self.long), strict=True):
            if loadings is not None:
                hidden += gate[:, None] * (X @ loadings)
        hidden *= opening.sharpness[:, None]
        return hidden

    def predict(
        self, X: sp.csr_matrix, structures: Structures | None = None, sides: Floats | None = None
    ) -> Float32:
        """Predict the probability of each region: (n, m). Without any term, the mean map.

        The sides of `structures`, if given, shift the exponents of their texts: see `shifts`.
        """
        exponent = _product(self.project(X), self.components)
        if self.prior is not None:
            self.prior.add_total(exponent, X)
        if self.blend is not None:
            self.blend.mix(exponent, X, self._short_gate(X), self._mean_map)
        if structures is not None and sides is not None:
            for text, shift in self.shifts(X, structures, sides):
                exponent[text] += shift
        for few in slices(len(exponent), FEW_MAPS):  # which the processor's cache holds
            exponent[few] += self.bias
            softmax(exponent[few])
        return exponent

    def lateral(self, x: sp.csr_matrix, places: Ints, balance: Floats, sides: Floats) -> Float32:
        """Return what the sides of terms add to one text; see `neurowhere.learn.exponent`.

        `places` are the entries of the row `x` that are structures.
        """
        return lateral_shifts(_added_in_blocks(self, x, places), balance, sides, self._mean_map)

    def shifts(self, X: sp.csr_matrix, structures: Structures, sides: Floats) -> Shifts:
        """Yield how the sides of structures shift each of the texts that have some.

        `sides` are s of each kind: (n_kinds, m).
        """
        texts, entries, balance = structures
        turns: dict[int, Turn] = {}
        for block in slices(len(texts), MAPS_AT_ONCE):
            here = texts[block]
            for few, maps in self._maps_of(X, here, entries[block]):
                text = int(here[few.start])
                turn = turns.setdefault(text, Turn(sides, self._mean_map))
                turn.add(maps, balance[block][few])
            goes_on = texts[block.stop : block.stop + 1]
            for text in [text for text in turns if text not in goes_on]:
                yield text, turns.pop(text).shift

    def _maps_of(
        self, X: sp.csr_matrix, texts: Ints, entries: Ints
    ) -> Iterator[tuple[slice, Float32]]:
        """Yield what some entries of X, in these rows, add to the exponents, a few at a time.

        That is without the blend. The maps of terms that come again are kept: the sum of a few
        takes a tenth of the time of a product with all components.

        Yields
        ------
        slice
            Of entries of one text.
        array of shape (k, m)
            Overwritten by the next ones.
        """
        terms, factors = X.indices[entries], self._factors(X, texts, entries)
        self._keep_maps(terms)
        rare = np.flatnonzero([term not in self._kept for term in terms.tolist()])
        made = iter(self._make(X, texts[rare], entries[rare]))
        scratch = np.empty((FEW_MAPS, len(self.mean)), np.float32)
        bounds = np.flatnonzero(np.diff(texts, prepend=-1, append=-1))
        for start, end in pairwise(bounds.tolist()):
            for few in slices(end - start, FEW_MAPS):
                few = slice(start + few.start, start + few.stop)
                for map_, term, factor in zip(
                    scratch, terms[few].tolist(), factors[few], strict=False
                ):
                    if (kept := self._kept.get(term)) is None:
                        map_[:] = next(made)
                    else:
                        np.matmul(factor[: len(kept)], kept, out=map_)
                yield few, scratch[: few.stop - few.start]

    def _make(self, X: sp.csr_matrix, texts: Ints, entries: Ints) -> Float32:
        """Return the same, of terms whose maps are not kept."""
        maps = _product(self._loadings_of(X, texts, entries), self.components)
        if self.prior is not None:
            self.prior.add_to(maps, X.indices[entries], X.data[entries])
        return maps

    def _keep_maps(self, terms: Ints) -> None:
        """Make the maps of terms that come again, while there is room."""
        counts = Counter(terms.tolist())
        met = [term for term, n in counts.items() if n > 1 or term in self._met]
        self._met.update(counts)
        new = [term for term in met if term not in self._kept][: N_KEPT - len(self._kept)]
        if not new:
            return
        made = _product(np.concatenate([table[new] for table in self._tables]), self.components)
        for place, term in enumerate(new):
            maps = made[place :: len(new)]
            if self.prior is not None and self.prior.has(term):
                name = np.zeros((1, maps.shape[1]), np.float32)
                self.prior.add_to(name, np.array([term]), np.ones(1, np.float32))
                maps = np.concatenate([maps, name])
            self._kept[term] = np.ascontiguousarray(maps)

    @cached_property
    def _kept(self) -> dict[int, Float32]:
        """Maps of terms that came again: those of the tables, and that of the name."""
        return {}

    @cached_property
    def _met(self) -> set[int]:
        """Terms whose map was asked for."""
        return set()

    @property
    def _tables(self) -> list[Float32]:
        """Loadings A, and B and D of a model with gates."""
        more = [] if self.gates is None else [self.short, self.long]
        return [self.loadings, *(table for table in more if table is not None)]

    def _factors(self, X: sp.csr_matrix, texts: Ints, entries: Ints) -> Float32:
        """Return what the tables, and the map of the name, are multiplied by: (k, n_tables + 1)."""
        x = X.data[entries]
        factors = [x]
        if self.gates is not None:
            opening = self.opening(X)
            scaled = x * opening.sharpness[texts]
            gates = zip(opening, (self.short, self.long), strict=True)
            factors = [scaled, *(scaled * gate[texts] for gate, more in gates if more is not None)]
        result: Float32 = np.stack([*factors, x**2], axis=1)
        return result

    def _loadings_of(self, X: sp.csr_matrix, texts: Ints, entries: Ints) -> Float32:
        """Return x s (A + g B + h D) of some entries of X, in these rows: (k, r)."""
        terms, factors = X.indices[entries], self._factors(X, texts, entries)
        loadings: Float32 = factors[:, :1] * self.loadings[terms]
        for table, factor in zip(self._tables[1:], factors.T[1:], strict=False):
            loadings += factor[:, None] * table[terms]
        return loadings

    def cores(self, terms: Ints) -> Iterator[Core]:
        """Yield where each of some terms points alone."""
        for some in (terms[block] for block in slices(len(terms), MAPS_AT_ONCE)):
            k = len(some)
            alone = (np.ones(k, np.float32), some, np.arange(k + 1))
            X = sp.csr_matrix(alone, shape=(k, self.n_terms))
            for added in self._make(X, np.arange(k), np.arange(k)):
                yield Core.of(added, self._mean_map)

    def added(self, x: sp.csr_matrix, places: Ints | None = None) -> Float32:
        """Return what each term of one text adds to the exponent: (k, m).

        `places` picks some of the entries of the row `x`, of which this is what they add without
        the blend.
        """
        some = np.arange(x.nnz) if places is None else places
        maps = self._make(x, np.zeros_like(some), some)
        if places is None and self.blend is not None:
            short = self._short_gate(x)
            maps *= self.blend.keeps(short)
            maps += self.blend.added(x, short, self._mean_map)
        return maps

    def _short_gate(self, x: sp.csr_matrix) -> Float32:
        """Return g of texts: 1 without gates, which leaves no ridge."""
        return np.ones(x.shape[0], np.float32) if self.gates is None else self.opening(x).short

    def opening(self, X: sp.csr_matrix) -> Opening:
        """Return the gates of texts, of a model that has some; those of the last ones are kept."""
        last: tuple[sp.csr_matrix, Opening] | None = self.__dict__.get("_last")
        if last is None or last[0] is not X:
            assert self.gates is not None
            last = self.__dict__["_last"] = X, self.gates.of(X)
        return last[1]

    @cached_property
    def _mean_map(self) -> Float32:
        """The mean map, nowhere zero: a region that no study reports is not impossible."""
        mean_map: Float32 = np.maximum(self.mean_map, RAREST).astype(np.float32)
        return mean_map

    def mean_added(self, x: sp.csr_matrix, weights: Floats) -> Floats:
        """Average over regions what each term of one text adds, with weights: (k,) or (k, n)."""
        heights = self.components @ weights.astype(np.float32, copy=False)  # (r,)
        every = np.arange(x.nnz)
        added: Floats = self._loadings_of(x, np.zeros_like(every), every) @ heights
        if self.prior is not None:
            added += (x.data**2 * self.prior.mean_added(x.indices, weights).T).T
        if self.blend is not None:
            short = self._short_gate(x)
            added = added * self.blend.keeps(short)
            added += self.blend.mean_added(x, short, self._mean_map, weights)
        return added

    def mean_moved(self, X: sp.csr_matrix, weights: Floats) -> Floats:
        """Average over regions what all terms of each text add, with weights: (n,)."""
        moved: Floats = self.project(X) @ (self.components @ weights.astype(np.float32))
        if self.prior is not None:
            every = np.arange(self.n_terms)
            moved += X.power(2) @ self.prior.mean_added(every, weights)
        if self.blend is not None:
            short = self._short_gate(X)
            moved = self.blend.keeps(short) * moved
            moved += self.blend.log_ratios(X, short, self._mean_map) @ weights
        return moved

    @cached_property
    def plain(self) -> "LogLinear":
        """The part that studies alone have taught: without gates, prior and blend."""
        return replace(self, short=None, long=None, gates=None, prior=None, blend=None)

    def copy(self) -> "LogLinear":
        """Copy the arrays, which a running fit keeps changing."""
        return replace(self, loadings=self.loadings.copy(), components=self.components.copy())

    def sharpened(self, sharpness: float) -> "LogLinear":
        """Multiply the effect of every term; of a plain model."""
        return replace(self, loadings=self.loadings * np.float32(sharpness))

    def truncated(self, rank: int) -> "LogLinear":
        """Keep the `rank` dimensions of a plain model that move maps most, the strongest first.

        With A S = U Σ Vᵀ, loadings become U Σ and components Vᵀ.
        """
        left, left_r = np.linalg.qr(self.loadings)
        right, right_r = np.linalg.qr(self.components.T)
        u, values, vt = np.linalg.svd(left_r @ right_r.T)
        rank = min(rank, int((values > 0).sum()))
        loadings = left @ (u[:, :rank] * values[:rank])
        components = vt[:rank] @ right.T
        return LogLinear(
            self.mean, loadings.astype(np.float32), np.ascontiguousarray(components, np.float32)
        )

    def balanced(self, seed: int = 0) -> tuple["LogLinear", Float32]:
        """Return a plain model in coordinates in which all loadings can move, and the way back.

        With A S = U Σ Vᵀ and Q a random rotation, loadings become U Σ^½ Q / k and components
        k Qᵀ Σ^½ Vᵀ, whose root mean square is `BALANCED`. Loadings in these coordinates, times the
        matrix that is returned, are loadings for the components Vᵀ of `truncated`.
        """
        whole = self.truncated(self.loadings.shape[1])
        values = np.linalg.norm(whole.loadings, axis=0)  # Σ
        rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
        components = rotation.T @ (np.sqrt(values)[:, None] * whole.components)
        scale = BALANCED / np.sqrt((components**2).mean())
        loadings = whole.loadings @ (rotation / np.sqrt(values)[:, None]) / scale
        back = scale * rotation.T * np.sqrt(values)
        model = LogLinear(
            self.mean, loadings.astype(np.float32), (scale * components).astype(np.float32)
        )
        return model, back.astype(np.float32)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        arrays: dict[str, NDArray[Any]] = {
            "mean": self.mean,
            "loadings": self.loadings,
            "components": self.components,
        }
        optional: dict[str, NDArray[Any] | None] = {
            "short": self.short,
            "long": self.long,
            "is_extra": None if self.gates is None else self.gates.is_extra,
        }
        arrays |= {name: values for name, values in optional.items() if values is not None}
        for part in (self.prior, self.blend):
            arrays |= {} if part is None else part.to_arrays()
        return arrays


Predictor = Linear | LogLinear
MAPS_AT_ONCE, FEW_MAPS = 256, 8  # few enough for memory; for the processor's cache
N_KEPT = 128  # terms whose maps are kept, at most 0.5 MB each
SINGLE = 6  # maps made faster one by one: BLAS copies all components before it multiplies matrices


def _product(loadings: Float32, components: Float32) -> Float32:
    """Multiply the loadings of terms or texts by components: (k, m)."""
    if len(loadings) > SINGLE:
        many: Float32 = loadings @ components
        return many
    maps = np.empty((len(loadings), components.shape[1]), np.float32)
    for row, map_ in zip(loadings, maps, strict=True):
        np.matmul(row, components, out=map_)
    return maps


def _added_in_blocks(model: Predictor, x: sp.csr_matrix, places: Ints) -> Iterator[Float32]:
    """Yield what some terms of one text add, some maps at a time.

    The last block is never a small one: a few maps are made one by one, which rounds otherwise,
    and the result would depend on the size of blocks.
    """
    cuts = np.arange(0, len(places) - SINGLE, MAPS_AT_ONCE)[1:]
    for block in np.split(places, cuts):
        yield model.added(x, block)


def average(models: list[LogLinear]) -> LogLinear:
    """Average the exponents of log-linear models of one problem.

    Parameters
    ----------
    models : list of LogLinear

    Returns
    -------
    LogLinear
        Of a rank that is the sum of theirs.
    """
    loadings = np.concatenate([model.loadings for model in models], axis=1) / len(models)
    components = np.concatenate([model.components for model in models])
    return LogLinear(models[0].mean, loadings.astype(np.float32), components)


def predictor_from_arrays(arrays: dict[str, NDArray[Any]]) -> Predictor:
    """Rebuild a predictor from what `to_arrays` gave.

    Parameters
    ----------
    arrays : dict of str to array

    Returns
    -------
    Predictor
    """
    if "loadings" in arrays:
        return LogLinear(
            arrays["mean"],
            arrays["loadings"],
            arrays["components"],
            gates=Gates(arrays["is_extra"]) if "is_extra" in arrays else None,
            short=arrays.get("short"),
            long=arrays.get("long"),
            prior=Prior.from_arrays(arrays) if "prior_terms" in arrays else None,
            blend=Blend.from_arrays(arrays) if "blend_loadings" in arrays else None,
        )
    return Linear(
        arrays["mean"],
        arrays["coefficients"],
        arrays["centre"],
        float(arrays["sharpness"]),
        bool(arrays.get("intercept", True)),
    )


def deviations(X: sp.csr_matrix, coefficients: Floats, offset: Float32) -> Float32:
    """Compute (x − x̄)ᵀβ for each row x of X; 0, the mean map, for a row without any term.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    coefficients : array of shape (n_terms, m)
    offset : array of shape (m,)
        x̄ᵀβ.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> deviations(sp.csr_matrix([[2.0], [0.0]]), np.array([[3.0]]), np.float32([3.0]))
    array([[3.],
           [0.]], dtype=float32)
    """
    moved: Float32 = np.asarray(X @ coefficients, dtype=np.float32)
    moved -= offset
    moved[np.diff(X.indptr) == 0] = 0
    return moved


def to_probabilities(mean: Floats, deviations: Floats, sharpness: float = 1.0) -> Float32:
    """Cut mean + sharpness · deviation at zero and rescale each row to sum to 1.

    Parameters
    ----------
    mean : array of shape (m,)
    deviations : array of shape (n, m)
    sharpness : float

    Returns
    -------
    array of shape (n, m)
        A row that is nowhere positive gets the mean map.

    Examples
    --------
    >>> to_probabilities(np.array([1.0, 1.0]), np.array([[1.0, -2.0], [-2.0, -2.0]]))
    array([[1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    positive = np.maximum(mean + sharpness * deviations, 0.0, dtype=np.float32)
    totals = positive.sum(axis=1, dtype=np.float64)
    positive[totals <= 0] = mean
    totals[totals <= 0] = mean.sum()
    positive /= totals[:, None].astype(np.float32)
    return positive


def softmax(exponent: Floats) -> Floats:
    """Exponentiate each row and rescale it to sum to 1, in place.

    Parameters
    ----------
    exponent : array of shape (n, m)
        Overwritten.

    Returns
    -------
    array of shape (n, m)
        The same array.

    Examples
    --------
    >>> softmax(np.log(np.array([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    exponent -= exponent.max(axis=1, keepdims=True)
    np.exp(exponent, out=exponent)
    exponent /= exponent.sum(axis=1, keepdims=True)
    return exponent
