"""Print the figures of the house: modules, layers, sizes, public names and the cold start.

    python tools/house.py [SOURCE]

SOURCE is the folder of the package, by default src/neurowhere beside this script. Run it before and
after a change that moves code, with the Python of the environment that the package is installed in.
"""

import ast
import math
import os
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "neurowhere"
SMALL = 60  # lines below which a module has to earn its file
RUNS = 5
TEXT = "left MCA infarct with aphasia, the thalamus is spared"
ENCODE = ["-c", "from neurowhere.cli import main; main()", "encode", TEXT]


def main() -> None:
    """Print one figure a line."""
    package = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE
    root = package.parents[1]
    modules = {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
    lengths = [len(text.splitlines()) for text in modules.values()]
    n_small = sum(
        n < SMALL for n, path in zip(lengths, modules, strict=True) if path.name != "__init__.py"
    )
    functions = [length for text in modules.values() for length in function_lengths(text)]
    figures = {
        "modules": f"{len(modules)} ({n_small} under {SMALL} lines, beside __init__)",
        "layers": len(layers(root / "pyproject.toml")),
        "lines": f"{sum(lengths):,}",
        "lines of a module": describe(lengths),
        "functions": f"{len(functions):,}",
        "lines of a function": f"{describe(functions)}, docstrings left out",
        "public names": len(public_names(package / "__init__.py")),
        "cold encode": f"{cold_start(package.parent):.2f} s, median of {RUNS}",
    }
    width = max(map(len, figures))
    for name, figure in figures.items():
        print(f"{name:{width}}  {figure}", flush=True)


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
    """Return the median, the 95th percentile (nearest rank) and the maximum in words."""
    ranked = sorted(numbers)
    high = ranked[math.ceil(0.95 * len(ranked)) - 1]
    return f"median {statistics.median(ranked):g}, 95 % {high}, longest {ranked[-1]}"


def cold_start(source: Path) -> float:
    """Return the median of the seconds that ``neurowhere encode TEXT`` takes in a new process."""
    command = [sys.executable, *ENCODE]
    environment = os.environ | {"PYTHONPATH": str(source)}
    seconds = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])  # the first may have compiled bytecode


if __name__ == "__main__":
    main()
