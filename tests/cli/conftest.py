"""What the tests of all commands share: a way to run them as a user does."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from neurowhere.cli import main


@dataclass
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run `neurowhere` with arguments; nothing it does to warnings outlives it."""

    def run_command(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["neurowhere", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        with warnings.catch_warnings(), pytest.raises(SystemExit) as stop:
            main()
        if isinstance(stop.value.code, str):  # sys.exit("message") prints it, and the code is 1
            print(stop.value.code, file=sys.stderr)
        code = stop.value.code if isinstance(stop.value.code, int) else int(bool(stop.value.code))
        output = capsys.readouterr()
        return Outcome(code, output.out, output.err)

    return run_command
