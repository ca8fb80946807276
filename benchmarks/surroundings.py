"""Surroundings: the main commands under python -O, locale C, odd paths, no home, other users.

``python benchmarks/surroundings.py`` prints a table. The commands run one after another, each on
what the ones before have written: at first as usual, which says what is right, then in each of the
surroundings. A run is right if it ends with code 0, says nothing on stderr, and writes the same
tables and images; it warns if all that it says are warnings of ours, one line each. Another user is
only tried by root, on Linux with ``setpriv``.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from faults import write_studies

ROOT = Path(__file__).parents[1]
N_STUDIES = 90
TEXT = "Left amygdala and visual cortex; no lesion in the motor cortex."
COMPARED = {".csv", ".gz"}  # files that hold no date
UNLIKE = {"scores.csv", "summary.csv"}  # but the seconds that a fold took
LONGEST_SECONDS = 1800
# Folders that commands write.
OUTPUTS = {
    "corpus import": "corpus",
    "contrast": "contrast",
    "encode -o": "encoded",
    "encode batch": "batch",
    "term": "term",
    "decode": "decoded",
}
NOBODY = 65534
# Runs the commands that it is given, one after another in one process, which saves imports.
START = """
import contextlib, io, json, multiprocessing, sys, traceback

def run(arguments):
    from neurowhere.cli import main
    said = [io.TextIOWrapper(io.BytesIO(), each.encoding, each.errors)
            for each in (sys.stdout, sys.stderr)]
    sys.argv = ["neurowhere", *arguments]
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        except BaseException:
            code = traceback.format_exc()
    for each in said:
        each.flush()
    return code, said[1].buffer.getvalue().decode("utf-8", "replace")

if __name__ == "__main__":
    method, *commands = sys.argv[1:]
    if method:
        multiprocessing.set_start_method(method)
    for command in commands:
        result = run(json.loads(command))
        print(json.dumps(result), flush=True)
