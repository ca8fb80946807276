"""JATS articles: real ones against what is expected of them, hostile ones, broken ones."""

import json
import logging
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.corpus.articles import PEAKS, SECRET, SECRET_TABLE, article, articleset, numbered, table

from neurowhere.corpus import read_corpus
from neurowhere.corpus.documents import Document
from neurowhere.corpus.readers import jats
from neurowhere.exceptions import CorpusError, DataWarning, MissingExtraError

pytest.importorskip("pubget")


def read_text(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "one.xml"
    path.write_text(text, encoding="utf-8")
    assert jats.detects(path)
    (document,) = jats.iter_documents(path)
    return document


def as_set(peaks: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(peak) for peak in np.asarray(peaks, dtype=float).tolist()}


def test_article_has_text_peaks_space_and_metadata(tmp_path: Path):
    ids = (
        '<article-id pub-id-type="pmid">123</article-id>'
        '<article-id pub-id-type="pmc">77</article-id>'
        '<article-id pub-id-type="doi">10.1/a</article-id>'
    )
    document = read_text(tmp_path, article(ids=ids))
    assert document.id == "123"
    assert document.sections["title"] == "Pain in the insula"
    assert document.sections["abstract"] == "Pain hurts."
    assert document.sections["keywords"].split() == ["pain", "fMRI"]
    assert "We normalised to MNI space." in document.sections["body"]
    assert as_set(document.peaks) == set(PEAKS)
    assert document.space == "MNI"
    assert document.metadata == {
        "pmid": "123",
        "pmcid": "PMC77",
        "doi": "10.1/a",
        "journal": "J Pain",
        "year": 2019,
    }


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ('<article-id pub-id-type="pmc">77</article-id>', "PMC77"),
        ('<article-id pub-id-type="pmc">PMC77</article-id>', "PMC77"),
        ('<article-id pub-id-type="pmcid">PMC77</article-id>', "PMC77"),
        (
            '<article-id pub-id-type="pmc"/><article-id pub-id-type="doi">10.1/a</article-id>',
            "10.1/a",
        ),
        ("", "one"),
    ],
)
def test_articles_with_and_without_pubmed_numbers_are_read(tmp_path: Path, ids: str, expected: str):
    document = read_text(tmp_path, article(ids=ids))
    assert document.id == expected
    assert as_set(document.peaks) == set(PEAKS)


def test_talairach_article_is_converted_by_the_registry(tmp_path: Path):
    (tmp_path / "one.nxml").write_text(article(body="Data were analysed in BrainVoyager."))
    (document,) = jats.iter_documents(tmp_path)
    assert document.space == "TAL"
    corpus = read_corpus(tmp_path)
    assert corpus.documents["source_space"].tolist() == ["TAL"]
    assert as_set(corpus.peaks[["x", "y", "z"]]) != set(PEAKS)


def test_articleset_is_read_article_by_article(tmp_path: Path):
    path = tmp_path / "set.xml"
    path.write_text(articleset(*(numbered(number) for number in range(1, 6))))
    assert jats.detects(path)
    assert [document.id for document in jats.iter_documents(path)] == [
        f"PMC{i}" for i in range(1, 6)
    ]


def test_warnings_as_errors_do_not_cost_coordinates(tmp_path: Path):
    """pubget's deprecated calls of pandas warn; as errors inside pubget they lose the table."""
    assert len(read_text(tmp_path, article()).peaks) == len(PEAKS)


def test_pubget_log_level_is_left_as_it_was(tmp_path: Path):
    logger = logging.getLogger("pubget")
    before = logger.level, list(logger.handlers)
    read_text(tmp_path, article())
    assert (logger.level, list(logger.handlers)) == before


LAUGHS = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12))
BOMB = f"<!DOCTYPE article [<!ENTITY a0 'ha'>{LAUGHS}]>"
DTD = '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS-archivearticle1.dtd">'
WIDE = 'colspan="999999999"'
ABSURD = f'rowspan="{"9" * 5_000}"'
ROW = '<row><entry morerows="99999999">1</entry></row>'
CALS = f'<table><tgroup cols="1"><tbody>{ROW}</tbody></tgroup></table>'


