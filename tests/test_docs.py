"""The documentation is derived from the code, or checked against it: a gap is a failure."""

import ast
import importlib
import re
import runpy
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints
from urllib.parse import unquote

import pytest
import typer

import neurowhere
from neurowhere import Summary
from neurowhere.cli import app
from neurowhere.model.schema import SCHEMA_VERSION
from neurowhere.web import Settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = [*sorted(DOCS.glob("*.md")), *sorted((DOCS / "benchmarks").glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *GUIDES]
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")
ENTRY = re.compile(r"^   ([\w.]+)$", re.MULTILINE)  # of an autosummary
GENERATED = {  # pages that Sphinx makes, and what it makes them of
    "generated/commands.md": DOCS / "extensions" / "commands.py",
    "generated/gallery/index.rst": ROOT / "examples" / "README.rst",
}
SETTINGS = {  # options that are not called as their setting
    "origins": "origin",
    "allow_hosts": "allow-host",
}


def read(name):
    return (DOCS / name).read_text("utf-8")


def has_word(text, word):
    """Whether a text has a word, and not only a longer one: --terms is not --term."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


# ---- commands


def commands(command=None, name="neurowhere"):
    """Each command by its full name, as the application has it."""
    command = command or typer.main.get_command(app)
    for inner, each in getattr(command, "commands", {}).items():
        yield from commands(each, f"{name} {inner}")
    if not hasattr(command, "commands"):
        yield name, command


def option_names(command):
    """Long names of the options of a command, those that turn a flag off among them."""
    options = [each for each in command.params if each.param_type_name == "option"]
    names = [name for each in options for name in (*each.opts, *each.secondary_opts)]
    return [name for name in names if name.startswith("--")]


def has_option(text, name):
    """Whether a text has an option; -o will do for --output."""
    return has_word(text, name) or (name == "--output" and has_word(text, "-o"))


COMMANDS = dict(commands())


def test_the_application_has_the_commands_of_the_house():
    assert {"neurowhere encode", "neurowhere corpus import", "neurowhere serve"} <= set(COMMANDS)
    assert "--minus" in option_names(COMMANDS["neurowhere encode"])
    assert "--no-negation" in option_names(COMMANDS["neurowhere encode"])


@pytest.mark.parametrize("name", COMMANDS)
def test_a_guide_has_the_command_with_all_its_options(name):
    guides = [page.read_text("utf-8") for page in GUIDES if has_word(page.read_text("utf-8"), name)]
    assert guides, f"no page of docs/ has {name}"
    names = option_names(COMMANDS[name])
    missing = [[each for each in names if not has_option(guide, each)] for guide in guides]
    assert [] in missing, f"{name}: its page lacks {min(missing, key=len)}"


@pytest.fixture(scope="module")
def reference():
    return runpy.run_path(str(DOCS / "extensions" / "commands.py"))["describe_commands"]()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_the_command_with_all_its_options(reference, name):
    (section,) = re.findall(rf"^#+ `{name}`\n(.*?)(?=^#|\Z)", reference, re.DOTALL | re.MULTILINE)
    for option in option_names(COMMANDS[name]):
        assert has_word(section, option)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_a_help_text(name):
    for parameter in COMMANDS[name].params:
        assert parameter.help, f"{name}: {parameter.name}"
        assert re.match(r"(?!Of |That |Until )[A-Z].*\.$", parameter.help), parameter.help


# ---- Python


def entries():
    """Names in the reference of the package."""
    return ENTRY.findall(read("api.md"))


@pytest.mark.parametrize("name", neurowhere.__all__)
def test_every_public_name_is_in_the_reference(name):
    assert name in entries()


def imports(source):
    """Names that a program imports from the package, as (module, name)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("neurowhere"):
            yield from ((node.module, alias.name) for alias in node.names)


def shown_imports():
    """Imports in the examples of the pages and of the gallery."""
    programs = {script.name: [script.read_text("utf-8")] for script in SCRIPTS}
    programs |= {page.name: PYTHON.findall(page.read_text("utf-8")) for page in PAGES}
    for name, sources in programs.items():
        yield from ((name, *found) for source in sources for found in imports(source))


def test_there_are_imports_to_check():
    assert ("README.md", "neurowhere", "load_model") in list(shown_imports())


def test_the_reference_and_the_examples_name_what_is_there():
    missing = []
    for name in entries():
        module, _, last = f"neurowhere.{name}".rpartition(".")
        if not hasattr(importlib.import_module(module), last):
            missing.append(name)
    for page, module, name in shown_imports():
        if not hasattr(importlib.import_module(module), name):
            missing.append(f"{page}: {module}.{name}")
    assert not missing


def test_examples_import_what_is_public():
    """From the package itself, or what a room exports."""
    for page, module, name in shown_imports():
        exported = getattr(importlib.import_module(module), "__all__", ())
        assert module.count(".") <= 1, f"{page}: {module}"
        assert name in exported, f"{page}: {module}.{name}"


# ---- JSON


def parts(kind):
    """Each class of plain data within a class, that class first."""
    yield kind
    hints = get_type_hints(kind)
    for name in kind.__dataclass_fields__:
        for part in (hints[name], *get_args(hints[name])):
            for each in (part, *get_args(part)):
                if is_dataclass(each):
                    yield from parts(each)


@pytest.mark.parametrize("kind", list(dict.fromkeys(parts(Summary))), ids=lambda k: k.__name__)
def test_every_field_of_the_json_object_is_documented(kind):
    page = read("json.md")
    section = page.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert documented == list(kind.__dataclass_fields__)
    assert f"`schema_version` | {SCHEMA_VERSION}" in page


# ---- HTTP


def paths(router):
    """Path of each route of an application or a router, also of routers within."""
    for route in router.routes:
        if hasattr(route, "original_router"):  # as new versions of FastAPI keep it
            yield from paths(route.original_router)
        else:
            yield route.path


def test_every_route_is_documented():
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from tests.studies import GRID, TERMS, make_corpus

    from neurowhere import Encoder
    from neurowhere.web.server import create_app

    model = Encoder(GRID, text="none", vocabulary=TERMS).fit(make_corpus())
    routes = set(paths(create_app(model)))
    assert {"/api/v1/encode", "/api/v1/encode.nii.gz", "/docs"} <= routes
    page = read("serve.md")
    for path in routes:
        stem, _, suffix = path.removeprefix("/api/v1").partition(".")
        if path.endswith("openapi.json"):
            stem, suffix = path, ""
        assert f"`{stem}`" in page, path
        row = next((line for line in page.splitlines() if line.startswith(f"| `{stem}` |")), page)
        assert not suffix or f"`.{suffix}`" in row, path


@pytest.mark.parametrize("name", Settings.__dataclass_fields__)
def test_every_setting_is_an_option_and_documented(name):
    option = "--" + SETTINGS.get(name, name).replace("_", "-")
    assert option in option_names(COMMANDS["neurowhere serve"])
    (row,) = (line for line in read("serve.md").splitlines() if line.startswith(f"| `{option}` |"))
    assert f"| `NEUROWHERE_{name.upper()}` |" in row
    default = getattr(Settings(), name)
    if isinstance(default, int | float) and name != "workers":  # whose defaults are numbers
        assert f"| {f'{default:,}'.removesuffix('.0')} |" in row


def test_every_environment_variable_is_documented():
    variables = {each.envvar for c in COMMANDS.values() for each in c.params if each.envvar}
    assert "NEUROWHERE_PORT" in variables
    for variable in variables:
        assert f"`{variable}`" in read("serve.md")


# ---- pages


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_images_are_there(page):
    for link, anchor in links(page):
        target = source_of(page, link) if link else page
        assert target.exists(), f"{page.name} links to {link}, which is missing"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {link}#{anchor}"


def test_every_page_is_in_the_table_of_contents():
    listed = read("index.md").splitlines()
    names = [page.relative_to(DOCS).with_suffix("").as_posix() for page in GUIDES]
    assert not [name for name in names if name not in ["index", *listed]]


def test_every_benchmark_is_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in (DOCS / "benchmarks").glob("*.md"))
    scripts = [*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "benchmarks").glob("*.sh")]
    shared = {"setting.py", "matcher.py"}  # what others import
    assert not [each.name for each in scripts if each.name not in shared and each.name not in pages]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_scripts_that_are_there(page):
    folders = ("benchmarks", "tools", "recipe", "tests", "examples", "fuzz", "src", "deploy")
    there = {path.name for folder in folders for path in (ROOT / folder).rglob("*.[ps][yh]")}
    named = re.findall(r"\b(\w+\.(?:py|sh))\b", page.read_text("utf-8"))
    own = {"make_studies.py", "toy.py", "toy_command.py", "toy_maps.py"}  # the reader writes them
    assert not set(named) - there - own


def test_nothing_is_installed_from_an_index_that_does_not_have_it():
    """The package is not published yet: pip finds it only in a clone."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert not re.findall(r"pip install[^`;&\n]*[ \"']neurowhere\b", readme)
