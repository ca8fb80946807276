"""The house rules that a machine can check: lint, types, the one-way line of modules, the files."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    ["ruff check .", "ruff format --check .", "mypy", "lint-imports --no-cache"],
)
def test_linters_are_content(command):
    name, *arguments = command.split()
    done = subprocess.run([BIN / name, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-test.txt"])
def test_pinned_requirements_have_hashes_and_no_index_addresses(name):
    text = (ROOT / name).read_text()
    pins = [line for line in text.splitlines() if "==" in line]
    assert len(pins) > 20
    assert "://" not in text
    for block in text.split("\n\n")[0].replace(" \\\n    --hash", " --hash").splitlines():
        assert "--hash=sha256:" in block, block


def test_start_is_fast_because_heavy_libraries_are_imported_late():
    code = "import sys, neurowhere.cli; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numba", "nilearn", "sklearn", "matplotlib", "pandas", "scipy", "pubget"}
    assert not heavy & set(done.stdout.split())
