import gzip
import json
import lzma
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from neurowhere.text import Match, TermCounter, Vocabulary
from neurowhere.text import counter as counter_module
from neurowhere.text.words import fold, is_skipped, other_splits, plain, words_of

VOCABULARY = Vocabulary(
    [
        "amygdala",
        "anterior cingulate",
        "anterior cingulate cortex",
        "cortex",
        "gray matter",
        "heschl gyrus",
        "huntington disease",
        "lobule v",
        "nucleus solitary tract",
        "prefrontal cortex",
        "superior temporal gyrus",
        "tumor",
        "sub-thalamus",
    ],
    {"acc": "anterior cingulate cortex", "amygdaloid nucleus": "amygdala"},
)
COUNTER = TermCounter(VOCABULARY)


def found(text):
    return [match.term for match in COUNTER.find(text)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Anterior Cingulate Cortex", ["anterior cingulate cortex"]),
        ("cortex of the anterior cingulate", ["cortex", "anterior cingulate"]),
        ("anterior cingulate of the cortex", ["anterior cingulate cortex"]),
        ("anterior cingulate and cortices", ["anterior cingulate", "cortex"]),
        ("anterior cingulate to cortex", ["anterior cingulate", "cortex"]),
        ("anterior cingulate gyrus cortex", ["anterior cingulate", "cortex"]),
        ("acc", ["anterior cingulate cortex"]),
        ("superior\n   temporal\r\ngyri", ["superior temporal gyrus"]),
        ("superior‐temporal–gyrus", ["superior temporal gyrus"]),
        ("Heschl’s gyrus, Heschl's gyri, HESCHL GYRUS", ["heschl gyrus"] * 3),
        ("Huntington's disease", ["huntington disease"]),
        ("nucleus of the solitary tract", ["nucleus solitary tract"]),
        ("pre-frontal cortex; pre frontal cortices", ["prefrontal cortex"] * 2),
        ("sub thalamus, subthalamus, sub-thalamus", ["sub-thalamus"] * 3),
        ("grey matter gray matter", ["gray matter"] * 2),
        ("tumours and a tumor", ["tumor"] * 2),
        ("amygdaloid nuclei", ["amygdala"]),
        ("amyg-\ndala amyg\u00addala", ["amygdala"] * 2),
        ("lobule V; lobules v", ["lobule v"] * 2),
        ("amygdalar cortexx", []),
        ("anterior not cingulate", []),
        ("", []),
    ],
)
def test_finds_names_however_they_are_written(text, terms):
    assert found(text) == terms


def test_a_form_that_is_a_term_counts_as_itself():
    counter = TermCounter(Vocabulary(["network", "networks", "neural network"]))
    counts = counter.count(["network networks Networks neural networks neural network"])
    assert counts.toarray().tolist() == [[1, 2, 2]]


def test_a_term_wins_over_a_synonym_with_the_same_words():
    counter = TermCounter(Vocabulary(["insula", "cortex"], {"the Insula": "cortex"}))
    assert [match.term for match in counter.find("insula")] == ["insula"]


def test_offsets_point_at_the_original_text():
    text = "ﬁrst “Ménière’s” amyg-\r\n  dala – Heschl’s\ngyri (x\u00ad)"
    spans = [text[match.start : match.end] for match in COUNTER.find(text)]
    assert spans == ["amyg-\r\n  dala", "Heschl’s\ngyri"]


def test_match_tells_the_side_and_where():
    text = "In the Left amygdala"
    assert COUNTER.find(text) == [Match("amygdala", 12, 20, "left", 7, 11)]


def test_counts_have_one_row_per_text_and_are_integers():
    counts = COUNTER.count(iter(["amygdala amygdalae", "", "nothing", "cortex"]))
    assert counts.shape == (4, len(VOCABULARY))
    assert counts.dtype == np.int32
    assert sparse.isspmatrix_csr(counts)
    assert counts.sum(axis=1).A1.tolist() == [2, 0, 0, 1]
    assert COUNTER.count([]).shape == (0, len(VOCABULARY))


def test_texts_of_a_batch_do_not_run_into_each_other():
    counts = COUNTER.count(["anterior", "cingulate cortex"])
    assert counts.toarray()[:, VOCABULARY.index("anterior cingulate cortex")].tolist() == [0, 0]


def test_batches_change_nothing(monkeypatch):
    texts = ["amygdala cortex", "", "gray matter " * 5, "tumor"] * 5
    whole = COUNTER.count(texts)
    monkeypatch.setattr(counter_module, "BATCH", 3)
    assert len(list(COUNTER.iter_count(texts))) > 1
    assert (COUNTER.count(texts) != whole).nnz == 0


def test_sides_are_counted_apart():
    counts = COUNTER.count_sides(["left amygdala, right amygdala", "both amygdalae, a cortex"])
    amygdala = VOCABULARY.index("amygdala")
    assert {side: matrix.toarray()[:, amygdala].tolist() for side, matrix in counts.items()} == {
        "left": [1, 0],
        "right": [1, 0],
        "bilateral": [0, 1],
    }
    assert all(matrix.sum() == matrix[:, amygdala].sum() for matrix in counts.values())


