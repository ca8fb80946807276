"""AdamW: the optimiser of the log-linear regression, in place on arrays.

With g the gradient of a parameter θ at step t, η the learning rate and δ the decay,

    m ← β₁ m + (1 − β₁) g,        v ← β₂ v + (1 − β₂) g²
    θ ← (1 − η δ) θ − η m̂ / (√v̂ + ε),        m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)

where η follows one cycle, up and down again (`one_cycle`).
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices

Floats = NDArray[np.float32]

_ROWS = 64  # of a parameter that one thread updates at a time
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_WARM_UP, _START, _END = 0.3, 1 / 25, 1e-4  # of the one-cycle learning rate


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
    from neurowhere.learn._sweeps import adam_sweep

    parameter, slope, first, second = arrays
    adam_sweep(parameter[rows], slope[rows], first[rows], second[rows], constants)


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
