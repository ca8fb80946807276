"""What linear regressions share: features as a design matrix, and fits in blocks of regions.

The features are sparse, and stay so when they are centred (`Design`). Every linear learner here is
a sum of independent problems, one per region. A fit is therefore a stream of blocks, solved in
parallel, kept as they finish and yielded in order. Whoever consumes the stream decides what to
keep: the coefficients of one λ (`collect`), or only scores (`neurowhere.learn.selection`). Memory
does not grow with the number of regions.
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
from neurowhere._tools.parallel import track
from neurowhere._tools.replacement import recover
from neurowhere.exceptions import FitError

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]


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
        """Compute X̃ᵀ A, for A of shape (n_studies, n_columns)."""
        product: Array = self.X.T @ A - np.outer(self.mean, A.sum(axis=0))
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
