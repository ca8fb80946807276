"""A toy method enters the benchmark three ways, by the code and the commands of the docs alone."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.studies import make_corpus

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "benchmark.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.slow
def test_a_toy_method_enters_three_ways(tmp_path):
    make_corpus(40).save(tmp_path / "neuroquery")
    for name, code in BLOCKS:
        (tmp_path / name).write_text(code)
    assert {name for name, _ in BLOCKS} == {"toy.py", "toy_command.py", "toy_maps.py"}
    run(sys.executable, "toy_maps.py", "neuroquery", folder=tmp_path)
    (line,) = (
        line for line in PAGE.splitlines() if line.startswith("neurowhere benchmark toy-maps")
    )
    line = line.replace(" --ids neuroquery", "").replace("python ", f"{sys.executable} ")
    run(sys.executable, "-m", *shlex.split(line), folder=tmp_path)
    results = {
        name: json.loads((tmp_path / "scores" / f"{name}.json").read_text())
        for name in ("mean", "toy", "toy-command", "toy-maps")
    }
    nats = {
        name: {row["kind"]: row["nats"] for row in each["scores"]} for name, each in results.items()
    }
    assert nats["toy"] == pytest.approx(nats["toy-command"], abs=1e-5)
    assert nats["toy"] == pytest.approx(nats["toy-maps"], abs=1e-3)
    assert nats["toy"]["all"] > 1
    assert {name: each["trained_on"] for name, each in results.items()} == {
        "mean": "each fold",
        **dict.fromkeys(["toy", "toy-command", "toy-maps"], "no study"),
    }
    assert "| toy | no study |" in (tmp_path / "scores" / "summary.md").read_text()


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
