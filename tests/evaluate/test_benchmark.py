"""The open benchmark on a small world: folds, entries, hidden peaks, resumption, tables."""

import hashlib
import json
import sys
from dataclasses import replace

import nibabel
import numpy as np
import pytest
from scipy import sparse
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Corpus, Encoder, benchmark
from neurowhere.corpus import Document
from neurowhere.evaluate.entries import (
    Command,
    EncoderEntry,
    Function,
    Maps,
    NearestStudies,
    Pretrained,
    on_grid,
    read_maps,
)
from neurowhere.evaluate.protocol import NEWEST, Protocol, fold_of, words_of
from neurowhere.evaluate.protocol import TERMS as ASKED
from neurowhere.exceptions import CorpusError, DataWarning, FitError, OutputError
from neurowhere.report.benchmark import IMPOSSIBLE, entry_cells
from neurowhere.space import VoxelGrid
from neurowhere.text import Vocabulary

# The words of this small world tell where peaks are, as those of no real study do.
pytestmark = pytest.mark.filterwarnings("ignore:.*check that it was not made from:UserWarning")


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(300)


@pytest.fixture(scope="module")
def protocol(corpus):
    return Protocol.prepare(corpus, grid=GRID)


def mean_map(name="mean"):
    return EncoderEntry(name, Encoder(GRID, text="none"))


def ridge(name="l2"):
    return EncoderEntry(name, Encoder(GRID, "l2", vocabulary=TERMS, n_jobs=1))


# ---- protocol


def test_folds_follow_from_the_id_alone():
    assert fold_of("123") == int(hashlib.sha256(b"123").hexdigest(), 16) % 10
    whole = Protocol.prepare(make_corpus(60), grid=GRID)
    part = Protocol.prepare(make_corpus(60).select(np.arange(20, 60)), grid=GRID)
    folds = dict(zip(whole.ids, whole.folds))
    assert all(folds[name] == fold for name, fold in zip(part.ids, part.folds))


def test_twins_are_tested_together():
    rng = np.random.default_rng(0)
    documents = [
        Document(str(i), {"abstract": "amygdala"}, rng.uniform(-40, 40, (9, 3)), "MNI")
        for i in range(40)
    ]
    twins = [
        Document(f"{document.id}b", document.sections, document.peaks, "MNI")
        for document in documents
    ]
    protocol = Protocol.prepare(Corpus.from_documents([*documents, *twins]), grid=GRID)
    fold = dict(zip(protocol.ids, protocol.folds))
    assert all(fold[str(i)] == fold[f"{i}b"] for i in range(40) if str(i) in fold)


def test_every_study_is_tested_once(protocol):
    tested = np.concatenate([protocol.split(fold)[1] for fold in range(10)])
    assert sorted(tested) == list(range(len(protocol.corpus)))
    train, test = protocol.split(3)
    assert not set(train) & set(test)


def test_peaks_of_test_studies_are_hidden(protocol):
    given = protocol.given(protocol.split(0)[1], "abstract")
    assert len(given.peaks) == 0
    assert given.texts[0].startswith("We saw")


def test_a_kind_of_text_is_one_section():
    counts = {
        name: sparse.csr_matrix(np.eye(3) * n) for n, name in enumerate(("title", "abstract"))
    }
    texts = make_corpus(3)
    corpus = Corpus(texts.documents, texts.peaks, None, counts, ["a", "b", "c"])
    protocol = Protocol.prepare(corpus, grid=GRID)
    assert protocol.kinds == ["all", "title", "abstract"]
    assert list(protocol.given(np.array([1]), "abstract").counts) == ["abstract"]
    assert protocol.has_kind(np.arange(3), "title").tolist() == [False] * 3
    assert protocol.has_kind(np.arange(3), "abstract").all()


def test_terms_are_asked_for_as_texts(protocol):
    queries, is_mentioned = protocol.term_queries(np.arange(len(protocol.corpus)))
    assert set(queries.documents["id"]) <= set(ASKED)
    row = queries.documents["id"].tolist().index("amygdala")
    texts = protocol.corpus.texts
    assert is_mentioned[row].tolist() == ["amygdala" in text for text in texts]


# ---- entries


