"""The page of results is built from the files of entries, and a file can be added."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("page", ROOT / "tools" / "benchmark_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_files(tool):
    assert tool.PAGE.read_text("utf-8") == tool.page_of(tool.read_files(tool.RESULTS))


def test_a_pull_request_adds_a_file(tool, tmp_path):
    for path in tool.RESULTS.glob("*.json"):
        shutil.copy(path, tmp_path)
    mine = json.loads((tmp_path / "mean.json").read_text())
    for row in mine["scores"]:
        row |= {"nats": 2.0, "ceiling": 1.2}
    mine |= {"entry": "mine", "trained_on": "unknown", "remark": "a secret"}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    page = tool.page_of(tool.read_files(tmp_path))
    assert "| metric | mine |" in page
    assert "| mine | unknown |" in page
    assert "a secret; impossible: better than the other peaks of each study" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [({"command": None}, "lacks command"), ({"settings": {"task": ""}}, "--ids neuroquery")],
)
def test_files_that_cannot_be_shown_are_refused(tool, tmp_path, change, message):
    mine = json.loads((tool.RESULTS / "mean.json").read_text()) | change
    mine = {key: value for key, value in mine.items() if value is not None}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    with pytest.raises(SystemExit, match=message):
        tool.read_files(tmp_path)
