"""Log-linear regression: term maps add up in the exponent, fitted to the likelihood itself.

With x (d,) the features of a text, loadings A (d, r), components S (r, m) and the log b of the
mean map,

    q = softmax(b + xᵀA S),        loss = −Σ_k ŷ_k log(½ + ½ q_k V/v_k)

is the probability of each region, and the loss the half-uniform log-likelihood by which models
are compared, expected over the study's kernel density ŷ. With ρ_k = q_k V/v_k and
a_k = ŷ_k ρ_k/(1 + ρ_k), the gradient for the exponent is q Σa − a: a pass over a batch is three
products of matrices.

A study of few peaks says little about its density, so one of n peaks weighs n / (n + n₀) in the
mean loss.

The terms of a text share one unit norm, and a term that says nothing about the brain takes from
those that do. So the weight of each term within the norm is learned too,

    x = w∘z / ‖w∘z‖,        ∂loss/∂log w_t = Σ_i (c_it − x_it² Σ_s c_is)

with z the features that are given, w (d,) the weights, and c_it = x_it ∂loss_i/∂x_it. See
`learn_term_weights`.

The rank r ties terms together, so that rare ones borrow from common ones. Dropout of terms
and AdamW with decoupled weight decay do the rest: with g the gradient of a parameter θ at step t, η
the learning rate, which follows one cycle (`one_cycle`), and δ the decay,

    m ← β₁ m + (1 − β₁) g,        v ← β₂ v + (1 − β₂) g²
    θ ← (1 − η δ) θ − η m̂ / (√v̂ + ε),        m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ).
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import compiled, slices
from neurowhere.learn.predictor import LogLinear, softmax

Floats = NDArray[np.float32]
TargetRows = Callable[[NDArray[np.intp]], Floats]

TRUST, FEW_STUDIES = 1.5, 30  # in learned weights: at most, and studies of a term that halve it
_CHUNK = 8  # rows of a batch that stay in cache
_MIN_BATCH, _MIN_STEPS = 8, 32  # studies in a step, steps in an epoch
_ROWS = 64  # rows of a parameter that one thread updates at a time
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_WARM_UP, _START, _END = 0.3, 1 / 25, 1e-4  # one-cycle learning rate


@dataclass(frozen=True)
class Schedule:
    """Schedule of a log-linear fit.

    Attributes
    ----------
    rank : int
        Rank of the product of loadings and components.
    epochs, batch : int
        Passes over the studies, studies per step; fewer where there are few studies, so that an
        epoch has enough steps.
    rate : float
        Highest learning rate.
    decay : tuple of float
        Weight decay of loadings and of components.
    dropout : float
        Share of the terms of a study that is hidden at each step.
    few_peaks : float
        n₀: peaks of a study that halve its weight.
    stop : int or None
        Epochs after which to stop early.
    """

    rank: int = 128
    epochs: int = 14
    batch: int = 128
    rate: float = 0.01
    decay: tuple[float, float] = (2.0, 0.5)
    dropout: float = 0.2
    few_peaks: float = 15.0
    stop: int | None = None

    @property
    def n_epochs(self) -> int:
        """Number of epochs to run."""
        return self.stop or self.epochs


@dataclass(frozen=True, eq=False)
class Studies:
    """Studies that a log-linear regression is fitted to.

    Attributes
    ----------
    X : csr_matrix of shape (n_studies, n_terms)
        Features of studies, in rows of unit norm.
    targets : callable
        Gives the densities ŷ of some studies: (b, m).
    n_peaks : array of shape (n_studies,)
        Peaks of each study, at least one.
    mean : array of shape (m,)
        Mean map.
    relative_volume : array of shape (m,)
        V/v_k.
    """

    X: sp.csr_matrix
    targets: TargetRows
    n_peaks: NDArray[np.integer]
    mean: NDArray[np.floating]
    relative_volume: NDArray[np.floating]


def fit_loglinear(
    studies: Studies,
    schedule: Schedule,
    *,
    seed: int = 0,
    n_jobs: int = -1,
    start: LogLinear | None = None,
) -> Iterator[LogLinear]:
    """Fit a log-linear regression by AdamW, and yield the model after each epoch.

    Parameters
    ----------
    studies : Studies
    schedule : Schedule
    seed : int
        Seed of the random start, of the order of the studies and of the dropout.
    n_jobs : int
        Threads, −1 for all cores.
    start : LogLinear, optional
        Model to go on from, in place of a random one.

    Yields
    ------
    LogLinear
        The same arrays every time, which the next epoch changes: copy a model to keep it.
    """
    for model, _ in _descend(studies, schedule, seed, n_jobs, learn_weights=False, start=start):
        yield model


def learn_term_weights(
    studies: Studies, schedule: Schedule, *, seed: int = 0, n_jobs: int = -1
) -> Iterator[Floats]:
    """Learn how much each term weighs, and yield the weights after each epoch.

    They are learned along with maps, which are not kept. Dropout and decay regularise the weights
    as they do the maps. A term of few studies says little about its weight: with n_t the studies
    that have term t, log w_t is multiplied by ``TRUST n_t / (n_t + FEW_STUDIES)``.

    Parameters
    ----------
    studies : Studies
    schedule : Schedule
    seed : int
        Seed of the random start, of the order of the studies and of the dropout.
    n_jobs : int
        Threads, −1 for all cores.

    Yields
    ------
    array of shape (n_terms,)
    """
    n_studies = studies.X.getnnz(axis=0)
    trust = TRUST * n_studies / (n_studies + FEW_STUDIES)
    for _, log_weights in _descend(studies, schedule, seed, n_jobs, learn_weights=True):
        yield np.exp(trust * log_weights).astype(np.float32)


def _descend(
    studies: Studies,
    schedule: Schedule,
    seed: int,
    n_jobs: int,
    *,
    learn_weights: bool,
    start: LogLinear | None = None,
) -> Iterator[tuple[LogLinear, Floats]]:
    """Descend the gradient; yield the model and the log weights of terms after each epoch."""
    from joblib import effective_n_jobs

    rng = np.random.default_rng(seed)
    X, mean = studies.X, studies.mean
    n, d = X.shape
    if start is None:
        model = LogLinear(mean, *_start(d, schedule.rank, len(mean), rng))
    else:
        model = LogLinear(mean, start.loadings.copy(), start.components.copy())
    log_weights = np.zeros((d, 1), np.float32)
    parameters = [model.loadings, model.components] + [log_weights] * learn_weights
    weight = studies.relative_volume.astype(np.float32)
    importance = importance_of(studies.n_peaks, schedule.few_peaks)
    size = min(schedule.batch, max(_MIN_BATCH, n // _MIN_STEPS))
    n_steps = schedule.epochs * -(-n // size)
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as threads:
        decays = (*schedule.decay, 0.0)[: len(parameters)]
        step = AdamW(parameters, decays, schedule.rate, n_steps, threads)
        for _ in range(schedule.n_epochs):
            order = rng.permutation(n)
            for batch in slices(n, size):
                rows = order[batch]
                x = reweighted(X[rows], np.exp(log_weights[:, 0])) if learn_weights else X[rows]
                seen = drop(x, schedule.dropout, rng)
                shares = importance[rows] / np.float32(len(rows))
                *slopes, to_hidden = gradient(
                    model, seen, studies.targets(rows), weight, shares, threads
                )
                if learn_weights:
                    slopes.append(weight_gradient(x, seen, model.loadings, to_hidden))
                step(slopes)
            yield model, log_weights[:, 0]


def importance_of(n_peaks: NDArray[np.integer], few_peaks: float) -> Floats:
    """Return the weight of each study in the mean loss, n / (n + n₀), 1 on average."""
    importance = n_peaks / (n_peaks + few_peaks)
    scaled: Floats = (importance / importance.mean()).astype(np.float32)
    return scaled


def _start(d: int, rank: int, m: int, rng: Any) -> tuple[Floats, Floats]:
    """Random loadings and components."""
    loadings, components = rng.normal(0, 0.1, (d, rank)), rng.normal(0, 0.05, (rank, m))
    return loadings.astype(np.float32), components.astype(np.float32)


def gradient(
    model: LogLinear,
    x: sp.csr_matrix,
    targets: Floats,
    weight: Floats,
    shares: Floats,
    threads: Any,
) -> tuple[Floats, Floats, Floats]:
    """Compute the gradients of the loss of a batch.

    Parameters
    ----------
    model : LogLinear
    x : csr_matrix of shape (b, n_terms)
    targets : array of shape (b, m)
        Densities ŷ.
    weight : array of shape (m,)
        V/v_k.
    shares : array of shape (b,)
        Share of each study in the loss.
    threads : concurrent.futures.Executor

    Returns
    -------
    to_loadings : array of shape (n_terms, r)
    to_components : array of shape (r, m)
    to_hidden : array of shape (b, r)
        Gradient for the hidden xᵀA.
    """
    hidden = np.asarray(x @ model.loadings, dtype=np.float32)  # (b, r)
    exponent: Floats = hidden @ model.components
    exponent += model.bias

    to_slope(exponent, targets, weight, shares, threads)
    to_hidden = exponent @ model.components.T  # (b, r)
    return np.asarray(x.T @ to_hidden), hidden.T @ exponent, to_hidden


def weight_gradient(
    x: sp.csr_matrix, seen: sp.csr_matrix, loadings: Floats, to_hidden: Floats
) -> Floats:
    """Compute the gradient for the log weights of terms: Σ_i (c_it − x_it² Σ_s c_is).

    The second part is what the unit norm takes back.

    Parameters
    ----------
    x : csr_matrix of shape (b, n_terms)
        Features of the batch.
    seen : csr_matrix of shape (b, n_terms)
        What dropout leaves of them, entry by entry.
    loadings : array of shape (n_terms, r)
    to_hidden : array of shape (b, r)
        Gradient for the hidden xᵀA, from `gradient`.

    Returns
    -------
    array of shape (n_terms, 1)
    """
    row = row_of_entries(x)
    moved = seen.data * np.einsum("ij,ij->i", to_hidden[row], loadings[x.indices])  # c_it
    moved -= x.data**2 * np.bincount(row, moved, minlength=x.shape[0])[row]
    slope = np.bincount(x.indices, moved, minlength=x.shape[1])
    return slope.astype(loadings.dtype)[:, None]


def to_slope(
    exponent: Floats, targets: Floats, weight: Floats, shares: Floats, threads: Any
) -> None:
    """Replace the exponents of a batch by the gradient of its loss, in place.

    Parameters
    ----------
    exponent : array of shape (b, m)
        Overwritten.
    targets, weight, shares, threads
        As in `gradient`.
    """

    def chunk(rows: slice) -> None:
        _to_gradient(exponent[rows], targets[rows], weight, shares[rows, None])

    list(threads.map(chunk, slices(len(exponent), _CHUNK)))


def _to_gradient(exponent: Floats, targets: Floats, weight: Floats, shares: Floats) -> None:
    """Replace the exponent of each study by the gradient of its share in the loss, q Σa − a."""
    q = softmax(exponent)
    a = q * weight  # ρ
    a /= 1 + a
    a *= targets
    a *= shares
    q *= a.sum(axis=1, keepdims=True)
    q -= a


class AdamW:
    """Update parameters in place by AdamW, whose decay is decoupled from the gradient.

    Parameters
    ----------
    parameters : sequence of arrays of shape (n, k)
        Changed by every call.
    decays : sequence of float
        Weight decay of each.
    rate : float
        Highest learning rate.
    n_steps : int
        Steps of the whole cycle.
    threads : concurrent.futures.Executor
    """

    def __init__(
        self,
        parameters: Sequence[Floats],
        decays: Sequence[float],
        rate: float,
        n_steps: int,
        threads: Executor,
    ) -> None:
        self.parameters = parameters
        self.decays = decays
        self.rate = rate
        self.n_steps = n_steps
        self.threads = threads
        self.first = [np.zeros_like(each) for each in parameters]
        self.second = [np.zeros_like(each) for each in parameters]
        self.count = 0

    def __call__(self, slopes: Sequence[Floats]) -> None:
        """Take a step, given the gradient for each parameter."""
        rate = self.rate * one_cycle(self.count / max(self.n_steps - 1, 1))
        self.count += 1
        first_rate = rate / (1 - _BETAS[0] ** self.count)
        second_scale = 1 / (1 - _BETAS[1] ** self.count)
        arrays = zip(self.parameters, slopes, self.first, self.second, strict=True)
        for each, decay in zip(arrays, self.decays, strict=True):
            constants = [*_BETAS, first_rate, second_scale, 1 - rate * decay, _EPSILON]
            update = partial(_update, each, np.array(constants, each[0].dtype))
            list(self.threads.map(update, slices(len(each[0]), _ROWS)))


def _update(arrays: tuple[Floats, Floats, Floats, Floats], constants: Floats, rows: slice) -> None:
    parameter, slope, first, second = arrays
    _adam_sweep(parameter[rows], slope[rows], first[rows], second[rows], constants)


@compiled(nogil=True, fastmath=True)
def _adam_sweep(parameter, slope, first, second, constants):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Take one step of AdamW in place, with the decay decoupled from the gradient."""
    fast, slow, rate, scale, kept, epsilon = constants
    one = fast / fast  # 1 in the type of the arrays
    for i in range(parameter.shape[0]):
        for j in range(parameter.shape[1]):
            g = slope[i, j]
            first[i, j] += (one - fast) * (g - first[i, j])
            second[i, j] += (one - slow) * (g * g - second[i, j])
            size = np.sqrt(second[i, j] * scale) + epsilon
            parameter[i, j] = parameter[i, j] * kept - rate * first[i, j] / size