def test_a_model_that_reads_beats_the_mean_map_by_every_metric(protocol, tmp_path):
    found = benchmark(
        protocol.corpus, tmp_path / "out", [mean_map(), ridge()], folds=2, protocol=protocol
    )
    table = found.scores[found.scores["kind"] == "all"].groupby("entry").mean(numeric_only=True)
    better = ["nats", "text_recall_1", "coordinates_auc", "pearson", "dice", "term_auc"]
    assert (table.loc["l2", better] > table.loc["mean", better]).all()
    assert table.loc["mean", "nats_above_mean_map"] == pytest.approx(0, abs=1e-6)
    assert table.loc["mean", "term_auc"] == pytest.approx(0.5)
    (pair,) = found.differences.query("kind == 'all'").to_dict("records")
    assert (pair["first"], pair["second"], pair["folds"]) == ("l2", "mean", 2)
    nats = table["nats"]
    assert pair["difference"] == pytest.approx(nats["l2"] - nats["mean"], abs=1e-5)


def test_nats_are_those_of_the_encoder(protocol, tmp_path):
    entry = ridge()
    found = benchmark(protocol.corpus, tmp_path / "out", [entry], folds=[0], protocol=protocol)
    test = protocol.corpus.select(protocol.split(0)[1])
    expected = entry.encoder.score_documents(test)["nats_above_uniform"].mean()
    (row,) = found.scores.query("kind == 'all'").to_dict("records")
    assert row["nats"] == pytest.approx(expected, abs=1e-5)


def test_a_finished_fold_is_not_run_again(protocol, tmp_path):
    class Once:
        name = "once"
        trained_on = ()
        calls = 0

        def predict(self, studies):
            self.calls += 1
            return np.ones((len(studies), GRID.n_regions))

    model = Once()
    for folds in (1, 2, 2):
        benchmark(protocol.corpus, tmp_path / "out", [model], folds=folds, protocol=protocol)
    assert model.calls == 2 * (len(protocol.kinds) + 2)  # terms and training texts too
    uniform = json.loads((tmp_path / "out" / "once" / "fold-0.json").read_text())
    assert uniform["kinds"]["all"]["metrics"]["nats"] == pytest.approx(0, abs=1e-6)


def test_studies_that_a_model_has_seen_are_dropped(protocol, tmp_path):
    encoder = ridge().encoder.fit(protocol.corpus)
    test = protocol.ids[protocol.split(0)[1]]
    model = Pretrained("seen", encoder, test[:3], grid=GRID)
    found = benchmark(protocol.corpus, tmp_path / "out", [model], folds=1, protocol=protocol)
    assert set(found.scores["studies"]) == {len(test) - 3}
    everything = Pretrained("all", encoder, protocol.ids, grid=GRID)
    with pytest.raises(FitError, match="all was trained on all"):
        benchmark(protocol.corpus, tmp_path / "out", [everything], folds=1, protocol=protocol)


@pytest.mark.parametrize("seen", [None, "unknown"])
def test_what_a_model_was_trained_on_is_shown(protocol, tmp_path, seen):
    entry = Given(trained_on=seen)
    with pytest.warns(DataWarning, match="given does not say what it was trained on"):
        found = benchmark(protocol.corpus, tmp_path / "out", [entry], folds=1, protocol=protocol)
    assert set(found.scores["trained_on"]) == {"unknown"}
    others = [mean_map(), Given(name="none"), Given(name="two", trained_on=["0", "1"])]
    found = benchmark(protocol.corpus, tmp_path / "out", others, folds=1, protocol=protocol)
    told = found.scores.groupby("entry")["trained_on"].first().to_dict()
    assert told["mean"] == "each fold"
    assert told["none"] == "no study"
    assert told["two"] == "2 studies, 2 of them here"


def test_another_grid_keeps_the_mass():
    fine = VoxelGrid(8)
    q = np.random.default_rng(0).random((2, GRID.n_regions))
    moved = on_grid(q / q.sum(axis=1, keepdims=True), GRID, fine)
    assert moved.shape == (2, fine.n_regions)
    np.testing.assert_allclose(moved.sum(axis=1), 1, atol=0.1)
    assert on_grid(q, GRID, GRID) is q


def test_the_nearest_studies_say_where(protocol):
    train, test = protocol.split(0)
    model = NearestStudies(Vocabulary(TERMS), GRID).fit(protocol.corpus.select(train))
    q = model.predict(protocol.given(test, "all"))
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-4)
    unknown = make_corpus(1)
    unknown.sections["abstract"][0] = "nothing known"
    np.testing.assert_allclose(model.predict(unknown)[0], model.mean_map_, rtol=1e-5)


# ---- maps


