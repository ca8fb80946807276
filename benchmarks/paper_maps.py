"""The maps of the paper's figures: its three example studies, and either amygdala, as learned.

    python benchmarks/paper_maps.py CORPUS ARTICLES [-o docs/results/maps]

CORPUS is neuroquery_dev as `neurowhere corpus import` wrote it, ARTICLES what `articles_corpus.py`
made of it. Of the examples, true map and prediction (ℓ2 on voxels of 4 mm; they took no part in the
training). Of "left amygdala", "amygdala" and "right amygdala", what ℓ1 learned from the articles,
whose texts give sides. Prints the scores, and the strongest place of each map. `paper_figures.py`
draws both.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

from neurowhere import Encoder, VoxelGrid, read_corpus
from neurowhere.evaluate import Candidate
from neurowhere.evaluate.compare import ExampleTrial, paper_rows
from neurowhere.evaluate.trial import Trial, prepare_material, prepare_problems
from neurowhere.report.maps import strongest_place
from neurowhere.text.building.anatomy import builtin_anatomy
from setting import print_table

MAPS = Path(__file__).parents[1] / "docs" / "results" / "maps"
SIDES = ("left amygdala", "amygdala", "right amygdala")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("articles", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=MAPS, help="folder of files")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_examples(read_corpus(arguments.corpus), arguments.output / "examples.npz")
    write_sides(read_corpus(arguments.articles), arguments.output / "amygdala.npz")


def write_examples(corpus, path):
    """Write true and predicted densities of the paper's studies over the uniform one."""
    grid = VoxelGrid()
    material = prepare_material(corpus, grid, builtin_anatomy())
    problem = prepare_problems(material, [Candidate("voxels", grid)])["voxels"]
    found = ExampleTrial(Trial())(problem, ("l2", paper_rows(material.corpus)))
    chosen = [k for k, why in enumerate(found.why) if why == "in the paper"]
    about = [
        {**material.corpus.documents.iloc[found.row[k]][["id", "title"]], "nats": found.nats[k]}
        for k in chosen
    ]
    maps = [each[k] * grid.n_regions for k in chosen for each in (found.truth, found.prediction)]
    write_maps(path, about, maps)
    print_table(["study", "nats above uniform"], [[a["id"], f"{a['nats']:.2f}"] for a in about])


def write_sides(articles, path):
    """Write the learned maps of a structure on either side."""
    model = Encoder(VoxelGrid(), "l1", laterality=True, n_jobs=1).fit(articles)
    terms = [model.term_map(name) for name in SIDES]
    scale = max(np.abs(term.values).max() for term in terms)  # of half precision
    about = [
        {"title": term.title, "mm⁻³": float(scale), "place": strongest_place(term.img)}
        for term in terms
    ]
    write_maps(path, about, [term.values / scale for term in terms])
    print_table(["map", "strongest place"], [[a["title"], a["place"]] for a in about])


def write_maps(path, about, maps):
    """Write maps on voxels of 4 mm, in half precision, with what is known of them."""
    words = json.dumps(about, ensure_ascii=False, default=float)
    np.savez_compressed(path, about=words, maps=np.array(maps, dtype=np.float16))


if __name__ == "__main__":
    main()
