"""What the tests of all commands share: a way to run them as a user does, and a small model."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.studies import small_model

from neurowhere import save_model
from neurowhere.cli import main


@dataclass
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def assert_refused(self, message: str) -> None:
        """One line says what is wrong with the input, and nothing else is printed."""
        assert (self.code, self.out) == (1, "")
        assert self.err.startswith("neurowhere: ")
        assert message in self.err
        assert self.err.count("\n") == 1


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


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a small log-linear model."""
    folder = tmp_path_factory.mktemp("models") / "model"
    save_model(small_model("likelihood"), folder)
    return folder


@pytest.fixture
def encode(run: Callable[..., Outcome], model: Path) -> Callable[..., Outcome]:
    """Run `neurowhere encode` with the small model."""
    return lambda *arguments: run("encode", *arguments, "--model", model)
