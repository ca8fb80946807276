import json
import re
from importlib.resources import files

import pytest
from jinja2 import UndefinedError
from tests.report.pages import Page

from neurowhere.model.methods import MethodsText
from neurowhere.report.page import render, render_page

HOSTILE = "<script>alert(\"x\")</script> & 'quotes'"
COMPARISON = {
    "settings": {"studies": 1, "peaks": 2, "terms": 3, "seed": HOSTILE},
    "n_partitions": 1,
    "n_folds": 1,
    "header": [HOSTILE],
    "rows": [[HOSTILE]],
    "legend": HOSTILE,
    "model": HOSTILE,
    "partition": HOSTILE,
    "methods": MethodsText(HOSTILE, HOSTILE),
}


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("<svg/>")
    return path


def test_every_value_is_escaped(picture):
    values = COMPARISON | {"plot": picture, "examples": [(picture, HOSTILE)]}
    found = Page(render_page("comparison.html", **values))
    assert "script" not in found.tags
    assert "".join(found.words).count(HOSTILE) == 9  # six of the page, two of methods, caption


def test_pictures_are_inside_and_nothing_is_fetched(picture):
    text = render_page("comparison.html", **COMPARISON, plot=picture, examples=[])
    assert Page(text).addresses == [("img", "src", "data:image/svg+xml;base64,PHN2Zy8+")]
    assert "http:" not in text
    assert "https:" not in text


def test_data_for_a_script_cannot_end_its_element():
    data = {"name": "</script><!--<script>&'", "smooth": False}
    macro = "{% from 'viewer.html' import viewer_data %}{{ viewer_data(data) }}"
    text = str(environment().from_string(macro).render(data=data))
    (content,) = re.findall("<script[^>]*>([^<]*)</script>", text)
    assert json.loads(content) == data


def environment():
    from neurowhere.report.page import _environment

    return _environment()


def test_a_value_that_is_missing_is_an_error_not_a_gap():
    with pytest.raises(UndefinedError, match="parts"):
        render("highlight.html")


def test_no_template_makes_an_exception_to_escaping():
    for file in (files("neurowhere.report") / "templates").iterdir():
        assert not re.search(r"\|\s*safe", file.read_text("utf-8")), file.name