def test_a_counter_can_be_sent_to_another_process():
    counter = pickle.loads(pickle.dumps(COUNTER))
    assert counter.find("left amygdala") == COUNTER.find("left amygdala")


NAMES = st.sampled_from([*VOCABULARY.terms, *VOCABULARY.synonyms, "left", "the", "x-ray", "ﬁ é"])
TEXTS = st.lists(st.one_of(NAMES, st.text(max_size=3)), max_size=12).map(" ".join)
ASCII_TEXTS = st.lists(
    st.one_of(NAMES.filter(str.isascii), st.text(alphabet="abc 1,", max_size=4)), max_size=12
).map(" ".join)


@given(st.one_of(TEXTS, st.text()))
def test_matches_are_in_order_in_bounds_and_found_again(text):
    end = 0
    for match in COUNTER.find(text):
        assert end <= match.start < match.end <= len(text)
        end = match.end
        assert found(text[match.start : match.end]) == [match.term]
        if match.side_start is not None:
            assert text[match.side_start : match.side_end].lower().startswith(match.side[0])


@given(st.lists(TEXTS, max_size=4))
def test_counts_are_the_numbers_of_matches(texts):
    expected = [[found(text).count(term) for term in VOCABULARY] for text in texts]
    counts = COUNTER.count(texts).toarray()
    assert counts.tolist() == np.reshape(expected, counts.shape).tolist()


@example("anterior cingulate left left")
@given(ASCII_TEXTS)
def test_case_hyphens_and_line_breaks_change_nothing(text):  # within a sentence
    terms = found(text)
    assert found(text.upper()) == found(text.title()) == found(text.swapcase()) == terms
    assert found(re.sub(" +", "\n", text)) == terms  # an empty line would end a name
    assert found(text.replace(" ", "   ")) == terms
    assert found(text.replace(" ", "-")) == found(text.replace("-", " ")) == terms
    assert found(text.replace(" ", "\u2011")) == terms


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=[])))
def test_junk_never_crashes(text):
    COUNTER.find(text)
    COUNTER.count([text])


# Against independent counters, on real texts


FIELDS = ("title", "abstract", "body")


def real_texts(data, n=400):
    with lzma.open(data / "unlabelled" / "abstracts_and_neurobridge.jsonl.xz", "rt") as stream:
        documents = [json.loads(line) for _, line in zip(range(n), stream, strict=False)]
    texts = (" ".join(filter(None, map(document.get, FIELDS))) for document in documents)
    # The oracles know nothing of abbreviations, nor of areas that share a name.
    return [text.replace("(", " ").lower() for text in texts if "areas " not in text]


@pytest.fixture(scope="module")
def full(data):
    """NeuroQuery's own vocabulary: its counts have no synonyms folded in."""
    folder = data / "vocabulary"
    return Vocabulary.load(folder / "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt")


@pytest.mark.data
def test_agrees_with_scikit_learn_on_single_words(data):
    """Words of which the texts have one form, joined and uncut: the definitions coincide."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text for text in real_texts(data) if text.isascii() and "-\n" not in text]
    oracle = CountVectorizer(token_pattern=r"[a-z0-9]{2,}", lowercase=True)
    expected = oracle.fit_transform(texts)
    forms = {}
    for word in oracle.vocabulary_:
        forms.setdefault(fold(word), []).append(word)
    words = [
        group[0]
        for group in forms.values()
        if len(group) == 1 and not is_skipped(group[0]) and not other_splits((group[0],))
    ]
    counted = TermCounter(Vocabulary(words)).count(texts)
    assert len(words) > 3000
    assert (counted != expected[:, [oracle.vocabulary_[word] for word in words]]).nnz == 0


@pytest.mark.data
def test_agrees_with_scikit_learn_on_disjoint_phrases(data, full):
    """Terms that share no word, so that consuming words makes no difference."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text for text in real_texts(data) if "-\n" not in text]
    terms, used = [], set()
    for term in full:
        keys = {fold(word) for word in words_of(term)}
        if len(keys) > 1 and not keys & used and not other_splits(words_of(term)):
            used |= keys
            terms.append(term)
    oracle = CountVectorizer(
        vocabulary=[" ".join(map(fold, words_of(term))) for term in terms],
        ngram_range=(2, 5),
        tokenizer=lambda text: [fold(t) for t in plain(text).split() if not is_skipped(t)],
        preprocessor=str,
        token_pattern=None,
    )
    expected = oracle.transform(texts)
    counted = TermCounter(Vocabulary(terms)).count(texts)
    assert expected.sum() > 400
    assert (counted != expected).nnz == 0


