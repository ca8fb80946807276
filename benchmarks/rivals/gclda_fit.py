"""GC-LDA of NiMARE trained on some studies and applied to others: FOLDER [--seconds] [--topics].

Runs in an environment of `nimare_requirements.txt`. The folder holds

- ``peaks.csv`` (id, x, y, z) of the training studies, ``mask.nii.gz``, ``terms.txt``,
- ``train.npz`` and ``test.npz``, term counts of the training studies and of those to predict,
- ``train_ids.txt``,

and gets ``maps.npy``, (n_test, n_voxels), and ``about.json``. All parameters are the package's
defaults, but the number of iterations: sampling goes on until the processor time is used up. Maps
are those of the package's `gclda_encode`, p(v | text) ∝ Σ_t p(v | t) Σ_w n_w p(t | w).
"""

import argparse
import json
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
    columns = [place[term] for term in model.vocabulary]
    counts = sparse.load_npz(folder / "test.npz")[:, columns]
    maps = (counts @ model.p_topic_g_word_) @ model.p_voxel_g_topic_.T
    np.save(folder / "maps.npy", np.asarray(maps, np.float32))
    about = {
        "iterations": model.iter,
        "seconds": round(time.process_time() - start),
        "terms": len(columns),
        "topics": arguments.topics,
    }
    (folder / "about.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
