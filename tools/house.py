"""Print the size of the package and the time of a cold start, or draw its rooms.

    python tools/house.py [--before REVISION]    figures, beside those of a revision
    python tools/house.py --draw                 docs/images/house.svg: rooms, lines, imports

Run it with the Python of the environment in which the package is installed. The cold start is
measured in processor time, which a busy machine changes little.
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
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "house.svg"
SMALL = 60  # lines below which a module has to earn its file
RUNS = 3
TEXT = "left MCA infarct with aphasia, the thalamus is spared"
ENCODE = ["-c", "from neurowhere.cli import main; main()", "encode", TEXT]


def main() -> None:
    """Print a table in Markdown with one row per figure, or draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", metavar="REVISION", help="revision of git to compare with")
    parser.add_argument("--draw", action="store_true", help=f"write {PICTURE.name}")
    arguments = parser.parse_args()
    if arguments.draw:
        PICTURE.write_text(draw(ROOT), "utf-8")
        return
    revision = arguments.before
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


def rooms(root: Path) -> list[str]:
    """Return the names of the rooms, the highest first."""
    lines = layers(root / "pyproject.toml")
    return [room.strip().rpartition(".")[2] for line in lines for room in line.split("|")]


def room_imports(root: Path, names: Sequence[str]) -> dict[str, Counter[str]]:
    """Count the imports of each room from each other room."""
    found = {name: Counter[str]() for name in names}
    for path in _modules(root):
        room = _room_of(path, root)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            target = (module or "").removeprefix("neurowhere.").partition(".")[0]
            if room in found and target in found and target != room:
                found[room][target] += 1
    return found


def draw(root: Path) -> str:
    """Return an SVG with a bar of lines for each room, and a dot for each room it imports."""
    names = rooms(root)
    sizes, imports = Counter[str](), room_imports(root, names)
    for path in _modules(root):
        sizes[_room_of(path, root)] += len(path.read_text("utf-8").splitlines())
    row, left, bar, column = 26, 96, 300, 30  # pixels
    top, matrix = 92, left + bar + 70
    width, height = matrix + column * len(names) + 20, top + row * len(names) + 20
    marks = [
        f'<text x="{left}" y="{top - 16}">lines</text>',
        f'<text x="{matrix}" y="20">a dot: the row imports the column</text>',
    ]
    for i, name in enumerate(names):
        y, length = top + row * i, bar * sizes[name] / max(sizes.values())
        x = matrix + column * (i + 0.5)
        marks += [
            f'<text class="room" x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{left}" y="{y}" width="{length:.0f}" height="18" fill="#4a7bb5"/>',
            f'<text x="{left + length + 6:.0f}" y="{y + 14}">{sizes[name]:,}</text>',
            f'<text transform="translate({x + 4:.0f},{top - 10}) rotate(-40)">{name}</text>',
            f'<path d="M{matrix} {y + 9}h{column * len(names)}M{x} {top}v{row * len(names)}"/>',
        ]
        for j, other in enumerate(names):
            radius = min(3 + math.sqrt(imports[name][other]), 10) if imports[name][other] else 0
            color = "#4a7bb5" if j > i else "#c8553d"  # upwards: a documented exception
            center = f'cx="{matrix + column * (j + 0.5)}" cy="{y + 9}"'
            marks += [f'<circle {center} r="{radius:.1f}" fill="{color}"/>'] if radius else []
    body = "\n".join(f"  {mark}" for mark in marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">\n'
        f'  <rect width="{width}" height="{height}" fill="white"/>\n'
        f"  <style>path {{ stroke: #ddd; fill: none }}</style>\n{body}\n</svg>\n"
    )


def _modules(root: Path) -> list[Path]:
    return sorted((root / "src" / "neurowhere").rglob("*.py"))


def _room_of(path: Path, root: Path) -> str:
    return path.relative_to(root / "src" / "neurowhere").parts[0].removesuffix(".py")


if __name__ == "__main__":
    main()
