"""NeuroQuery's maps for the open benchmark: fitted to the training studies of each fold.

    python benchmarks/neuroquery_maps.py --neuroquery-python PATH --folder DIR -o neuroquery.npz
    neurowhere benchmark neuroquery.npz -o scores --corpus CORPUS

The option names the Python of an environment of ``rivals/neuroquery_requirements.txt``. The maps
are NeuroQuery's predictions as they are; the benchmark cuts them at zero. Finished fits are kept in
the folder. What is done in NeuroQuery's favour is told in `neuroquery_rival.py`.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from neuroquery_rival import Rival
from neurowhere.evaluate.protocol import N_FOLDS, Protocol
from neurowhere.exceptions import DataWarning


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neuroquery-python", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where fits are kept")
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    arguments.folder.mkdir(exist_ok=True)
    rival = Rival(arguments.folder, arguments.neuroquery_python)
    protocol = Protocol.prepare(rival.corpus)
    ids, maps = [], []
    for fold in range(arguments.folds):
        train, test = protocol.split(fold)
        fit = rival.fit(f"benchmark{fold}", train, test)
        ids.append(protocol.ids[test])
        maps.append(fit["predicted"])
        print(f"fold {fold}: {len(test):,} maps, {float(fit['seconds']):.0f} s", flush=True)
    np.savez(arguments.output, ids=np.concatenate(ids), maps=np.concatenate(maps))


if __name__ == "__main__":
    main()
