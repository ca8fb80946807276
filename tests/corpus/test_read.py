import importlib
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from neurowhere.corpus import iter_documents, read_corpus
from neurowhere.corpus.read import READERS, TIERS, detect
from neurowhere.exceptions import CorpusError, DataWarning


def write_lines(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_every_reader_keeps_the_protocol() -> None:
    assert sorted(name for tier in TIERS for name in tier) == sorted(READERS)
    for name, module in READERS.items():
        reader = importlib.import_module(f"neurowhere.corpus.{module}")
        assert name == reader.NAME
        assert callable(reader.detects)
        assert hasattr(reader, "read") or hasattr(reader, "iter_documents")


def test_every_reader_looks_at_anything(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.xyz").write_bytes(b"\0\xff")
    for name in ("empty", "file.xyz"):
        assert detect(tmp_path / name) == []
        with pytest.raises(CorpusError, match="in no known format; expected one of folder, pubget"):
            read_corpus(tmp_path / name)


def test_specific_formats_come_before_general_ones(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    assert detect(tmp_path) == ["text"]
    (tmp_path / "a.csv").write_text("text\na\n")
    assert detect(tmp_path) == ["table"]
    write_lines(tmp_path / "a.jsonl", {"title": "a"})
    assert detect(tmp_path) == ["jsonl"]
    read_corpus(tmp_path).save(tmp_path / "corpus")
    assert detect(tmp_path / "corpus") == ["folder"]
    assert read_corpus(tmp_path, format="text").texts == ["notes"]


def test_what_does_not_exist_is_an_error(tmp_path: Path) -> None:
    for read in (read_corpus, iter_documents):
        with pytest.raises(CorpusError, match=r"but .*nowhere does not exist"):
            read(tmp_path / "nowhere")
        with pytest.raises(CorpusError, match="unknown format 'word'; choose among folder"):
            read(tmp_path, format="word")


def test_duplicates_are_dropped_by_default_and_kept_on_request(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl",
        *({"pmid": 7, "title": title, "coords": [[1, 2, -3]]} for title in "ab"),
    )
    with pytest.warns(DataWarning, match=r"1 document with the id of an earlier one \(dropped\)"):
        corpus = read_corpus(path)
    assert corpus.texts == ["a"]
    assert "warnings" not in corpus.origin  # it is among the problems
    with pytest.warns(DataWarning, match="kept"):
        corpus = read_corpus(path, drop=())
    assert corpus.documents["id"].tolist() == ["7", "7#2"]
    assert corpus.groups.tolist() == ["7", "7"]
    assert corpus.n_peaks.tolist() == [1, 1]


def test_what_can_be_dropped_is_checked_before_reading(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot drop everything"):
        read_corpus(tmp_path, drop=["everything"])


def test_labels_of_space_can_come_from_elsewhere(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"pmid": 7, "title": "a", "coords": [[1, 2, -3]]})
    corpus = read_corpus(path, spaces={"7": "Talairach"})
    assert corpus.documents[["space", "source_space"]].iloc[0].tolist() == ["MNI", "TAL"]
    assert corpus.peaks["z"][0] < -3
    left = read_corpus(path, spaces={"7": "Talairach"}, talairach_to_mni=False)
    assert left.documents["space"].tolist() == ["TAL"]
    assert left.peaks["z"][0] == -3


def test_warnings_obey_the_callers_filters(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"title": "a"}, {"name": "b"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert len(read_corpus(path)) == 1
    with pytest.raises(DataWarning, match="skipped 1 of 2 lines"):
        read_corpus(path)


def test_a_warning_points_to_the_caller(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"title": "a"}, {"name": "b"})
    with pytest.warns(DataWarning) as caught:
        read_corpus(path)
    assert caught[0].filename == __file__


def test_corpora_that_are_only_read_whole_can_be_iterated(tmp_path: Path) -> None:
    (tmp_path / "neurosynth_metadata.tsv").write_text("id\ttitle\tspace\n1\tFear\tTAL\n")
    (tmp_path / "neurosynth_coordinates.tsv").write_text("id\tx\ty\tz\n1\t1\t2\t-3\n")
    (document,) = iter_documents(tmp_path)
    assert (document.text, document.space, document.metadata["source_space"]) == (
        "Fear",
        "MNI",
        "TAL",
    )


@pytest.mark.parametrize("read", [read_corpus, iter_documents])
def test_what_the_system_refuses_to_read_is_one_line(read, tmp_path: Path) -> None:
    (tmp_path / "neurosynth_metadata.tsv").mkdir()
    (tmp_path / "neurosynth_coordinates.tsv").write_text("id\tx\ty\tz\n")
    with pytest.raises(CorpusError, match=r"cannot read .*metadata\.tsv: Is a directory"):
        read(tmp_path)


def test_progress_can_be_asked_for(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"title": "a"})
    assert len(read_corpus(path, progress=True)) == 1


def test_a_reader_is_imported_when_it_is_needed(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"title": "a"})
    code = (
        "import sys; from neurowhere.corpus import read_corpus; read_corpus(sys.argv[1]);"
        "sys.exit(any(name in sys.modules for name in ('pubget', 'lxml', 'nilearn', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0


def test_the_shared_folder_holds_several_corpora(data: Path) -> None:
    with pytest.raises(CorpusError, match="choose the format: neuroquery, neurosynth, jsonl"):
        read_corpus(data / "corpus")
    assert detect(data / "unlabelled") == ["jsonl"]


def write_pair(folder: Path, key: str = "id") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "texts.csv").write_text(
        f"{key},title,abstract\n"
        "1,Fear,The amygdala.\n2,Vision,The visual cortex.\n3,Speech,Broca.\n"
    )
    (folder / "peaks.csv").write_text(
        f"{key.upper()};X;Y;Z;space\n1;-22;-4;-18;MNI\n1;24;-2;-18;MNI\n2;8;-92;2;MNI\n2;8;a;2;\n"
    )
    return folder


@pytest.mark.parametrize("key", ["id", "pmid", "pmcid"])
def test_texts_and_peaks_in_two_tables_are_joined_on_their_id(tmp_path: Path, key: str) -> None:
    with pytest.warns(DataWarning, match="1 of 4 peaks"):
        corpus = read_corpus(write_pair(tmp_path / "pair", key))
    assert corpus.texts[0].endswith("The amygdala.")
    prefix = "PMC" if key == "pmcid" else ""
    assert corpus.peaks["id"].tolist() == [f"{prefix}1", f"{prefix}1", f"{prefix}2"]
    assert corpus.peaks[["x", "y", "z"]].to_numpy().tolist() == [
        [-22, -4, -18],
        [24, -2, -18],
        [8, -92, 2],
    ]
    (missing,) = (each for each in corpus.problems if "without peaks" in str(each))
    assert "1 document" in str(missing)


def test_peaks_without_a_text_are_told(tmp_path: Path) -> None:
    folder = write_pair(tmp_path / "pair")
    (folder / "peaks.csv").write_text("id,x,y,z\n1,1,2,3\n77,1,2,3\n")
    with pytest.warns(DataWarning, match=r"1 of 2 ids of peaks.csv have no text, such as 77"):
        read_corpus(folder)
    (folder / "peaks.csv").write_text("id,x,y,z\n77,1,2,3\n")
    with pytest.raises(CorpusError, match=r"none of 1 is there .such as 77"):
        read_corpus(folder)
