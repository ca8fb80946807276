"""Linear regressions: the design matrix, fits in blocks of regions, and the closed forms.

The features are sparse, and stay so when they are centred (`Design`). Every linear learner here is
a sum of independent problems, one per region. A fit is therefore a stream of blocks, solved in
parallel, kept as they finish and yielded in order. Whoever consumes the stream decides what to
keep: the coefficients of one λ (`collect`), or only scores (`neurowhere.learn.scoring`). Memory
does not grow with the number of regions.

**Ridge**, the paper's ℓ2 encoder, takes a whole path of λ for about the price of one fit. For each
region, minimise ‖y − X̃β‖² + λ‖β‖². With X̃ᵀX̃ = V diag(s) Vᵀ,

    β(λ) = V diag(1 / (s + λ)) Vᵀ X̃ᵀY

so the targets enter only through the (d, m) matrix X̃ᵀY. The paper's weights 1/√v_k cancel, since
β is linear in Y. And since β is linear in Y, ridge commutes with the smoothing of densities: with
Y = C K, where C holds the sparse peak counts and K the kernel, X̃ᵀY = (X̃ᵀC) K. Only d maps are
smoothed; the dense (n, m) targets never exist.

**Label-constrained** regressions predict each region from the frequency of its own name alone. β is
diagonal, so a fit is m regressions with one centred feature x̃ each:

    ℓ2:  β = x̃ᵀy / (x̃ᵀx̃ + λ)
    ℓ1:  β minimises Σ|yᵢ − x̃ᵢβ| + λβ², a convex function with kinks at bᵢ = yᵢ/x̃ᵢ.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from neurowhere._tools.files import digest, replaced
from neurowhere._tools.parallel import slices, track
from neurowhere._tools.replacement import recover
from neurowhere.exceptions import FitError

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]
Slope = Callable[[Array, Array, float], Array]

BLOCK_SIZE = 4096  # regions solved at a time by ridge
_ROWS_AT_ONCE = 128
_LABELS_AT_ONCE = 64  # regions, each with its label


class Design:
    """Features X of n studies, used as X̃ = (X − 1 x̄ᵀ) diag(σ)⁻¹.

    X̃ never exists: a product with it is a sparse product and a rank-one correction,

        X̃ B = X B − 1 (x̄ᵀ B),        X̃ᵀ A = Xᵀ A − x̄ (1ᵀ A),

    where σ is already folded into the sparse X and x̄.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_studies, n_terms)
    centre : bool
        Subtract the mean x̄ of each column (x̄ = 0 otherwise).
    scale : bool
        Divide each column by its standard deviation σ (1 for constant columns). Off by
        default: the scale of λ in this package supposes rows of unit norm, columns centred.

    Examples
    --------
    >>> design = Design(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]))
    >>> design.mean
    array([1., 1.])
    >>> design.dot(np.eye(2))
    array([[ 0., -1.],
           [-1.,  0.],
           [ 1.,  1.]])
    """

    def __init__(
        self, X: sp.csr_matrix | ArrayLike, *, centre: bool = True, scale: bool = False
    ) -> None:
        matrix = sp.csr_matrix(X if sp.issparse(X) else np.asarray(X), dtype=np.float64)
        if 0 in matrix.shape:
            raise FitError(f"expected studies and terms to learn from, got shape {matrix.shape}")
        if not np.isfinite(matrix.data).all():
            raise FitError("X holds NaN or infinite values; clean the features before fitting")
        self.scale: Array = _standard_deviations(matrix) if scale else np.ones(matrix.shape[1])
        self.X: sp.csr_matrix = sp.csr_matrix(matrix @ sp.diags(1 / self.scale))
        self.X.sort_indices()
        self.mean: Array = np.asarray(self.X.mean(axis=0)).ravel() * centre

    @property
    def shape(self) -> tuple[int, int]:
        """(n_studies, n_terms)."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    def dot(self, B: NDArray[np.floating]) -> Array:
        """Compute X̃ B, for B of shape (n_terms, ...)."""
        product: Array = self.X @ B - self.mean @ B
        return product

    def rdot(self, A: NDArray[np.floating]) -> Array:
        """Compute X̃ᵀ A, for A of shape (n_studies, ...)."""
        product: Array = self.X.T @ A - np.multiply.outer(self.mean, A.sum(axis=0))
        return product

    def project(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """Scale new rows to the units of this design; the caller subtracts `mean`."""
        return sp.csr_matrix(X @ sp.diags(1 / self.scale))

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues s (d,) and eigenvectors V (d, d) of X̃ᵀX̃ = V diag(s) Vᵀ.

        With them (X̃ᵀX̃ + c I)⁻¹ = V diag(1 / (s + c)) Vᵀ for every c at once: a path of λ,
        or a penalty for each region, costs no new factor.
        """
        from scipy.linalg import eigh  # only a fit needs it, and it takes long to import

        gram = (self.X.T @ self.X).toarray() - self.shape[0] * np.outer(self.mean, self.mean)
        values, vectors = eigh(gram)
        return np.maximum(values, 0.0), vectors


def _standard_deviations(X: sp.csr_matrix) -> Array:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    return np.where(constant, 1.0, deviation)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Primal and dual values at a solution; the optimum lies between them.

    Certificates of independent problems add up.

    >>> total = Certificate(primal=10.0, dual=9.9) + Certificate(primal=30.0, dual=29.9)
    >>> round(total.relative_gap, 4)
    0.005
    """

    primal: float = 0.0
    dual: float = 0.0

    @property
    def gap(self) -> float:
        """Upper bound on the distance to the optimal value."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """Gap as a share of the primal value; 0 for an exact zero problem."""
        return self.gap / self.primal if self.primal > 0 else 0.0

    def __add__(self, other: "Certificate") -> "Certificate":
        return Certificate(self.primal + other.primal, self.dual + other.dual)


@dataclass(frozen=True, slots=True)
class Block:
    """Solutions for a slice of regions over a path of λ.

    Attributes
    ----------
    regions : slice
    mean : array of shape (b,)
        Mean target of each region, the intercept of the model.
    coefficients : array of shape (n_lambdas, n_terms, b)
    certificates : tuple of Certificate
        One per λ, summed over the regions; empty for closed forms.
    """

    regions: slice
    mean: NDArray[np.float64]
    coefficients: Float32
    certificates: tuple[Certificate, ...]


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A linear model over all regions: mean + (x − x̄)ᵀ coefficients.

    `certificate` is None for closed forms, which have nothing to certify.
    """

    mean: NDArray[np.float64]  # (n_regions,)
    coefficients: Float32  # (n_terms, n_regions)
    certificate: Certificate | None


def collect(blocks: Iterable[Block], n_regions: int, index: int = -1) -> LinearFit:
    """Assemble the solutions of all regions for one λ of the path.

    Parameters
    ----------
    blocks : iterable of Block
        In any order; together they hold every region once.
    n_regions : int
    index : int
        Place of the λ in the path, the last by default.

    Returns
    -------
    LinearFit
    """
    mean = np.empty(n_regions)
    coefficients: Float32 | None = None
    total: Certificate | None = None
    for block in blocks:
        solution = block.coefficients[index]  # (n_terms, b)
        if coefficients is None:
            coefficients = np.empty((len(solution), n_regions), dtype=np.float32)
        mean[block.regions] = block.mean
        coefficients[:, block.regions] = solution
        if block.certificates:
            total = (total or Certificate()) + block.certificates[index]
    if coefficients is None:
        raise FitError("expected at least one region to fit, got none")
    return LinearFit(mean, coefficients, total)


def run_blocks(
    solve: Callable[[slice], Block],
    regions: Sequence[slice],
    *,
    n_jobs: int = -1,
    checkpoint: "Checkpoint | None" = None,
    description: str = "fitting",
) -> Iterator[Block]:
    """Solve blocks of regions on threads and yield them in order.

    Parameters
    ----------
    solve : callable
        Solves one slice of regions, and releases the GIL while it works.
    regions : sequence of slice
    n_jobs : int
        Threads, −1 for all cores.
    checkpoint : Checkpoint, optional
        Blocks found there are read, not solved.
    description : str
        Title of the progress bar.

    Yields
    ------
    Block
    """
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits

    def one(block: slice) -> Block:
        if checkpoint is None:
            return solve(block)
        found = checkpoint.load(block)
        if found is None:
            found = solve(block)
            checkpoint.save(found)
        return found

    # Threads share the cores already: a threaded BLAS inside each would only contend.
    with threadpool_limits(1, user_api="blas"):
        pool = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        yield from track(pool(delayed(one)(block) for block in regions), description, len(regions))


class Checkpoint:
    """A folder of finished blocks, from which an interrupted fit resumes.

    Parameters
    ----------
    folder : path
    problem : arrays and values that define the fit
        Hashed; a folder that holds blocks of another problem is refused.
    """

    def __init__(self, folder: str | os.PathLike[str], *problem: object) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        recover(self.folder)
        fingerprint = {"problem": _digest(problem)}
        record = self.folder / "problem.json"
        if not record.exists():
            with replaced(record) as stream:
                stream.write(json.dumps(fingerprint).encode())
        elif json.loads(record.read_text()) != fingerprint:
            raise FitError(
                f"{self.folder} holds the blocks of another fit; remove it or give another folder"
            )

    def _path(self, regions: slice) -> Path:
        return self.folder / f"block-{regions.start:07d}-{regions.stop:07d}.npz"

    def load(self, regions: slice) -> Block | None:
        """Read a finished block; None where there is none, or a damaged one."""
        try:
            with self._path(regions).open("rb") as stream:
                arrays = np.load(stream, allow_pickle=False)
                certificates = tuple(Certificate(*pair) for pair in arrays["certificates"].tolist())
                return Block(regions, arrays["mean"], arrays["coefficients"], certificates)
        except (FileNotFoundError, BadZipFile, EOFError, KeyError, ValueError):
            return None

    def save(self, block: Block) -> None:
        """Write a block; a reader sees all of it or nothing."""
        with replaced(self._path(block.regions)) as stream:
            np.savez(
                stream,
                mean=block.mean,
                coefficients=block.coefficients,
                certificates=np.array([(c.primal, c.dual) for c in block.certificates]),
            )


def _digest(values: Iterable[object]) -> str:
    return digest(*(each if isinstance(each, np.ndarray) else repr(each) for each in values))


def ridge_blocks(
    design: Design,
    products: Float32,
    mean: Array,
    lambdas: Sequence[float],
    *,
    block_size: int = BLOCK_SIZE,
) -> Iterator[Block]:
    """Solve for every region and every λ.

    Parameters
    ----------
    design : Design
    products : array of shape (n_terms, n_regions)
        X̃ᵀY, from `target_products` or computed directly.
    mean : array of shape (n_regions,)
        Mean target.
    lambdas : sequence of float
    block_size : int
        Regions solved at a time.

    Yields
    ------
    Block
        Without certificates: the solution is exact.
    """
    values, vectors = design.eigen
    V = vectors.astype(np.float32)
    shrink = [(1 / (values + lam)).astype(np.float32)[:, None] for lam in lambdas]
    for regions in slices(products.shape[1], block_size):
        rotated = V.T @ products[:, regions]  # (d, b)
        solutions = np.empty((len(shrink), *rotated.shape), dtype=np.float32)
        for factor, solution in zip(shrink, solutions, strict=True):
            np.matmul(V, factor * rotated, out=solution)
        yield Block(regions, mean[regions], solutions, ())


def target_products(
    design: Design,
    counts: sp.csr_matrix,
    smooth: Callable[[sp.csr_matrix], NDArray[np.float32]] | None = None,
) -> tuple[Float32, Array]:
    """Compute X̃ᵀY and the mean of Y, for targets Y = counts, or Y = smooth(counts).

    Parameters
    ----------
    design : Design
    counts : sparse matrix of shape (n_studies, n_bins)
    smooth : callable, optional
        A linear map from sparse (k, n_bins) to dense (k, n_regions).

    Returns
    -------
    products : array of shape (n_terms, n_regions)
    mean : array of shape (n_regions,)
    """
    n, d = design.shape
    apply = smooth if smooth is not None else _dense
    bins = counts.astype(np.float32)
    mean = apply(sp.csr_matrix(counts.mean(axis=0)))[0].astype(np.float64)
    crossed = sp.csr_matrix(design.X.T.astype(np.float32) @ bins)  # XᵀC (d, n_bins), sparse
    products = np.empty((d, len(mean)), dtype=np.float32)
    for rows in slices(d, _ROWS_AT_ONCE):
        # Centring commutes with smoothing too: X̃ᵀCK = XᵀCK − n x̄ (1ᵀCK/n).
        products[rows] = apply(crossed[rows])
        products[rows] -= (n * design.mean[rows, None] * mean).astype(np.float32)
    return products, mean


def _dense(maps: sp.csr_matrix) -> NDArray[np.float32]:
    return maps.toarray()


def label_blocks(
    design: Design,
    targets: Callable[[slice], NDArray[np.floating]],
    n_regions: int,
    lambdas: Sequence[float],
    slope: Slope,
) -> Iterator[Block]:
    """Fit every region on its own label.

    Parameters
    ----------
    design : Design
        Frequencies of the labels: column k belongs to region k, so n_terms = n_regions.
    targets : callable
        Gives the (n_studies, b) targets of a slice of regions; they are centred here.
    n_regions : int
    lambdas : sequence of float
    slope : callable
        Solves regressions with one feature each: `one_feature_l1` or `one_feature_l2`.

    Yields
    ------
    Block
        Its coefficients are zero but for those of each region's own label.
    """
    if design.shape[1] != n_regions:
        raise FitError(
            f"a label-constrained fit needs one label per region: got {design.shape[1]} labels "
            f"for {n_regions} regions; give the atlas's labels as the vocabulary"
        )
    for regions in slices(n_regions, _LABELS_AT_ONCE):
        y = np.asarray(targets(regions), dtype=np.float64)
        mean = y.mean(axis=0)
        x = design.X[:, regions].toarray() - design.mean[regions]  # (n, b)
        solutions = np.zeros((len(lambdas), n_regions, y.shape[1]), dtype=np.float32)
        columns = np.arange(y.shape[1])
        for path_index, lam in enumerate(lambdas):
            solutions[path_index, regions.start + columns, columns] = slope(x, y - mean, lam)
        yield Block(regions, mean, solutions, ())


def one_feature_l2(x: Array, y: Array, lam: float) -> Array:
    """Minimise Σ(yᵢ − xᵢβ)² + λβ² for each column.

    Parameters
    ----------
    x, y : arrays of shape (n, b)
        One feature and its target in each column.
    lam : float

    Returns
    -------
    array of shape (b,)
    """
    slopes: Array = (x * y).sum(axis=0) / ((x * x).sum(axis=0) + lam)
    return slopes


def one_feature_l1(x: Array, y: Array, lam: float) -> Array:
    """Minimise Σ|yᵢ − xᵢβ| + λβ² for each column.

    Sort the kinks b₁ ≤ … ≤ bₙ and let Cⱼ be the sum of the first j weights |x|, W their total.
    Between bⱼ and bⱼ₊₁ the derivative is 2λβ + 2Cⱼ − W, zero at rⱼ = (W − 2Cⱼ)/(2λ). As rⱼ falls
    with j while bⱼ rises, the minimum is max(rⱼ, bⱼ) for the first j with rⱼ ≤ bⱼ₊₁.

    Parameters
    ----------
    x, y : arrays of shape (n, b)
        One feature and its target in each column.
    lam : float

    Returns
    -------
    array of shape (b,)

    Examples
    --------
    >>> one_feature_l1(np.ones((3, 1)), np.array([[0.0], [1.0], [5.0]]), 1e-9)
    array([1.])
    """
    n, b = x.shape
    weights = np.abs(x)
    # A zero feature has no kink: it is put last, with no weight.
    kinks = np.divide(y, x, out=np.full((n, b), np.inf), where=x != 0)
    order = np.argsort(kinks, axis=0)
    kinks = np.take_along_axis(kinks, order, axis=0)
    weights = np.take_along_axis(weights, order, axis=0)
    ends = np.full((1, b), np.inf)
    lower = np.concatenate([-ends, kinks])  # bⱼ,   j = 0..n
    upper = np.concatenate([kinks, ends])  # bⱼ₊₁
    cumulated = np.concatenate([np.zeros((1, b)), np.cumsum(weights, axis=0)])
    roots = (weights.sum(axis=0) - 2 * cumulated) / (2 * lam)
    first = np.argmax(roots <= upper, axis=0)
    columns = np.arange(b)
    slopes: Array = np.maximum(roots[first, columns], lower[first, columns])
    return slopes
