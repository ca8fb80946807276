import json

import numpy as np
import pandas as pd
import pytest

PLACES_MM = {"anterior cingulate cortex": (0, 32, 22), "amygdala": (-24, -4, -18)}


@pytest.fixture
def source(tmp_path):
    """Forty studies that say where they look."""
    rng = np.random.default_rng(0)
    path = tmp_path / "studies.jsonl"
    with path.open("w") as stream:
        for number in range(40):
            name = list(PLACES_MM)[number % 2]
            peaks = np.array(PLACES_MM[name]) + rng.integers(-6, 7, size=(3, 3))
            study = {"pmid": number + 1, "title": f"Study {number}", "abstract": f"The {name}."}
            stream.write(json.dumps({**study, "coords": peaks.tolist(), "space": "MNI"}) + "\n")
    return path


def test_the_study_is_run_and_goes_on_with_more_folds(run, source, tmp_path):
    out = tmp_path / "study"
    command = ("reproduce", "-o", out, "--corpus", source, "--resolution", 12, "--jobs", 1)
    outcome = run(*command, "--folds", 1)
    assert outcome.code == 0, outcome.err
    first = pd.read_csv(out / "comparison" / "scores.csv")
    assert set(first["partition"]) == {"voxels 12 mm", "AAL3"}
    assert set(first["loss"]) == {"l1", "l2", "labels", "mean", "uniform"}
    assert (out / "comparison" / "report.html").exists()
    assert "AAL3" in outcome.out
    for name in ("amygdala", "anterior-cingulate-cortex"):
        assert (out / "maps" / name / "map.png").exists()
    assert run(*command, "--folds", 2).code == 0
    more = pd.read_csv(out / "comparison" / "scores.csv")
    assert sorted(more["fold"].unique()) == [0, 1]
    pd.testing.assert_frame_equal(
        more[more["fold"] == 0].reset_index(drop=True), first.reset_index(drop=True)
    )


def test_a_corpus_that_is_not_there_is_one_line(run, tmp_path):
    command = ("reproduce", "-o", tmp_path / "study", "--corpus", tmp_path / "no such corpus")
    run(*command).assert_refused("no such corpus")
