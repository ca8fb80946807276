"""The reports that are released, and the script that scores readers of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "report_readers"
SCRIPT = FOLDER / "score.py"


def run(*arguments, **options):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


@pytest.fixture(scope="module")
def asked():
    return [json.loads(line) for line in run(SCRIPT, "--mentions").splitlines()]


def scores(asked, answer, folder):
    """Shares of an answer for each mention, in percent."""
    file = folder / "reader.jsonl"
    with file.open("w") as stream:
        for report in asked:
            mentions = [{**each, **answer(each)} for each in report["mentions"]]
            stream.write(json.dumps({"id": report["id"], "mentions": mentions}) + "\n")
    return shares(run(SCRIPT, file).splitlines()[-1])


def shares(row):
    return [float(cell.split(" %")[0]) for cell in row.strip("| ").split(" | ")[1:]]


def test_a_reader_that_raises_all_or_nothing_is_right_by_half(asked, tmp_path):
    seats, side, denied, normal = scores(
        asked, lambda _: {"side": "left", "finding": True}, tmp_path
    )
    assert 40 < seats < 60 > side > 40
    assert denied < 60 > normal
    file = tmp_path / "nothing.jsonl"
    file.write_text('{"id": "r003", "mentions": []}\n')
    found = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
def test_the_row_of_the_readme_is_near_that_of_the_scripts(asked, tmp_path):
    lines = "".join(json.dumps(report) + "\n" for report in asked)
    answers = tmp_path / "neurowhere.jsonl"
    answers.write_text(run(FOLDER / "neurowhere_reader.py", input=lines))
    found = run(SCRIPT, answers).splitlines()[-1]
    readme = (FOLDER / "README.md").read_text("utf-8").splitlines()
    (told,) = (line for line in readme if line.startswith("| neurowhere |"))
    assert shares(found) == pytest.approx(shares(told), abs=2)