"""


@dataclass(frozen=True)
class Surroundings:
    """Where commands run.

    Attributes
    ----------
    name : str
    options : tuple of str
        Of Python.
    variables : dict
        Of the environment; None removes one.
    method : str
        How worker processes are started, "" for the usual way.
    folder : str
        Name of the folder in which all happens.
    prefix : tuple of str
        Command before Python.
    """

    name: str
    options: tuple[str, ...] = ()
    variables: dict[str, str | None] = field(default_factory=dict)
    method: str = ""
    folder: str = "work"
    prefix: tuple[str, ...] = ()


NO_HOME: dict[str, str | None] = {"HOME": None, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None}
# May read all, as the interpreter may be in a folder of root's, and write what is its own.
OTHER_USER = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
    "--bounding-set=-all,+dac_read_search",
)
ALL = [
    Surroundings("as usual"),
    Surroundings("python -O", options=("-O",)),
    Surroundings("LC_ALL=C", variables={"LC_ALL": "C", "LANG": "C"}),
    Surroundings("newline in the path", folder="wo\nrk"),
    Surroundings("no HOME", variables=NO_HOME),
    Surroundings("spawn", method="spawn"),
    Surroundings("not root", prefix=OTHER_USER),
    Surroundings(
        "not root, no home that may be written",
        prefix=OTHER_USER,
        variables={"HOME": "/nonexistent", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    ),
]


def write_material(place: Path) -> None:
    """Write studies, terms and texts."""
    write_studies(place, N_STUDIES)
    rows = ["é,left amygdala", "a/b,visual cortex", "=1,motor cortex"]
    (place / "texts.csv").write_text("\n".join(["id,text", *rows]), "utf-8")


def commands(place: Path) -> dict[str, list[str]]:
    """Return the commands, by name."""

    def at(name: str) -> str:
        return str(place / name)

    model, cores = ("--model", at("model")), ("--jobs", "2")
    learn = ("--vocabulary", at("terms.txt"), *cores)
    return {
        "corpus import": ["corpus", "import", at("studies.jsonl"), "-o", at("corpus")],
        "corpus info": ["corpus", "info", at("corpus")],
        "fit": [
            *("fit", at("corpus"), "-o", at("model"), *learn, "--loss", "l2"),
            *("--partition", "voxels:8", "--min-studies", "1"),
        ],
        "model verify": ["model", "verify", at("model")],
        "score": ["score", at("model"), at("corpus")],
        "compare": [
            *("compare", at("corpus"), "-o", at("compared"), *learn),
            *("--partitions", "voxels:12", "--losses", "l1,l2", "--folds", "2"),
        ],
        "contrast": [
            *("contrast", at("studies.jsonl"), "--term", "huntington", "-o", at("contrast")),
            *(*model, *cores, "--cache", at("cache")),
        ],
        "encode": ["encode", TEXT, *model],
        "encode -o": ["encode", TEXT, *model, "-o", at("encoded")],
        "encode batch": ["encode", at("texts.csv"), *model, "-o", at("batch"), "--no-pictures"],
        "term": ["term", "left amygdala", *model, "-o", at("term")],
        "decode": ["decode", "-24", "-4", "-18", *model, "-o", at("decoded")],
    }


def run_all(
    surroundings: Surroundings, parent: Path, names: list[str] | None = None
) -> dict[str, tuple[str, str]]:
    """Run commands; return what was wrong with each, and a digest of what it wrote."""
    top = Path(tempfile.mkdtemp(dir=parent))
    place = top / surroundings.folder
    place.mkdir()
    write_material(place)
    if surroundings.prefix:
        for path in (top, *top.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    chosen = {k: v for k, v in commands(place).items() if names is None or k in names}
    problems = run(surroundings, chosen, place)
    digests = {name: digest_of(place / OUTPUTS[name]) for name in OUTPUTS}
    shutil.rmtree(top)
    return {name: (problem, digests.get(name, "")) for name, problem in problems.items()}


def run(surroundings: Surroundings, wanted: dict[str, list[str]], place: Path) -> dict[str, str]:
    """Run commands; return what was wrong with each, "" if nothing."""
    script = place.parent / "start.py"
    script.write_text(START)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **surroundings.variables}
    python = [*surroundings.prefix, sys.executable, *surroundings.options]
    done = subprocess.run(
        [*python, script, surroundings.method, *map(json.dumps, wanted.values())],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=place,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONGEST_SECONDS,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    answers += [("did not run", "")] * (len(wanted) - len(answers))
    if done.stderr:
        print(f"{surroundings.name}: {done.stderr}", flush=True)
    return {
        name: judge(f"{surroundings.name}: {name}", *answer)
        for name, answer in zip(wanted, answers, strict=True)
    }


def judge(where: str, code: int | str | None, said: str) -> str:
    """Return what is wrong with the end of a command, and print it in full."""
    if not code and not said:
        return ""
    print(f"{where}: {code}\n{said}", flush=True)
    if code:
        return "fails"
    is_warning = all(line.startswith("neurowhere: warning: ") for line in said.splitlines())
    return "warns" if is_warning else "says something"


def digest_of(folder: Path) -> str:
    """Return a digest of the tables and images of a folder."""
    return hashlib.sha256(repr(sorted(written(folder).items())).encode()).hexdigest()


def written(place: Path) -> dict[str, str]:
    """Return digests of the tables and images that a run has written, by path."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.suffix in COMPARED and path.name not in UNLIKE
    }


def main() -> None:
    """Run all commands in all surroundings, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="Names of surroundings.")
    parser.add_argument("--commands", nargs="*", help="Names of commands, in their order.")
    arguments = parser.parse_args()
    wanted = arguments.only
    chosen = [ALL[0], *(each for each in ALL[1:] if wanted is None or each.name in wanted)]
    if os.name != "posix" or os.getuid() or not shutil.which("setpriv"):
        chosen = [each for each in chosen if not each.prefix]
    results = {}
    with tempfile.TemporaryDirectory(prefix="surroundings-") as parent:
        Path(parent).chmod(0o755)
        for each in chosen:
            results[each.name] = run_all(each, Path(parent), arguments.commands)
    usual = results["as usual"]
    print("| command |", " | ".join(results), "|")
    print("| --- |" + " --- |" * len(results))
    for name in usual:
        cells = []
        for there in results.values():
            problem, digest = there[name]
            cells.append(problem or ("right" if digest == usual[name][1] else "other files"))
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