def test_images_and_arrays_of_the_same_maps_score_alike(protocol, tmp_path):
    test = protocol.split(0)[1]
    truth = protocol.targets.rows(test)
    ids = protocol.ids[test]
    np.savez(tmp_path / "array.npz", ids=ids, maps=truth)
    (tmp_path / "images").mkdir()
    for name, each in zip(ids, truth):
        nibabel.save(GRID.to_img(each), tmp_path / "images" / f"{name}.nii.gz")
    np.save(tmp_path / "rows.npy", truth)
    (tmp_path / "rows.txt").write_text("\n".join(ids))
    boxes = np.stack([GRID.to_img(each).get_fdata() for each in truth])
    np.savez(tmp_path / "boxes.npz", ids=ids, all=boxes, abstract=boxes, affine=GRID.affine)
    entries = [
        read_maps(tmp_path / name, GRID, trained_on=())
        for name in ("array.npz", "images", "rows.npy", "boxes.npz")
    ]
    with pytest.warns(DataWarning, match="check that it was not made from the peaks"):
        found = benchmark(protocol.corpus, tmp_path / "out", entries, folds=1, protocol=protocol)
    table = found.scores.query("kind == 'all'").set_index("entry")
    np.testing.assert_allclose(table["nats"], table["nats"].iloc[0], atol=1e-4)
    assert (table.loc["array", "pearson"], table.loc["array", "dice"]) == pytest.approx((1, 1))
    kinds = found.scores.groupby("entry")["kind"].agg(set).to_dict()
    assert kinds["boxes"] == {"all", "abstract"}
    assert kinds["array"] == {"all"}
    assert (entry_cells(found.scores)[0][-1], len(found.scores)) == (IMPOSSIBLE, 5)


def test_maps_that_do_not_fit_are_refused(protocol, tmp_path):
    ids = protocol.ids[protocol.split(0)[1]]
    wrong = Maps("wrong", {"all": {name: np.ones(5) for name in ids}}, grid=GRID, trained_on=())
    with pytest.raises(CorpusError, match=r"got \(5,\) for"):
        benchmark(protocol.corpus, tmp_path / "out", [wrong], folds=1, protocol=protocol)
    np.savez(tmp_path / "odd.npz", ids=ids, maps=np.ones((2, 3)))
    with pytest.raises(CorpusError, match=r"one map of .* for each of"):
        read_maps(tmp_path / "odd.npz", GRID)
    with pytest.raises(CorpusError, match="no file or folder"):
        read_maps(tmp_path / "missing.npz", GRID)
    np.savez(tmp_path / "twice.npz", ids=["1", "1"], maps=np.ones((2, GRID.n_regions)))
    with pytest.raises(CorpusError, match="1 has several"):
        read_maps(tmp_path / "twice.npz", GRID)
    np.savez(tmp_path / "objects.npz", ids=np.array(["1"], dtype=object), maps=np.ones((1, 3)))
    np.save(tmp_path / "plain.npy", np.ones(3))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 and no more")
    for name in ("objects.npz", "plain.npy", "broken.npz"):
        with pytest.raises(CorpusError, match="not of Python objects"):
            read_maps(tmp_path / name, GRID)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="there are none"):
        read_maps(tmp_path / "empty", GRID)


# ---- mistakes


def test_the_folder_of_another_benchmark_is_refused(protocol, tmp_path):
    benchmark(protocol.corpus, tmp_path / "out", [mean_map()], folds=1, protocol=protocol)
    texts = protocol.corpus.sections["abstract"]
    shuffled = replace(protocol.corpus, sections={"abstract": texts[1:] + texts[:1]})
    other = Protocol.prepare(shuffled, grid=GRID)
    with pytest.raises(OutputError, match=r"another benchmark \(its texts_sha256 differ\)"):
        benchmark(shuffled, tmp_path / "out", [mean_map()], folds=1, protocol=other)
    other = Protocol.prepare(make_corpus(50), grid=GRID)
    with pytest.raises(OutputError, match="holds another benchmark"):
        benchmark(other.corpus, tmp_path / "out", [mean_map()], folds=1, protocol=other)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    with pytest.raises(OutputError, match="no folder of a benchmark"):
        benchmark(protocol.corpus, tmp_path / "full", [mean_map()], folds=1, protocol=protocol)


