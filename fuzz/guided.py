"""Bytes changed by atheris, guided by coverage: ``python -m fuzz.guided FOLDER SHARE TARGET...``.

atheris ends the process that it runs in: each target has a copy of this one, one after the other,
which writes what it found to FOLDER/TARGET.json as it goes.
"""

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["neurowhere"]):
    from fuzz.__main__ import COUNTS, SEED, Tally, core_seconds
    from fuzz.targets import Target, make_targets

LONGEST = 1024  # bytes, but for longer seeds
KEPT_EVERY = 200  # inputs


def main() -> None:
    """Run targets."""
    warnings.simplefilter("ignore")
    folder, share, names = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    for target in make_targets():
        if target.name not in names:
            continue
        child = os.fork()
        if not child:
            run(target, int(COUNTS[target.name][1] * share), folder)
        _, status = os.waitpid(child, 0)
        if status:
            file = folder / f"{target.name}.json"
            tally = Tally.from_json(file.read_text()) if file.exists() else Tally()
            tally.findings[f"process ended by {status}"] = b""
            tally.details[f"process ended by {status}"] = ""
            file.write_text(tally.to_json())


def run(target: Target, n_inputs: int, folder: Path) -> None:
    """Run one target; this does not return."""
    corpus, words = folder / f"{target.name} corpus", folder / "words"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    arguments = [
        "fuzz",
        f"-runs={n_inputs}",
        f"-seed={SEED}",
        f"-max_len={max(LONGEST, *map(len, target.seeds))}",
        f"-dict={words}",
        f"-artifact_prefix={folder}/",
        "-timeout=100000",  # attempts have limits of their own
        "-rss_limit_mb=4096",
        str(corpus),
    ]
    atheris.Setup(arguments, _giving(target, folder / f"{target.name}.json", n_inputs))
    atheris.Fuzz()


def _giving(target: Target, result: Path, n_inputs: int) -> Callable[[bytes], None]:
    tally, begin = Tally(), core_seconds()

    def give(data: bytes) -> None:
        new = tally.add(target, data)
        if new or tally.n_inputs % KEPT_EVERY == 0 or tally.n_inputs >= n_inputs:
            tally.seconds = core_seconds() - begin
            result.write_text(tally.to_json())

    return give


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


if __name__ == "__main__":
    main()
