from pathlib import Path

import numpy as np
import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.coordinates import (
    corpus_to_mni,
    document_to_mni,
    fill_spaces,
    read_spaces,
    talairach_to_mni,
)
from neurowhere.corpus.documents import parse_space
from neurowhere.exceptions import CorpusError

XYZ = np.array([[-22.0, -4.0, -18.0], [30.0, 10.0, 50.0]])


@pytest.mark.parametrize(
    ("labels", "space"),
    [
        (("MNI", "mni", "MNI152", " MNI space ", "mni152_2mm", "ICBM-152", "MNI305"), "MNI"),
        (("TAL", "Talairach", "talairach space", "TLRC", "Talairach & Tournoux"), "TAL"),
        (("UNKNOWN", "as in NeuroQuery", "unknown (LLM-parsed tables)", "", None, 3), "unknown"),
        (("MNI or Talairach", "mnemonic", "tall"), "unknown"),
    ],
)
def test_spellings(labels: tuple[object, ...], space: str) -> None:
    assert {parse_space(label) for label in labels} == {space}


def test_talairach_documents_are_converted_once() -> None:
    document = document_to_mni(Document("1", {}, XYZ, "TAL"))
    np.testing.assert_allclose(document.peaks, talairach_to_mni(XYZ))
    assert document.space == "MNI"
    assert document.metadata["source_space"] == "TAL"
    assert document_to_mni(document) is document
    unknown = Document("1", {}, XYZ)
    assert document_to_mni(unknown) is unknown


def test_corpus_is_converted_like_its_documents() -> None:
    documents = [Document("1", {}, XYZ, "TAL"), Document("2", {}, XYZ, "MNI"), Document("3", {})]
    whole = corpus_to_mni(Corpus.from_documents(documents))
    by_document = Corpus.from_documents(map(document_to_mni, documents))
    assert whole.documents["space"].tolist() == ["MNI", "MNI", "unknown"]
    assert whole.documents["source_space"].tolist() == ["TAL", "MNI", "unknown"]
    assert whole.peaks.equals(by_document.peaks)
    assert whole.documents.equals(by_document.documents[whole.documents.columns])
    assert corpus_to_mni(whole) is whole


def test_labels_fill_in_what_the_source_does_not_say(tmp_path: Path) -> None:
    table = tmp_path / "spaces.tsv"
    table.write_text("id\tspace\n1\tTAL\n2\tTAL\n9\tMNI\n")
    documents = [Document("1", {}, XYZ), Document("2", {}, XYZ, "MNI"), Document("3", {}, XYZ)]
    corpus = fill_spaces(Corpus.from_documents(documents), read_spaces(table))
    assert corpus.documents["source_space"].tolist() == ["TAL", "MNI", "unknown"]
    np.testing.assert_allclose(corpus_to_mni(corpus).peaks_by_document[0], talairach_to_mni(XYZ))


def test_a_table_of_spaces_needs_its_columns(tmp_path: Path) -> None:
    table = tmp_path / "spaces.csv"
    table.write_text("pmid,space\n1,TAL\n")
    with pytest.raises(CorpusError, match="id missing among pmid, space"):
        read_spaces(table)
    with pytest.raises(CorpusError, match="is no file"):
        read_spaces(tmp_path / "none.csv")