@pytest.mark.parametrize(
    ("entries", "folds", "message"),
    [
        (["unheard"], 1, "expected entries among mean"),
        ([], 1, "at least one entry"),
        ([mean_map(), mean_map()], 1, "different names"),
        ([mean_map("a/b")], 1, "expected a name of letters"),
        ([object()], 1, "a name and a method predict"),
        ([mean_map()], 11, "1 to 10 folds"),
        ([mean_map()], 0, "1 to 10 folds"),
    ],
)
def test_mistakes_are_refused(protocol, tmp_path, entries, folds, message):
    with pytest.raises(FitError, match=message):
        benchmark(protocol.corpus, tmp_path / "out", entries, folds=folds, protocol=protocol)


class Given:
    """Returns what it was given as a prediction, for any text."""

    name = "given"
    trained_on = ()

    def __init__(self, maps=None, **attributes):
        self.maps = maps
        vars(self).update(attributes)

    def predict(self, studies):
        if callable(self.maps):
            return self.maps(len(studies))
        return np.ones((len(studies), GRID.n_regions))


def some_nan(n):
    maps = np.ones((n, GRID.n_regions))
    maps[2, 3] = np.nan
    return maps


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Given(lambda n: np.ones((n, 3))), "expected numbers of shape"),
        (Given(lambda n: np.ones(n)), "expected numbers of shape"),
        (Given(lambda n: np.full((n, GRID.n_regions), "high")), "got <U4 of shape"),
        (Given(some_nan), "NaN or infinite values in 1 of"),
        (Given(lambda n: np.full((n, GRID.n_regions), np.inf)), "NaN or infinite"),
        (Given(masses=lambda studies, share: [share]), "expected one mass a study"),
        (Given(name=3), "expected a name"),
        (Given(name=".."), "expected a name"),
        (Given(kinds=("abstracts",)), "expected kinds of given among"),
        (Given(kinds="title"), "expected kinds of given among"),
        (Given(trained_on="12 13"), "expected trained_on of given: ids of studies"),
        (EncoderEntry, "a class that needs no arguments"),
    ],
)
def test_entries_that_cannot_be_scored_are_refused(protocol, tmp_path, entry, message):
    with pytest.raises(FitError, match=message) as refused:
        benchmark(protocol.corpus, tmp_path / "out", [entry], folds=1, protocol=protocol)
    assert "\n" not in str(refused.value)


def test_maps_that_do_not_sum_to_one_are_rescaled(protocol, tmp_path):
    test = protocol.split(0)[1]
    truth = dict(zip(protocol.ids[test], protocol.targets.rows(test)))
    scaled = {name: 7 * each for name, each in truth.items()}
    entries = [
        Maps("one", {"all": truth}, grid=GRID, trained_on=()),
        Maps("seven", {"all": scaled}, grid=GRID, trained_on=()),
    ]
    with pytest.warns(DataWarning, match="check that it was not made from the peaks"):
        found = benchmark(protocol.corpus, tmp_path / "out", entries, folds=1, protocol=protocol)
    one, seven = found.scores.set_index("entry").loc[["one", "seven"], "nats"]
    assert one == pytest.approx(seven, abs=1e-5)


def test_maps_that_are_positive_nowhere_count_as_uniform(protocol, tmp_path):
    entry = Given(lambda n: -np.ones((n, GRID.n_regions)))
    with pytest.warns(DataWarning, match="maps of given are positive nowhere"):
        found = benchmark(protocol.corpus, tmp_path / "out", [entry], folds=1, protocol=protocol)
    assert found.scores["nats"].tolist() == pytest.approx([0] * len(found.scores), abs=1e-6)


def test_ids_of_training_studies_may_be_numbers(protocol, tmp_path):
    seen = [int(name) for name in protocol.ids[protocol.split(0)[1]][:3]]
    entry = Given(trained_on=seen)
    found = benchmark(protocol.corpus, tmp_path / "out", [entry], folds=1, protocol=protocol)
    assert set(found.scores["studies"]) == {len(protocol.split(0)[1]) - 3}


def test_ids_of_other_studies_are_noticed(protocol, tmp_path):
    entry = Given(trained_on=["pmid-1", "pmid-2"])
    with pytest.warns(DataWarning, match="got 'pmid-1'"):
        benchmark(protocol.corpus, tmp_path / "out", [entry], folds=1, protocol=protocol)
    flat = np.ones(GRID.n_regions)
    maps = Maps("maps", {"all": {"pmid-1": flat}}, grid=GRID, trained_on=())
    with pytest.raises(FitError, match="got 'pmid-1'"):
        benchmark(protocol.corpus, tmp_path / "out", [maps], folds=1, protocol=protocol)
    ids = protocol.ids[protocol.split(0)[1]][:9]
    some = Maps("some", {"all": dict.fromkeys(ids, flat)}, grid=GRID, trained_on=())
    entries = [some, mean_map()]
    with pytest.warns(DataWarning, match="has no map of"):
        found = benchmark(protocol.corpus, tmp_path / "out", entries, folds=1, protocol=protocol)
    table = found.scores.query("kind == 'all'").set_index("entry")
    assert table.loc["some", "studies"] == 9
    assert table.loc["mean", "pool"] == protocol.pools["all"] > 9
    assert np.isnan(table.loc["some", "text_recall_1"])  # among fewer it would be easier


