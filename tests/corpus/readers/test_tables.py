import csv
import gzip
from pathlib import Path

import pytest

from neurowhere.corpus import read_corpus
from neurowhere.corpus.readers import tables
from neurowhere.exceptions import CorpusError, DamageWarning, DataWarning


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.tsv.gz", "\t")]
)
def test_tables_of_texts(tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [
        ["PMID", " Text ", "Year", "coords"],
        ["12", '"Fear, with\na line; break ""and"" quotes"', "1999", '"[[1, 2, -3]]"'],
        ["13", "Vision", "", ""],
    ]
    content = "\n".join(delimiter.join(row) for row in rows)
    opener = gzip.open if name.endswith("gz") else open
    with opener(tmp_path / name, "wt", encoding="utf-8") as stream:
        stream.write(content)
    corpus = read_corpus(tmp_path / name)
    assert corpus.texts == ['Fear, with\na line; break "and" quotes', "Vision"]
    assert corpus.documents["pmid"].tolist() == ["12", "13"]
    assert corpus.documents["year"][0] == 1999
    assert corpus.n_peaks.tolist() == [1, 0]


def test_sections_are_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,abstract,body\nT,A,B\n,,\n")
    corpus = read_corpus(tmp_path / "a.csv")
    assert corpus.sections == {"title": ["T", ""], "abstract": ["A", ""], "body": ["B", ""]}
    assert [problem.name for problem in corpus.problems] == ["empty", "without_peaks"]


def test_a_table_without_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,report\n1,normal\n")
    with pytest.raises(CorpusError, match=r"column of text named .*; the columns are id, report"):
        read_corpus(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(CorpusError, match="the columns are none"):
        read_corpus(tmp_path / "a.csv")


def test_a_row_of_another_length_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,a\n2,b,c\n3\n4,d\n")
    with pytest.warns(DataWarning, match=r"skipped 2 of 4 rows \(a.csv:3: expected 2 cells, not 3"):
        assert read_corpus(tmp_path / "a.csv").texts == ["a", "d"]


def test_a_full_text_fits_into_a_cell(tmp_path: Path) -> None:
    text = "amygdala " * 50_000
    (tmp_path / "a.csv").write_text(f"id,text\n1,{text}\n")
    assert read_corpus(tmp_path / "a.csv").texts == [text.strip()]


def test_a_folder_of_tables(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"id,text\n{name},text of {name}\n")
    (tmp_path / "c.csv").write_text("id,value\n1,2\n")
    with pytest.warns(DataWarning, match=r"skipped 1 of 3 files .*the columns are id, value"):
        assert read_corpus(tmp_path).texts == ["text of a", "text of b"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("first", ["", "sep=;\r\n"])
def test_tables_of_excel(tmp_path: Path, encoding: str, first: str) -> None:
    table = f"{first}id;text\r\n7;Läsion, links\r\n"
    (tmp_path / "a.csv").write_bytes(table.encode(encoding))
    assert read_corpus(tmp_path / "a.csv").texts == ["Läsion, links"]
    (tmp_path / "b.csv").write_bytes(table.encode("cp1252"))
    with pytest.raises(CorpusError, match=r"not UTF-8 .* iconv -f WINDOWS-1252 -t UTF-8"):
        read_corpus(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("rows", "read", "skipped"),
    [
        (
            ["1,a", '2,"b', "3,c", "4,d"],
            ["a"],
            r"3 of 4 rows \(a.csv:3: .*; 3 lines, 3 to 5, are not read\)",
        ),
        (["1,a", '2,b"', "3,c", '4,"d'], ["a", 'b"', "c"], r"skipped 1 of 4 rows \(a.csv:5: "),
        (["1,a", '2,"b', "3,c", '4,"d"', "5,e"], ["a", "e"], r"skipped 3 of 5 rows \(a.csv:3: "),
        (
            ['1,"a', "2,b", '3,"c" d', "4,e"],
            ["e"],
            r"3 of 4 rows \(a.csv:2: .*; 3 lines, 2 to 4, are not read\)",
        ),
    ],
)
def test_what_a_quote_swallows_is_counted(
    tmp_path: Path, rows: list[str], read: list[str], skipped: str
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *rows]) + "\n")
    with pytest.warns(DamageWarning, match=skipped):
        assert read_corpus(tmp_path / "a.csv").texts == read


def test_quotes_within_a_line_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,5" b\n2,"c" d\n3,"e ""f"" g\nh"\n')
    assert read_corpus(tmp_path / "a.csv").texts == ['5" b', "c d", 'e "f" g\nh']


def test_a_cell_without_end_is_not_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_CELL_CHARACTERS", 100)
    (tmp_path / "a.csv").write_text('id,text\n1,a\n2,"' + "word\n" * 30 + "3,c\n")
    before = csv.field_size_limit()
    try:
        with pytest.warns(DataWarning, match=r"a.csv:3: a quotation mark is not closed"):
            assert read_corpus(tmp_path / "a.csv").texts == ["a", "c"]
    finally:
        csv.field_size_limit(before)
