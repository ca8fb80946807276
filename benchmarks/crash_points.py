"""Crash points: each command killed, and given EIO, at each change that it makes of the disk.

``python benchmarks/crash_points.py`` prints a table. Each command first runs undisturbed, which
says what is right and how often it changes the disk: opens for writing, writes, fsync, renames,
removals, new folders, permissions, locks. Before each of these changes the folder is copied: that
is what kill -9 leaves at this moment. Then the command runs anew for each change, and gets EIO in
its place. What is there then has to be absent or right. An error has to be one line. The next run
of the same command has to end with what is right and with nothing hidden.
"""

import argparse
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.append(str(Path(__file__).parents[1]))

from tests.studies import TERMS, make_corpus
from tests.tools.crashes import break_the_disk, changes_of, fault_at, hidden

from faults import EARLY, LOGS, Result, contents, import_all, set_clock, start, wait, write_studies

N_STUDIES = 40
LEFT, COLON = "Left amygdala; no lesion in the motor cortex.", "The visual cortex responded."
FAULTS = ("kill -9", "EIO")
TOKEN = re.compile(r"(?<=-)[0-9a-f]{8}(?=\.(?:lock|part|old))")
IS_DONE = "(--overwrite)"  # in what a command says that finds its output


@dataclass(frozen=True)
class Command:
    """A command, which writes below the current folder, and what becomes of its work."""

    name: str
    arguments: tuple[str, ...]
    goes_on: bool = False  # its folder grows; what is there is kept
    replaces: bool = False  # an output that is there

    def run(self, _: Path) -> None:
        """Run in this process, in which no time passes: files can be compared."""
        from neurowhere.cli import main

        set_clock(EARLY)
        time.perf_counter = lambda: EARLY
        sys.argv = ["neurowhere", *self.arguments, *["--overwrite"] * self.replaces]
        main()


def make_commands(material: Path, lists: Path | None) -> Iterator[Command]:
    """Write what the commands read, and yield them."""
    import neurowhere

    corpus = make_corpus(N_STUDIES)
    corpus.save(material / "corpus")
    write_studies(material, N_STUDIES)
    (material / "texts.csv").write_text(f'id,text\na,"{LEFT}"\nb,{COLON}\n')
    (material / "places.csv").write_text("id,x,y,z\na,-24,-4,-18\nb,8,-92,2\n")
    grid = neurowhere.VoxelGrid(12)
    fitted = neurowhere.Encoder(grid, "likelihood", vocabulary=TERMS, repeats=1, rank=8)
    neurowhere.save_model(fitted.fit(corpus), material / "model")

    studies, texts, terms = (
        str(material / each) for each in ("studies.jsonl", "texts.csv", "terms.txt")
    )
    folder = str(material / "corpus")
    model = ("--model", str(material / "model"))
    learn = ("--vocabulary", terms, "--jobs", "1")
    voxels = ("--loss", "l2", "--partition", "voxels:12", "--min-studies", "1")
    grids = ("--partitions", "voxels:12", "--losses", "l2", "--folds", "2")
    term = ("contrast", studies, "--term", "huntington", *model, "--jobs", "1")
    entries = ("--entries", "mean", "--folds", "2")
    yield Command("encode", ("encode", LEFT, *model, "-o", "out"))
    bare = ("encode", LEFT, *model, "--no-pictures", "-o", "out")
    yield Command("encode, replacing", bare, replaces=True)
    yield Command("encode --table", ("encode", texts, *model, "--table", "out.csv"))
    many = ("encode", texts, *model, "--no-pictures", "-o", "out")
    yield Command("encode of many", many, goes_on=True)
    yield Command("encode of many, replacing", many, goes_on=True, replaces=True)
    yield Command("decode", ("decode", "-24", "-4", "-18", *model, "-o", "out"))
    places = ("decode", str(material / "places.csv"), "--by", "id", *model, "--table", "out.csv")
    yield Command("decode --table", places)
    yield Command("fit", ("fit", folder, *learn, *voxels, "-o", "out"))
    yield Command("fit, replacing", ("fit", folder, *learn, *voxels, "-o", "out"), replaces=True)
    yield Command("compare", ("compare", folder, *learn, *grids, "-o", "out"), goes_on=True)
    yield Command("contrast", (*term, "--cache", "cache", "-o", "out"))
    yield Command("term", ("term", "left amygdala", *model, "-o", "out"))
    yield Command("term --all", ("term", "--all", "--csv", *model, "-o", "out"))
    run = ("benchmark", "-o", "out", "--corpus", folder, *entries)
    yield Command("benchmark", run, goes_on=True)
    yield Command("corpus import", ("corpus", "import", studies, "-o", "out"))
    if lists is not None:
        sources = ("--sources", str(lists))
        yield Command("vocabulary build", ("vocabulary", "build", *sources, "-o", "out.csv"))


# ---- one fault


