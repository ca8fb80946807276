"""Ridge with λ chosen, on all voxels of neuroquery_dev, beside scikit-learn on the dense targets.

    python benchmarks/ridge.py [--rival ours | Ridge | RidgeCV]

Every rival fits 10 λ and chooses one: ours by the likelihood of held-out peaks and by closed-form
leave-one-out, RidgeCV by leave-one-out, Ridge by the error on the same held-out studies. Each runs
in its own process, so that its peak memory is its own; times exclude reading and compilation.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from neurowhere.learn import (
    Design,
    Peaks,
    choose,
    collect,
    ridge_blocks,
    shuffle_split,
    target_products,
)
from setting import peak_memory_gib, print_table, real_problem

LAMBDAS = list(np.geomspace(1000, 1, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rival", choices=RIVALS)
    arguments = parser.parse_args()
    if arguments.rival:
        problem = real_problem()
        RIVALS[arguments.rival](problem.head(300))  # compile and import
        start = time.perf_counter()
        chosen = RIVALS[arguments.rival](problem)
        seconds = time.perf_counter() - start
        print(json.dumps([arguments.rival, float(chosen), seconds, peak_memory_gib()]))
        return
    rows = []
    for rival in RIVALS:
        command = [sys.executable, "-W", "ignore", __file__, "--rival", rival]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip() or f"killed by signal {-done.returncode}").splitlines()[
                -1
            ]
            print(f"{rival} failed: {reason}")
            continue
        rows.append(json.loads(done.stdout))
    ours = rows[0][2]
    print_table(
        ["ridge", "chosen λ", "s", "peak memory GiB", "times ours"],
        [[n, f"{lam:.3g}", f"{s:.1f}", f"{g:.2f}", f"{s / ours:.1f}"] for n, lam, s, g in rows],
    )


def ours(problem):
    """Choose λ on held-out peaks, then fit all studies."""
    fit_rows, held = shuffle_split(problem.corpus.groups)
    grid = problem.grid
    design = Design(problem.X[fit_rows])
    targets = problem.targets.select(fit_rows)
    seen = problem.targets.select(held)
    products, mean = target_products(design, targets.shares, targets.smooth)
    blocks = ridge_blocks(design, products, mean, LAMBDAS)
    peaks = Peaks(seen.study, seen.region, len(seen))
    relative_volume = grid.total_volume_mm3 / grid.volumes_mm3
    best = choose(blocks, LAMBDAS, design, problem.X[held], peaks, relative_volume)
    design = Design(problem.X)
    products, mean = target_products(design, problem.targets.shares, problem.targets.smooth)
    collect(ridge_blocks(design, products, mean, [best.penalty]), grid.n_regions)
    return best.penalty


def ours_leave_one_out(problem):
    """Choose λ by the closed form; one pass over the densities gives the inner products."""
    design = Design(problem.X)
    products, mean = target_products(design, problem.targets.shares, problem.targets.smooth)
    cross = np.empty(design.shape)
    norms = np.empty(design.shape[0])
    for start in range(0, len(norms), 512):
        rows = slice(start, start + 512)
        centred = problem.targets.rows(rows) - mean.astype(np.float32)
        cross[rows] = centred @ products.T
        norms[rows] = np.einsum("ij,ij->i", centred, centred)
    errors = leave_one_out_errors(design, products, cross, norms)
    best = LAMBDAS[int(np.argmin(errors))]
    collect(ridge_blocks(design, products, mean, [best]), problem.n_regions)
    return best


def leave_one_out_errors(design, products, cross, squared_norms):
    """Mean squared error of predicting each study from all others, for every λ, in closed form.

    The hat matrix is H = 11ᵀ/n + X̃ V diag(1/(s + λ)) Vᵀ X̃ᵀ, and leaving study i out scales its
    residual eᵢ = yᵢ − (HY)ᵢ by 1/(1 − Hᵢᵢ). Row norms of e need only inner products of targets,

        ‖eᵢ‖² = ‖ỹᵢ‖² − 2 fᵢ Vᵀ X̃ᵀỸ ỹᵢ + fᵢ (Vᵀ X̃ᵀỸ)(Vᵀ X̃ᵀỸ)ᵀ fᵢᵀ,   fᵢ = x̃ᵢ V diag(1/(s + λ)),

    so that no (n, m) array is formed.

    `products` is X̃ᵀY (n_terms, n_regions), `cross` holds the inner products of the centred targets
    with its rows, Ỹ (X̃ᵀY)ᵀ (n_studies, n_terms), and `squared_norms` ‖ỹᵢ‖². The errors are summed
    over regions and averaged over studies.
    """
    n, _ = design.shape
    values, V = design.eigen
    scores = design.dot(V)  # X̃V (n, d)
    rotated = V.T @ products
    gram = rotated @ rotated.T  # (d, d)
    aligned = cross @ V  # (n, d)
    errors = []
    for lam in LAMBDAS:
        factors = scores / (values + lam)  # fᵢ
        leverage = 1 / n + (factors * scores).sum(axis=1)
        residual = (
            squared_norms
            - 2 * (factors * aligned).sum(axis=1)
            + ((factors @ gram) * factors).sum(axis=1)
        )
        errors.append(np.mean(residual / (1 - leverage) ** 2))
    return np.array(errors)


def scikit_ridge(problem):
    """Ridge for each λ on the dense targets, judged by the error on held-out studies."""
    Y = problem.dense_targets
    fit_rows, held = shuffle_split(problem.corpus.groups)
    X = problem.X.toarray()
    errors = []
    for lam in LAMBDAS:
        model = Ridge(alpha=lam).fit(X[fit_rows], Y[fit_rows])
        errors.append(np.mean((Y[held] - model.predict(X[held])) ** 2))
    best = LAMBDAS[int(np.argmin(errors))]
    Ridge(alpha=best).fit(X, Y)
    return best


def scikit_ridge_cv(problem):
    return RidgeCV(alphas=LAMBDAS).fit(problem.X.toarray(), problem.dense_targets).alpha_


RIVALS = {
    "ours": ours,
    "ours, leave-one-out": ours_leave_one_out,
    "scikit-learn Ridge": scikit_ridge,
    "scikit-learn RidgeCV": scikit_ridge_cv,
}

if __name__ == "__main__":
    main()
