"""Time and size of an installation in a fresh environment, by package.

    python benchmarks/install_weight.py WORK

Three ways: README's, the same with bytecode compiled by pip, and that with the extra fit. Each
gets a clean environment in WORK. Wall time depends on the network and on what else runs; CPU time
less so. Sizes are those of files, also of pip itself.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MIB = 2**20
N_PACKAGES = 14
WAYS = {  # options of pip, and what is installed
    "README": (["--no-compile"], "."),
    "with bytecode": ([], "."),
    "with bytecode and the extra fit": ([], ".[fit]"),
}
TEXT = "Patient with left MCA infarct, Broca's aphasia and right hand weakness."


def seconds(command: list[str], **options: object) -> tuple[float, float]:
    """Run a command, and return its wall time and its CPU time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)  # type: ignore
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, used


def sizes(folder: Path) -> Counter[str]:
    """Return the size of each package in bytes, and that of bytecode apart."""
    found: Counter[str] = Counter()
    packages = next(folder.glob("lib/python*/site-packages"))
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            inside = path.is_relative_to(packages)
            name = path.relative_to(packages).parts[0] if inside else "the environment"
            kind = "bytecode" if path.suffix == ".pyc" else name.split(".")[0]
            found[kind] += path.stat().st_size
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", type=Path)
    work = parser.parse_args().work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    for number, (way, (options, source)) in enumerate(WAYS.items()):
        place = work / f"environment-{number}"
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [str(place / "bin/pip"), "install", "-q", *options]
        wall, used = seconds([*pip, "-r", str(ROOT / "requirements.txt")], env=environment)
        more = seconds([*pip, "--no-deps", "."], cwd=ROOT, env=environment)
        if source != ".":
            extra = seconds([*pip, source], cwd=ROOT, env=environment)
            more = (more[0] + extra[0], more[1] + extra[1])
        found = sizes(place)
        print(
            f"{way}: {wall + more[0]:.0f} s ({used + more[1]:.0f} s CPU), "
            f"{found.total() / MIB:.0f} MiB"
        )
        largest = ", ".join(f"{k} {v / MIB:.0f}" for k, v in found.most_common(N_PACKAGES))
        print(f"  {largest}")
        if not number:
            encode = [str(place / "bin/neurowhere"), "encode", TEXT, "-o", "out", "--overwrite"]
            for turn in ("first", "second"):
                wall, used = seconds(encode, cwd=work, env=environment)
                print(f"  {turn} text with pictures: {wall:.1f} s ({used:.1f} s CPU)")
            print(f"  afterwards {sizes(place).total() / MIB:.0f} MiB")


if __name__ == "__main__":
    main()
