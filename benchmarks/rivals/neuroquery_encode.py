"""Milliseconds that NeuroQuery takes to encode a text: MODEL TEXTS.json.

Runs in an environment of `neuroquery_requirements.txt`, on a model that `neuroquery_fit.py` kept.
Prints the median over texts of `encoder(text)`, and of its map alone, `encoder.transform([text])`;
each text counts with the best of a few times, as other work on the machine only ever adds to it.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from statistics import median

from neuroquery import NeuroQueryModel

REPEATS = 5  # of which the first warms up


def main(model, texts):
    encoder = NeuroQueryModel.from_data_dir(model)
    texts = json.loads(Path(texts).read_text())
    for encode in (encoder, lambda text: encoder.transform([text])):
        print(median(min(timed(encode, text) for _ in range(REPEATS)) for text in texts))


def timed(encode, text):
    start = time.perf_counter()
    encode(text)
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
