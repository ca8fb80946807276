"""GC-LDA of NiMARE trained on some studies: FOLDER [--seconds] [--topics].

Runs in an environment of `nimare_requirements.txt`. The folder holds

- ``peaks.csv`` (id, x, y, z) of the training studies, ``mask.nii.gz``, ``terms.txt``,
- ``train.npz``, their term counts, and ``train_ids.txt``,

and gets ``model/model.npz``: p(topic | word), one row per term, zero where the package dropped the
term, and p(voxel | topic). All parameters are the package's defaults, but the number of iterations:
sampling goes on until the processor time is used up, and what was done is printed.
"""

import argparse
import time
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
from nimare.annotate.gclda import GCLDAModel
from scipy import sparse

AT_ONCE = 10  # iterations between two looks at the clock
NEVER = 10**9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=3600)
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
    while time.process_time() - start < arguments.seconds:
        model.fit(n_iters=model.iter + AT_ONCE, loglikely_freq=NEVER)
    place = {term: i for i, term in enumerate(terms)}
    topics = np.zeros((len(terms), arguments.topics))
    topics[[place[term] for term in model.vocabulary]] = model.p_topic_g_word_
    (folder / "model").mkdir()
    np.savez(folder / "model" / "model.npz", topics=topics, voxels=model.p_voxel_g_topic_.T)
    seconds = time.process_time() - start
    print(f"GC-LDA: {model.iter} iterations in {seconds:.0f} s, {len(model.vocabulary)} terms")


if __name__ == "__main__":
    main()