def one_cycle(progress: float) -> float:
    """Return the learning rate, as a share of the highest: up a cosine, then down a longer one.

    Parameters
    ----------
    progress : float
        Share of the steps that are done.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(one_cycle(progress), 4) for progress in (0, 0.3, 1)]
    [0.04, 1.0, 0.0001]
    """
    if progress < _WARM_UP:
        return float(1 + (_START - 1) * (1 + np.cos(np.pi * progress / _WARM_UP)) / 2)
    done = (progress - _WARM_UP) / (1 - _WARM_UP)
    return float(_END + (1 - _END) * (1 + np.cos(np.pi * done)) / 2)


def reweighted(X: sp.csr_matrix, term_weights: NDArray[np.floating]) -> sp.csr_matrix:
    """Multiply each term by its weight, and rescale rows to unit norm; x = w∘z / ‖w∘z‖.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    term_weights : array of shape (n_terms,)

    Returns
    -------
    csr_matrix of shape (n, n_terms)

    Examples
    --------
    >>> z = sp.csr_matrix([[0.6, 0.8], [0.0, 0.0]])
    >>> reweighted(z, np.array([4.0, 3.0])).toarray().round(2)
    array([[0.71, 0.71],
           [0.  , 0.  ]])
    """
    data = X.data * term_weights[X.indices].astype(X.dtype)
    squares = np.bincount(row_of_entries(X), data**2, minlength=X.shape[0])
    norms = np.sqrt(np.where(squares > 0, squares, 1)).astype(X.dtype)
    return _with_data(X, data / np.repeat(norms, np.diff(X.indptr)))


def drop(X: sp.csr_matrix, share: float, rng: Any) -> sp.csr_matrix:
    """Hide a random share of the entries, and scale the others up to keep the mean.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    share : float
    rng : numpy.random.Generator

    Returns
    -------
    csr_matrix of shape (n, n_terms)
        With zeros in place of the hidden entries.
    """
    kept = rng.random(X.nnz, dtype=np.float32) >= share
    return _with_data(X, X.data * kept / np.float32(1 - share))


def row_of_entries(X: sp.csr_matrix) -> NDArray[np.intp]:
    """Return the row of each entry of a sparse matrix.

    Parameters
    ----------
    X : csr_matrix

    Returns
    -------
    array of shape (nnz,)
    """
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def _with_data(X: sp.csr_matrix, data: NDArray[np.floating]) -> sp.csr_matrix:
    """Return a matrix with other entries in the same places."""
    return sp.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
