"""Terms whose maps point to (4, 6, 4), where t-values read as coordinates end up.

    python benchmarks/terms_near.py [MODEL ...]

Prints, for each model (by default the shipped one), how many terms have the strongest peak of their
map within 7 mm of that place, how many more have one of their ten strongest peaks there, and the
first of these terms. Extra words of short texts are left out. A model of an older format is read by
the package of its time: put that one on PYTHONPATH.
"""

import argparse

import numpy as np

from neurowhere import load_model
from neurowhere.model.encoding import N_PEAKS
from neurowhere.space import strongest_regions

PLACE_MM, NEAR_MM = (4, 6, 4), 7  # as in coordinates.py
CHUNK = 200  # terms predicted at a time
SHOWN = 40  # terms


def main():
    """Print the terms of each model that point to the place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="folders; by default the shipped model")
    for folder in parser.parse_args().models or [None]:
        model = load_model(folder) if folder else load_model()
        terms = known_terms(model)
        first, also = terms_near(model, terms)
        print(f"{folder or 'shipped model'}: {len(terms):,} terms", end="; ")
        print(f"strongest peak there: {len(first)}; another of {N_PEAKS}: {len(also)}")
        print("  strongest:", ", ".join(first[:SHOWN]) or "none")
        print("  another:", ", ".join(also[:SHOWN]) or "none")


def known_terms(model):
    """Return the terms of a model that are no extra words."""
    gates = getattr(model.predictor_, "gates", None)
    terms = np.array(model.extractor_.terms)
    return (terms if gates is None else terms[~gates.is_extra]).tolist()


def terms_near(model, terms):
    """Return the terms with their strongest peak near the place, and those with another one."""
    is_near = np.linalg.norm(model.partition_.centers_mm - PLACE_MM, axis=1) < NEAR_MM
    first, also = [], []
    for start in range(0, len(terms), CHUNK):
        some = terms[start : start + CHUNK]
        for term, probabilities in zip(some, model.predict(some), strict=True):
            near = is_near[strongest_regions(model.partition_, probabilities, N_PEAKS)]
            if near[0]:
                first.append(term)
            elif near.any():
                also.append(term)
    return first, also


if __name__ == "__main__":
    main()