@dataclass
class Trial:
    """A command, and the folder in which it is disturbed."""

    command: Command
    place: Path
    right: dict[str, object] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    before: Path | None = None  # copy of what is there before the command
    known: dict[str, list[str]] = field(default_factory=dict)  # what comes of a state of the disk

    def prepare(self) -> None:
        """Run undisturbed; what replaces finds an output."""
        self.reset()
        self._finish_or_exit()
        if self.command.replaces:
            self.before = self.place.with_name("before")
            shutil.rmtree(self.before, ignore_errors=True)
            shutil.copytree(self.place, self.before)
        self.reset()
        shutil.rmtree(self.killed_at(0).parent, ignore_errors=True)
        steps = count(1)
        self.changes = changes_of(
            self._finish_or_exit,
            self.place,
            lambda: shutil.copytree(self.place, self.killed_at(next(steps))),
        )
        self.right = contents(self.place)
        if left := hidden(self.place):
            raise SystemExit(f"{self.command.name} left {', '.join(left)}")

    def reset(self, state: Path | None = None) -> None:
        """Put the folder in a state, by default that before the command."""
        for path in self.place.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if (state := state or self.before) is not None:
            shutil.copytree(state, self.place, dirs_exist_ok=True)

    def killed_at(self, step: int) -> Path:
        """Return the copy of the folder before a change."""
        return self.place.with_name("killed") / str(step)

    def finish(self, before: Callable[[], None] = lambda: None) -> Result:
        """Run in a copy of this process, in the folder."""
        log = LOGS / "crash-points.log"
        return wait(start(self.command, self.place, log, before), log)

    def _finish_or_exit(self, before: Callable[[], None] = lambda: None) -> None:
        if (result := self.finish(before)).code:
            raise SystemExit(f"{self.command.name}: {result.said}")

    def disturb(self, step: int, fault: str) -> list[str]:
        """Let a fault come at a change, then run again; say what is wrong."""
        wrong = []
        if fault == "EIO":
            self.reset()
            result = self.finish(lambda: fault_at(step, break_the_disk, self.place))
            wrong = refused(result)
        else:
            self.reset(self.killed_at(step))
        state = state_of(self.place)
        if state not in self.known:  # many faults leave the same
            self.known[state] = self._go_on()
        return wrong + self.known[state]

    def _go_on(self) -> list[str]:
        """Run again; say what is wrong with what is there, and then."""
        is_done = self._is_right()
        wrong = []
        if not (is_done or self.command.goes_on or self._is_untouched()):
            wrong.append("there is something that is not whole")
        again = self.finish()
        if again.code and not (is_done and IS_DONE in again.said):
            wrong.append(f"the next run says: {again.said.strip()}")
        if left := hidden(self.place):
            wrong.append(f"the next run leaves {', '.join(left)}")
        seen, right = contents(self.place), self.right
        names = sorted(name for name in {*seen, *right} if seen.get(name) != right.get(name))
        return [*wrong, *[f"after the next run {', '.join(names)} differ"] * bool(names)]

    def _is_right(self) -> bool:
        return contents(self.place) == self.right

    def _is_untouched(self) -> bool:
        """Whether the output is absent, or the one before, or moved aside by a kill."""
        seen = contents(self.place)
        before = {} if self.before is None else contents(self.before)
        return not outputs(seen) or outputs(seen) == outputs(before)


def state_of(folder: Path) -> str:
    """Return a digest of all that is in a folder, but for the tokens in hidden names."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: TOKEN.sub("", str(path))):
        content = b"" if path.is_dir() else path.read_bytes()
        whole.update(f"{TOKEN.sub('', str(path))}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def outputs(files: dict[str, object]) -> dict[str, object]:
    """Leave out what is kept for the next run."""
    return {name: said for name, said in files.items() if not name.startswith("cache/")}


def refused(result: Result) -> list[str]:
    """Say what is wrong with the end of a command whose disk failed once: one line, or success."""
    lines = [line for line in result.said.splitlines() if "warning" not in line]
    if result.code == 0 or (result.code == 1 and lines and lines[-1].startswith("neurowhere: ")):
        return ["traceback"] if "Traceback" in result.said else []
    return [f"after EIO, code {result.code}: {result.said.strip()}"]


# ---- the table


class Row(NamedTuple):
    """What the faults at the changes of a command came to."""

    n_changes: int
    n_right: dict[str, int]
    problems: list[str]


def sweep(trial: Trial, every: int, kind: str) -> Row:
    """Disturb a command at each change."""
    trial.prepare()
    n_right, problems = dict.fromkeys(FAULTS, 0), []
    steps = [n for n, change in enumerate(trial.changes, start=1) if kind in change][::every]
    for fault in FAULTS:
        for step in steps:
            wrong = trial.disturb(step, fault)
            n_right[fault] += not wrong
            at = f"{fault} at {step} ({trial.changes[step - 1]})"
            problems += [f"{at}: {line}" for line in wrong]
    return Row(len(steps), n_right, problems)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run the commands whose name begins with this")
    parser.add_argument("--every", type=int, default=1, help="take one change of so many")
    parser.add_argument("--kind", default="", help="take the changes of this kind, say os.remove")
    parser.add_argument("--lists", type=Path, help="folder of the lists for vocabulary build")
    options = parser.parse_args()
    lists = options.lists and options.lists.resolve()
    import_all()
    memory = Path("/dev/shm")
    problems = []
    print("| command | changes of the disk | right after kill -9 | right after EIO | minutes |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        material, place = Path(folder, "material"), Path(folder, "place")
        material.mkdir()
        place.mkdir()
        os.chdir(place)
        for command in make_commands(material, lists):
            if not command.name.startswith(options.only):
                continue
            began = time.monotonic()
            row = sweep(Trial(command, place), options.every, options.kind)
            minutes = (time.monotonic() - began) / 60
            counts = " | ".join(map(str, row.n_right.values()))
            print(f"| {command.name} | {row.n_changes} | {counts} | {minutes:.1f} |", flush=True)
            for problem in row.problems:
                print(f"    {problem}", flush=True)
            problems += row.problems
    shutil.rmtree(LOGS)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