# ---- ways in


def flat_but_one(texts):
    """Maps that depend on the length of each text."""
    maps = np.ones((len(texts), GRID.n_regions))
    maps[np.arange(len(texts)), [len(text) % GRID.n_regions for text in texts]] = 99
    return maps


SCRIPT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    row = [1.0] * {n}
    row[len(asked["text"]) % {n}] = 99.0
    print(json.dumps({{"id": asked["id"], "map": row}}))
"""


def test_a_function_and_a_command_score_alike_for_all_kinds(protocol, tmp_path):
    script = tmp_path / "model.py"
    script.write_text(SCRIPT.format(n=GRID.n_regions))
    flat_but_one.trained_on = ()
    images = Function(lambda texts: [GRID.to_img(row) for row in flat_but_one(texts)], grid=GRID)
    images.name, images.trained_on = "images", ()
    command = Command("command", f"{sys.executable} {script}", grid=GRID, trained_on=())
    found = benchmark(
        protocol.corpus,
        tmp_path / "out",
        [flat_but_one, command, images],
        folds=1,
        protocol=protocol,
    )
    assert found.scores.groupby("entry")["kind"].agg(list).str.len().tolist() == [2, 2, 2]
    for _, own in found.scores.groupby("kind"):
        np.testing.assert_allclose(own["nats"], own["nats"].iloc[0], atol=1e-5)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import sys; sys.exit('no weights')", "no weights"),
        ("print('{}')", "KeyError 'id'"),
        ("print('hello')", "expected a JSON line"),
        ("pass", "KeyError"),
    ],
)
def test_a_command_that_fails_is_told_in_one_line(protocol, tmp_path, script, message):
    command = Command("mine", f'{sys.executable} -c "{script}"', grid=GRID, trained_on=())
    with pytest.raises(FitError, match=message) as refused:
        benchmark(protocol.corpus, tmp_path / "out", [command], folds=1, protocol=protocol)
    assert "\n" not in str(refused.value)


def test_words_of_counts_are_their_terms():
    counts = {
        "title": sparse.csr_matrix([[1.0, 0], [0, 1]]),
        "abstract": sparse.csr_matrix([[2.0, 1], [0, 0]]),
    }
    known = make_corpus(2)
    documents = known.documents.assign(title=["Fear and pain", ""])
    corpus = Corpus(documents, known.peaks, None, counts, ["pain", "fear"])
    assert words_of(corpus) == ["Fear and pain. fear; pain; pain", "fear"]
    protocol = Protocol.prepare(corpus, grid=GRID)
    assert words_of(protocol.given(np.array([0]), "title")) == ["Fear and pain"]
    assert words_of(protocol.given(np.array([0]), "abstract")) == ["fear; pain; pain"]


# ---- newest studies


def test_the_newest_tenth_is_tested_beside_random_folds(protocol, tmp_path):
    train, test = protocol.split(NEWEST)
    newest = protocol.ids[test].astype(int)
    assert len(test) == len(protocol.ids) // 10
    assert newest.min() > protocol.ids[train].astype(int).max()
    entries = [mean_map(), ridge()]
    folds = [0, 1, NEWEST]
    found = benchmark(protocol.corpus, tmp_path / "out", entries, folds=folds, protocol=protocol)
    rows = found.summary.query("entry == 'l2' and kind == 'all' and metric == 'nats'")
    assert rows.set_index("split")["folds"].to_dict() == {"random": 2, NEWEST: 1}
    assert set(found.differences["folds"]) == {2}


def test_newest_studies_need_pubmed_ids():
    corpus = make_corpus(20)
    corpus.documents["id"] = "a" + corpus.documents["id"]
    corpus.peaks["id"] = "a" + corpus.peaks["id"]
    with pytest.raises(FitError, match="expected PubMed ids"):
        Protocol.prepare(corpus, grid=GRID).split(NEWEST)
