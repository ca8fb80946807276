"""Supply: no code is run from data, and a wheel holds what it should, to the byte."""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FORBIDDEN_MODULES = {
    "cloudpickle", "code", "dill", "marshal", "pickle", "shelve", "subprocess", "xml", "yaml",
}  # fmt: skip
FORBIDDEN_CALLS = {
    "__import__", "compile", "eval", "exec",
    "joblib.dump", "joblib.load", "joblib.Memory", "os.popen", "os.system", "tempfile.mktemp",
}  # fmt: skip
FORBIDDEN_METHODS = {"allow_dtd", "eval", "read_pickle", "to_pickle", "unsafe_load"}
NO_PICKLE = ("load", "save")  # of NumPy, which else write and read pickles of objects


def complaints(source):
    """Lines of a program that could run what a file says, each with what is wrong."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {reason}" for reason in _complaints_of_call(node))
            continue
        else:
            continue
        for name in names:
            if name.split(".")[0] in FORBIDDEN_MODULES or name in FORBIDDEN_CALLS:
                yield f"{node.lineno}: imports {name}"


def _complaints_of_call(call):
    name = ast.unparse(call.func)
    options = {option.arg: ast.unparse(option.value) for option in call.keywords}
    if name in FORBIDDEN_CALLS or name.rpartition(".")[2] in FORBIDDEN_METHODS:
        yield f"calls {name}"
    if name in {f"np.{verb}" for verb in NO_PICKLE} and options.get("allow_pickle") != "False":
        yield f"{name} without allow_pickle=False"
    for option, value in (("shell", "True"), ("verify", "False")):
        if options.get(option) == value:
            yield f"calls {name} with {option}={value}"
    if name.startswith("etree.") and name.endswith("Parser"):
        wanted = {"no_network": "True"}  # of HTML, which has no entities of its own and no DTD
        if not name.endswith("HTMLParser"):
            wanted |= {"resolve_entities": "False", "load_dtd": "False"}
        if any(options.get(option) != value for option, value in wanted.items()):
            yield f"{name} follows entities, DTDs or addresses"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from yaml import load",
        "import xml.etree.ElementTree as tree",
        "from joblib import dump",
        "eval('1')",
        "def f(): exec(text)",
        "frame.eval('a + b')",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.save(path, values)",
        "pd.read_pickle(path)",
        "etree.XMLParser(resolve_entities=False)",
        "requests.get(url, verify=False)",
    ],
)
def test_the_check_finds_what_it_looks_for(source):
    assert len(list(complaints(source))) == 1


def test_no_module_runs_what_a_file_says():
    found = {path: list(complaints(path.read_text("utf-8"))) for path in SOURCES}
    assert len(found) > 50
    # The first starts this interpreter, with a program that is written there; the second runs the
    # command that a user gives to `neurowhere benchmark --command`, without a shell.
    allowed = {
        "inputs/apart.py": "imports subprocess",
        "evaluate/entries.py": "imports subprocess",
    }
    for module, complaint in allowed.items():
        known = found.pop(ROOT / "src" / "neurowhere" / module)
        assert [line.partition(": ")[2] for line in known] == [complaint]
    assert {str(path): lines for path, lines in found.items() if lines} == {}


def build(root, folder):
    """Build a wheel; its date is that of no file and no clock."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(
        [*command, "--directory", folder], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Two copies of what a wheel is built from, of another date and mode."""
    first, second = (tmp_path_factory.mktemp(name) / "tree" for name in ("first", "second"))
    first.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copyfile(ROOT / name, first / name)
    junk = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", first / "src", ignore=junk)
    shutil.copytree(first, second, copy_function=shutil.copyfile)
    (second / "src/neurowhere/model/store.py").chmod(0o600)
    return first, second


@pytest.fixture(scope="module")
def wheels(trees):
    return [build(tree, tree.parent) for tree in trees]


def test_a_wheel_is_the_same_bytes_wherever_it_is_built(wheels):
    first, second = (hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels)
    assert first == second


def test_a_wheel_holds_the_package_the_model_and_the_licences_and_nothing_else(trees, wheels):
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = set(wheel.namelist())
    source = trees[0] / "src"
    package = {path.relative_to(source).as_posix() for path in source.rglob("*.*")}
    (about,) = {name.split("/")[0] for name in names if ".dist-info" in name}
    meta = {
        "METADATA",
        "WHEEL",
        "RECORD",
        "entry_points.txt",
        "licenses/LICENSE",
        "licenses/NOTICE",
    }
    assert names == package | {f"{about}/{name}" for name in meta}
    assert "neurowhere/data/model/predictor.npz" in names
    assert "neurowhere/py.typed" in names
    kinds = {Path(name).suffix for name in package}
    known = {
        ".py",
        ".typed",
        ".txt",
        ".npy",
        ".npz",
        ".json",
        ".bib",
        ".csv",
        ".css",
        ".gz",
        ".html",
        ".js",
        ".svg",
        ".xz",
    }
    assert kinds <= known


# ---- NOTICE

NOTICE = (ROOT / "NOTICE").read_text("utf-8")
LISTS = sorted(
    path
    for path in (ROOT / "src/neurowhere").rglob("*")
    if path.suffix in {".csv", ".txt"} and "data" not in path.parts
)


def test_notice_gives_the_licence_of_every_package_that_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.split("[<>=]", line)[0] for lines in declared for line in lines}
    licences = NOTICE.partition("It requires these packages")[2]
    assert len(names) > 20
    assert {name for name in names if not re.search(rf"\b{name}\b", licences)} == set()


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_notice_names_every_list(path):
    assert path.name in NOTICE
