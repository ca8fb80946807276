"""Faults: full and read-only disks, odd clocks, two writers of one folder.

``python benchmarks/faults.py`` prints a table. Each command first runs undisturbed, which gives the
right output. After each fault the output has to be absent or right, and the next run has to end
with what is right, and with nothing beside it. `crash_points.py` kills the commands.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
POLL_SECONDS = 0.002
LONGEST_SECONDS = 3000.0  # of a run
N_STUDIES = 150
TEXT = "Left amygdala and visual cortex; no lesion in the motor cortex."
EARLY, LATE = 86_400.0, 4_102_444_800.0  # 2 January 1970, and 2100
FULL_SHARE = 0.5  # of what the output takes, on a disk that is too small
LOGS = Path(tempfile.mkdtemp(prefix="faults-"))
# Dates and times, what holds some, and the name of a cache.
UNLIKE = {"date", "model.json", "scores.csv", "summary.csv", "kept_in"}


@dataclass(frozen=True)
class Job:
    """A command and the folder that it writes."""

    name: str
    arguments: tuple[str, ...]
    goes_on: bool = False  # its folder grows; what is there is kept

    def run(self, output: Path) -> None:
        """Run in this process."""
        if self.name == "save":
            from neurowhere import load_model, save_model

            save_model(load_model(), output, overwrite=True)
            return
        from neurowhere.cli import main

        sys.argv = ["neurowhere", *self.arguments, "-o", str(output)]
        main()


@dataclass
class Result:
    """How a run ended: signal or exit code, what it said, and the processor's time."""

    code: int
    said: str
    seconds: float


def write_studies(place: Path, n_studies: int) -> None:
    """Write made-up studies, a third of them about a disease, and the terms in them."""
    sys.path.append(str(ROOT))
    from tests.studies import TERMS, make_corpus

    with (place / "studies.jsonl").open("w", encoding="utf-8") as stream:
        for document in make_corpus(n_studies).iter_documents():
            sick = "Huntington’s disease. " if int(document.id) % 3 == 0 else ""
            record = {"id": document.id, "title": "Étude", "abstract": sick + document.text}
            stream.write(json.dumps(record | {"coords": document.peaks.tolist()}) + "\n")
    (place / "terms.txt").write_text("\n".join(TERMS), "utf-8")


def make_jobs(place: Path) -> list[Job]:
    """Write the material of the jobs, and give them."""
    write_studies(place, N_STUDIES)
    studies, terms = str(place / "studies.jsonl"), str(place / "terms.txt")
    corpus, model = str(place / "corpus"), str(place / "model")
    learn = ("--vocabulary", terms, "--jobs", "1")
    fit = ("fit", corpus, *learn, "--loss", "l2", "--partition", "voxels:8", "--min-studies", "1")
    compare = ("compare", corpus, *learn, "--partitions", "voxels:12", "--losses", "l2", "--folds")
    contrast = ("contrast", studies, "--term", "huntington", "--model", model, "--jobs", "1")
    jobs = [
        Job("import", ("corpus", "import", studies)),
        Job("fit", fit),
        Job("compare", (*compare, "4"), goes_on=True),
        Job("contrast", (*contrast, "--cache", str(place / "cache"))),
        Job("save", ()),
        Job("encode", ("encode", TEXT, "--model", model)),
    ]
    for job, folder in ((jobs[0], corpus), (jobs[1], model)):  # that the others read
        if (result := finish(job, Path(folder))).code:
            raise SystemExit(f"{job.name}: {result.said}")
    return jobs


# ---- processes


def start(job: Job, output: Path, log: Path, before: Callable[[], None] = lambda: None) -> int:
    """Start a job in a copy of this process, which has all modules already."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        before()
        job.run(output)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(bool(error.code))
        if isinstance(error.code, str):
            os.write(2, f"{error.code}\n".encode())
    except BaseException as error:  # what a user would see as a traceback
        os.write(2, f"Traceback: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def wait(child: int, log: Path) -> Result:
    """Wait for a job, and kill it if it takes too long."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            break
        time.sleep(POLL_SECONDS)
    code = os.waitstatus_to_exitcode(status)
    return Result(code, log.read_text(errors="replace"), usage.ru_utime + usage.ru_stime)


def finish(job: Job, output: Path, before: Callable[[], None] = lambda: None) -> Result:
    """Run a job to its end."""
    log = LOGS / f"{job.name}.log"
    return wait(start(job, output, log, before), log)


# ---- what is right


def contents(folder: Path) -> dict[str, object]:
    """Read what the files of a folder say, without dates and times; hidden ones are left out."""
    said: dict[str, object] = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if is_hidden(name):
            continue
        if file.suffix == ".json":
            said[name] = undated(json.loads(file.read_text()))
        elif file.name in ("scores.csv", "summary.csv"):
            import pandas as pd

            said[name] = pd.read_csv(file).drop(columns="seconds", errors="ignore").to_csv()
        elif file.is_file():
            said[name] = file.read_bytes()
    return said


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in Path(name).parts)


def undated(content: Any) -> Any:
    """Give JSON without dates, and without the checksums of files that hold some."""
    if isinstance(content, dict):
        kept = {key: value for key, value in content.items() if key not in UNLIKE}
        return {key: undated(value) for key, value in kept.items()}
    return content


