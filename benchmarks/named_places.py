"""Named places: what it costs that a structure which a study names is not drawn below the mean map.

    python benchmarks/named_places.py

Titles and abstracts of studies that the shipped model was not trained on, with this floor and
without: paired differences of nats above the mean map, and how many named places are below it.
"""

import warnings

import numpy as np

from neurowhere import load_model
from neurowhere.model import visible
from setting import print_table
from unseen_studies import unseen

KINDS = ("title", "title and abstract")
N_TITLES = 1000
VISIBLE = 0.95  # of the mean map; sides move a little after the floor


def main():
    warnings.simplefilter("ignore")
    model = load_model()
    floor, rows = visible._Structure.region_on, []
    for name, texts in unseen(N_TITLES):
        if name not in KINDS:
            continue
        visible._Structure.region_on = floor
        with_floor = measure(model, texts)
        visible._Structure.region_on = leave
        without = measure(model, texts)
        nats = with_floor[0] - without[0]
        error = nats.std() / np.sqrt(len(nats))
        rows.append([name, len(nats), f"{nats.mean():+.4f} ± {error:.4f}"])
        rows[-1] += [f"{below:.1%}" for below in (without[1], with_floor[1])]
    visible._Structure.region_on = floor
    print_table(["kind of text", "texts", "nats by the floor", "below without", "below with"], rows)


def leave(structure, side, sides, mean_map):
    return np.empty(0, np.intp), 0.0


def measure(model, texts):
    """Return the nats of each text, and the share of named places below the mean map."""
    scale = model.brain_.total_volume_mm3 / model.partition_.volumes_mm3
    nats, below = [], []
    for encoding, regions in zip(model.encode_many(texts.words), texts.regions, strict=True):
        q, mean = encoding.probabilities, model.mean_map_
        ours, others = (np.log(0.5 + 0.5 * (p * scale)[regions]).mean() for p in (q, mean))
        nats.append(ours - others)
        named = encoding.source.named().values()
        below += [q[inside].sum() < VISIBLE * mean[inside].sum() for inside in named]
    return np.array(nats), np.mean(below)


if __name__ == "__main__":
    main()
