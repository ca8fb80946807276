"""Milliseconds that NeuroQuery takes to encode a text: MODEL TEXTS.json.

Runs in an environment of `neuroquery_requirements.txt`, on a model that `neuroquery_fit.py` kept.
Prints the median over texts of `encoder(text)`, and of its map alone, `encoder.transform([text])`.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from statistics import median

from neuroquery import NeuroQueryModel

WARM_UP = 3


def main(model, texts):
    encoder = NeuroQueryModel.from_data_dir(model)
    texts = json.loads(Path(texts).read_text())
    for encode in (encoder, lambda text: encoder.transform([text])):
        milliseconds = [timed(encode, text) for text in texts]
        print(median(milliseconds[WARM_UP:]))


def timed(encode, text):
    start = time.perf_counter()
    encode(text)
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
