"""Arguments read as texts: what is a path, what is a text, what is told and passed over."""

import gzip
import io
import sys

import pytest

from neurowhere.exceptions import CorpusError, DataWarning, TextError
from neurowhere.inputs import Failure, Text, holds_many, iter_texts, read_text
from neurowhere.inputs.sources import as_path

SENTENCES = [
    "The left amygdala",
    "fear",
    "fear.",
    "Was it the insula?\nOr V1/V2, e.g. in report.txt?",
    "and/or fear",
    "go/no-go",
    "V5/MT",
    "notes/report",
    "fear.exe",
    "3.5 mm",
    "x" * 5000,
    "with a \0 in it",
    "",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_text_is_itself(text):
    assert as_path(text) is None


@pytest.mark.parametrize(
    "path", ["report.txt", "./report", "../x", "~/x", "/x", "my report.txt", "a.docx", "b.jsonl.gz"]
)
def test_what_looks_like_a_path_and_does_not_exist_is_an_error(tmp_path, monkeypatch, path):
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)  # where nobody has a file of this name beside it
    with pytest.raises(TextError, match="looks like a path, but there is no such file"):
        read_text(path)


def test_a_text_that_is_also_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fear").write_text("The amygdala.")
    assert not holds_many(["fear"])  # which says nothing yet
    with pytest.warns(DataWarning, match=r"for the file write \./fear"):
        assert read_text("fear") == Text("the text", "fear")
    assert read_text("./fear") == Text("fear", "The amygdala.")


def test_a_path_may_hold_a_newline(tmp_path):
    folder = tmp_path / "a\nb"
    folder.mkdir()
    (folder / "fear.txt").write_text("The amygdala.")
    assert read_text(str(folder / "fear.txt")) == Text("fear.txt", "The amygdala.")
    assert as_path("/ is a sign,\nand no.txt") is None


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("The café".encode())))
    assert read_text("-") == Text("standard input", "The café")


@pytest.mark.parametrize("content", ["", " \n\t"])
def test_nothing_is_no_text(content, tmp_path):
    with pytest.raises(TextError, match="expected a text, but the text is empty"):
        read_text(content)
    file = tmp_path / "empty.txt"
    file.write_text(content)
    with pytest.raises(TextError, match=r"empty\.txt is empty"):
        read_text(str(file))
    assert list(iter_texts([str(file)])) == [Failure("empty.txt", "no text")]


def test_words_without_quotes_are_a_mistake():
    with pytest.raises(TextError, match="'left' is none; put a text in quotes"):
        list(iter_texts(["left", "amygdala"]))


def test_a_batch_of_files_tells_failures_and_goes_on(tmp_path):
    names = ["a.txt", "b.txt", "c.md"]
    for name in names:
        (tmp_path / name).write_text(f"text of {name}")
    (tmp_path / "b.txt").write_bytes(b"\x89PNG\0\0")
    found = list(iter_texts([str(tmp_path / name) for name in names]))
    assert [type(item) for item in found] == [Text, Failure, Text]
    assert "is not text, but binary" in found[1].reason


def test_a_folder_and_its_kinds(tmp_path):
    (tmp_path / "b.txt").write_text("second")
    (tmp_path / "a.html").write_text("<p>first</p>")
    (tmp_path / "c.jsonl").write_text('{"id": 3, "text": "third"}\n{"id": 4, "text": ""}\n')
    (tmp_path / ".hidden.txt").write_text("no")
    (tmp_path / "image.png").write_bytes(b"no")
    assert list(iter_texts([str(tmp_path)])) == [
        Text("a.html", "first"),
        Text("b.txt", "second"),
        Text("3", "third"),
        Failure("4", "no text"),
    ]


