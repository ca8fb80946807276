"""How time and memory of the ℓ1 fit grow with studies, terms and voxels, each doubled.

    python benchmarks/scaling.py -o docs/images/scaling.png

Each point is a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from neurowhere.learn import Design, l1_blocks
from setting import peak_memory_gib, print_table, real_problem

FULL = {"studies": 12_100, "terms": 320, "voxels": 8_192}
SHARES = (1 / 8, 1 / 4, 1 / 2, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", help="picture to draw")
    parser.add_argument("--point", type=json.loads, help="sizes of one point, as JSON")
    arguments = parser.parse_args()
    if arguments.point:
        print(json.dumps(measure(**arguments.point)))
        return
    rows = []
    for what in FULL:
        for share in SHARES:
            sizes = FULL | {what: int(FULL[what] * share)}
            command = [sys.executable, "-W", "ignore", __file__, "--point", json.dumps(sizes)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append([what, sizes[what], *json.loads(done.stdout)])
    header = ["grows", "to", "s", "iterations' memory GiB"]
    print_table(header, [[w, k, f"{s:.1f}", f"{g:.3f}"] for w, k, s, g in rows])
    for what in FULL:
        sizes, seconds = np.array([row[1:3] for row in rows if row[0] == what]).T
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"time grows as {what} to the power {slope:.2f}")
    if arguments.output:
        draw(rows, arguments.output)


def measure(studies, terms, voxels):
    """Seconds of a fit at λ = 0.3, and the memory that it adds to that of the loaded problem."""
    problem = real_problem()
    frequency = problem.X.getnnz(axis=0)
    frequent = np.sort(np.argsort(-frequency, kind="stable")[:terms])
    X = problem.X[:studies, frequent]
    targets = problem.targets.select(np.arange(studies))
    m = np.float32(problem.n_regions)
    design = Design(X)

    def columns(regions):
        return targets.columns(regions) * m

    list(l1_blocks(design, columns, 128, [0.3]))  # compile
    before = peak_memory_gib()
    start = time.perf_counter()
    for _ in l1_blocks(design, columns, voxels, [0.3]):
        pass
    return time.perf_counter() - start, peak_memory_gib() - before


def draw(rows, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for what in FULL:
        share = [row[1] / FULL[what] for row in rows if row[0] == what]
        for axis, column in zip(axes, (2, 3)):
            axis.plot(share, [row[column] for row in rows if row[0] == what], "o-", label=what)
    axes[0].plot(SHARES, [rows[3][2] * share for share in SHARES], "k:", label="linear")
    axes[0].set(xscale="log", yscale="log", ylabel="seconds")
    axes[0].set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes[1].set(xscale="log", ylabel="memory beyond the problem (GiB)", ylim=(0, None))
    for axis in axes:
        axis.set_xlabel("share of the full size")
        axis.set_xticks(SHARES, ["1/8", "1/4", "1/2", "1"])
        axis.minorticks_off()
        axis.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
