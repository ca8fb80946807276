"""Compiled loops where nothing can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.studies import make_corpus

import neurowhere

CODE = """
import warnings
import numpy as np
from neurowhere.learn.scoring import _add_positive_totals
from neurowhere.learn.loglinear import _adam_sweep
totals = np.zeros((1, 1), np.float32)
deviations = np.array([[1, -3]], np.float32)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    _add_positive_totals(np.ones(2, np.float32), deviations, np.ones(1, np.float32), totals)
    _adam_sweep(*np.zeros((4, 1, 1)), np.ones(6))
print(totals[0, 0], *(str(warning.message) for warning in caught), sep="\\n")
"""


@pytest.fixture
def read_only(tmp_path):
    """A copy of the package, and a home, in folders that cannot be written."""
    package = tmp_path / "site" / "neurowhere"
    shutil.copytree(
        Path(neurowhere.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__", "data", "assets"),
    )
    (tmp_path / "home").mkdir()
    folders = [folder for folder in tmp_path.rglob("*") if folder.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    yield tmp_path
    for folder in folders:
        folder.chmod(0o755)


def run(folder, **more):
    """Run the code as a user whom permissions bind; root's are dropped."""
    command = [sys.executable, "-B", "-c", CODE]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and setpriv is not here to change that")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    environment = kept | {"PYTHONPATH": str(folder / "site"), "HOME": str(folder / "home")} | more
    environment.pop("XDG_CACHE_HOME", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_without_a_folder_to_write_loops_are_compiled_with_one_warning(read_only):
    done = run(read_only)
    assert done.returncode == 0, done.stderr
    total, *warned = done.stdout.splitlines()
    assert float(total) == 2
    assert len(warned) == 1
    assert "NUMBA_CACHE_DIR" in warned[0]


def test_with_a_folder_of_their_own_loops_are_kept(read_only, tmp_path):
    cache = read_only / "cache"
    cache.mkdir()
    done = run(read_only, NUMBA_CACHE_DIR=str(cache))
    assert done.stdout.splitlines() == ["2.0"], done.stderr
    assert list(cache.rglob("*.nbi"))


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from neurowhere.cli import main
sys.argv[1:] = {arguments!r}
main()
"""


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus"
    make_corpus().save(path)
    return path


def run_without_numba(*arguments, cwd):
    code = WITHOUT_NUMBA.format(arguments=list(map(str, arguments)))
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_fitting_without_the_extra_is_one_line(corpus, tmp_path):
    done = run_without_numba("fit", corpus, "-o", "model", cwd=tmp_path)
    assert done.returncode == 1
    assert "fitting a model needs an extra: pip install 'neurowhere[fit]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_the_main_job_needs_no_extra(tmp_path):
    done = run_without_numba("encode", "Fear and the left amygdala.", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"map.png", "surface.png", "report.html"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
