"""The help of every command has an example, and every option is on a page of the docs."""

from pathlib import Path

import pytest
import typer

from neurowhere.cli import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "encode": "encode",
    "decode": "encode",
    "corpus": "corpus",
    "vocabulary": "text",
    "model": "model",
    "fit": "model",
    "score": "model",
    "term": "model",
    "compare": "compare",
    "contrast": "contrast",
    "serve": "serve",
}


def all_commands():
    """Each command by its full name."""
    for name, command in typer.main.get_command(app).commands.items():
        for inner, each in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), each


COMMANDS = dict(all_commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(run, name):
    outcome = run(*name.split(), "--help")
    assert outcome.code == 0
    assert f"neurowhere {name} " in outcome.out.split("Example", 1)[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name):
    page = (DOCS / f"{PAGES[name.split()[0]]}.md").read_text(encoding="utf-8")
    assert f"neurowhere {name}" in page
    for option in COMMANDS[name].params:
        if option.param_type_name == "option":
            assert any(each in page for each in (*option.opts, *option.secondary_opts)), option.opts
