"""The page on clinical language has the rows that the reader has."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_lists_of_the_page_are_those_of_the_tables():
    spec = importlib.util.spec_from_file_location("grammar", ROOT / "tools" / "grammar.py")
    assert spec is not None
    assert spec.loader is not None
    grammar = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(grammar)
    page = grammar.PAGE.read_text("utf-8")
    assert grammar.filled(page) == page
    assert {path.stem for path in grammar.TABLES.glob("*.csv")} == grammar.SAYS.keys()
