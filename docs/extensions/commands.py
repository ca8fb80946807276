"""The command-line reference, written by typer from the commands themselves."""

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

if TYPE_CHECKING:  # the tests make the page without Sphinx
    from sphinx.application import Sphinx

PAGE = Path("generated") / "commands.md"
TITLE = "Command-line reference"


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the page before Sphinx looks for pages."""
    app.connect("builder-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_page(app: "Sphinx") -> None:
    """Write the page, unless it is there and the same, so that it is not built again."""
    page = app.srcdir / PAGE
    page.parent.mkdir(exist_ok=True)
    text = describe_commands()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def describe_commands() -> str:
    """Every command with its arguments and options, in Markdown."""
    from neurowhere.cli import app

    command = get_command(app)
    described = get_docs_for_click(obj=command, ctx=Context(command), name="neurowhere")
    return described.replace("# `neurowhere`", f"# {TITLE}", 1).replace("```console", "```text")
