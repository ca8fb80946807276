"""One text has one answer: the same places, by the same names, in the same order, on every face."""

import csv
import gzip
import html
import io
import json
import re

import pandas as pd
import pytest
from tests.text.sentences import read_sentences
from typer.testing import CliRunner

from neurowhere import default_atlas, summarise
from neurowhere.cli import app
from neurowhere.cli.terminal import lines
from neurowhere.inputs import Text
from neurowhere.model.regions import regions_of
from neurowhere.report.encoding import encoding_page
from neurowhere.report.notebook import encoding_html
from neurowhere.report.tables import RowMaker, encode_items, encoding_tables

N_SENTENCES, N_ABSTRACTS, N_PAGES = 160, 40, 4
ORDERS = ("excess", "probability", "ratio")


@pytest.fixture(scope="module")
def texts():
    """Findings and denials in plain sentences, and abstracts where the development data are."""
    from tests.conftest import DATA

    found = [sentence.text for sentence in read_sentences()][:N_SENTENCES]
    corpus = DATA / "corpus" / "rawtext_linked_dev.jsonl.gz"
    if corpus.exists():
        with gzip.open(corpus, "rt") as stream:
            texts = (json.loads(line).get("text", "") for line in stream)
            abstracts = (text for text in texts if 400 < len(text) < 4000)
            found += [text for text, _ in zip(abstracts, range(N_ABSTRACTS))]
    return found


@pytest.fixture(scope="module")
def encoded(shipped, texts):
    """Encode texts of which the model knows something; of the others a table tells only why."""
    return [found for found in shipped.encode_many(texts) if not found.is_mean_map]


def cells(page):
    """Give the rows of the tables of a page, without their marks."""
    return [
        [
            html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()
            for cell in re.findall(r"<td.*?</td>", row, re.S)
        ]
        for row in re.findall(r"<tr>.*?</tr>", page, re.S)
    ]


def test_the_atlas_alone_would_have_answered_otherwise(encoded):
    """Half of these texts name a place that AAL3 lacks, or that has large neighbours."""
    firsts = [
        (summarise(each).regions[0], each.regions(default_atlas()).iloc[0]) for each in encoded
    ]
    assert sum(ours.region != theirs["region"] for ours, theirs in firsts) > len(firsts) / 4


@pytest.mark.parametrize("sort", ORDERS)
def test_python_and_tables_have_the_regions_of_the_summary(encoded, sort):
    for encoding in encoded:
        regions = summarise(encoding, sort=sort).regions
        table = encoding.regions(sort=sort)
        assert table["region"].tolist() == [region.region for region in regions]
        assert table["name"].tolist() == [region.name for region in regions]
        assert table["probability"].tolist() == [region.probability for region in regions]
        whole = summarise(encoding, n_regions=None, sort=sort)
        assert whole.regions[: len(regions)] == regions
        assert len(whole.regions) >= len(default_atlas().names)
        few = regions_of(encoding, encoding.gazetteer(), 3, sort=sort)
        assert few == regions[:3]


def test_folders_have_the_names_of_the_summary(encoded):
    for encoding in encoded:
        summary = summarise(encoding)
        tables = encoding_tables(summarise(encoding, n_regions=None))
        assert tables["regions.csv"]["name"].tolist()[: len(summary.regions)] == [
            region.name for region in summary.regions
        ]
        assert tables["peaks.csv"]["name"].tolist() == [peak.name or "" for peak in summary.peaks]


@pytest.mark.parametrize("sort", ORDERS)
def test_batches_have_the_first_region_of_the_summary(shipped, encoded, sort):
    items = [Text(str(number), each.text) for number, each in enumerate(encoded)]
    rows = RowMaker(default_atlas(), sort=sort).table(list(encode_items(shipped, items)))
    for encoding, row in zip(encoded, rows.to_dict("records"), strict=True):
        summary = summarise(encoding, sort=sort)
        first = summary.regions[0]
        assert row["region"] == first.name
        assert row["probability"] == pytest.approx(first.probability, rel=1e-5)
        assert row["support"] == summary.support.level
        assert [row["x"], row["y"], row["z"]] == pytest.approx(summary.peaks[0].at, abs=0.06)
        assert row["heaviest"].split("; ") == [term.term for term in summary.terms[:5]]


