"""Pages of the documentation: links and images are there, every page and command is found."""

import re
import runpy
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
GENERATED = {  # pages that Sphinx makes, and what it makes them of
    "generated/commands.md": DOCS / "extensions" / "commands.py",
    "generated/gallery/index.rst": ROOT / "examples" / "README.rst",
}


def links(page):
    """Addresses within the repository that a page links to or shows."""
    text = CODE.sub("", FENCE.sub("", page.read_text("utf-8")))
    found = LINK.findall(text)
    return [unquote(link).partition("#")[::2] for link in found if "://" not in link]


def source_of(page, link):
    """File that a link leads to, or that what it leads to is made of."""
    path = (page.parent / link).resolve()
    name = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    if name in GENERATED:
        return GENERATED[name]
    if name.startswith("generated/gallery/"):
        return ROOT / "examples" / f"{path.stem}.py"
    return path


def anchors(page):
    """Anchors of the headings of a page, as GitHub and MyST make them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_images_are_there(page):
    for link, anchor in links(page):
        target = source_of(page, link) if link else page
        assert target.exists(), f"{page.name} links to {link}, which is missing"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {link}#{anchor}"


def test_every_page_is_in_the_table_of_contents():
    listed = (DOCS / "index.md").read_text("utf-8").splitlines()
    missing = [page.stem for page in DOCS.glob("*.md") if page.stem not in ["index", *listed]]
    assert not missing


def test_every_command_is_in_the_reference():
    text = runpy.run_path(str(DOCS / "extensions" / "commands.py"))["describe_commands"]()
    commands = "encode decode fit score term compare contrast serve"
    groups = "corpus import, corpus download, vocabulary build, model verify"
    for command in [*commands.split(), *groups.split(", ")]:
        assert f"# `neurowhere {command}`" in text
    assert "--partition" in text
