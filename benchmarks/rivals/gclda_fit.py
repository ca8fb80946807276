"""GC-LDA of NiMARE trained on some studies: FOLDER ITERATIONS [ITERATIONS ...] [--topics].

Runs in an environment of `nimare_requirements.txt`. The folder holds

- ``peaks.csv`` (id, x, y, z) of the training studies, ``mask.nii.gz``, ``terms.txt``,
- ``train.npz``, their term counts, and ``train_ids.txt``,

and gets, after each number of iterations, ``model/ITERATIONS.npz``: p(topic | word), one row per
term, zero where the package dropped the term, p(voxel | topic), and the seconds of the processor.
All parameters are the package's defaults.
"""

import argparse
import time
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
from nimare.annotate.gclda import GCLDAModel
from scipy import sparse

NEVER = 10**9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("iterations", type=int, nargs="+")
    parser.add_argument("--topics", type=int, default=100)
    arguments = parser.parse_args()
    folder = arguments.folder
    terms = (folder / "terms.txt").read_text().splitlines()
    ids = (folder / "train_ids.txt").read_text().split()
    train = sparse.load_npz(folder / "train.npz").toarray().astype(int)
    peaks = pd.read_csv(folder / "peaks.csv", dtype={"id": str})
    start = time.process_time()
    model = GCLDAModel(
        pd.DataFrame(train, index=ids, columns=terms),
        peaks,
        mask=nibabel.load(folder / "mask.nii.gz"),
        n_topics=arguments.topics,
    )
    place = {term: i for i, term in enumerate(terms)}
    rows = [place[term] for term in model.vocabulary]
    (folder / "model").mkdir()
    for iterations in sorted(arguments.iterations):
        model.fit(n_iters=iterations, loglikely_freq=NEVER)
        topics = np.zeros((len(terms), arguments.topics))
        topics[rows] = model.p_topic_g_word_
        seconds = time.process_time() - start
        arrays = {"topics": topics, "voxels": model.p_voxel_g_topic_.T, "seconds": seconds}
        np.savez(folder / "model" / f"{iterations}.npz", **arrays)
        print(f"GC-LDA: {iterations} iterations in {seconds:.0f} s, {len(rows)} terms", flush=True)


if __name__ == "__main__":
    main()
