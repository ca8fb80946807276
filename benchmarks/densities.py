"""Densities of all studies of neuroquery_dev at 4 mm: studies per second, beside rivals.

    python benchmarks/densities.py [--neuroquery-python PATH] [--nimare-python PATH]

The two options name the Python of an environment that has the rival; without them its row is
left out. Rivals are timed on a sample of studies, on one core; all times are the best of three
after a warm-up. NeuroQuery puts peaks half a voxel aside, and NiMARE's ALE takes the maximum
over peaks instead of their sum: comparable work, other maps. The others, and our own two
other ways of smoothing, give the same maps; the largest difference is printed.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
from scipy import ndimage, signal

from neurowhere.corpus import read_corpus
from neurowhere.exceptions import DataWarning
from neurowhere.space import DensityEstimator, VoxelGrid

HERE = Path(__file__).parent
DATA = Path(os.environ.get("NEUROWHERE_DATA", HERE.parents[1] / "shared" / "data"))
BANDWIDTH = 1.0
FWHM_MM = 9.4  # of that bandwidth at 4 mm
REPEATS = 3
KIB_PER_MIB = 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neuroquery-python")
    parser.add_argument("--nimare-python")
    parser.add_argument("--sample", type=int, default=200, help="studies that rivals are timed on")
    arguments = parser.parse_args()

    peaks, n_studies = read_peaks()
    grid = VoxelGrid(4)
    kde = DensityEstimator(grid, BANDWIDTH)
    xyz_mm, studies = peaks[["x", "y", "z"]].to_numpy(), peaks["study"].to_numpy()
    print(f"{n_studies:,} studies, {len(peaks):,} peaks, {grid.n_regions:,} voxels")
    kde.densities(kde.bin_peaks(xyz_mm[:9], np.zeros(9, int), 1))  # compile, or load from cache

    rows = []
    for n_jobs in (-1, 1):
        kde.n_jobs = n_jobs
        seconds = best_of(lambda: stream(kde, xyz_mm, studies, n_studies))
        cores = "one core" if n_jobs == 1 else "all cores"
        rows.append((f"neurowhere, {cores}", n_studies, seconds, ""))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB

    sample = np.sort(np.random.default_rng(0).choice(n_studies, arguments.sample, replace=False))
    counts = kde.bin_peaks(xyz_mm, studies, n_studies)[sample]
    counts = counts[kde.masses(counts) > 0]
    ours = kde.densities(counts)
    for method in ("separable", "fft"):
        other = DensityEstimator(grid, BANDWIDTH, method=method, n_jobs=1)
        difference = np.abs(other.densities(counts) - ours).max()
        seconds = best_of(lambda other=other: other.densities(counts))
        rows.append((f"neurowhere, {method}", len(ours), seconds, f"{difference:.0e}"))
    for name, smooth in RIVALS.items():
        maps, seconds = smooth_each(kde, counts, smooth)
        rows.append((name, len(maps), seconds, f"{np.abs(maps - ours).max():.0e}"))
    part = peaks[np.isin(studies, sample)]
    rows += outside(arguments, part, grid)
    print_table(rows)
    print(f"peak memory of reading and streaming all studies: {memory:,.0f} MiB")


def read_peaks():
    """Peaks with the index of their study, and the number of studies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        corpus = read_corpus(DATA / "corpus", format="neuroquery")
    return corpus.peaks[["x", "y", "z"]].assign(study=corpus.peak_rows), len(corpus)


def stream(kde, xyz_mm, studies, n_studies):
    """All densities from peaks, none of them kept."""
    counts = kde.bin_peaks(xyz_mm, studies, n_studies)
    for densities in kde.iter_densities(counts):
        del densities


def smooth_each(kde, counts, smooth):
    """Densities by another way of smoothing one box of counts at a time, and its seconds."""
    smoother = kde.smoother
    radius = [len(taps) // 2 for taps in smoother.taps]
    inner = tuple(slice(r, n - r) for r, n in zip(radius, smoother.shape, strict=True))
    kernel = np.einsum("x,y,z->xyz", *smoother.taps).astype(np.float32)
    maps = np.empty((counts.shape[0], kde.grid.n_regions), np.float32)

    def smooth_all():
        for row in range(counts.shape[0]):
            box = counts[row].toarray().astype(np.float32).reshape(smoother.shape)
            inside = smooth(box, kernel)[inner][smoother.brain]
            maps[row] = inside / inside.sum()

    return maps, best_of(smooth_all)


RIVALS = {
    "scipy.ndimage.gaussian_filter": lambda box, kernel: ndimage.gaussian_filter(
        box, BANDWIDTH, truncate=5, mode="constant"
    ),
    "scipy.signal.fftconvolve": lambda box, kernel: signal.fftconvolve(box, kernel, mode="same"),
}


def outside(arguments, peaks, grid):
    """Rivals in their own environments."""
    with tempfile.TemporaryDirectory() as folder:
        peaks.to_csv(f"{folder}/peaks.csv", index=False)
        nibabel.save(grid.to_img(np.ones(grid.n_regions)), f"{folder}/mask.nii.gz")
        for name, script, python in [
            ("NeuroQuery coordinates_to_maps", "neuroquery_maps.py", arguments.neuroquery_python),
            ("NiMARE ALEKernel", "nimare_kernel.py", arguments.nimare_python),
        ]:
            if python is None:
                print(f"{name} is left out: no environment given")
                continue
            command = [python, HERE / "rivals" / script, "peaks.csv", "mask.nii.gz", str(FWHM_MM)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            seconds = float(done.stdout.split()[-1])
            yield name, peaks["study"].nunique(), seconds, "differs"


def best_of(work):
    """Shortest time of a few runs: other work on the machine only ever adds to it."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def print_table(rows):
    table = pd.DataFrame(rows, columns=["", "studies", "seconds", "largest difference"])
    table.insert(3, "studies/s", table["studies"] / table["seconds"])
    filter_rate = table.loc[table[""].str.contains("gaussian_filter"), "studies/s"].item()
    table.insert(4, "x filter", table["studies/s"] / filter_rate)
    print(table.to_string(index=False, float_format="{:,.2f}".format))


if __name__ == "__main__":
    main()
