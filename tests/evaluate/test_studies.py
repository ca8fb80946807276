"""Frozen lists of studies, from a release that a server on this machine serves."""

import gzip
import io
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import sparse
from tests.studies import GRID, make_corpus

from neurowhere.corpus import read_corpus
from neurowhere.corpus.download import RELEASES, Release, download
from neurowhere.evaluate import Protocol, StudyList
from neurowhere.evaluate.studies import fingerprints, lines_of, phrases_of
from neurowhere.exceptions import CorpusError, DataWarning

TERMS = ["amygdala", "fear", "pain"]
ARTICLE = "We investigated extraordinary participants {} who remembered everything about {} rooms. "


def save_release(folder, n_studies=60):
    """Write studies in the files of NeuroQuery's release."""
    corpus = make_corpus(n_studies)
    rng = np.random.default_rng(0)
    titles = "".join(f"{name}\tThe study of {name}\n" for name in corpus.documents["id"])
    peaks = corpus.peaks.assign(table=0)[["id", "table", "x", "y", "z"]].round(1)
    for name in RELEASES["neuroquery"].files:
        if "coordinates" in name:
            table = "id\ttable_id\tx\ty\tz\n" + peaks.to_csv(sep="\t", index=False, header=False)
            content = gzip.compress(table.encode())
        elif "metadata" in name:
            content = gzip.compress(f"id\ttitle\n{titles}".encode())
        elif name.endswith(".txt"):
            content = "".join(f"{term}\n" for term in TERMS).encode()
        else:
            stream = io.BytesIO()
            sparse.save_npz(stream, sparse.csr_matrix(rng.integers(0, 3, (n_studies, len(TERMS)))))
            content = stream.getvalue()
        (folder / name).write_bytes(content)


@pytest.fixture
def release(tmp_path):
    """Folder of a release of our making."""
    folder = tmp_path / "server"
    folder.mkdir()
    save_release(folder)
    return folder


@pytest.fixture
def served(release, monkeypatch):
    """Release of our making on a server, in the place of NeuroQuery's."""
    handler = partial(SimpleHTTPRequestHandler, directory=release)
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    files = dict.fromkeys(RELEASES["neuroquery"].files)
    address = f"http://127.0.0.1:{server.server_port}/"
    monkeypatch.setitem(RELEASES, "neuroquery", Release(address, "CC0", files))
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.enable_socket
def test_an_outsider_gets_the_studies_of_the_list_and_no_others(release, served, tmp_path):
    mine = read_corpus(release)
    (tmp_path / "frozen.csv").write_text("\n".join(lines_of(mine.select(np.arange(50)), {}, {})))
    frozen = StudyList.read(tmp_path / "frozen.csv")
    theirs = read_corpus(download("neuroquery", tmp_path / "downloads"))
    protocol = Protocol.prepare(theirs, grid=GRID, ids=frozen)
    assert (len(protocol.ids), protocol.task) == (50, "frozen")
    again = Protocol.prepare(mine, grid=GRID, ids=frozen)
    assert protocol.describe() == again.describe()
    whole = Protocol.prepare(mine, grid=GRID).describe()
    assert whole["corpus_sha256"] != protocol.describe()["corpus_sha256"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("peaks", "1 of the 60 studies of the list frozen have other peaks, first 7"),
        ("counts", "1 of the 60 studies of the list frozen have other words, first 0"),
        ("titles", "60 of the 60 studies of the list frozen have other words"),
        ("missing", "1 of the 60 studies of the list frozen are not in the corpus, first 7"),
    ],
)
def test_other_data_are_refused(release, tmp_path, change, message):
    corpus = read_corpus(release)
    (tmp_path / "frozen.csv").write_text("\n".join(lines_of(corpus, {}, {})))
    if change == "peaks":
        corpus.peaks.loc[corpus.peaks["id"] == "7", "x"] += 1
    elif change == "counts":
        corpus.counts["abstract"].data[0] += 1
    elif change == "titles":
        corpus.documents["title"] = corpus.documents["title"].to_numpy()[::-1] + " again"
    else:
        corpus = corpus.select(corpus.documents["id"] != "7")
    with pytest.raises(CorpusError, match=message):
        Protocol.prepare(corpus, grid=GRID, ids=StudyList.read(tmp_path / "frozen.csv"))


def test_fingerprints_depend_on_content_alone():
    corpus = make_corpus(20)
    words, peaks = fingerprints(corpus)
    order = np.random.default_rng(0).permutation(20)
    shuffled = corpus.select(order)
    shuffled = shuffled.select(np.argsort(order))
    shuffled.peaks[:] = shuffled.peaks.sample(frac=1, random_state=0)
    again = fingerprints(make_corpus(20).select(order))
    np.testing.assert_array_equal(again[0], words[order])
    np.testing.assert_array_equal(again[1], peaks[order])
    assert len(set(words.tolist())) > 10


def test_another_download_of_an_article_is_recognised():
    text = "".join(
        ARTICLE.format(i, 2 * i) + f"Hippocampal{chr(97 + i)} aa bb cc dd. " for i in range(20)
    )
    row = {"pmcid": "77", "phrases": " ".join(phrases_of(text)), "words": "", "peaks": ""}
    frozen = StudyList("frozen", {"1": row, "2": row, "3": row, "4": row | {"phrases": ""}})
    other = text.upper().replace(". ", " .\n")
    with pytest.warns(DataWarning, match="2 of 3 articles .* are used: 1 have another text, 0 are"):
        found = frozen.matching({"1": other, "2": "Something else. " * 99, "77": text})
    assert found == {"1": other, "3": text}


def test_the_list_that_is_shipped_has_what_it_says():
    rows = StudyList.read("neuroquery").rows
    assert len(rows) == 12_100
    assert sum(bool(row["phrases"]) for row in rows.values()) == 2_489
    assert sum(bool(row["pmcid"]) for row in rows.values()) > 2_000
    assert all(name.isdigit() and row["words"] and row["peaks"] for name, row in rows.items())


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::neurowhere.exceptions.DataWarning")
def test_the_list_that_is_shipped_is_that_of_the_data(data):
    corpus = read_corpus(data / "corpus", format="neuroquery")
    assert len(StudyList.read("neuroquery").select(corpus)) == 12_100


@pytest.mark.parametrize("content", ["name\n1\n", "id,words\n"])
def test_files_that_are_no_list_are_refused(tmp_path, content):
    (tmp_path / "list.csv").write_text(content)
    for name in ("list.csv", "none.csv"):
        with pytest.raises(CorpusError, match="expected"):
            StudyList.read(tmp_path / name)