@pytest.mark.data
def test_counts_of_titles_are_those_of_neuroquery(data, full):
    """NeuroQuery counted the same titles with its own tokenizer: nearly all counts agree.

    It finds names across "and" as well: "fusiform and faces" counts as "fusiform face".
    """
    corpus = data / "corpus"
    titles = pd.read_csv(corpus / "neuroquery_dev_metadata.tsv.gz", sep="\t")["title"]
    with gzip.open(corpus / "neuroquery156521_vocabulary.txt.gz", "rt") as stream:
        columns = [line.rstrip("\n") for line in stream]
    theirs = sparse.load_npz(corpus / "neuroquery_dev_counts_title.npz")
    theirs = (theirs @ full.align(columns).matrix).toarray()
    ours = TermCounter(full).count(titles).toarray()
    assert ours.shape == theirs.shape == (12100, 7547)
    assert np.minimum(ours, theirs).sum() > 0.98 * max(ours.sum(), theirs.sum())
    assert (ours == theirs).all(axis=1).mean() > 0.94


# Names that are more than words with spaces between them


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("an n-back task; the N-back; n back; 2-back", ["n-back"] * 4),
        ("back pain, n = 12", ["back"]),
        ("go/no-go, Go-NoGo and go/nogo", ["go/no-go"] * 3),
        ("L-DOPA and l-dopa", ["levodopa"] * 2),
        ("5-HT, 5HT", ["serotonin"] * 2),
        ("V5/MT and MT+", ["v5"] * 2),
        ("Area 44, BA44, BA 44", ["brodmann area 44"] * 3),
        ("BA 44/45", ["brodmann area 44", "brodmann area 45"]),
        ("Brodmann's areas 44 and 45", ["brodmann area 44", "brodmann area 45"]),
        ("lateral geniculate nucleus", ["lateral geniculate nucleus"]),
        ("the left amygdala's nucleus", ["nucleus"]),
    ],
)
def test_names_with_letters_and_numbers(text, terms):
    counter = TermCounter(
        Vocabulary(
            [
                *("back", "go/no-go", "lateral geniculate nucleus", "levodopa", "n-back"),
                *("nucleus", "serotonin", "v5", "brodmann area 44", "brodmann area 45"),
            ],
            {
                "2-back": "n-back",
                "go nogo": "go/no-go",
                "l-dopa": "levodopa",
                "5-HT": "serotonin",
                "5ht": "serotonin",
                "MT": "v5",
                "V5/MT": "v5",
                **{f"{name}44": "brodmann area 44" for name in ("ba", "ba ", "area ")},
                "ba45": "brodmann area 45",
            },
        )
    )
    assert [match.term for match in counter.find(text)] == terms


def test_a_plural_counts_as_its_own_term_though_it_is_a_synonym_of_another():
    vocabulary = Vocabulary(["thalamus", "thalamo", "fiber", "fibre"], {"thalami": "thalamo"})
    assert [match.term for match in TermCounter(vocabulary).find("both thalami")] == ["thalamus"]
    vocabulary = Vocabulary(["thalamo"], {"thalami": "thalamo"})
    assert [match.term for match in TermCounter(vocabulary).find("both thalami")] == ["thalamo"]


def test_the_term_of_a_name_is_that_of_all_of_it():
    counter = TermCounter(Vocabulary(["lingual gyrus", "cortex"]))
    assert counter.term_of("Lingual Gyri") == "lingual gyrus"
    assert counter.term_of("visual cortex") is None
    assert counter.term_of("") is None


@pytest.mark.parametrize(
    "text",
    [
        "He was visual. Cortex was seen.",
        "What is visual? Cortex!",
        "visual; cortex",
        'They call it "visual." Cortex is next.',
        "Fields: visual\nCortex: normal",
        "visual\n- cortex",
        "visual\n\ncortex",
        "ÉTUDE VISUELLE. Visual. Cortex.",
    ],
)
def test_a_name_does_not_span_the_end_of_a_sentence(text):
    counter = TermCounter(Vocabulary(["cortex", "visual cortex"]))
    assert [match.term for match in counter.find(text)] == ["cortex"]
    assert counter.count([text]).toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "text", ["visual\ncortex", "visual (cortex", "visual,cortex", "visual\x02cortex"]
)
def test_a_name_goes_on_within_a_sentence(text):
    counter = TermCounter(Vocabulary(["cortex", "visual cortex"]))
    assert [match.term for match in counter.find(text)] == ["visual cortex"]
    assert counter.count([text]).toarray().tolist() == [[0, 1]]


def test_no_name_goes_across_a_comma():
    counter = TermCounter(Vocabulary(["thalamus", "anterior thalamus", "putamen"]))
    found = counter.find("left thalamus, anterior putamen")
    assert [match.term for match in found] == ["thalamus", "putamen"]


def test_a_synonym_that_loses_its_letter_is_not_the_word_that_is_left():
    counter = TermCounter(Vocabulary(["n-back"], {"n back": "n-back", "nback": "n-back"}))
    assert counter.find("He went back to work") == []
    assert [match.term for match in counter.find("n-back and nback")] == ["n-back", "n-back"]


def test_a_synonym_that_is_two_names_is_read_as_both():
    vocabulary = Vocabulary(
        ["n-back", "working memory"],
        synonyms={"n-back working memory": "n-back", "n-back task": "n-back"},
        categories={"n-back": "task", "working memory": "function"},
    )
    counter = TermCounter(vocabulary)
    for text in ("n-back working memory task", "working memory n-back task"):
        assert counter.count([text]).toarray().tolist() == [[1, 1]]
