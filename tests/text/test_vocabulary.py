import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from neurowhere.exceptions import DataWarning, OutputError, VocabularyError
from neurowhere.text import TermCounter, Vocabulary

VOCABULARY = Vocabulary(
    ["amygdala", "fear", "gray matter"],
    {"amygdaloid body": "amygdala"},
    {"amygdala": "anatomy", "fear": "function"},
)


def test_looks_up_names_synonyms_and_other_forms():
    assert len(VOCABULARY) == 3
    assert list(VOCABULARY) == ["amygdala", "fear", "gray matter"]
    assert VOCABULARY.index("amygdaloid body") == VOCABULARY.index("Amygdalae") == 0
    assert VOCABULARY.index("Grey Matter") == 2
    assert "fears" in VOCABULARY
    assert "matter" not in VOCABULARY
    assert 3 not in VOCABULARY
    assert VOCABULARY.category("gray matter") == ""
    with pytest.raises(VocabularyError, match="'liver' is not among the 3 terms"):
        VOCABULARY.index("liver")


def test_is_frozen():
    with pytest.raises(AttributeError):
        VOCABULARY.terms = ()
    with pytest.raises(TypeError):
        VOCABULARY.synonyms["x"] = "fear"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "empty"),
        ((["the"],), "'the' has no word"),
        (([""],), "has no word"),
        ((["a|b"],), "holds a |"),
        ((["left\nright"],), "line break"),
        ((["Heschl gyrus", "Heschl's gyrus"],), "same words"),
        ((["amygdala", "amygdala"],), "same words"),
        ((["fear"], {"anxiety": "worry"}), "'worry', which is no term"),
        ((["fear", "worry"], {"fear": "worry"}), "both a term and a synonym"),
        ((["fear"], {}, {"worry": "psychology"}), "no term"),
        ((["fear"], {}, {"fear": "emotion"}), "expected one of"),
        (([float("nan")],), "nan has no word"),
    ],
)
def test_refuses_what_cannot_be_searched_for(arguments, message):
    with pytest.raises(VocabularyError, match=message):
        Vocabulary(*arguments)


def test_a_file_keeps_everything(tmp_path):
    VOCABULARY.save(tmp_path / "v.csv")
    text = (tmp_path / "v.csv").read_text("utf-8")
    assert text.splitlines()[:2] == ["term,category,synonyms", "amygdala,anatomy,amygdaloid body"]
    assert Vocabulary.load(tmp_path / "v.csv") == VOCABULARY
    assert [path.name for path in tmp_path.iterdir()] == ["v.csv"]


NAMES = st.text(alphabet='abcé ,"’-', min_size=1, max_size=12).map(lambda name: f"x{name}y")


@given(st.lists(NAMES, min_size=1, max_size=5, unique_by=str.casefold))
def test_any_name_survives_a_file(tmp_path_factory, names):
    try:
        vocabulary = Vocabulary(names[:1], dict.fromkeys(names[1:], names[0]))
    except VocabularyError:
        return
    path = tmp_path_factory.mktemp("v") / "v.csv"
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary


def test_reads_a_list_of_terms(tmp_path):
    path = tmp_path / "terms.txt.gz"
    path.write_bytes(gzip.compress(b"amygdala\n\nfear \r\n", mtime=0))
    assert Vocabulary.load(path).terms == ("amygdala", "fear")


def test_reads_neuroquerys_files(tmp_path):
    (tmp_path / "v.csv").write_text("amygdala,0.1\namygdalas,0.01\nfear,0.2\n")
    (tmp_path / "v.csv_voc_mapping_identity.json").write_text('{"amygdalas": "amygdala"}')
    vocabulary = Vocabulary.load(tmp_path / "v.csv")
    assert vocabulary.terms == ("amygdala", "fear")
    assert vocabulary.synonyms == {"amygdalas": "amygdala"}


def test_reads_columns_in_any_order(tmp_path):
    (tmp_path / "v.csv").write_text("term,synonyms\namygdala,a1|a2\nfear,\n")
    assert Vocabulary.load(tmp_path / "v.csv").synonyms == {"a1": "amygdala", "a2": "amygdala"}


