"""The help of every command has an example."""

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
