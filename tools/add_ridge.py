"""Add the ridge of the recipe to a model that was fitted without it, and calibrate it again.

    python tools/add_ridge.py DATA --base MODEL --folds FOLD_0 [FOLD_1 …] [-o FOLDER]

All that MODEL has learned stays as it is. The ridge is fitted to all studies. FOLD_k is a model
that was fitted to the training studies of outer fold k in the same way as MODEL, as
`benchmarks/kinds_of_text.py` does: the ridge is added to it as well, and its test studies, of which
it knows nothing, calibrate the regions and the stated gains. This is how version 6 was made of
version 5; tools/train_model.py fits such a model from the start.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from neurowhere import load_model, save_model
from neurowhere.exceptions import DataWarning
from neurowhere.learn import shuffle_split

sys.path.insert(0, str(Path(__file__).parents[1]))
from train_model import MODEL

from recipe import Recipe, read_material, to_encoder
from recipe.fitting import known_names
from recipe.views import Fit, calibrate, score_held


def main():
    """Read the material, add the ridge to each model, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--base", type=Path, default=MODEL)
    parser.add_argument("--folds", type=Path, nargs="+", required=True)
    parser.add_argument("-o", "--output", type=Path, default=MODEL)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    start = time.process_time()
    base = load_model(arguments.base)
    material = read_material(arguments.data, known_names(base.vocabulary_))
    recipe, held = Recipe(), []
    for fold, folder in enumerate(arguments.folds):
        train, test = shuffle_split(material.corpus.groups.astype(str), fold, seed=0)
        held += score_held(recipe.blended(fit_of(load_model(folder), material), train), test)
    rows = np.arange(len(material.corpus))
    fit = recipe.blended(fit_of(base, material), rows)
    model = to_encoder(fit, base.choice_, calibrate(held), rows)
    save_model(model, arguments.output, small=True, overwrite=True)
    size = sum(file.stat().st_size for file in arguments.output.iterdir()) / 1e6
    print(f"{size:.1f} MB, {time.process_time() - start:.0f} s of processor time")


def fit_of(model, material):
    """Return a model as a fit of its terms."""
    place = {term: column for column, term in enumerate(material.vocabulary.terms)}
    columns = np.array([place[term] for term in model.extractor_.terms])
    return Fit(material.select(columns), model.weighting_, model.predictor_)


if __name__ == "__main__":
    main()
