import numpy as np
import pytest
from tests.studies import make_corpus

from neurowhere.evaluate.entries import ENTRIES
from neurowhere.space import VoxelGrid


@pytest.fixture
def corpus(tmp_path):
    make_corpus(60).save(tmp_path / "corpus")
    return tmp_path / "corpus"


def test_entries_are_listed(run):
    done = run("benchmark", "--list")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == list(ENTRIES)


@pytest.mark.slow
def test_everything_is_written_and_maps_can_be_added(run, corpus, tmp_path):
    output = tmp_path / "out"
    done = run("benchmark", "-o", output, "--corpus", corpus, "--entries", "mean", "--folds", 2)
    assert done.code == 0, done.err
    assert "| nats above uniform |" in done.out
    ids = [str(i) for i in range(60)]
    maps = np.random.default_rng(0).random((60, VoxelGrid(4).n_regions)).astype(np.float32)
    np.savez(tmp_path / "noise.npz", ids=ids, maps=maps)
    (tmp_path / "seen.txt").write_text("3\n4\n")
    given = (f"random={tmp_path / 'noise.npz'}", "--trained-on", tmp_path / "seen.txt")
    done = run("benchmark", *given, "-o", output, "--corpus", corpus, "--folds", 2)
    assert done.code == 0, done.err
    names = {path.name for path in output.iterdir() if not path.name.startswith(".")}
    assert names >= {"mean", "random", "info.json", "scores.csv", "summary.md", "methods.txt"}
    assert "Dockès et al., 2018" in (output / "methods.txt").read_text("utf-8")
    assert names >= {"differences.csv", "nats.png", "nats.svg", "report.html"}
    page = (output / "report.html").read_text()
    assert "random" in page
    assert "Paired differences" in page


def test_a_module_may_bring_an_entry(run, corpus, tmp_path, monkeypatch):
    (tmp_path / "flat_entry.py").write_text(
        "import numpy as np\n"
        "class Flat:\n"
        "    name = 'flat'\n"
        "    trained_on = ()\n"
        "    def predict(self, studies):\n"
        "        return np.ones((len(studies), 29398))\n"
    )
    monkeypatch.chdir(tmp_path)
    given = ("--corpus", corpus, "--entries", "flat_entry:Flat", "--folds", 1)
    done = run("benchmark", "-o", tmp_path / "out", *given)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "flat" / "fold-0.json").exists()


def test_mistakes_of_usage_are_told(run, corpus, tmp_path, monkeypatch):
    done = run("benchmark", "--corpus", corpus)
    assert done.code == 2
    assert "-o DIR" in done.err
    output = ("benchmark", "-o", tmp_path / "out")
    done = run(*output)
    assert "corpus download neuroquery" in " ".join(done.err.replace("│", " ").split())
    (tmp_path / "raises_entry.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    for name in ("unheard", "no_such:thing", ":thing", "numpy:thing", "raises_entry:thing"):
        assert run(*output, "--corpus", corpus, "--entries", name).code == 2
    done = run(*output, tmp_path / "none.npz", "--corpus", corpus)
    done.assert_refused("there is no file or folder")
