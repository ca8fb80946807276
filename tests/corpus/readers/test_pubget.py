"""Folders that pubget itself has written, whole and damaged, and the plug-in in its commands."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.corpus.articles import PEAKS, article, articleset, numbered, run_pubget, write_articleset

from neurowhere.corpus import read_corpus
from neurowhere.corpus.readers import jats, pubget
from neurowhere.exceptions import CorpusError, DataWarning

pytest.importorskip("pubget")

QUERY = "fMRI[title]"
QUERY_FOLDER = f"query_{hashlib.md5(QUERY.encode()).hexdigest()}"
SUBSET = "subset_allArticles_extractedData"
TALAIRACH = article(
    ids='<article-id pub-id-type="pmc">3</article-id>', body="Done with BrainVoyager."
)
NO_TABLE = article(ids='<article-id pub-id-type="pmc">4</article-id>', tables="")
ARTICLES = articleset(numbered(1, pmid=11), numbered(2), TALAIRACH, NO_TABLE)
COMMAND = "import sys; from pubget._commands import pubget_command; sys.exit(pubget_command())"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a `pubget run`, with the data of four articles."""
    root = tmp_path_factory.mktemp("pubget")
    run_pubget(root / QUERY_FOLDER, ARTICLES)
    return root


@pytest.fixture
def extracted(written: Path, tmp_path: Path) -> Path:
    """Copy of the extracted data, to damage."""
    shutil.copytree(written / QUERY_FOLDER / SUBSET, tmp_path / SUBSET)
    return tmp_path / SUBSET


def test_articles_are_read_as_from_their_xml(written: Path, tmp_path: Path):
    (tmp_path / "set.xml").write_text(ARTICLES)
    from_xml = {document.id: document for document in jats.iter_documents(tmp_path / "set.xml")}
    from_pubget = {document.id: document for document in pubget.iter_documents(written)}
    assert from_pubget.keys() == from_xml.keys() == {"11", "PMC2", "PMC3", "PMC4"}
    for id_, document in from_pubget.items():
        assert document.sections == from_xml[id_].sections
        assert document.space == from_xml[id_].space
        assert document.metadata == from_xml[id_].metadata
        np.testing.assert_array_equal(document.peaks, from_xml[id_].peaks)


def test_documents_say_what_the_articles_say(written: Path):
    documents = {document.id: document for document in pubget.iter_documents(written)}
    first = documents["11"]
    assert first.sections["title"] == "Pain in the insula"
    assert first.metadata == {"pmid": "11", "pmcid": "PMC1", "journal": "J Pain", "year": 2019}
    np.testing.assert_array_equal(first.peaks, PEAKS)
    assert [documents[id_].space for id_ in ("11", "PMC3", "PMC4")] == ["MNI", "TAL", "MNI"]
    assert documents["PMC4"].peaks.shape == (0, 3)


@pytest.mark.parametrize(
    "below", ["", QUERY_FOLDER, f"{QUERY_FOLDER}/subset_allArticles_extractedData"]
)
def test_all_levels_of_the_layout_are_found(written: Path, below: str):
    assert pubget.detects(written / below)
    assert len(list(pubget.iter_documents(written / below))) == 4
    assert read_corpus(written / below).origin["format"] == "pubget"


def test_subset_with_coordinates_and_aliases_do_not_repeat_articles(tmp_path: Path):
    extracted = run_pubget(tmp_path / QUERY_FOLDER, ARTICLES, articles_with_coords_only=True)
    assert len(list(pubget.iter_documents(extracted))) == 3
    run_pubget(tmp_path / QUERY_FOLDER, ARTICLES)
    (tmp_path / "alias").symlink_to(QUERY_FOLDER)
    run_pubget(tmp_path / "pmcidList_2", articleset(numbered(9)))
    assert len(list(pubget.iter_documents(tmp_path))) == 4 + 1


def test_texts_are_streamed_in_chunks(written: Path, monkeypatch: pytest.MonkeyPatch):
    whole = [document.id for document in pubget.iter_documents(written)]
    monkeypatch.setattr(pubget, "CHUNK_ROWS", 1)
    assert [document.id for document in pubget.iter_documents(written)] == whole