def hostile(secret: Path) -> dict[str, tuple[str, str]]:
    """Articles that attack their reader, and what it says of them."""
    file = secret.as_uri()
    return {
        "bomb": (article(doctype=BOMB, body="&a11;"), "entit"),
        "bomb in an attribute": (article(doctype=BOMB, attribute='id="&a11;"'), "entit"),
        "one entity": (article(doctype="<!DOCTYPE article [<!ENTITY a 'b'>]>"), "entities"),
        "external entity": (
            article(doctype=f'<!DOCTYPE article [<!ENTITY f SYSTEM "{file}">]>', body="&f;"),
            "entities",
        ),
        "external parameter": (
            article(doctype=f'<!DOCTYPE article [<!ENTITY % p SYSTEM "{file}"> %p;]>'),
            "entities",
        ),
        "entity of the DTD": (article(doctype=DTD, body="a&nbsp;b"), "needs &nbsp;"),
        "wide cell": (article(tables=table().replace("<th>", f"<th {WIDE}>", 1)), "cells"),
        "absurd cell": (article(tables=table().replace("<td>", f"<td {ABSURD}>", 1)), "cells"),
        "wide CALS cell": (article(tables=CALS), "cells"),
        "deep": (article(body="<b>" * 5_000 + "</b>" * 5_000), "depth"),
    }


@pytest.mark.parametrize("name", hostile(Path("/secret")))
def test_hostile_articles_are_refused_in_one_line(tmp_path: Path, name: str):
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    text, reason = hostile(secret)[name]
    path = tmp_path / "hostile.xml"
    path.write_text(text)
    with pytest.raises(CorpusError, match=reason) as error:
        list(jats.iter_documents(path))
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda uri: article(doctype=f'<!DOCTYPE article SYSTEM "{uri}">'),
        lambda uri: article(
            body=f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{uri}"/>'
        ),
        lambda uri: article(
            tables=table().replace("insula", f'<?dbhtml-include href="{uri}"?>insula')
        ),
    ],
    ids=["DTD", "XInclude", "dbhtml-include"],
)
def test_references_to_files_are_not_followed(tmp_path: Path, make):
    secret = tmp_path / "secret.html"
    secret.write_text(SECRET_TABLE)
    os.utime(secret, (0, 0))
    document = read_text(tmp_path, make(secret.as_uri()))
    assert SECRET not in document.text
    assert as_set(document.peaks) == set(PEAKS)
    assert secret.stat().st_atime == 0


def test_pubget_alone_would_follow_a_processing_instruction(tmp_path: Path):
    """The danger is real: the stylesheet that pubget applies to tables includes the file."""
    from lxml import etree
    from pubget import _utils

    secret = tmp_path / "secret.html"
    secret.write_text(SECRET_TABLE)
    include = f'<?dbhtml-include href="{secret.as_uri()}"?>'
    text = article(tables=table().replace("insula", include))
    tables = _utils.load_stylesheet("table_extraction.xsl")(etree.fromstring(text.encode()))
    assert SECRET in str(tables)


BROKEN = {
    "truncated": (article()[:-200].encode(), "not well-formed"),
    "binary": (bytes(range(256)), "not well-formed"),
    "empty": (b"", "not well-formed"),
    "another encoding": (article(body="caf\xe9").encode("latin-1"), "not well-formed"),
    "no article": (b"<html><body/></html>", "no <article>"),
    "no front": (b"<article><body/></article>", "no <front>"),
    "odd pmid": (
        article(ids='<article-id pub-id-type="pmid">see below</article-id>').encode(),
        "pubget cannot read it",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_article_is_an_error_alone_and_skipped_among_others(tmp_path: Path, name: str):
    content, reason = BROKEN[name]
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    (folder / "broken.xml").write_bytes(content)
    with pytest.raises(CorpusError, match=rf"broken\.xml: {reason}") as error:
        list(jats.iter_documents(tmp_path))
    assert "\n" not in str(error.value)
    (tmp_path / "good.xml").write_text(article())
    with pytest.warns(DataWarning, match=rf"skipped 1 of 2 articles \(broken\.xml: {reason}"):
        assert [document.id for document in jats.iter_documents(tmp_path)] == ["PMC77"]


def test_broken_article_in_a_set_costs_only_itself(tmp_path: Path):
    nameless = "<article><front><journal-meta/></front></article>"
    path = tmp_path / "set.xml"
    path.write_text(articleset(numbered(1), nameless, numbered(2)))
    with pytest.warns(DataWarning, match="skipped 1 of 3 articles"):
        assert [document.id for document in jats.iter_documents(path)] == ["PMC1", "PMC2"]


def test_articles_before_the_place_where_a_set_breaks_are_kept(tmp_path: Path):
    path = tmp_path / "set.xml"
    path.write_text(articleset(numbered(1), numbered(2))[:-100])
    with pytest.warns(DataWarning, match=r"skipped 1 of 2 articles \(set.xml: not well-formed"):
        assert [document.id for document in jats.iter_documents(path)] == ["PMC1"]


def test_huge_article_is_refused_before_it_fills_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jats, "MAX_ARTICLE_BYTES", 4 << 20)
    path = tmp_path / "huge.xml"
    path.write_text(article(body="<p>words</p>" * 1_000_000))
    with pytest.raises(CorpusError, match="larger than 4 MiB"):
        list(jats.iter_documents(path))


def test_sets_larger_than_the_limit_of_one_article_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jats, "MAX_ARTICLE_BYTES", 10_000)
    monkeypatch.setattr(jats, "CHUNK_BYTES", 1_000)
    path = tmp_path / "set.xml"
    path.write_text(articleset(*(numbered(number) for number in range(1, 21))))
    assert path.stat().st_size > jats.MAX_ARTICLE_BYTES
    assert len(list(jats.iter_documents(path))) == 20


