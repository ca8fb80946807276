"""Every example of the gallery runs as it stands, offline, without a warning."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
CLUSTER = "plot_8_cluster"
NEEDS = {CLUSTER: "distributed", "plot_9_http": "uvicorn"}
# Dask's own threads and sockets are closed after pytest looks.
IGNORE = [pytest.mark.filterwarnings("ignore")]


def one(script):
    speaks = script.stem in NEEDS
    marks = [pytest.mark.allow_hosts(["127.0.0.1", "localhost"])] if speaks else []
    marks += [pytest.mark.cluster] * (script.stem == CLUSTER)
    return pytest.param(script, id=script.stem, marks=marks + IGNORE * speaks)


def test_there_are_examples():
    assert len(SCRIPTS) >= 14


@pytest.mark.slow
@pytest.mark.parametrize("script", [one(script) for script in SCRIPTS])
def test_example_runs_and_draws(script, monkeypatch):
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem])
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setattr(plt, "show", lambda: None)
    before = set(EXAMPLES.iterdir())
    main = sys.modules["__main__"]
    try:
        runpy.run_path(script.name, run_name="__main__")
        assert plt.get_fignums()
    finally:
        plt.close("all")
        sys.modules["__main__"] = main
    assert set(EXAMPLES.iterdir()) == before, "an example leaves nothing behind"
