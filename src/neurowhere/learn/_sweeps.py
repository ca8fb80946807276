"""Compiled passes over the studies; in `learn`, only importing this module imports numba.

Arrays hold a block of b regions in their last axis, so that one sparse entry of X drives a
vectorised loop over b contiguous values. b is read from the shape: a compile-time constant
would be unrolled into scalar code.
"""

import numpy as np

from neurowhere._tools.parallel import compiled


@compiled(nogil=True, fastmath=True)
def admm_sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, beta, offset, targets, threshold, relaxation, state, row, out, total
):  # pragma: no cover
    """Run one ADMM pass: fit, shrink, update and project each study's row while it is in cache.

    For every study i, with w its row of `state`, u = clip(w, ±t) and z = w − u:

        w ← z + u + α (y − X̃β − z),        out += x_i (w − 2 clip(w, ±t)).
    """
    n, b = targets.shape
    out[:] = 0
    total[:] = 0
    for i in range(n):
        for j in range(b):
            row[j] = -offset[j]
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                row[j] += x * beta[k, j]
        for j in range(b):
            t = threshold[j]
            w = state[i, j]
            u = min(max(w, -t), t)
            z = w - u
            w = z + u + relaxation * (targets[i, j] - row[j] - z)
            state[i, j] = w
            u = min(max(w, -t), t)
            w = w - u - u
            row[j] = w
            total[j] += w
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                out[k, j] += x * row[j]


@compiled(nogil=True, fastmath=True)
def path_sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, threshold, scale, step, state, residual, row, out, total
):  # pragma: no cover
    """Move the state of one λ to the start of the next, whose threshold is `scale` times as large.

    For every study i, with u = clip(w, ±t), z = w − u, and z₀ the residual of the λ before:

        w ← z + step (z − z₀) + scale u,        z₀ ← z,        out += x_i (w − 2 clip(w, ±scale t)).
    """
    n, b = state.shape
    out[:] = 0
    total[:] = 0
    for i in range(n):
        for j in range(b):
            t = threshold[j]
            w = state[i, j]
            u = min(max(w, -t), t)
            z = w - u
            w = z + step * (z - residual[i, j]) + scale[j] * u
            residual[i, j] = z
            state[i, j] = w
            t = scale[j] * t
            u = min(max(w, -t), t)
            w = w - u - u
            row[j] = w
            total[j] += w
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                out[k, j] += x * row[j]


@compiled(nogil=True)
def certificate_sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, beta, offset, targets, rho, state, row, out, deviation, linear, total
):  # pragma: no cover
    """Sum what primal and dual values need, in float64, at β and ν = clip(ρ w, ±1).

    deviation = Σ|y − X̃β|, linear = Σ ν y, total = Σ ν, out = Xᵀν.
    """
    n, b = targets.shape
    out[:] = 0
    deviation[:] = 0
    linear[:] = 0
    total[:] = 0
    for i in range(n):
        for j in range(b):
            row[j] = -offset[j]
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                row[j] += x * beta[k, j]
        for j in range(b):
            deviation[j] += abs(targets[i, j] - row[j])
            nu = min(max(rho[j] * state[i, j], -1.0), 1.0)
            linear[j] += nu * targets[i, j]
            total[j] += nu
            row[j] = nu
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                out[k, j] += x * row[j]


@compiled(nogil=True, fastmath=True)
def add_positive_totals(  # type: ignore[no-untyped-def]
    mean, deviations, sharpness, totals
):  # pragma: no cover
    """Add Σ_k max(mean_k + s deviation_ik, 0) to totals[s, i], for every sharpness s.

    A row of deviations is read once for all of them, while it is in cache.
    """
    for i in range(deviations.shape[0]):
        for index in range(len(sharpness)):
            sharp = sharpness[index]
            total = np.float32(0)
            for k in range(len(mean)):
                total += max(mean[k] + sharp * deviations[i, k], np.float32(0))
            totals[index, i] += total


@compiled(nogil=True, fastmath=True)
def adam_sweep(parameter, slope, first, second, constants):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Take one step of AdamW in place, with the decay decoupled from the gradient."""
    fast, slow, rate, scale, kept, epsilon = constants
    one = fast / fast  # of the type of the arrays
    for i in range(parameter.shape[0]):
        for j in range(parameter.shape[1]):
            g = slope[i, j]
            first[i, j] += (one - fast) * (g - first[i, j])
            second[i, j] += (one - slow) * (g * g - second[i, j])
            size = np.sqrt(second[i, j] * scale) + epsilon
            parameter[i, j] = parameter[i, j] * kept - rate * first[i, j] / size