def test_tables_that_pubget_gives_up_on_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from pubget import _coordinates

    def fail(table: pd.DataFrame) -> pd.DataFrame:
        raise KeyError("x")

    monkeypatch.setattr(_coordinates, "_extract_coordinates_from_table", fail)
    (tmp_path / "one.xml").write_text(article())
    with pytest.warns(DataWarning, match=r"pubget gave up on 1 tables \(first: one: Failed"):
        (document,) = jats.iter_documents(tmp_path)
    assert document.peaks.shape == (0, 3)


def test_folder_without_articles_is_an_error(tmp_path: Path):
    (tmp_path / "readme.txt").write_text("hello")
    assert not jats.detects(tmp_path)
    with pytest.raises(CorpusError, match=r"no file ending in \.xml or \.nxml"):
        list(jats.iter_documents(tmp_path))


def test_missing_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "one.xml").write_text(article())
    monkeypatch.setitem(sys.modules, "pubget", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'neurowhere\[jats\]'"):
        list(jats.iter_documents(tmp_path))
    assert jats.detects(tmp_path)


@pytest.mark.data
def test_pmc_articles_give_exactly_the_expected_coordinates_and_spaces(data: Path):
    """Level reached: 492 of 492 distinct coordinates, none that is not expected."""
    folder = data / "jats" / "pmc_with_expected"
    documents = {document.id: document for document in jats.iter_documents(folder)}
    assert len(documents) == 16
    n_expected = 0
    for id_, document in documents.items():
        expected = pd.read_csv(folder / id_ / "expected_coordinates.csv")
        described = json.loads((folder / id_ / "expected_metadata.json").read_text("utf-8"))
        assert as_set(document.peaks) == as_set(expected[["x", "y", "z"]].to_numpy())
        assert document.space.upper() == described["coordinate_space"]
        assert document.sections["title"] == " ".join(described["title"].split("\n")).strip()
        assert document.sections["abstract"] == described["abstract"].strip()
        assert document.sections.get("keywords", "") == (described["keywords"] or "").strip()
        n_expected += len(as_set(expected[["x", "y", "z"]].to_numpy()))
    assert n_expected == 492


@pytest.mark.data
def test_pmc_articles_give_the_expected_text(data: Path):
    """All words in their order; newer pubget adds addresses of links and of data, at most 2 %."""
    folder = data / "jats" / "pmc_with_expected"
    for document in jats.iter_documents(folder):
        expected = (folder / document.id / "expected_text.txt").read_text("utf-8").split()
        words = document.sections["body"].split()
        remaining = iter(words)
        assert all(word in remaining for word in expected)
        assert len(words) <= 1.02 * len(expected)


@pytest.mark.data
def test_elife_articles_give_what_pubget_extracts(data: Path):
    """They have no PubMed Central number, which pubget's own command would refuse."""
    folder = data / "jats" / "elife_dev"
    expected = pd.read_csv(folder / "pubget_extracted_coordinates.csv")
    assert expected["file"].nunique() == 18
    for name, rows in expected.groupby("file"):
        (document,) = jats.iter_documents(folder / str(name))
        assert as_set(document.peaks) == as_set(rows[["x", "y", "z"]].to_numpy())
        assert document.id.startswith("10.7554/eLife.")


@pytest.mark.data
def test_articleset_of_pubget(data: Path):
    documents = list(jats.iter_documents(data / "jats" / "pubget_tests" / "articleset.xml"))
    assert len({document.id for document in documents}) == 7
