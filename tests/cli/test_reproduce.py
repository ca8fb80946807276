import gzip
import hashlib
import json
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import nibabel as nib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from neurowhere.corpus.download import CHECKSUMS_NAME, RELEASES

PLACES_MM = {"anterior cingulate cortex": (0, 32, 22), "amygdala": (-24, -4, -18)}
LEFT_MM, RIGHT_MM = (-22, -4, -18), (22, -4, -18)


def peaks_near(place_mm, rng):
    return (np.array(place_mm) + rng.integers(-6, 7, size=(3, 3))).tolist()


@pytest.fixture
def source(tmp_path):
    """Forty studies that say where they look, and three of the paper's."""
    rng = np.random.default_rng(0)
    path = tmp_path / "studies.jsonl"
    with path.open("w") as stream:
        for number in [*range(1, 41), 20965262, 22832732, 20619347]:
            name = list(PLACES_MM)[number % 2]
            study = {"pmid": number, "title": f"Study {number}", "abstract": f"The {name}."}
            coords = peaks_near(PLACES_MM[name], rng)
            stream.write(json.dumps({**study, "coords": coords, "space": "MNI"}) + "\n")
    return path


@pytest.fixture
def articles(tmp_path):
    """Articles that speak of either amygdala."""
    rng = np.random.default_rng(1)
    path = tmp_path / "articles.jsonl"
    with path.open("w") as stream:
        for number in range(120):
            side, place = (("left", LEFT_MM), ("right", RIGHT_MM))[number % 2]
            text = f"We saw the {side} amygdala, and the anterior cingulate cortex."
            study = {"pmid": number + 1, "body": text, "coords": peaks_near(place, rng)}
            stream.write(json.dumps({**study, "space": "MNI"}) + "\n")
    return path


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A release of our making on a server of this machine, in place of the public one."""
    names = list(RELEASES["neuroquery"].files)
    folder = tmp_path / "server"
    folder.mkdir()
    rng = np.random.default_rng(2)
    ids = range(1, 41)
    peaks = [
        (number, *peak)
        for number in ids
        for peak in peaks_near(list(PLACES_MM.values())[number % 2], rng)
    ]
    rows = "".join(f"{i}\tt\t{x}\t{y}\t{z}\n" for i, x, y, z in peaks)
    counts = sparse.csr_matrix([[n % 2 == 0, n % 2 == 1] for n in ids], dtype=np.int16)
    for name in names:
        path = folder / name
        if "coordinates" in name:
            path.write_bytes(gzip.compress(f"id\ttable_id\tx\ty\tz\n{rows}".encode()))
        elif "metadata" in name:
            titles = "".join(f"{number}\tStudy {number}\n" for number in ids)
            path.write_bytes(gzip.compress(f"id\ttitle\n{titles}".encode()))
        elif name.endswith(".npz"):
            sparse.save_npz(path, counts)
        else:
            path.write_text("".join(f"{term}\n" for term in PLACES_MM))
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    checksums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    address = f"http://127.0.0.1:{server.server_port}/"
    served = replace(RELEASES["neuroquery"], base_url=address, files=checksums)
    monkeypatch.setitem(RELEASES, "neuroquery", served)
    yield folder
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_study_is_run_and_goes_on_with_more_folds(run, source, articles, tmp_path):
    out = tmp_path / "study"
    command = ("reproduce", "-o", out, "--corpus", source, "--resolution", 12, "--jobs", 1)
    command += ("--texts", articles, "--bandwidths", "1,2")
    outcome = run(*command, "--folds", 1)
    assert outcome.code == 0, outcome.err
    study = out / "comparison"
    first = pd.read_csv(study / "scores.csv")
    assert set(first["partition"]) == {"voxels 12 mm", "voxels 12 mm (h 2)", "AAL3"}
    assert set(first["loss"]) == {"l1", "l2", "labels", "mean", "uniform"}
    for name in ("scores.png", "prediction-in-the-paper.png", "summary.md"):
        assert (study / name).exists(), name
    page = (study / "report.html").read_text("utf-8")
    assert "Study 20965262" in page
    assert "95 %" in page or "95&nbsp;%" in page
    assert "AAL3" in outcome.out
    before = (out / "maps" / "info.json").stat().st_mtime_ns
    assert run(*command, "--folds", 2).code == 0
    more = pd.read_csv(study / "scores.csv")
    assert sorted(more["fold"].unique()) == [0, 1]
    pd.testing.assert_frame_equal(
        more[more["fold"] == 0].reset_index(drop=True), first.reset_index(drop=True)
    )
    assert (out / "maps" / "info.json").stat().st_mtime_ns == before  # not learned again


def test_left_and_right_are_learned_from_articles(run, source, articles, tmp_path):
    out = tmp_path / "study"
    command = ("reproduce", "-o", out, "--corpus", source, "--resolution", 12, "--jobs", 1)
    command += ("--folds", 1, "--losses", "l2", "--bandwidths", 1, "--texts", articles)
    assert run(*command).code == 0
    about = json.loads((out / "maps" / "info.json").read_text())
    assert [title for title in about["terms"] if "amygdala" in title] == [
        "left amygdala (learned)",
        "amygdala (learned)",
        "right amygdala (learned)",
    ]
    for side, sign in (("left", -1), ("right", 1)):
        image = nib.load(out / "maps" / f"{side}-amygdala.nii.gz")
        values = np.asarray(image.dataobj)
        voxel = np.unravel_index(values.argmax(), values.shape)
        assert sign * (image.affine @ [*voxel, 1])[0] > 0
    assert (out / "maps" / "maps.png").exists()
    assert "@software{neurowhere" in (out / "maps" / "methods.txt").read_text()


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_release_is_downloaded_once_checked_and_used(run, release, tmp_path):
    out = tmp_path / "study"
    command = ("reproduce", "-o", out, "--resolution", 12, "--jobs", 1, "--folds", 1)
    command += ("--losses", "l2", "--bandwidths", 1)
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    lines = (out / "release" / CHECKSUMS_NAME).read_text().splitlines()
    assert len(lines) == len(list(release.iterdir()))
    assert set(pd.read_csv(out / "comparison" / "scores.csv")["studies"]) == {4}
    about = json.loads((out / "maps" / "info.json").read_text())  # counts have no sides
    assert about["terms"] == ["anterior cingulate cortex (learned)", "amygdala (learned)"]
    for file in release.iterdir():
        file.unlink()
    assert run(*command).code == 0  # nothing is asked for again
    (out / "release" / lines[0].split()[1]).write_bytes(b"damaged")
    run(*command).assert_refused("should have the SHA-256")


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_file_that_is_not_that_of_the_release_is_refused(run, release, tmp_path):
    next(release.glob("*coordinates*")).write_bytes(b"something else")
    out = tmp_path / "study"
    run("reproduce", "-o", out, "--folds", 1).assert_refused("is not the file of the release")
    assert not (out / "release").exists()


def test_a_corpus_that_is_not_there_is_one_line(run, tmp_path):
    command = ("reproduce", "-o", tmp_path / "study", "--corpus", tmp_path / "no such corpus")
    run(*command).assert_refused("no such corpus")
