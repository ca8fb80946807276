"""Determinism: the same bits from the same seed and studies, and the same answers elsewhere."""

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus
from threadpoolctl import threadpool_limits

from neurowhere import Encoder, load_model, save_model

ROOT = Path(__file__).parents[1]
TOLERANCE = 1e-4  # relative, of probabilities on another machine; docs/trust.md says how measured
N_RECORDED = 5  # regions of a text
RECORD = Path(__file__).with_name("shipped_predictions.json")
TEXTS = [
    "Conditioned fear activated the amygdala and the anterior insula.",
    "left MCA infarct with Broca's aphasia; no lesion in the thalamus",
    "finger tapping with the right hand",
    "reading words aloud, visual word form area",
    "autobiographical memory and the hippocampus in aging",
]


def fit_all(folder, n_jobs):
    """Fit a model of each kind from one seed, and save it."""
    options = {"seed": 3, "n_jobs": n_jobs}
    corpus = make_corpus(lateral=True)
    for name, model in {
        "l1": Encoder(GRID, "l1", vocabulary=TERMS, lambdas=[3, 1], laterality=True, **options),
        "l2": Encoder(GRID, "l2", vocabulary=TERMS, laterality=True, **options),
        "labels": Encoder(make_atlas(), "l2", constraint="labels", brain=GRID, **options),
        "likelihood": Encoder(GRID, "likelihood", vocabulary=TERMS, rank=5, repeats=2, **options),
    }.items():
        save_model(model.fit(corpus), Path(folder) / name)


def fit_elsewhere(folder, n_jobs, hash_seed):
    """Do the same in a new process."""
    code = f"from tests.test_determinism import fit_all; fit_all({str(folder)!r}, {n_jobs})"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed), "OPENBLAS_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_another_process_gives_the_same_bits_whatever_its_threads_and_hashes(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    other = fit_elsewhere(folders[1], n_jobs=2, hash_seed=77)
    with threadpool_limits(1, "blas"):
        fit_all(folders[0], n_jobs=1)
    _, complaint = other.communicate()
    assert other.returncode == 0, complaint
    for kind in ("l1", "l2", "labels", "likelihood"):
        first, second = ({file.name: file for file in (f / kind).iterdir()} for f in folders)
        assert first.keys() == second.keys() > {"predictor.npz", "partition.npz"}
        for name in first.keys() - {"info.json", "model.json"}:
            assert first[name].read_bytes() == second[name].read_bytes(), (kind, name)
        about = [json.loads(files["model.json"].read_text("utf-8")) for files in (first, second)]
        for each in about:
            each["training"].pop("date")  # all that may differ
        assert about[0] == about[1]


def predictions():
    """Regions, the likeliest first, and peaks that the shipped model gives for a few texts."""
    from neurowhere.space import default_atlas

    model, atlas = load_model(), default_atlas()
    for text in TEXTS:
        encoding = model.encode(text)
        regions = encoding.regions(atlas)
        peak = encoding.peaks.iloc[0]
        yield {
            "text": text,
            "regions": dict(zip(regions["region"], regions["probability"].round(8))),
            "peak": [peak["x"], peak["y"], peak["z"]],
            "log_ratio_there": round(float(np.log(peak["ratio"])), 6),
            "nats": round(float(encoding.support.nats), 6),
        }


@pytest.mark.parametrize(
    "case", json.loads(RECORD.read_text("utf-8")), ids=lambda case: case["text"]
)
def test_the_shipped_model_says_here_what_it_said_where_it_was_recorded(case, here):
    found = here[case["text"]]
    assert found["peak"] == case["peak"], (
        "another model? Record it: python -m tests.test_determinism"
    )
    for region, probability in case["regions"].items():
        assert found["regions"][region] == pytest.approx(probability, rel=TOLERANCE), region
    for name in ("log_ratio_there", "nats"):
        assert found[name] == pytest.approx(case[name], rel=TOLERANCE, abs=TOLERANCE)


@pytest.fixture(scope="module")
def here():
    return {case["text"]: case for case in predictions()}


if __name__ == "__main__":  # another model was shipped: python -m tests.test_determinism
    cases = list(predictions())
    for case in cases:
        case["regions"] = dict(islice(case["regions"].items(), N_RECORDED))
    RECORD.write_text(json.dumps(cases, indent=1) + "\n", "utf-8")
