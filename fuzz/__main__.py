"""The long run: ``python -m fuzz`` gives a million inputs to all targets and prints a table.

Some come from hypothesis, by structure; the others are right inputs whose bytes atheris changes,
guided by the branches that they reach (without atheris: by chance). One process at a time.
"""

import argparse
import importlib.util
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.alter import mutate
from fuzz.attempt import attempt
from fuzz.targets import Target, make_targets, scratch

SEED = 20261116
SHOWN = 300  # bytes of an input that is shown
# Inputs of a whole run, by structure and by changed bytes: most where they cost least.
COUNTS = {
    "tokens": (250, 360_000),
    "terms, sides, negation": (1_000, 20_000),
    "encode, highlight": (500, 4_000),
    "ends of texts": (3_000, 3_000),
    "queries": (400, 300_000),
    "expressions": (2_000, 20_000),
    "HTML, arguments": (400, 300_000),
    "files of texts": (1_000, 20_000),
    "PDF": (400, 6_000),
    "JATS XML": (500, 3_000),
    "JSON lines": (1_000, 5_000),
    "CSV": (1_000, 5_000),
    "NIMADS": (1_000, 10_000),
    "tables of spaces": (500, 10_000),
    "vocabularies": (300, 10_000),
    "folder of a corpus": (1_000, 5_000),
    "NeuroQuery": (600, 4_000),
    "Neurosynth": (600, 5_000),
    "pubget": (800, 5_000),
    "folder of a model": (1_000, 5_000),
    "atlases": (1_000, 8_000),
    "decode": (800, 5_000),
    "HTTP": (800, 6_000),
}


class Tally:
    """Inputs that a target was given, and the shortest one for each thing found."""

    def __init__(self) -> None:
        self.n_inputs = 0
        self.seconds = 0.0  # of all cores
        self.findings: dict[str, bytes] = {}  # by what went wrong and where
        self.details: dict[str, str] = {}

    def add(self, target: Target, data: bytes) -> bool:
        """Give an input to a target; whether it found something new."""
        self.n_inputs += 1
        finding = attempt(target.call, data)
        if finding is None:
            return False
        name = f"{finding.problem} at {finding.place}"
        new = name not in self.findings
        if new or len(data) < len(self.findings[name]):
            self.findings[name], self.details[name] = data, finding.detail
        return new

    def join(self, other: "Tally") -> None:
        """Add what another has."""
        self.n_inputs += other.n_inputs
        self.seconds += other.seconds
        self.findings = {**other.findings, **self.findings}
        self.details = {**other.details, **self.details}

    def to_json(self) -> str:
        """Write it."""
        findings = {name: data.hex() for name, data in self.findings.items()}
        return json.dumps(vars(self) | {"findings": findings})

    @classmethod
    def from_json(cls, text: str) -> "Tally":
        """Read what `to_json` wrote."""
        tally = cls()
        vars(tally).update(json.loads(text))
        tally.findings = {name: bytes.fromhex(data) for name, data in tally.findings.items()}
        return tally


def main() -> None:
    """Run all targets, or those asked for, and print what came of it."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--only", default="", help="run the targets whose name holds this")
    parser.add_argument("--share", type=float, default=1.0, help="of the inputs of a whole run")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # as the command line does
    targets = [target for target in make_targets() if options.only in target.name]
    structured, changed = {}, {}
    for target in targets:
        structured[target.name] = _timed(run_structured, target, options.share)
    if importlib.util.find_spec("atheris") is None:
        for target in targets:
            changed[target.name] = _timed(run_bytes, target, options.share)
    else:
        changed = run_guided(targets, options.share)
    shutil.rmtree(scratch(), ignore_errors=True)
    sys.exit(print_table(structured, changed) > 0)


def print_table(structured: dict[str, Tally], changed: dict[str, Tally]) -> int:
    """Print what came of each target, and give the number of findings."""
    print(f"{'target':<24}{'structured':>11}{'bytes':>9}{'seconds':>9}{'findings':>10}")
    total = Tally()
    for name, tally in structured.items():
        other = changed[name]
        n_structured, n_bytes = tally.n_inputs, other.n_inputs
        tally.join(other)
        seconds, n_found = tally.seconds, len(tally.findings)
        print(f"{name:<24}{n_structured:>11,}{n_bytes:>9,}{seconds:>9.1f}{n_found:>10}")
        for found, data in tally.findings.items():
            detail = tally.details[found]
            print(f"    {found}: {detail!r} {data[:SHOWN]!r}, {len(data):,} bytes")
        tally.findings = {f"{name}: {found}": data for found, data in tally.findings.items()}
        tally.details = {f"{name}: {found}": words for found, words in tally.details.items()}
        total.join(tally)
    print(f"{'in all':<24}{total.n_inputs:>20,}{total.seconds:>9.1f}{len(total.findings):>10}")
    return len(total.findings)


def _timed(run: Callable[[Target, Tally, float], None], target: Target, share: float) -> Tally:
    tally, begin = Tally(), core_seconds()
    run(target, tally, share)
    tally.seconds = core_seconds() - begin
    return tally


def run_structured(target: Target, tally: Tally, share: float) -> None:
    """Give a target what hypothesis makes."""

    @seed(SEED)
    @settings(
        max_examples=max(int(COUNTS[target.name][0] * share), 1),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.structured)
    def run(data: bytes) -> None:
        tally.add(target, data)

    run()


def run_bytes(target: Target, tally: Tally, share: float) -> None:
    """Give a target right inputs whose bytes are changed by chance."""
    rng = random.Random(SEED)
    words = [word.encode() for word in target.words]
    for _ in range(int(COUNTS[target.name][1] * share)):
        tally.add(target, mutate(rng.choice(target.seeds), rng, words))


def run_guided(targets: Sequence[Target], share: float) -> dict[str, Tally]:
    """Give targets right inputs whose bytes atheris changes, in another process."""
    with tempfile.TemporaryDirectory() as folder:
        names = [target.name for target in targets]
        command = [sys.executable, "-m", "fuzz.guided", folder, str(share), *names]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return {name: Tally.from_json(Path(folder, f"{name}.json").read_text()) for name in names}


def core_seconds() -> float:
    """Seconds of all cores that this process and those that it started have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()