def test_repeated_terms_of_a_file_become_one(tmp_path):
    (tmp_path / "v.txt").write_text("na\u00efve\nfear\nnaive\nfear\n", encoding="utf-8")
    with pytest.warns(DataWarning, match="2 terms repeat the words of another"):
        vocabulary = Vocabulary.load(tmp_path / "v.txt")
    assert vocabulary.terms == ("na\u00efve", "fear")
    assert vocabulary.synonyms == {"naive": "na\u00efve"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", b"", "empty"),
        ("v.csv", b"term,category,synonyms\n", "empty"),
        ("v.csv", b"a,b,c\n1,2,3\n", "no header term,category,synonyms"),
        ("v.csv", b"term,colour\nfear,red\n", "the column 'colour'"),
        ("v.csv", b"term,category\nfear\n", "row 2: 1 fields where the header has 2"),
        ("v.csv", b'term,category\n"fear,x\n', "cannot read"),
        ("v.csv", b"term,category\nfear,emotion\n", "v.csv: the category of 'fear'"),
        ("v.txt", b"\n\n", "empty"),
        ("v.txt", b"fear\xff\n", "not UTF-8"),
        ("v.txt.gz", gzip.compress(b"fear\n" * 1000, mtime=0)[:-12], "truncated"),
        ("v.txt.gz", b"fear", "damaged"),
    ],
)
def test_malformed_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(VocabularyError, match=message) as error:
        Vocabulary.load(tmp_path / name)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "mapping", ["[1]", '{"a": 1}', "{", "[" * 100_000, f'{{"a": {"9" * 5000}}}'], ids=range(5)
)
def test_a_malformed_mapping_is_named(tmp_path, mapping):
    (tmp_path / "v.txt").write_text("fear\n")
    (tmp_path / "m.json").write_text(mapping)
    with pytest.raises(VocabularyError, match=r"m\.json"):
        Vocabulary.load(tmp_path / "v.txt", tmp_path / "m.json")


def test_missing_files_and_folders_are_errors(tmp_path):
    with pytest.raises(VocabularyError, match="No such file"):
        Vocabulary.load(tmp_path / "none.csv")
    with pytest.raises(VocabularyError, match="directory"):
        Vocabulary.load(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        VOCABULARY.save(tmp_path / "file" / "v.csv")


def test_alignment_folds_synonyms_and_forms_in():
    columns = ["amygdala", "amygdalas", "amygdaloid body", "grey matter", "liver"]
    alignment = VOCABULARY.align(columns)
    counts = sparse.csr_matrix([[1, 2, 3, 4, 5]], dtype=np.int16)
    assert (counts @ alignment.matrix).toarray().tolist() == [[6, 0, 4]]
    assert alignment.missing == ["fear"]
    assert alignment.unused == ["liver"]
    assert str(alignment) == "2 of 3 terms counted by 4 of 5 columns"


def test_texts_and_counts_of_their_words_give_the_same():
    text = "fear fears amygdala amygdalas tumor"
    columns = sorted(set(text.split()))
    counts = sparse.csr_matrix([[text.split().count(column) for column in columns]])
    aligned = counts @ VOCABULARY.align(columns).matrix
    assert (aligned != TermCounter(VOCABULARY).count([text])).nnz == 0


def test_nothing_in_common_is_an_error():
    with pytest.raises(VocabularyError, match="none of the 1 columns"):
        VOCABULARY.align(["liver"])


def test_subset_keeps_order_synonyms_and_categories():
    subset = VOCABULARY.subset(["gray matter", "amygdala"])
    assert subset.terms == ("amygdala", "gray matter")
    assert subset.synonyms == {"amygdaloid body": "amygdala"}
    assert subset.categories == {"amygdala": "anatomy"}


def test_former_categories_are_read_as_those_of_today(tmp_path):
    (tmp_path / "v.csv").write_text("term,category\nfear,psychology\nstroke,disease\nold,generic\n")
    vocabulary = Vocabulary.load(tmp_path / "v.csv")
    assert dict(vocabulary.categories) == {
        "fear": "function",
        "stroke": "disorder",
        "old": "generic",
    }


def test_generic_words_are_told():
    vocabulary = Vocabulary(
        ["human", "syndrome", "old", "quick", "fear", "words", "axial", "lobe", "insula"],
        categories={"words": "generic", **dict.fromkeys(["axial", "lobe", "insula"], "anatomy")},
    )
    generic = [term for term in vocabulary if vocabulary.is_generic(term)]
    assert generic == ["human", "syndrome", "old", "quick", "words", "lobe"]


def test_parts_are_the_one_word_terms_within_names():
    vocabulary = Vocabulary(["gray", "gray matter", "visual cortex", "white matter", "cortex"])
    counts = TermCounter(vocabulary).count(["gray matter of the visual cortex"])
    assert (counts + counts @ vocabulary.parts()).toarray().tolist() == [[1, 1, 1, 0, 1]]
    assert Vocabulary(["fear"]).parts().nnz == 0


@pytest.mark.data
def test_reads_the_7547_terms_of_neuroquery(data):
    folder = data / "vocabulary"
    mapping = folder / "neuroquery_voc_mapping_identity.json"
    with pytest.warns(DataWarning, match="243 of 1,239 synonyms only look alike"):
        vocabulary = Vocabulary.load(
            folder / "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt", mapping
        )
    assert len(vocabulary) + len(vocabulary.synonyms) == 7547
    assert len(vocabulary.synonyms) == 996
    with gzip.open(data / "corpus" / "neuroquery156521_vocabulary.txt.gz", "rt") as stream:
        alignment = vocabulary.align([line.rstrip("\n") for line in stream])
    assert alignment.missing == []
    assert alignment.matrix.shape == (156521, 6551)
