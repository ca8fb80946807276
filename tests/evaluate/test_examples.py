import numpy as np
import pytest

from neurowhere.evaluate.compare import Examples, ExampleTrial, by_rank, paper_rows
from neurowhere.evaluate.trial import Trial, prepare_material, prepare_problems, score_model


@pytest.fixture(scope="module")
def problem(corpus, brain, vocabulary, candidates):
    return prepare_problems(prepare_material(corpus, brain, vocabulary), candidates[:1])["voxels"]


def test_examples_took_no_part_in_learning(problem, monkeypatch):
    trained = []
    fit = Trial.fit

    def spy(self, problem, loss, rows):
        trained.append(rows)
        return fit(self, problem, loss, rows)

    monkeypatch.setattr(Trial, "fit", spy)
    trial = Trial(seed=1)
    train, test = trial.split(problem, 0)
    asked = [int(train[0]), int(test[0])]
    examples = ExampleTrial(trial)(problem, ("l2", asked))
    assert set(trained[0]) == set(train) - {train[0]}
    assert len(set(examples.row)) == 5
    assert examples.why == ("best", "first quartile", "median", "in the paper", "in the paper")
    assert examples.row[3:].tolist() == asked
    model = fit(trial, problem, "l2", trained[0])
    nats, _ = score_model(model, problem, test[1:])
    assert examples.nats[0] == pytest.approx(nats.max())
    assert examples.nats[:3].tolist() == sorted(examples.nats[:3], reverse=True)
    np.testing.assert_allclose(examples.truth.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(examples.prediction.sum(axis=1), 1, rtol=1e-5)


def test_ranks_are_counted_from_the_best():
    scores = np.random.default_rng(0).permutation(101).astype(float)
    ranked = {name: scores[index] for name, index in by_rank(scores).items()}
    assert ranked == {"best": 100, "first quartile": 75, "median": 50}


def test_save_and_load(tmp_path):
    maps = np.random.default_rng(0).random((1, 7), dtype=np.float32)
    examples = Examples("voxels", "l1", ("best",), np.array([4]), np.array([0.5]), maps, maps / 2)
    assert Examples.load(tmp_path, "voxels", "l1") is None
    examples.save(tmp_path)
    found = Examples.load(tmp_path, "voxels", "l1")
    np.testing.assert_array_equal(found.prediction, maps / 2)
    assert (found.why, found.row.tolist()) == (("best",), [4])
    assert Examples.load(tmp_path, "voxels", "l2") is None
    (tmp_path / "examples.npz").write_bytes(b"PK broken")
    assert Examples.load(tmp_path, "voxels", "l1") is None


def test_the_studies_of_the_paper_are_found_by_pubmed_id(corpus):
    assert paper_rows(corpus) == []
    documents = corpus.documents.assign(pmid=corpus.documents["id"])
    documents.loc[5, "pmid"] = "20619347"
    documents.loc[9, "pmid"] = "20965262"
    from dataclasses import replace

    assert paper_rows(replace(corpus, documents=documents)) == [9, 5]
