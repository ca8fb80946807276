"""The help of every command has an example."""

import subprocess
import sys
from importlib import metadata

import pytest
import typer

from neurowhere.cli import app


def all_commands():
    """Full name of each command."""
    for name, command in typer.main.get_command(app).commands.items():
        for inner in getattr(command, "commands", [""]):
            yield f"{name} {inner}".strip()


@pytest.mark.parametrize("name", list(all_commands()))
def test_help_has_an_example(run, name):
    outcome = run(*name.split(), "--help")
    assert outcome.code == 0
    assert f"neurowhere {name} " in outcome.out.split("Example", 1)[1]


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "neurowhere", "--version"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert told.split() == ["neurowhere", metadata.version("neurowhere")]
