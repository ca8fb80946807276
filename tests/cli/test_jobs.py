"""Batches in several processes or on a cluster: the same tables and folders, and as safe."""

import csv
import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.studies import TERMS

from neurowhere import load_model

N = 150


@pytest.fixture
def source(tmp_path):
    """Texts of three kinds, and a line that is none."""
    path = tmp_path / "texts.jsonl"
    texts = [
        {"id": f"t{i}", "text": f"left {TERMS[i % len(TERMS)]}" if i % 7 else "liver"}
        for i in range(N)
    ]
    path.write_text("".join(json.dumps(text) + "\n" for text in texts) + "{broken\n")
    return path


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
def test_a_table_of_two_processes_is_that_of_one(encode, source, tmp_path):
    tables = {}
    for jobs in (1, 2):
        path = tmp_path / f"{jobs}.csv"
        outcome = encode(source, "--table", path, "--jobs", jobs, "--keep-going")
        assert outcome.code == 0
        tables[jobs] = rows(path)
    assert [row["id"] for row in tables[2]] == [row["id"] for row in tables[1]]
    for ours, theirs in zip(tables[2], tables[1]):
        assert (ours["region"], ours["problem"]) == (theirs["region"], theirs["problem"])
        if ours["probability"]:
            assert float(ours["probability"]) == pytest.approx(
                float(theirs["probability"]), rel=1e-4
            )


@pytest.mark.slow
def test_folders_of_two_processes_go_on_where_they_stopped(encode, source, tmp_path):
    output = tmp_path / "out"
    small = tmp_path / "small.jsonl"
    small.write_text("".join(source.read_text().splitlines(keepends=True)[:12]))
    assert encode(small, "-o", output, "--maps", "none", "--jobs", 2, "--keep-going").code == 0
    first = rows(output / "table.csv")
    assert [row["id"] for row in first] == [f"t{i}" for i in range(12)]
    folder = output / first[1]["folder"]
    assert {file.name for file in folder.iterdir()} >= {"regions.csv", "terms.csv", "info.json"}
    assert (
        not list(folder.glob("*.nii.gz")) + list(folder.glob("*.html")) + list(folder.glob("*.png"))
    )
    again = encode(source, "-o", output, "--maps", "none", "--jobs", 2, "--keep-going")
    assert "10 kept from before" in again.out
    assert len(rows(output / "table.csv")) >= N - 10


@pytest.mark.slow
@pytest.mark.linux
def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on(model, source, tmp_path):
    command = [
        *(sys.executable, "-m", "neurowhere", "encode", str(source), "-o", str(tmp_path / "out")),
        *("--maps", "nifti", "--jobs", "2", "--keep-going", "--model", str(model)),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    table = tmp_path / "out" / "table.csv"
    end = time.monotonic() + 60
    while time.monotonic() < end and not (
        table.exists() and len(table.read_text().splitlines()) > 9
    ):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped before the end, run again to go on" in out
    done = [row["folder"] for row in rows(table) if row["folder"]]
    assert done
    assert all((tmp_path / "out" / folder / "report.html").exists() for folder in done)
    result = subprocess.run(command, capture_output=True, text=True)
    assert f"{len(done)} kept from before" in result.stdout
    assert len(rows(table)) == N + 1


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.enable_socket
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_makes_the_same_table(encode, source, cluster, tmp_path):
    first, second = tmp_path / "here.csv", tmp_path / "there.csv"
    assert encode(source, "--table", first, "--keep-going").code == 0
    address = cluster.scheduler_address
    assert encode(source, "--table", second, "--keep-going", "--cluster", address).code == 0
    assert [row["region"] for row in rows(second)] == [row["region"] for row in rows(first)]


@pytest.mark.slow
def test_encode_many_in_processes(shipped):
    texts = [*["Infarct of the left insula", "fear", "qwerty"] * 40, None]
    with pytest.warns(match="at position 120"):
        here = list(shipped.encode_many(texts))
    with pytest.warns(match="at position 120"):
        there = list(shipped.encode_many(iter(texts), n_jobs=2))
    assert len(there) == len(here)
    assert [each.problem for each in there] == [each.problem for each in here]
    for ours, theirs in zip(there[:4], here[:4]):
        np.testing.assert_allclose(ours.probabilities, theirs.probabilities, rtol=1e-4, atol=1e-8)
        assert ours.source.model is there[0].source.model  # one for all, not a copy for each
    assert there[0].regions()["name"].tolist() == here[0].regions()["name"].tolist()
    assert there[0].why()["term"].tolist() == here[0].why()["term"].tolist()


def test_texts_are_taken_as_they_are_needed(shipped):
    taken = []
    encodings = shipped.encode_many(taken.append(i) or "fear" for i in range(10_000))
    next(encodings)
    assert len(taken) <= 128


def test_an_encoding_is_pickled_without_its_model(shipped):
    text = "Infarct of the left insula with aphasia; no lesion in the thalamus. " * 3
    encoding = next(shipped.encode_many([text], kind="study"))
    content = pickle.dumps(encoding)
    assert len(content) < 150_000
    copy = pickle.loads(content)
    assert copy.partition is shipped.partition_
    assert copy.regions()["name"].tolist() == encoding.regions()["name"].tolist()
    assert copy.why()["term"].tolist() == encoding.why()["term"].tolist()
    assert copy.similar["title"].tolist() == encoding.similar["title"].tolist()
    assert (copy - encoding).text.count("insula") == 6


def test_a_pickled_encoding_finds_its_model_in_another_process(model, tmp_path):
    file = tmp_path / "encoding.pickle"
    file.write_bytes(pickle.dumps(load_model(model).encode("left amygdala")))
    code = f"""
import pickle
from neurowhere import load_model
model = load_model({str(model)!r})
print(pickle.load(open({str(file)!r}, "rb")).source.model is model)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "True", result.stderr
    alone = code.replace("model = load", "# ").replace(".source.model is model", "")
    result = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True)
    assert "load it first" in result.stderr
