import numpy as np
import pandas as pd
import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.evaluate import Candidate, compare
from neurowhere.evaluate.trial import Trial
from neurowhere.exceptions import (
    ClusterError,
    ConvergenceWarning,
    CorpusError,
    FitError,
    OutputError,
    VocabularyError,
)
from neurowhere.space import VoxelGrid
from neurowhere.text import Vocabulary

MEASURES = ["log_likelihood", "total_variation", "penalty", "sharpness", "studies", "peaks"]


@pytest.fixture
def run(corpus, brain, vocabulary, candidates, tmp_path):
    def run(**options):
        defaults = {"vocabulary": vocabulary, "brain": brain, "folds": 2, "n_jobs": 1}
        folder = options.pop("folder", tmp_path / "out")
        return compare(
            options.pop("corpus", corpus),
            folder,
            options.pop("candidates", candidates),
            **(defaults | options),
        )

    return run


@pytest.fixture(scope="module")
def reference(corpus, brain, vocabulary, candidates, tmp_path_factory):
    """Two folds of everything, run here, one after the other."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    return compare(
        corpus, folder, candidates, vocabulary=vocabulary, brain=brain, folds=2, n_jobs=1
    )


def same_scores(first, second):
    keys = ["partition", "loss", "fold"]
    pd.testing.assert_frame_equal(
        first.scores.set_index(keys)[MEASURES],
        second.scores.set_index(keys)[MEASURES],
        rtol=1e-4,
    )


def test_a_report_is_saved_beside_the_scores_or_in_a_folder_of_its_own(reference, tmp_path):
    reference.save()
    reference.save(tmp_path / "report")
    pages = [
        (folder / "report.html").read_text() for folder in (reference.folder, tmp_path / "report")
    ]
    assert pages[0] == pages[1]
    scores = pd.read_csv(tmp_path / "report" / "scores.csv")
    assert len(scores) == len(reference.scores)
    with pytest.raises(OutputError, match="exists and is not empty"):
        reference.save(tmp_path / "report")


def test_one_row_per_fold_partition_and_loss(reference):
    scores = reference.scores
    assert not scores.duplicated(["fold", "partition", "loss"]).any()
    models = scores.groupby("partition")["loss"].agg(lambda column: sorted(set(column)))
    assert models.to_dict() == {
        "voxels": ["l1", "l2", "mean", "uniform"],
        "plain blocks": ["l1", "l2", "mean", "uniform"],
        "blocks": ["l1", "l2", "labels", "mean", "uniform"],
    }
    assert len(scores) == 2 * (4 + 4 + 5)
    assert scores.groupby("fold")["peaks"].nunique().max() == 1
    assert (reference.examples.partition, reference.examples.loss) == ("voxels", "l1")


def test_on_several_cores_the_scores_are_the_same(run, reference):
    same_scores(run(n_jobs=2), reference)


def test_an_interrupted_run_goes_on_where_it_stopped(run, reference, monkeypatch):
    done = []
    trial = Trial.__call__

    def stop_after_seven(self, problem, task):
        if len(done) == 7:
            raise KeyboardInterrupt
        done.append(task)
        return trial(self, problem, task)

    monkeypatch.setattr(Trial, "__call__", stop_after_seven)
    with pytest.raises(KeyboardInterrupt):
        run()

    def count(self, problem, task):
        done.append(task)
        return trial(self, problem, task)

    monkeypatch.setattr(Trial, "__call__", count)
    same_scores(run(), reference)
    assert len(done) == len(set(done)) == len(reference.scores)


def test_a_finished_comparison_is_not_run_again(run, monkeypatch):
    first = run()

    def never(*_):
        raise AssertionError("nothing is left to do")

    monkeypatch.setattr(Trial, "fit", never)
    same_scores(run(), first)


def test_folds_partitions_and_losses_may_be_added(run, reference, candidates):
    run(folds=1, losses=["l2"], candidates=candidates[:2])
    run(folds=2, losses=["labels"], candidates=candidates[1:2])
    same_scores(run(), reference)


def test_another_corpus_or_seed_is_refused(run, corpus):
    run(folds=1, losses=["l2"])
    with pytest.raises(OutputError, match="another comparison"):
        run(folds=1, losses=["l2"], seed=5)
    with pytest.raises(OutputError, match="another comparison"):
        run(folds=1, losses=["l2"], corpus=corpus.select(slice(1, None)))


def test_fits_that_did_not_converge_are_counted(run, monkeypatch):
    import warnings

    fit = Trial.fit

    def unfinished(self, problem, loss, rows):
        if loss == "l2":
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        return fit(self, problem, loss, rows)

    monkeypatch.setattr(Trial, "fit", unfinished)
    with pytest.warns(ConvergenceWarning, match="6 of 24 fits: stopped early"):
        run(losses=["l1", "l2"])


def no_coordinates():
    return Corpus.from_documents([Document("1", {"title": "amygdala"}, np.empty((0, 3)), "MNI")])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"corpus": no_coordinates()}, CorpusError, "expected coordinates"),
        ({"folds": 61}, FitError, "at least 61 studies .* for 61 folds; got 60"),
        ({"folds": 0}, FitError, "at least one fold"),
        ({"losses": ["l3"]}, FitError, "expected losses among l1, l2, likelihood, labels"),
        ({"losses": []}, FitError, "expected losses among"),
        ({"candidates": []}, FitError, "at least one partition"),
        ({"vocabulary": Vocabulary(["hippocampus"])}, VocabularyError, "none of the 1 terms"),
        ({"candidates": [Candidate("x", VoxelGrid(0.01))]}, ValueError, "resolution"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(run, tmp_path, options, error, message):
    with pytest.raises(error, match=message) as raised:
        run(**options)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_few_studies_are_refused_even_for_one_fold(run, corpus):
    with pytest.raises(FitError, match=r"expected at least 20 studies .* got 15"):
        run(corpus=corpus.select(slice(15)), folds=1)


@pytest.mark.enable_socket
def test_an_unreachable_cluster_is_one_line(run, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("neurowhere._tools.parallel.connect.__defaults__", (0.5,))
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        run(cluster="tcp://127.0.0.1:9")
    with pytest.raises(ClusterError, match="no Dask scheduler answers at 'nonsense://x'"):
        run(cluster="nonsense://x")
    assert not (tmp_path / "out").exists()
