"""ℓ1 on the whole of neuroquery_dev, every voxel of the 4-mm grid, to a certified gap of 1e-3.

    python benchmarks/l1_full.py [--lambda 0.316] [--sample 128]

Prints, in one run: our time on all cores for the chosen λ and for the path of 10 λ that ends there;
LinearSVR and the paper's L-BFGS-B on a random sample of voxels to the same gap, scaled up to all
voxels on as many cores; and the peak memory of our fit, targets included.
"""

import argparse
import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

from l1_algorithms import dual_values, lbfgs, linear_svr, objective
from neurowhere.learn import Certificate, Design, l1_blocks
from setting import peak_memory_gib, print_table, real_problem

TOLERANCE = 1e-3
REPEATS = 3  # the median counts: other work on the machine disturbs single runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lambda", dest="lam", type=float, default=0.316)
    parser.add_argument("--sample", type=int, default=128, help="voxels on which rivals are timed")
    arguments = parser.parse_args()
    problem = real_problem()
    design = Design(problem.X)
    n, d = design.shape
    m, cores = problem.n_regions, os.cpu_count()
    print(f"{n} studies x {d} terms x {m} voxels, λ = {arguments.lam}, {cores} cores")
    print(f"memory with the problem loaded: {peak_memory_gib():.2f} GiB")
    run(problem, design, [arguments.lam], 256)  # compile
    path = list(np.geomspace(30 * arguments.lam, arguments.lam, 10))
    rows = []
    for name, lambdas in [("ours", [arguments.lam]), ("ours, path of 10 λ", path)]:
        timed = [run(problem, design, lambdas, m) for _ in range(REPEATS)]
        seconds = sorted(seconds for seconds, _ in timed)
        print(f"{name}: {', '.join(f'{s:.0f}' for s in seconds)} s")
        rows.append([name, m, seconds[REPEATS // 2], timed[0][1].relative_gap])
    print(f"memory of our fits: {peak_memory_gib():.2f} GiB")
    rows += rivals(problem, arguments.lam, arguments.sample, cores)
    ours = rows[0][2]
    print_table(
        ["solver", "voxels timed", "s, all voxels, all cores", "relative gap", "times ours"],
        [[name, k, f"{s:.0f}", f"{gap:.1e}", f"{s / ours:.1f}"] for name, k, s, gap in rows],
    )


def run(problem, design, lambdas, n_regions):
    """Fit and drop the coefficients: seconds and the certificate of the last λ."""
    start, total = time.perf_counter(), Certificate()
    for block in l1_blocks(design, problem.columns, n_regions, lambdas, tolerance=TOLERANCE):
        total += block.certificates[-1]
    return time.perf_counter() - start, total


def rivals(problem, lam, sample, cores):
    """Time the rivals on one core and some voxels; X is not centred, so that it is sparse."""
    chosen = np.random.default_rng(0).choice(problem.n_regions, sample, replace=False)
    Y = problem.targets_of(np.sort(chosen)).astype(np.float64)
    y = Y - Y.mean(axis=0)
    design = Design(problem.X, centre=False)
    bound = dual_values(design, y, lam)
    rows = []
    with threadpool_limits(1):
        for name, solve in [("LinearSVR", linear_svr), ("L-BFGS-B on the dual", lbfgs)]:
            solve(design, y[:, :1], lam, bound)  # finds the tolerance of LinearSVR
            start = time.perf_counter()
            beta = solve(design, y, lam, bound)
            seconds = (time.perf_counter() - start) / sample * problem.n_regions / cores
            gap = 1 - bound.sum() / objective(design, y, beta, lam).sum()
            rows.append([f"{name}, scaled up", sample, seconds, gap])
    return rows


if __name__ == "__main__":
    main()
