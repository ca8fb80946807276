"""Train the model that the package ships, into src/neurowhere/data/model.

    python tools/train_model.py DATA --vocabulary vocabulary.csv [-o FOLDER]

DATA is described in recipe/sources.py. The vocabulary may be that of a model, which is then fitted
again with its names. docs/model_card.md says what comes out.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from neurowhere import load_model, save_model
from neurowhere.exceptions import DataWarning
from neurowhere.text import Vocabulary

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe import Recipe, read_material, to_encoder
from recipe.fitting import known_names
from recipe.sources import ATLASES

MODEL = Path(__file__).parents[1] / "src" / "neurowhere" / "data" / "model"


def main():
    """Read the material, fit the model, and write its folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=MODEL)
    parser.add_argument("--atlases", nargs="*", choices=ATLASES, default=list(ATLASES))
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    start = time.perf_counter()
    vocabulary = known_names(Vocabulary.load(arguments.vocabulary))
    material = read_material(arguments.data, vocabulary, arguments.atlases)
    print(f"material: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    rows = np.arange(len(material.corpus))
    fit, choice, calibration = Recipe(n_jobs=arguments.jobs).fit(material, rows)
    print(f"validation: {choice.score:.4f} nats", file=sys.stderr, flush=True)
    model = to_encoder(fit, choice, calibration, rows)
    save_model(model, arguments.output, small=True, overwrite=True)
    size = sum(file.stat().st_size for file in arguments.output.iterdir()) / 1e6
    print(f"{len(load_model(arguments.output).extractor_.terms):,} terms, {size:.1f} MB")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
