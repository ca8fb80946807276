import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurowhere.cli import corpus as command
from neurowhere.corpus.read import READERS
from neurowhere.corpus.review import CONVERTIBLE, DROPPABLE, DROPPED, MEANINGS

Run = Callable[..., Any]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    records = [
        {"pmid": 1, "title": "Fear", "coords": [[-20, -4, -18], [-20, -4, -18]], "space": "MNI"},
        {"pmid": 2, "title": "Vision", "coords": [[8, -90, 2]], "space": "TAL", "year": 2001},
        {"pmid": 3, "title": "Motor", "coords": [[0, 0, 200]]},
        {"pmid": 4, "title": "Rest"},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_import_and_info(run: Run, source: Path, tmp_path: Path) -> None:
    imported = run("corpus", "import", source, "-o", tmp_path / "out")
    assert (imported.code, imported.err) == (0, "")
    assert "documents   4\npeaks       4\n" in imported.out
    assert "1 peak outside any head (kept): 3" in imported.out
    shown = run("corpus", "info", tmp_path / "out")
    assert (shown.code, shown.out) == (0, imported.out)
    assert run("corpus", "info", source).out == imported.out


def test_json_is_all_there_is_on_stdout(run: Run, source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text() + "not json\n")
    outcome = run("corpus", "info", source, "--json")
    summary = json.loads(outcome.out)
    assert (summary["documents"], summary["peaks"]) == (4, 4)
    assert summary["years"]["first"] == 2001
    assert summary["origin"]["warnings"] == [
        outcome.err.removeprefix("neurowhere: warning: ").strip()
    ]
    command = ("corpus", "import", source, "-o", tmp_path / "out", "--json")
    refused = run(*command)
    assert (refused.code, refused.out, "skipped 1 of 5 lines" in refused.err) == (1, "", True)
    assert json.loads(run(*command, "--keep-going").out) == summary


def test_problems_are_dropped_on_request(run: Run, source: Path, tmp_path: Path) -> None:
    drop = "repeated, outside,without_peaks"
    outcome = run("corpus", "import", source, "-o", tmp_path / "out", "--drop", drop, "--json")
    summary = json.loads(outcome.out)
    assert (summary["documents"], summary["peaks"]) == (2, 2)


def test_coordinates_are_put_right_or_left(run: Run, tmp_path: Path) -> None:
    xyz = [[8, 92, 2], [-10, 84, 30], [42, 66, 44], [-30, 60, 56], [22, 4, -18], [-36, -22, 0]]
    record = {"pmid": 1, "title": "Vision", "coords": [*xyz, [3.4, 2.9, 5.1]], "space": "MNI"}
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps(record))
    done = run("corpus", "import", source, "-o", tmp_path / "done")
    assert "1 peak made of statistics, not coordinates (dropped): 1" in done.out
    assert "6 peaks in tables with x and y mirrored (converted): 1" in done.out
    assert "warning: 1 peak made of statistics" in done.err
    options = ("--drop", "", "--convert", "")
    left = run("corpus", "import", source, "-o", tmp_path / "left", *options)
    assert "peaks       7\n" in left.out
    assert "6 peaks in tables with x and y mirrored (kept): 1" in left.out


def test_defaults_are_those_of_python() -> None:
    assert tuple(command.DROPPED.split(",")) == DROPPED
    assert tuple(command.CONVERTED.split(",")) == CONVERTIBLE


def test_talairach_can_be_kept_or_told(run: Run, source: Path, tmp_path: Path) -> None:
    kept = run("corpus", "import", source, "-o", tmp_path / "a", "--keep-talairach")
    assert "space       unknown 2, MNI 1, TAL 1\n" in kept.out
    (tmp_path / "spaces.tsv").write_text("id\tspace\n3\tTAL\n4\tMNI\n")
    told = run(
        "corpus", "import", source, "-o", tmp_path / "b", "--spaces", tmp_path / "spaces.tsv"
    )
    assert "space       MNI 2, TAL converted to MNI 2\n" in told.out