def problems_of(output: Path, right: dict[str, object]) -> list[str]:
    """Find what is wrong with an output, and with what is beside it."""
    names = [path.name for path in output.parent.iterdir() if path != output]
    names += [path.name for path in sorted(output.rglob(".*"))]
    wrong = [f"left {name}" for name in names]
    try:
        found = contents(output)
    except (OSError, ValueError, KeyError) as error:
        return [*wrong, f"cannot be read ({error})"]
    names = {name for name in {*found, *right} if found.get(name) != right.get(name)}
    return [*wrong, *(f"{name} differs" for name in sorted(names))]


def is_sound(output: Path, right: dict[str, object], goes_on: bool) -> list[str]:
    """Find what is wrong after a kill: a temporary may be there, but no wrong output."""
    if not output.exists():
        return []
    if not goes_on:
        return [wrong for wrong in problems_of(output, right) if not wrong.startswith("left .")]
    whole = {file.name for file in output.iterdir() if not file.name.startswith(".")}
    return [] if not whole or "info.json" in whole else ["files without info.json"]


# ---- faults


@dataclass
class Bench:
    """A job, its right result, and a place to disturb it in."""

    job: Job
    place: Path
    right: dict[str, object]
    reference: Result

    @classmethod
    def prepare(cls, job: Job, place: Path) -> "Bench":
        """Run a job undisturbed, in a new place."""
        output = place / job.name / "right" / "out"
        output.parent.mkdir(parents=True)
        reference = finish(job, output)
        if reference.code:
            raise SystemExit(f"{job.name}: {reference.said}")
        return cls(job, place / job.name, contents(output), reference)

    def output(self, name: str) -> Path:
        """Give the output in a new folder; what a job replaces is there already."""
        output = self.place / name / "out"
        output.parent.mkdir(parents=True)
        if self.job.name == "save":
            shutil.copytree(self.place / "right" / "out", output)
        return output

    def refused(self, output: Path, result: Result) -> list[str]:
        """Find what is wrong where a job had to fail: one line, and nothing left."""
        lines = [line for line in result.said.splitlines() if "warning" not in line]
        wrong = [] if result.code == 1 and len(lines) == 1 else [f"{result.code}: {result.said}"]
        wrong += [f"left {path.name}" for path in output.parent.iterdir() if path != output]
        return wrong + is_sound(output, self.right, self.job.goes_on)

    def fill(self) -> list[str]:
        """Run on a disk that is too small, then on the same disk with more space."""
        size = sum(path.stat().st_size for path in (self.place / "right").rglob("*"))
        with small_disk(self.place / "full", int(size * FULL_SHARE)) as disk:
            if disk is None:
                return ["not tried: no small disk can be mounted here"]
            output = disk / "place" / "out"
            output.parent.mkdir()
            wrong = self.refused(output, finish(self.job, output))
            remount(disk, "size=100m")
            again = finish(self.job, output)
            wrong += [f"with space: {again.said}"] if again.code else []
            return wrong + problems_of(output, self.right)

    def lock_up(self) -> list[str]:
        """Run on a disk that is read-only."""
        with small_disk(self.place / "locked", 1 << 20) as disk:
            if disk is None:
                return ["not tried: no small disk can be mounted here"]
            output = disk / "place" / "out"
            output.parent.mkdir()
            remount(disk, "ro")
            return self.refused(output, finish(self.job, output))

    def set_back_clock(self) -> list[str]:
        """Run at the beginning of time, with files that were changed in the future."""
        output = self.output("clock")
        for file in self.place.parent.glob("*.*"):
            os.utime(file, (LATE, LATE))
        result = finish(self.job, output, lambda: set_clock(EARLY))
        wrong = [f"{result.code}: {result.said}"] if result.code else []
        return wrong + problems_of(output, self.right)

    def run_twice(self) -> list[str]:
        """Run two at the same time: both may succeed, or one is refused with one line."""
        output = self.output("twice")
        logs = [LOGS / "first.log", LOGS / "second.log"]
        children = [start(self.job, output, log) for log in logs]
        results = [wait(child, log) for child, log in zip(children, logs)]
        wrong = [
            result.said
            for result in results
            if result.code and (result.code != 1 or "Traceback" in result.said)
        ]
        wrong += ["both refused"] * all(result.code for result in results)
        return wrong + problems_of(output, self.right)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path | None]:
    """Mount a file system of few bytes in memory; None where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def set_clock(seconds: float) -> None:
    """Let this process believe that it is another time."""
    import datetime as dt

    from neurowhere._tools import files

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return dt.datetime.fromtimestamp(seconds, tz)

    files.datetime = Clock  # type: ignore[misc]
    time.time = lambda: seconds
    time.time_ns = lambda: int(seconds * 1e9)


# ---- the table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run the commands whose name holds this")
    options = parser.parse_args()
    import_all()
    n_wrong = 0
    print("| command | seconds | full disk | read-only | clock | two writers |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for job in make_jobs(Path(folder)):
            if options.only not in job.name:
                continue
            bench = Bench.prepare(job, Path(folder))
            others = [bench.fill(), bench.lock_up(), bench.set_back_clock(), bench.run_twice()]
            cells = ["wrong" if wrong else "right" for wrong in others]
            print(
                f"| {job.name} | {bench.reference.seconds:.1f} | {' | '.join(cells)} |", flush=True
            )
            for wrong in others:
                n_wrong += bool(wrong)
                for line in wrong:
                    print(f"    {line}", flush=True)
    shutil.rmtree(LOGS)
    sys.exit(n_wrong > 0)


def import_all() -> None:
    """Import what the commands import late, so that copies of this process need not."""
    import matplotlib.figure  # noqa: F401
    import nilearn.datasets
    import nilearn.image
    import nilearn.surface  # noqa: F401


if __name__ == "__main__":
    main()
