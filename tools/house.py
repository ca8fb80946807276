"""Print the figures of the house: modules, layers, sizes, public names and the cold start.

    python tools/house.py [--before REVISION]

With a revision, its figures stand beside those of the working tree. Run it with the Python of the
environment that the package is installed in. A cold start is told in seconds of processor time,
which compare on a busy machine too.
"""

import argparse
import ast
import io
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMALL = 60  # lines below which a module has to earn its file
RUNS = 3
TEXT = "left MCA infarct with aphasia, the thalamus is spared"
ENCODE = ["-c", "from neurowhere.cli import main; main()", "encode", TEXT]


def main() -> None:
    """Print one figure a row, as a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", metavar="REVISION", help="revision of git to compare with")
    revision = parser.parse_args().before
    columns = {"now": figures(ROOT)}
    if revision is not None:
        with tempfile.TemporaryDirectory() as folder:
            export(revision, Path(folder))
            columns = {f"before ({revision})": figures(Path(folder)), **columns}
    rows = [["figure", *columns], ["---"] * (1 + len(columns))]
    rows += [[name, *(each[name] for each in columns.values())] for name in columns["now"]]
    for row in rows:
        print("| " + " | ".join(row) + " |")


def export(revision: str, folder: Path) -> None:
    """Write the files of a revision that the figures are taken from."""
    command = ["git", "archive", revision, "src", "pyproject.toml"]
    packed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def figures(root: Path) -> dict[str, str]:
    """Return the figures of a tree by their names."""
    package = root / "src" / "neurowhere"
    modules = {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
    lengths = [len(text.splitlines()) for text in modules.values()]
    n_small = sum(
        n < SMALL for n, path in zip(lengths, modules, strict=True) if path.name != "__init__.py"
    )
    functions = [length for text in modules.values() for length in function_lengths(text)]
    return {
        "modules": f"{len(modules)}",
        f"of these under {SMALL} lines, beside `__init__`": f"{n_small}",
        "layers": f"{len(layers(root / 'pyproject.toml'))}",
        "lines": f"{sum(lengths):,}",
        "lines of a module: median / 95 % / longest": describe(lengths),
        "functions": f"{len(functions):,}",
        "lines of a function without docstring: median / 95 % / longest": describe(functions),
        "public names": f"{len(public_names(package / '__init__.py'))}",
        f"processor time of a cold `encode`, median of {RUNS}": f"{cold_start(root / 'src'):.2f} s",
    }


def function_lengths(source: str) -> Iterator[int]:
    """Yield the lines of each function of a module, its docstring left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = _lines(node)
            yield lines - (_lines(node.body[0]) if ast.get_docstring(node) is not None else 0)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def layers(pyproject: Path) -> list[str]:
    """Return the layers of the import-linter contract, the highest first."""
    contracts = tomllib.loads(pyproject.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return next(each["layers"] for each in contracts if each["type"] == "layers")


def public_names(module: Path) -> list[str]:
    """Return ``__all__`` of a module, which is not imported."""
    for node in ast.parse(module.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def describe(numbers: Sequence[int]) -> str:
    """Return the median, the 95th percentile (nearest rank) and the maximum."""
    ranked = sorted(numbers)
    high = ranked[math.ceil(0.95 * len(ranked)) - 1]
    return f"{statistics.median(ranked):g} / {high} / {ranked[-1]}"


def cold_start(source: Path) -> float:
    """Return the processor seconds that ``neurowhere encode TEXT`` takes in a new process."""
    command = [sys.executable, *ENCODE]
    environment = os.environ | {"PYTHONPATH": str(source)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as it is where the package is installed
    seconds = []
    for _ in range(RUNS + 1):
        before = children_seconds()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds.append(children_seconds() - before)
    return statistics.median(seconds[1:])  # the first may have compiled bytecode


def children_seconds() -> float:
    """Return the processor time of all processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