def test_a_folder_is_replaced_only_on_request(run: Run, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "precious").touch()
    assert "did not write it" in run("corpus", "import", source, "-o", output, "--overwrite").err
    (output / "info.json").touch()
    refused = run("corpus", "import", source, "-o", output)
    assert refused.code == 1
    assert refused.err == (
        f"neurowhere: {output} exists and is not empty; "
        "choose another folder or overwrite it (--overwrite)\n"
    )
    failed = run("corpus", "import", tmp_path / "none", "-o", output, "--overwrite")
    assert failed.code == 1
    assert (output / "precious").exists()
    assert run("corpus", "import", source, "-o", output, "--overwrite").code == 0
    assert not (output / "precious").exists()


def test_a_corpus_can_be_imported_onto_itself(run: Run, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run("corpus", "import", source, "-o", output)
    again = run("corpus", "import", output, "-o", output, "--overwrite", "--drop", "repeated")
    assert again.code == 0
    assert "peaks       3\n" in again.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "nowhere"), "expected a file or a folder, but nowhere does not exist"),
        (("info", "{source}", "--from", "word"), "unknown format 'word'; choose among folder, pub"),
        (("import", "{source}", "-o", "{out}", "--drop", "all"), "cannot drop all; choose among"),
        (("import", "{source}", "-o", "{out}", "--convert", "all"), "cannot convert all; choose"),
        (("import", "{source}", "-o", "{out}", "--spaces", "no.tsv"), "but no.tsv is no file"),
        (("import", "{source}", "-o", "{source}"), "is a file; give a folder to write to"),
        (("info", "{source}", "--from", "folder"), "info.json: Not a directory"),
        (("info", "{source}", "--from", "neuroquery"), "expected the files of one release"),
    ],
)
def test_mistakes_are_one_line_and_code_1(
    run: Run, source: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    places = {"source": str(source), "out": str(tmp_path / "out")}
    outcome = run("corpus", *(argument.format(**places) for argument in arguments))
    outcome.assert_refused(message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments", [("import",), ("import", "x"), ("info",), ("download", "x"), ("what",)]
)
def test_wrong_usage_is_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("corpus", *arguments).code == 2


def test_download_calls_the_downloader(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, Path]] = []

    def fake(name: str, folder: Path) -> Path:
        calls.append((name, folder))
        return folder

    monkeypatch.setattr("neurowhere.corpus.download.download", fake)
    outcome = run("corpus", "download", "neuroquery", "-o", tmp_path / "nq")
    assert calls == [("neuroquery", tmp_path / "nq")]
    assert f"neurowhere corpus import {tmp_path / 'nq'}" in outcome.out


def test_every_format_and_problem_is_in_the_help_and_documented(run: Run) -> None:
    told = run("corpus", "import", "--help").out
    page = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text(encoding="utf-8")
    for name in (*READERS, *DROPPABLE):
        assert name in told
    for name in (*READERS, *MEANINGS):
        assert f"`{name}`" in page


def test_a_damaged_file_is_an_error_unless_told_to_go_on(
    run: Run, source: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(source.read_bytes())
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(source.read_bytes() * 50)[:-40])
    run("corpus", "import", folder, "-o", tmp_path / "out").assert_refused("b.jsonl.gz: is trunc")
    assert not (tmp_path / "out").exists()
    outcome = run("corpus", "import", folder, "-o", tmp_path / "out", "--keep-going")
    assert outcome.code == 0
    assert "warning: skipped 1 of 2 files (b.jsonl.gz: is truncated" in outcome.err


def test_export_writes_a_studyset(run, tmp_path):
    source, target = tmp_path / "texts.jsonl", tmp_path / "studyset.json"
    source.write_text('{"id": "1", "title": "Fear", "coords": [[-24, -4, -18]]}\n')
    assert run("corpus", "export", source, "-o", target).out.endswith("1 studies, 1 peaks\n")
    (study,) = json.loads(target.read_text())["studies"]
    assert study["analyses"][0]["points"][0]["coordinates"] == [-24, -4, -18]
    run("corpus", "export", source, "-o", target).assert_refused("exists")
