"""The house rules that a test can check: linters, layers, pinned requirements, a fast start."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_hooks_run_the_linters_of_the_continuous_integration():
    run = re.findall(r'run "\.venv/bin/([\w-]+)(?: (\w+))?', (ROOT / ".ci" / "run").read_text())
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert len(run) == 4
    for name in run:
        assert f"entry: {' '.join(filter(None, name))}" in hooks


def test_contributing_draws_the_line_that_is_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    checked = [{room.strip() for room in each.split("|")} for each in layers]
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("| room |")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert [
        {f"neurowhere.{room}" for room in re.findall(r"`(\w+)`", row)} for row in rows
    ] == checked


def test_the_drawing_of_the_house_has_its_rooms():
    source = runpy.run_path(str(ROOT / "tools" / "house.py"))
    drawn = re.findall(r'class="room"[^>]*>(\w+)<', source["PICTURE"].read_text("utf-8"))
    assert drawn == source["rooms"](ROOT), "draw it again: python tools/house.py --draw"
    assert source["draw"](ROOT).count('class="room"') == len(drawn)


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_the_same_wherever_it_is_said():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited
    assert cited[1] == project()["version"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    assert "version: ${{ project.version }}" in recipe


def test_the_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    renamed = {"matplotlib": "matplotlib-base"}
    for needed in project()["dependencies"]:
        name, _, version = needed.partition(">=")
        assert f"{renamed.get(name, name)} >={version}\n" in recipe.replace(" carries", "\n")


SYSTEMS = {"Linux": "ubuntu-latest", "macOS": "macos-latest", "Windows": "windows-latest"}


def workflow():
    import yaml

    return yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))


def test_the_workflow_tests_each_system_and_each_python_that_is_claimed():
    matrix = workflow()["jobs"]["tests"]["strategy"]["matrix"]
    claims = project()["classifiers"]
    pythons = [claim for claim in claims if re.fullmatch(r".*Python :: 3\.\d+", claim)]
    assert matrix["python"] == [claim.rpartition(" ")[2] for claim in pythons]
    assert "Operating System :: OS Independent" in claims
    assert matrix["os"] == list(SYSTEMS.values())
    said = (ROOT / "docs" / "benchmarks" / "robustness.md").read_text("utf-8")
    assert "have not been run on macOS and Windows" in said


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_workflow_runs_the_test_command_of_the_readme(system):
    steps = workflow()["jobs"]["tests"]["steps"]
    script = next(step["run"] for step in steps if "README" in step.get("name", ""))
    *found, run = script.splitlines()
    assert run == 'bash -euo pipefail -c "$command"'
    environment = os.environ | {"RUNNER_OS": system}
    command = ["bash", "-euo", "pipefail", "-c", "\n".join(found)]
    told = subprocess.check_output(command, cwd=ROOT, env=environment, text=True)
    readme = (ROOT / "README.md").read_text("utf-8").partition("<!-- test command -->")[2]
    asked = readme.split("```")[1].removeprefix("bash\n")
    if system == "Windows":
        asked = asked.replace(".venv/bin/", ".venv/Scripts/").replace("python3 ", "python ")
    assert told == f"+ {asked}"


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


def test_encoding_a_text_imports_no_more_than_it_needs():
    code = (
        "import sys, scipy.sparse; needed = set(sys.modules); from neurowhere.cli import app; "
        "app(['encode', 'Fear and the left amygdala.'], standalone_mode=False); "
        "print(' '.join(set(sys.modules) - needed), file=sys.stderr)"
    )  # without what sparse matrices import, which is scipy.linalg in SciPy 1.14
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "left amygdala" in done.stdout
    slow = {"numba", "nilearn", "sklearn", "matplotlib", "joblib", "jinja2", "requests", "lxml"}
    slow |= {"scipy.linalg", "scipy.optimize", "scipy.ndimage", "scipy.stats"}
    slow |= {"PIL", "fastapi", "pubget", "pypdf"}
    assert not slow & set(done.stderr.split())


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_command_needs_no_standard_streams(closed):
    command = f"{sys.executable} -m neurowhere encode amygdala {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interruption_is_no_traceback_while_modules_are_imported():
    code = """
import sys
from neurowhere.__main__ import main

class Interrupted:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_the_end_is_fast_because_nothing_is_looked_through_for_garbage():
    code = (
        "import atexit, gc, sys; from neurowhere.cli import main; "
        "atexit.register(lambda: print(gc.get_freeze_count())); sys.argv[1:] = ['--version']; "
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) > 1000


OUTSIDE = [
    file
    for room in ("benchmarks", "examples", "fuzz", "recipe", "tools")
    for file in (ROOT / room).rglob("*.py")
]


@pytest.mark.parametrize("file", OUTSIDE, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_scripts_import_what_is_there(file):
    """Scripts that no test runs must not break when a module moves."""
    for statement in ast.walk(ast.parse(file.read_text("utf-8"))):
        module = statement.module if isinstance(statement, ast.ImportFrom) else None
        scripts = [
            script
            for script in (file.with_name(f"{module}.py"), ROOT / "tools" / f"{module}.py")
            if script.exists()
        ]
        for name in statement.names if module else ():
            if scripts:
                assert name.name in _names_of(scripts[0]), f"{module}.{name.name}"
            elif module.split(".")[0] in ("neurowhere", "recipe"):
                inner = f"{module}.{name.name}"
                assert hasattr(import_module(module), name.name) or find_spec(inner), inner


def _names_of(script):
    """Return the names that a script defines or imports."""
    names = set()
    for node in ast.parse(script.read_text("utf-8")).body:
        if isinstance(node, ast.Assign):
            names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names