def test_the_command_line_writes_the_same(encoded, tmp_path):
    """Of a table, of JSON lines and of sentences."""
    table = tmp_path / "texts.csv"
    sentences = [each for each in encoded if "\n" not in each.text and each.text.count(". ") == 0]
    pd.DataFrame({"text": [each.text for each in sentences]}).to_csv(table, index_label="id")
    expected = [summarise(each).regions[0].name for each in sentences]

    def run(*options):
        result = CliRunner().invoke(app, ["encode", str(table), *options, "--keep-going"])
        assert result.exit_code == 0
        return result.stdout

    rows = list(csv.DictReader(io.StringIO(run())))
    assert [row["region"] for row in rows] == expected
    assert [json.loads(line)["region"] for line in run("--json").splitlines()] == expected
    alone = {row["text"]: row["region"] for row in csv.DictReader(io.StringIO(run("--sentences")))}
    for encoding, name in zip(sentences, expected, strict=True):
        assert alone.get(encoding.text, name) == name
    assert len(alone) > len(sentences) / 2


def test_http_answers_the_same(shipped, encoded):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from tests.web.conftest import open_client

    from neurowhere import create_app

    with open_client(create_app(shipped)) as client:
        for start in range(0, len(encoded), 50):
            some = encoded[start : start + 50]
            answer = client.post("/api/v1/batch", json={"texts": [e.text for e in some]})
            for encoding, result in zip(some, answer.json()["results"], strict=True):
                summary = summarise(encoding)
                assert [each["name"] for each in result["regions"]] == [
                    each.name for each in summary.regions
                ]
                assert [each["probability"] for each in result["regions"]] == pytest.approx(
                    [each.probability for each in summary.regions], rel=2e-3
                )
                assert [(tuple(each["at"]), each["name"]) for each in result["peaks"]] == [
                    (each.at, each.name) for each in summary.peaks
                ]
        for encoding in encoded[:N_PAGES]:
            body = {"text": encoding.text, "sentences": True, "sort": "ratio"}
            answer = client.post("/api/v1/encode", json=body).json()
            for sentence in answer["sentences"]:
                alone = shipped.encode(encoding.text[slice(*sentence["where"])])
                names = [region.name for region in summarise(alone, sort="ratio").regions[:3]]
                assert [region["name"] for region in sentence["regions"]] == names


def test_pages_show_the_same(encoded):
    """Report and notebook have the rows of the summary, and the terminal has them in its order."""
    for encoding in encoded[:: len(encoded) // N_PAGES]:
        summary = summarise(encoding)
        names = [region.name for region in summary.regions]
        whole = summarise(encoding, n_regions=None)
        page = encoding_page(encoding, whole, default_atlas())
        section = page[
            page.index('<section class="regions">') : page.index('<section class="peaks">')
        ]
        assert [row[0] for row in cells(section) if row] == names
        shown = encoding_html(encoding)
        start = shown.index('aria-label="regions')
        assert [row[0] for row in cells(shown[start:]) if row][: len(names)] == names
        told = list(lines(summary, encoding.text))
        rows = told[next(i for i, line in enumerate(told) if line.startswith("region ")) + 1 :]
        assert [row[: len(name)] for row, name in zip(rows, names)] == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Acute infarct in the left pons.", "left pons (landmark)"),
        ("Cyst in the midbrain.", "midbrain (landmark)"),
        ("Lacune of the right internal capsule.", "right internal capsule (landmark)"),
    ],
)
def test_a_place_that_the_atlas_lacks_is_named(shipped, text, name):
    encoding = shipped.encode(text)
    assert encoding.regions().loc[0, "name"] == name
    assert "landmark" not in "".join(encoding.regions(default_atlas())["name"])
    (pair,) = encode_items(shipped, [Text("a", text)])
    assert RowMaker(default_atlas()).table([pair]).loc[0, "region"] == name


@pytest.mark.parametrize("sort", ORDERS)
def test_rows_stand_in_the_order_that_their_header_says(encoded, sort):
    for encoding in encoded:
        summary = summarise(encoding, sort=sort)
        header = list(lines(summary, encoding.text, sort=sort))
        (order,) = (line for line in header if line.startswith("regions"))
        values = [getattr(region, sort) for region in summary.regions]
        if "names" in order:
            n_named = sum(region.named for region in summary.regions)
            assert all(region.named for region in summary.regions[:n_named])
            assert values[:n_named] == sorted(values[:n_named], reverse=True)
            values = values[n_named:]
        assert values == sorted(values, reverse=True)
        assert {"excess": "excess", "probability": "probability", "ratio": "ratio"}[sort] in order


def test_a_peak_in_a_named_place_has_its_name(shipped):
    summary = summarise(shipped.encode("Acute infarct in the left pons."))
    assert summary.peaks[0].name == summary.regions[0].name
    assert summary.peaks[0].region == summary.regions[0].region