def test_a_bad_file_of_a_folder_takes_no_other_with_it(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(TextError, match="is not text, but binary"):
        read_text(str(tmp_path))
    (tmp_path / "b.csv").write_text("no,words\n1,2\n")
    (tmp_path / "c.txt").write_text("fear")
    binary, table, text = iter_texts([str(tmp_path)])
    assert (binary.name, table.name) == (str(tmp_path / "a.txt"), str(tmp_path / "b.csv"))
    assert "is not text, but binary" in binary.reason
    assert table.reason.startswith("expected a column of text")
    assert text == Text("c.txt", "fear")


def test_an_empty_folder(tmp_path):
    with pytest.raises(TextError, match="has no file ending in"):
        read_text(str(tmp_path))


def test_tables(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('id,title,abstract\n7,Fear,"The amygdala,\nagain"\n8,Motor,\n')
    assert list(iter_texts([str(path)])) == [
        Text("7", "Fear\n\nThe amygdala,\nagain"),
        Text("8", "Motor"),
    ]
    with pytest.raises(TextError, match=r"expected one text, but .* holds 2"):
        read_text(str(path))


def test_folders_in_a_folder_are_read(tmp_path):
    for name in ("b.txt", "a b/ü\n/b.txt", ".hidden/b.txt", "c/.b.txt", "c/readme.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("fear")
    (tmp_path / "c" / "up").symlink_to(tmp_path)
    names = ["a b/ü\n/b.txt", "b.txt"]
    assert list(iter_texts([str(tmp_path)])) == [Text(name, "fear") for name in names]


def test_what_is_written_is_not_read_again(tmp_path):
    (tmp_path / "a.txt").write_text("fear")
    for name in ("maps/table.csv", "maps/a/report.html", "maps/a/info.json", "earlier/a.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("pain")
    (tmp_path / "earlier" / "info.json").write_text('{"made_by": "neurowhere"}')
    output = tmp_path / "c" / ".." / "maps"
    assert list(iter_texts([str(tmp_path)], output=output)) == [Text("a.txt", "fear")]
    names = [item.name for item in iter_texts([str(tmp_path)])]
    assert names == ["a.txt", "maps/a/report.html", str(tmp_path / "maps" / "table.csv")]


@pytest.mark.parametrize("name", ["a.xlsx", "a.doc", "a.rtf", "a.json", "a.tar.gz"])
def test_files_that_are_not_read_say_what_to_do(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"PK")
    for source in (name, f"./{name}"):
        with pytest.raises(TextError, match=r"is not read as it is; (save|write|unpack) it|JSON"):
            read_text(source)
    assert as_path("b.xlsx") is None  # a text, as long as no file is called so


def test_a_word_processor_among_texts_is_told(tmp_path):
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf")
    (tmp_path / "b.txt").write_text("fear")
    failure, text = iter_texts([str(tmp_path)])
    assert "save it as .docx or .txt" in failure.reason
    assert text.name == "b.txt"


@pytest.mark.parametrize("path", [".", "..", r".\a", r"C:\reports", "C:/reports"])
def test_other_ways_to_write_a_path(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if path.strip("."):
        with pytest.raises(TextError, match="looks like a path"):
            as_path(path)
    else:
        assert holds_many([path])


def test_a_column_of_any_name(tmp_path):
    table, lines = tmp_path / "notes.csv", tmp_path / "notes.jsonl"
    table.write_text("id,title,Report\n7,Head,The amygdala\n8,Head,\n")
    lines.write_text('{"id": 7, "report": "The amygdala"}\n{"id": 9, "text": "Head"}\n')
    texts = [Text("7", "The amygdala"), Failure("8", "no text")]
    assert list(iter_texts([str(table)], column="report")) == texts
    lost = Failure("notes.jsonl:2", "no report")
    assert list(iter_texts([str(lines)], column="report")) == [*texts[:1], lost]
    (failure,) = iter_texts([str(table)], column="finding")
    assert failure.reason == (
        "expected a column finding; the columns are id, title, report; name one of them"
    )


def test_a_table_damaged_half_way_keeps_what_came_before(tmp_path):
    path = tmp_path / "texts.jsonl.gz"
    lines = "".join(f'{{"id": {i}, "text": "fear {i}"}}\n' for i in range(20_000))
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[: len(whole) // 2])
    *texts, failure = iter_texts([str(path)])
    assert len(texts) > 100
    assert texts[0] == Text("0", "fear 0")
    assert isinstance(failure, Failure)
    assert "truncated or damaged" in failure.reason


def test_bad_lines_are_told_where_they_are(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "fear"}\nnot json\n{"text": "pain"}\n[]\n')
    first, lost, second, last = iter_texts([str(path)])
    assert (first, second) == (Text("texts.jsonl:1", "fear"), Text("texts.jsonl:3", "pain"))
    assert lost.name == "texts.jsonl:2"
    assert last == Failure("texts.jsonl:4", "expected an object, not a list")


def test_an_empty_table_is_told(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text\n")
    assert list(iter_texts([str(path)])) == [
        Failure(str(path), f"expected texts, but {path} holds none")
    ]


def test_articles_need_no_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pubget", None)
    path = tmp_path / "article.xml"
    article = (
        '<article><front><article-meta><article-id pub-id-type="pmid">7</article-id><title-group>'
        "<article-title>Fear</article-title></title-group></article-meta></front>"
        "<body><p>The amygdala.</p></body></article>"
    )
    path.write_text(article)
    assert read_text(str(path)) == Text("7", "Fear\n\nThe amygdala.")
    path.write_text(f"<pmc-articleset>{article}{article.replace('7', '8')}</pmc-articleset>")
    assert [text.name for text in iter_texts([str(path)])] == ["7", "8"]
    path.write_text('<!DOCTYPE a [<!ENTITY x "y">]><article><front/></article>')
    with pytest.raises(CorpusError, match="declares XML entities"):
        read_text(str(path))


@pytest.mark.parametrize(
    ("sources", "many"),
    [(["a text"], False), (["-"], False), (["a.txt", "b.txt"], True), ([], True)],
)
def test_what_is_a_batch(sources, many):
    assert holds_many(sources) == many


def test_folders_and_tables_are_batches(tmp_path):
    assert holds_many([str(tmp_path)])
    (tmp_path / "t.csv.gz").write_bytes(b"")
    assert holds_many([str(tmp_path / "t.csv.gz")])
    (tmp_path / "t.txt").write_bytes(b"")
    assert not holds_many([str(tmp_path / "t.txt")])
