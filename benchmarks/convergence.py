"""How the ℓ1 solver comes to its optimum, and how rivals do, pass by pass over the studies.

    python benchmarks/convergence.py -o docs/images/convergence.png

Sixteen random voxels of neuroquery_dev, λ = 0.3. An iteration reads all studies once, whoever
makes it; what it costs besides is in benchmarks/l1_algorithms.py. All in double precision.
"""

import argparse
import warnings
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from l1_algorithms import _descend, dual_start, objective
from neurowhere.exceptions import ConvergenceWarning
from neurowhere.learn import Certificate, Design, l1, l1_blocks
from neurowhere.learn.l1 import l1_dual_lbfgs
from setting import print_table, real_problem

LAMBDA = 0.3
N_VOXELS = 16
N_SLOW = 4  # voxels of the reference, which takes one at a time
ITERATIONS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
TINY = 1e-9  # nothing stops before its iterations are done
SHOWN = 1e-5  # gap below which curves end


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", help="picture to draw")
    arguments = parser.parse_args()
    problem = real_problem()
    voxels = np.random.default_rng(0).choice(problem.n_regions, N_VOXELS, replace=False)
    y = problem.targets_of(np.sort(voxels)).astype(np.float64)
    y -= y.mean(axis=0)
    design = Design(problem.X, centre=False)  # as for all rivals in l1_algorithms
    with threadpool_limits(1):
        curves = {name: run(design, y) for name, run in RIVALS.items()}
    rows = [
        [name, *(f"{certificate.relative_gap:.1e}" for certificate in curve)]
        for name, curve in curves.items()
    ]
    print_table(["relative gap after", *map(str, ITERATIONS)], rows)
    if arguments.output:
        draw(curves, arguments.output)


def admm(design, y):
    return [_admm_after(design, y, n) for n in ITERATIONS]


def admm_plain(design, y):
    """Without over-relaxation."""
    with patch.object(l1, "_OVER_RELAXATION", 1.0):
        return admm(design, y)


def _admm_after(design, y, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        blocks = l1_blocks(
            design,
            lambda regions: y[:, regions],
            y.shape[1],
            [LAMBDA],
            tolerance=TINY,
            max_iterations=n,
            n_jobs=1,
        )
        return sum((block.certificates[0] for block in blocks), Certificate())


def coordinate_descent(design, y):
    """Dual coordinate descent: one epoch is a pass."""
    X = design.X
    square = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    nu, beta = dual_start(X, square, y)
    rng = np.random.default_rng(0)
    curve = []
    for epoch in range(1, max(ITERATIONS) + 1):
        order = rng.permutation(len(y))
        _descend(X.indptr, X.indices, X.data, square, order, y, nu, beta, 2 * LAMBDA)
        if epoch in ITERATIONS:
            primal = objective(design, y, beta, LAMBDA).sum()
            curve.append(Certificate(primal, np.vdot(nu, y) - LAMBDA * np.vdot(beta, beta)))
    return curve


def lbfgs(design, y):
    """Run the paper's algorithm, on a few of the voxels."""
    return [
        sum(
            (
                l1_dual_lbfgs(design, column, [LAMBDA], tolerance=TINY, max_iterations=n)[1][0]
                for column in y[:, :N_SLOW].T
            ),
            Certificate(),
        )
        for n in ITERATIONS
    ]


RIVALS = {
    "ADMM (ours)": admm,
    "ADMM, no over-relaxation": admm_plain,
    "dual coordinate descent": coordinate_descent,
    "L-BFGS-B on the dual (the paper's)": lbfgs,
}
COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#D55E00")


def draw(curves, path):
    import matplotlib.pyplot as plt

    figure, (values, gaps) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    ours = curves["ADMM (ours)"]
    best = ours[-1].primal
    primal = [certificate.primal / best for certificate in ours]
    dual = [certificate.dual / best for certificate in ours]
    values.fill_between(ITERATIONS, dual, primal, color=COLOURS[0], alpha=0.15, linewidth=0)
    values.plot(ITERATIONS, primal, "o-", color=COLOURS[0], markersize=4, label="primal P(β)")
    values.plot(ITERATIONS, dual, "o--", color=COLOURS[0], markersize=4, label="dual D(ν)")
    values.set(xscale="log", xlim=(7.5, 220), ylim=(0.97, 1.03))
    values.set(ylabel="value, relative to the optimum", title="The optimum is between")
    for (name, curve), colour in zip(curves.items(), COLOURS):
        shown = [max(certificate.relative_gap, SHOWN / 10) for certificate in curve]
        gaps.plot(ITERATIONS, shown, "o-", color=colour, markersize=4, label=name)
    gaps.axhline(1e-3, color="#999999", linewidth=1, linestyle=":")
    gaps.text(ITERATIONS[0], 1.15e-3, "where a fit stops", color="#666666", fontsize="small")
    gaps.set(xscale="log", yscale="log", ylim=(SHOWN, 1.5), title="Certified relative gap")
    for axes in (values, gaps):
        axes.set_xlabel("iterations, each a pass over all studies")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
