"""How far the numbers of one model move with the processor and its threads, on this machine.

    python benchmarks/determinism.py [PYTHON ...]

Each row runs in a process of its own, and is compared with the first. Further interpreters, which
have neurowhere and other versions of its dependencies, add rows.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from neurowhere import Encoder, VoxelGrid, load_model

ROOT = Path(__file__).parents[1]
OLD_PROCESSOR = {
    "OPENBLAS_CORETYPE": "Nehalem",  # of 2008
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX",
}
KINDS = ("shipped", "l1", "l2", "likelihood")


def write_predictions(folder):
    """Predict with the shipped model, and with models fitted here, from the same seed."""
    from tests.studies import TERMS, make_corpus
    from tests.test_determinism import TEXTS

    corpus, grid = make_corpus(400, lateral=True), VoxelGrid(8)
    options = {"vocabulary": TERMS, "laterality": True, "seed": 3}
    models = {
        "l1": Encoder(grid, "l1", lambdas=[3, 1], **options),
        "l2": Encoder(grid, "l2", **options),
        "likelihood": Encoder(grid, "likelihood", rank=16, repeats=1, **options),
    }
    np.save(folder / "shipped.npy", load_model().predict(TEXTS))
    for kind, model in models.items():
        np.save(folder / f"{kind}.npy", model.fit(corpus).predict(corpus.texts[:20]))


def run(python, folder, **environment):
    folder.mkdir()
    subprocess.run(
        [python, __file__, "--write", folder],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"} | environment,
        stderr=subprocess.DEVNULL,
        check=False,  # a feature that this processor does not have is a complaint
    )
    return {kind: np.load(folder / f"{kind}.npy").astype(np.float64) for kind in KINDS}


def difference(found, expected):
    """Largest difference as a share of the largest value, or a word."""
    if np.array_equal(found, expected):
        return "same bits"
    return f"{np.abs(found - expected).max() / expected.max():.0e}"


def main(pythons):
    rows = {
        "again, in a fresh process": (sys.executable, {}),
        "two BLAS threads": (sys.executable, {"OPENBLAS_NUM_THREADS": "2"}),
        "instructions of an old processor": (sys.executable, OLD_PROCESSOR),
        **{python: (python, {}) for python in pythons},
    }
    print(f"| largest difference, of the largest value | {' | '.join(KINDS)} |")
    print("|" + " --- |" * (1 + len(KINDS)))
    with tempfile.TemporaryDirectory() as temporary:
        first = run(sys.executable, Path(temporary, "first"))
        for number, (name, (python, environment)) in enumerate(rows.items()):
            found = run(python, Path(temporary, str(number)), **environment)
            cells = [difference(found[kind], first[kind]) for kind in KINDS]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_predictions(Path(sys.argv[2]))
    else:
        main(sys.argv[1:])
