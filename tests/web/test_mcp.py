"""The tools for assistants, in a process of their own, called by the package's own client."""

import base64
import io
import os
import sys

import pytest
from tests.contrast.conftest import make_records, write_records

pytest.importorskip("mcp", reason="needs the extra mcp")

import anyio
from mcp import Client, StdioServerParameters
from PIL import Image

NAMES = ["check_sides", "contrast", "decode", "encode", "term"]
REPORT = (
    "FINDINGS: There is a 3 cm enhancing mass in the left temporal lobe.\n\n"
    "IMPRESSION: Right temporal lobe mass, likely glioma."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def server(folder):
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "neurowhere", "mcp"],
        env={**kept, "XDG_CACHE_HOME": str(folder / "cache")},
        cwd=folder,
    )


def call(server, *calls):
    """Call tools one after another, and return their results."""

    async def session():
        async with Client(server) as client:
            listed = await client.list_tools()
            return listed.tools, [await client.call_tool(name, options) for name, options in calls]

    return anyio.run(session)


@pytest.fixture(scope="module")
def session(server, folder):
    """The tools, and the results of all calls, in one process."""
    documents = write_records(folder / "documents.jsonl", make_records(60))
    return call(
        server,
        ("encode", {"text": "Infarct of the left thalamus; no lesion in the right amygdala."}),
        ("decode", {"place": [-24, -4, -18]}),
        ("term", {"name": "left amygdala"}),
        ("contrast", {"documents": str(documents), "term": "amygdala"}),
        ("check_sides", {"report": REPORT}),
        ("encode", {"text": "  "}),
        ("term", {"name": "xyzzy"}),
        ("decode", {"place": [900, 0, 0]}),
        ("decode", {"place": "missing.nii.gz"}),
        ("contrast", {"documents": "missing", "term": "amygdala"}),
        ("encode", {"text": "amygdala"}),
        ("encode", {"text": "Compression of the thoracic spinal cord."}),
    )


def picture(result):
    (image,) = [each for each in result.content if each.type == "image"]
    return Image.open(io.BytesIO(base64.b64decode(image.data)))


def told(result):
    assert result.is_error
    (text,) = result.content
    assert "\n" not in text.text
    return text.text


@pytest.mark.slow
def test_each_tool_answers_with_typed_data_and_a_small_picture(session):
    tools, (encoded, decoded, term, contrasted, sides, *_) = session
    assert sorted(tool.name for tool in tools) == NAMES
    assert all(tool.description and tool.output_schema for tool in tools)
    summary = encoded.structured_content
    assert "left thalamus" in {row["term"] for row in summary["terms"]} | {
        f"{row['side']} {row['term']}" for row in summary["mentions"]
    }
    assert {row["status"] for row in summary["mentions"]} == {"affirmed", "denied"}
    assert "amygdala" in [row["term"] for row in decoded.structured_content["terms"]]
    assert decoded.structured_content["studies"]
    assert term.structured_content["places"][0]["name"] == "left amygdala"
    assert {row["side"] for row in term.structured_content["places"]} == {"left"}
    assert contrasted.structured_content["documents"] > 0
    assert contrasted.structured_content["regions"][0]["name"]
    (contradiction,) = sides.structured_content["contradictions"]
    assert {contradiction["side"], contradiction["other_side"]} == {"left", "right"}
    for result in (encoded, term, contrasted):
        assert picture(result).width <= 720
        assert not result.is_error


@pytest.mark.slow
def test_bad_input_is_a_tool_error_of_one_line_and_the_next_call_works(session):
    empty, unknown, outside, missing, none, good = session[1][5:11]
    assert "empty" in told(empty)
    assert "xyzzy" in told(unknown)
    assert "got 900, 0, 0" in told(outside)
    assert "missing.nii.gz" in told(missing)
    assert "missing" in told(none)
    assert not good.is_error


@pytest.mark.slow
def test_what_is_withheld_has_no_picture(session):
    cord = session[1][-1]
    assert cord.structured_content["support"]["withheld"]
    assert [each.type for each in cord.content] == ["text"]
