"""Blocks of regions: solved in parallel, kept as they finish, yielded in order.

Every linear learner here is a sum of independent problems, one per region. A fit is therefore a
stream of blocks, and whoever consumes the stream decides what to keep: the coefficients of one
λ (`collect`), or only scores (`neurowhere.learn.selection`). Memory does not grow with the
number of regions.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import digest, replaced
from neurowhere._tools.parallel import track
from neurowhere._tools.replacement import recover
from neurowhere.exceptions import FitError

Float32 = NDArray[np.float32]


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