def test_articles_without_text_are_counted(extracted: Path):
    texts = pd.read_csv(extracted / "text.csv")
    texts[texts["pmcid"] != 3].to_csv(extracted / "text.csv", index=False)
    with pytest.warns(DataWarning, match=r"left out 1 articles .* text\.csv \(first: PMC3\)"):
        assert len(list(pubget.iter_documents(extracted))) == 3


def test_coordinates_that_are_no_numbers_are_dropped_and_counted(extracted: Path):
    path = extracted / "coordinates.csv"
    path.write_text(path.read_text("utf-8").replace("-42.0", "n.s.", 1), "utf-8")
    with pytest.warns(DataWarning, match="skipped 1 of 6 peaks"):
        assert len(read_corpus(extracted).peaks) == 5


@pytest.mark.parametrize(
    ("table", "old", "new", "message"),
    [
        ("text", "keywords", "words", r"text\.csv should have .* but lacks keywords"),
        ("coordinates", "x,", "i,", r"coordinates\.csv should have .* but lacks x"),
        ("metadata", "pmcid", "number", r"metadata\.csv should have .* but lacks pmcid"),
    ],
)
def test_missing_columns_are_named(extracted: Path, table: str, old: str, new: str, message: str):
    path = extracted / f"{table}.csv"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(CorpusError, match=message):
        list(pubget.iter_documents(extracted))


@pytest.mark.parametrize("content", [b"", b'pmcid,title\n1,"Pain', b"pmcid\n1,\xff\xfe"])
def test_damaged_table_is_a_one_line_error(extracted: Path, content: bytes):
    (extracted / "text.csv").write_bytes(content)
    with pytest.raises(CorpusError, match=r"text\.csv") as error:
        list(pubget.iter_documents(extracted))
    assert "\n" not in str(error.value)


def test_other_folders_are_not_taken_for_pubget(tmp_path: Path):
    (tmp_path / "text.csv").write_text("pmcid\n")
    assert not pubget.detects(tmp_path)
    assert not pubget.detects(tmp_path / "text.csv")
    with pytest.raises(CorpusError, match="holds no data extracted by pubget"):
        list(pubget.iter_documents(tmp_path))


def test_pubget_finds_the_plugin():
    from pubget._plugins import get_plugin_actions

    found = get_plugin_actions()
    assert pubget.STEP_NAME in [step.name for step in found["pipeline_steps"]]
    assert pubget.STEP_NAME in [command.name for command in found["commands"]]


@pytest.mark.slow
def test_pubget_run_ends_with_a_corpus(tmp_path: Path):
    """The whole of `pubget run`, which finds that the download has been done."""
    query = tmp_path / "data" / QUERY_FOLDER
    write_articleset(query, ARTICLES)
    run = ["run", str(tmp_path / "data"), "--query", QUERY, "--neurowhere"]
    done = subprocess.run([sys.executable, "-c", COMMAND, *run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    corpus = read_corpus(query / "subset_allArticles_neurowhereCorpus")
    assert sorted(corpus.documents["id"]) == ["11", "PMC2", "PMC3", "PMC4"]
    assert len(corpus.peaks) == 3 * len(PEAKS)


def test_pubget_command_writes_a_corpus_in_place_of_an_earlier_one(
    extracted: Path, caplog: pytest.LogCaptureFixture
):
    for _ in range(2):
        folder, code = pubget.write_corpus(extracted)
        assert code == 0
    assert folder == extracted.with_name("subset_allArticles_neurowhereCorpus")
    assert len(read_corpus(folder)) == 4
    (extracted / "text.csv").unlink()
    with caplog.at_level("ERROR"):
        assert pubget.write_corpus(extracted)[1] == 2
    assert "holds no data extracted by pubget" in caplog.text


@pytest.mark.data
def test_real_articles_through_pubget_equal_those_from_xml(data: Path, tmp_path: Path):
    files = sorted((data / "jats" / "pmc_with_expected").glob("*/article.xml"))
    run_pubget(tmp_path / "query", articleset(*(file.read_text("utf-8") for file in files)))
    documents = list(pubget.iter_documents(tmp_path))
    assert len(documents) == len(files) == 16
    assert sum(len(np.unique(document.peaks, axis=0)) for document in documents) == 492
