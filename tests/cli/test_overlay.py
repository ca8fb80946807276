"""The overlay of a folder of reports: files, warnings, and what an earlier run has done."""

import csv
import shutil

import nibabel
import numpy as np
import pytest

REPORTS = {
    "a.txt": "CT: 3 cm haematoma in the left thalamus.",
    "b.txt": "MRI: 4 cm enhancing mass in the right occipital lobe.\n"
    "IMPRESSION: Left occipital glioma.",
    "c.txt": "We scanned healthy participants with fMRI during a task; the insula was active.",
}


@pytest.fixture
def reports(tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    for name, text in REPORTS.items():
        (folder / name).write_text(text)
    return folder


def seats_in(folder):
    with (folder / "seats.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def highest(folder):
    return int(np.asarray(nibabel.load(folder / "overlay.nii.gz").dataobj).max())


def test_a_folder_of_reports_has_an_overlay_and_seats(run, reports, tmp_path):
    out = tmp_path / "out"
    outcome = run("encode", reports, "-o", out, "--no-pictures")
    assert outcome.code == 0
    assert f"{out / 'overlay.nii.gz'}: seats of 2 reports (1 study left out)\n" in outcome.out
    assert not (out / "overlay.png").exists()
    assert "The overlay counts the reports" in (out / "methods.txt").read_text("utf-8")
    (warning,) = outcome.err.splitlines()
    assert warning.startswith("neurowhere: warning: b.txt: the report contradicts itself")
    assert "right occipital lobe" in warning
    assert "Left occipital glioma" in warning
    assert {row["text"] for row in seats_in(out)} == {"a.txt", "b.txt"}
    assert all(bool(row["contradiction"]) == (row["text"] == "b.txt") for row in seats_in(out))
    assert highest(out) == 1
    again = run("encode", reports, "-o", out, "--no-pictures")
    assert "seats of 2 reports" in again.out
    assert "3 kept from before" in again.out


def test_a_second_run_adds_to_it(run, reports, tmp_path):
    out = tmp_path / "out"
    run("encode", reports, "-o", out, "--no-pictures")
    (reports / "d.txt").write_text(REPORTS["a.txt"])
    assert "seats of 3 reports" in run("encode", reports, "-o", out, "--no-pictures").out
    assert highest(out) == 2
    shutil.rmtree(out / "d.txt")  # whose row stays in the table, and is written again
    assert "seats of 3 reports" in run("encode", reports, "-o", out, "--no-pictures").out
    assert highest(out) == 2


def test_studies_alone_have_none(run, reports, tmp_path):
    for name in ("a.txt", "b.txt"):
        (reports / name).unlink()
    (reports / "d.txt").write_text(REPORTS["c.txt"])
    out = tmp_path / "out"
    outcome = run("encode", reports, "-o", out, "--no-pictures")
    assert (outcome.code, outcome.err) == (0, "")
    assert "overlay" not in outcome.out
    assert not (out / "seats.csv").exists()


def test_without_text_no_words_are_kept(run, reports, tmp_path):
    out = tmp_path / "out"
    outcome = run("encode", reports, "-o", out, "--no-pictures", "--no-text")
    assert "glioma" not in outcome.err
    assert "glioma" not in (out / "seats.csv").read_text()
    assert "glioma" not in (out / "b.txt" / "seats.json").read_text()


def test_a_text_may_have_the_name_of_a_file_of_ours(run, reports, tmp_path):
    source, out = tmp_path / "texts.jsonl", tmp_path / "out"
    source.write_text(f'{{"id": "seats.csv", "text": "{REPORTS["a.txt"]}"}}\n' * 2)
    outcome = run("encode", source, "-o", out, "--no-pictures")
    assert outcome.code == 0
    assert (out / "seats.csv").is_file()
    assert (out / "seats.csv~2").is_dir()


def test_a_folder_that_somebody_changed_is_named(run, reports, tmp_path):
    out = tmp_path / "out"
    run("encode", reports, "-o", out, "--no-pictures")
    (out / "a.txt" / "seats.json").write_text("{")
    outcome = run("encode", reports, "-o", out, "--no-pictures")
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        f"neurowhere: {out / 'a.txt'} is damaged; remove it, and run the command again"
    ]


def test_one_report_that_contradicts_itself_warns(run, reports):
    outcome = run("encode", reports / "b.txt")
    assert outcome.out.startswith("WARNING    the report contradicts itself: occipital: right in “")
