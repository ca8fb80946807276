"""NeuroQuery's and Neurosynth's releases, as they are named upstream and in our own cuts."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from neurowhere.corpus import read_corpus
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.corpus.readers import neuroquery, neurosynth
from neurowhere.exceptions import CorpusError, DataWarning

METADATA = "id\ttitle\n11\tFear\n12\tVision\n13\tMotor\n"
COORDINATES = (
    "id\ttable_id\tx\ty\tz\n12\tt1\t8\t-90\t2\n11\tt1\t-20\t-4\t-18\n12\tt2\t0.5\t-80\t6\n"
)
TERMS = ["unused", "amygdala", "fear", "vision"]
COUNTS = {
    "title": np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]),
    "abstract": np.array([[0, 3, 2, 0], [0, 0, 0, 4], [0, 0, 0, 0]]),
}
UPSTREAM = {
    "coordinates": "data-neuroquery_version-1_coordinates.tsv.gz",
    "metadata": "data-neuroquery_version-1_metadata.tsv.gz",
    "counts": "data-neuroquery_version-1_vocab-neuroquery4_source-{}_type-count_features.npz",
    "vocabulary": "data-neuroquery_version-1_vocab-neuroquery4_vocabulary.txt",
}
OURS = {
    "coordinates": "neuroquery_dev_coordinates.tsv.gz",
    "metadata": "neuroquery_dev_metadata.tsv.gz",
    "counts": "neuroquery_dev_counts_{}.npz",
    "vocabulary": "neuroquery4_vocabulary.txt.gz",
}


def write(path: Path, content: str) -> None:
    data = content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_neuroquery(
    folder: Path,
    names: dict[str, str] = OURS,
    *,
    metadata: str = METADATA,
    coordinates: str = COORDINATES,
) -> None:
    write(folder / names["metadata"], metadata)
    write(folder / names["coordinates"], coordinates)
    write(folder / names["vocabulary"], "".join(f"{term}\n" for term in TERMS))
    for section, counts in COUNTS.items():
        matrix = sparse.csr_matrix(counts.astype(np.int16))
        sparse.save_npz(folder / names["counts"].format(section), matrix)


def write_neurosynth(folder: Path, prefix: str = "data-neurosynth_version-7") -> None:
    write(
        folder / f"{prefix}_metadata.tsv.gz",
        "id\tdoi\tspace\ttitle\tauthors\tyear\tjournal\n"
        '1\t\tTAL\t"The ""where"" pathway"\tA, B\t1997\tBrain\n'
        "2\t10.1/x\tMNI\tVision\tC\t2011\tCortex\n"
        "3\t\tUNKNOWN\tNone\tD\t2012\tCortex\n",
    )
    write(
        folder / f"{prefix}_coordinates.tsv.gz",
        "id\ttable_id\ttable_num\tx\ty\tz\n1\t7\t1.\t10\t-20\t30\n2\t8\t\t10\t-20\t30\n",
    )


@pytest.mark.parametrize("names", [OURS, UPSTREAM])
def test_neuroquery_from_its_folder_or_any_of_its_files(
    tmp_path: Path, names: dict[str, str]
) -> None:
    write_neuroquery(tmp_path, names)
    (tmp_path / "data-neuroquery_version-1_vocab-neuroquery2_vocabulary.txt").write_text("a\nb\n")
    files = [name.format("title") for name in names.values()]
    for path in (tmp_path, *(tmp_path / file for file in files)):
        corpus = read_corpus(path)
        assert corpus.origin["format"] == "neuroquery"
        assert corpus.documents["id"].tolist() == corpus.groups.tolist() == ["11", "12", "13"]
        assert corpus.documents["title"].tolist() == ["Fear", "Vision", "Motor"]
        assert corpus.texts is None
        assert corpus.n_peaks.tolist() == [1, 2, 0]
        assert corpus.peaks_by_document[1].tolist() == [[8, -90, 2], [0.5, -80, 6]]
        assert corpus.peaks["table"].tolist() == ["t1", "t1", "t2"]


def test_neuroquery_counts_without_unused_terms(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    corpus = read_corpus(tmp_path)
    assert corpus.terms == TERMS[1:]
    assert corpus.counts is not None
    assert list(corpus.counts) == ["title", "abstract"]
    for section, counts in COUNTS.items():
        np.testing.assert_array_equal(corpus.counts[section].toarray(), counts[:, 1:])
    names = {problem.name for problem in corpus.problems}
    assert names == {"empty", "without_peaks", "unknown_space"}


def test_the_largest_vocabulary_with_counts_is_taken(tmp_path: Path) -> None:
    write_neuroquery(tmp_path, UPSTREAM)
    prefix = "data-neuroquery_version-1_vocab-neuroquery2_"
    (tmp_path / f"{prefix}vocabulary.txt").write_text("fear\nvision\n")
    small = sparse.csr_matrix(COUNTS["title"][:, 2:])
    sparse.save_npz(tmp_path / f"{prefix}source-title_type-count_features.npz", small)
    sparse.save_npz(tmp_path / f"{prefix}source-body_type-count_features.npz", small)
    sparse.save_npz(tmp_path / f"{prefix}source-title_type-tfidf_features.npz", small * 0.5)
    corpus = neuroquery.read(tmp_path)
    assert corpus.terms == TERMS[1:]
    assert list(corpus.counts or ()) == ["title", "abstract"]


def test_neuroquery_without_counts_has_its_titles(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    for file in tmp_path.glob("*.npz"):
        file.unlink()
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ["Fear", "Vision", "Motor"]
    assert corpus.counts is None


def test_neurosynth_is_converted_where_it_says_talairach(tmp_path: Path) -> None:
    write_neurosynth(tmp_path)
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ['The "where" pathway', "Vision", "None"]
    assert corpus.documents["space"].tolist() == ["MNI", "MNI", "unknown"]
    assert corpus.documents["source_space"].tolist() == ["TAL", "MNI", "unknown"]
    assert corpus.documents["year"].tolist() == [1997, 2011, 2012]
    expected = [talairach_to_mni([[10, -20, 30]])[0], [10, -20, 30]]
    np.testing.assert_allclose(corpus.peaks[["x", "y", "z"]], expected)
    as_printed = read_corpus(tmp_path, talairach_to_mni=False)
    assert as_printed.documents["space"].tolist() == ["TAL", "MNI", "unknown"]
    np.testing.assert_array_equal(as_printed.peaks_by_document[0], [[10, -20, 30]])


def test_several_releases_need_a_file_to_tell_them_apart(tmp_path: Path) -> None:
    write_neurosynth(tmp_path)
    write_neurosynth(tmp_path, "data-neurosynth_version-6")
    with pytest.raises(CorpusError, match=r"one release.*version-6, data-.*version-7; name one"):
        read_corpus(tmp_path)
    assert len(read_corpus(tmp_path / "data-neurosynth_version-6_metadata.tsv.gz")) == 3


def test_both_in_one_folder_need_the_format(tmp_path: Path) -> None:
    write_neurosynth(tmp_path)
    write_neuroquery(tmp_path)
    with pytest.raises(CorpusError, match="choose the format: neuroquery, neurosynth"):
        read_corpus(tmp_path)
    assert len(read_corpus(tmp_path, format="neurosynth").peaks) == 2
    assert len(read_corpus(tmp_path, format="neuroquery").peaks) == 3


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    write_neurosynth(tmp_path)
    (tmp_path / "data-neurosynth_version-7_metadata.tsv.gz").unlink()
    with pytest.raises(CorpusError, match=r"version-7_metadata.tsv.gz is missing; put it beside"):
        read_corpus(tmp_path)
    with pytest.raises(CorpusError, match="found none"):
        read_corpus(tmp_path, format="neuroquery")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    write_neuroquery(tmp_path, coordinates=COORDINATES.replace("\tz\n", "\tzz\n"))
    with pytest.raises(CorpusError, match="columns id, x, y, z; z missing among id, table_id, x"):
        read_corpus(tmp_path)
    write_neuroquery(tmp_path, metadata="")
    with pytest.raises(CorpusError, match=r"metadata.tsv.gz is not a whole table: No columns"):
        read_corpus(tmp_path)


@pytest.mark.parametrize("bad", ["", "nan", "n/a", "inf", "−4"])
def test_coordinates_that_are_no_numbers_are_skipped_and_counted(tmp_path: Path, bad: str) -> None:
    write_neuroquery(tmp_path, coordinates=COORDINATES.replace("-4", bad))
    with pytest.warns(DataWarning, match=r"skipped 1 of 3 peaks .study 11 in neuroquery_dev_coord"):
        assert read_corpus(tmp_path).n_peaks.tolist() == [0, 2, 0]


def test_coordinates_that_are_all_bad_are_an_error(tmp_path: Path) -> None:
    write_neuroquery(tmp_path, coordinates="id\tx\ty\tz\n11\tleft\t2\t3\n12\t1\t\t3\n")
    with pytest.raises(CorpusError, match="nothing could be read: skipped 2 of 2 peaks"):
        read_corpus(tmp_path)


def test_peaks_of_unknown_studies_are_skipped_and_counted(tmp_path: Path) -> None:
    write_neuroquery(tmp_path, coordinates=COORDINATES + "99\tt1\t0\t0\t0\n")
    with pytest.warns(DataWarning, match=r"skipped 1 of 4 peaks .study 99 .* not in the metadata"):
        assert len(read_corpus(tmp_path).peaks) == 3


def test_a_repeated_row_of_the_metadata_goes_with_its_counts(tmp_path: Path) -> None:
    write_neuroquery(tmp_path, metadata=METADATA.replace("12\tVision", "11\tFear again"))
    with pytest.warns(DataWarning) as caught:
        corpus = read_corpus(tmp_path)
    assert [str(warning.message)[:20] for warning in caught] == [
        "skipped 2 of 3 peaks",
        "1 document with the ",
    ]
    assert corpus.documents["id"].tolist() == ["11", "13"]
    assert corpus.counts is not None
    np.testing.assert_array_equal(corpus.counts["title"].toarray()[:, :2], [[0, 1], [0, 0]])


def test_a_truncated_table_is_an_error(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    path = tmp_path / OURS["coordinates"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorpusError, match=r"coordinates.tsv.gz is truncated or damaged"):
        read_corpus(tmp_path)


def test_damaged_counts_are_an_error(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    path = tmp_path / OURS["counts"].format("title")
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"not a zip archive"):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=r"counts_title.npz is not a whole sparse matrix"):
            read_corpus(tmp_path)


def test_counts_of_another_release_are_an_error(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    sparse.save_npz(tmp_path / OURS["counts"].format("title"), sparse.csr_matrix((2, 4)))
    with pytest.raises(CorpusError, match="each of the 3 rows of the metadata, but it has 2"):
        read_corpus(tmp_path)


def test_a_vocabulary_of_another_length_is_an_error(tmp_path: Path) -> None:
    write_neuroquery(tmp_path)
    write(tmp_path / OURS["vocabulary"], "a\nb\n")
    with pytest.raises(CorpusError, match=r"with 4 terms, .*; found neuroquery4_.* with 2"):
        read_corpus(tmp_path)


def test_other_files_are_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "my_coordinates.tsv").write_text(COORDINATES)
    (tmp_path / "neuroquery_notes.txt").write_text("notes")
    for reader in (neuroquery, neurosynth):
        assert not reader.detects(tmp_path)
        assert not reader.detects(tmp_path / "my_coordinates.tsv")


def test_the_real_neuroquery(data: Path) -> None:
    corpus = neuroquery.read(data / "corpus")
    assert (len(corpus), len(corpus.peaks)) == (12_100, 423_803)
    assert corpus.counts is not None
    for section, matrix in corpus.counts.items():
        raw = sparse.load_npz(data / "corpus" / f"neuroquery_dev_counts_{section}.npz")
        np.testing.assert_array_equal(matrix.sum(axis=1), raw.sum(axis=1))
    column = (corpus.terms or []).index("amygdala")
    counted = corpus.counts["title"][:, [column]].toarray()[:, 0] > 0
    said = corpus.documents["title"].str.lower().str.contains(r"\bamygdala\b").to_numpy()
    assert said[counted].all()
    assert np.mean(counted[said]) > 0.7  # elsewhere it is part of a longer term


def test_the_real_neurosynth(data: Path) -> None:
    corpus = neurosynth.read(data / "corpus")
    assert (len(corpus), len(corpus.peaks)) == (12_911, 457_378)
    assert corpus.documents["space"].value_counts().to_dict() == {
        "MNI": 9148,
        "TAL": 2107,
        "unknown": 1656,
    }
