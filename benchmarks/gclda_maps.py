"""Maps of NiMARE's GC-LDA for the open benchmark, trained on the training studies of each fold.

    python benchmarks/gclda_maps.py --nimare-python PATH --folder DIR -o gclda.npz [--seconds 3600]
    neurowhere benchmark gclda.npz -o scores --corpus CORPUS

The option names the Python of an environment of ``rivals/nimare_requirements.txt``. Terms are those
of NeuroQuery in at least 1 % of the training studies, as in NiMARE's example of GC-LDA; raw counts
of title, keywords and abstract together. Sampling stops after some processor time, and the number
of iterations is printed: NiMARE's documentation asks for 10,000. A text without a known term gets
the mean map. Finished folds are kept in the folder.
"""

import argparse
import json
import subprocess
import warnings
from pathlib import Path

import nibabel
import numpy as np
from scipy import sparse

from neurowhere.corpus import read_corpus
from neurowhere.evaluate.protocol import N_FOLDS, Protocol
from neurowhere.exceptions import DataWarning
from neurowhere.text.features import combine_sections
from setting import DATA

SCRIPT = Path(__file__).parent / "rivals" / "gclda_fit.py"
VOCABULARY = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
LEAST_SHARE = 0.01  # of the training studies, that mention a term


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nimare-python", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where fits are kept")
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("--seconds", default="3600", help="processor time of a fold")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    protocol = Protocol.prepare(read_corpus(DATA / "corpus", format="neuroquery"))
    ids, maps = [], []
    for fold in range(arguments.folds):
        train, test = protocol.split(fold)
        folder = arguments.folder / f"fold-{fold}"
        if not (folder / "about.json").exists():
            write(protocol, train, test, folder)
            command = [arguments.nimare_python, SCRIPT, folder, "--seconds", arguments.seconds]
            subprocess.run(command, check=True)
        found = np.load(folder / "maps.npy")
        found[found.sum(axis=1) == 0] = protocol.mean_map(train)
        ids.append(protocol.ids[test])
        maps.append(found)
        print(f"fold {fold}: {json.loads((folder / 'about.json').read_text())}", flush=True)
    np.savez(arguments.output, ids=np.concatenate(ids), maps=np.concatenate(maps))


def write(protocol, train, test, folder):
    """Write what a fit reads."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = protocol.corpus
    known = {term: i for i, term in enumerate(corpus.terms)}
    terms = (DATA / "vocabulary" / VOCABULARY).read_text().splitlines()
    columns = np.array([known[term] for term in terms if term in known])
    counts = combine_sections(corpus.counts)[:, columns]
    kept = counts[train].getnnz(axis=0) >= LEAST_SHARE * len(train)
    sparse.save_npz(folder / "train.npz", sparse.csr_matrix(counts[train][:, kept]))
    sparse.save_npz(folder / "test.npz", sparse.csr_matrix(counts[test][:, kept]))
    names = [corpus.terms[i] for i in columns[kept]]
    (folder / "terms.txt").write_text("\n".join(names))
    (folder / "train_ids.txt").write_text("\n".join(protocol.ids[train]))
    seen = corpus.select(train).peaks[["id", "x", "y", "z"]]
    seen.to_csv(folder / "peaks.csv", index=False)
    nibabel.save(protocol.grid.to_img(np.ones(protocol.grid.n_regions)), folder / "mask.nii.gz")


if __name__ == "__main__":
    main()
