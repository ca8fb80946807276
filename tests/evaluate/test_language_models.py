"""Adapters for models of language, with embeddings of our making in the place of theirs."""

import importlib

import nibabel
import numpy as np
import pytest
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import benchmark
from neurowhere.evaluate import Protocol
from neurowhere.exceptions import DataWarning


@pytest.mark.filterwarnings("ignore:.*check that it was not made from:UserWarning")
def test_what_models_export_can_enter(tmp_path, monkeypatch, request):
    monkeypatch.syspath_prepend(request.config.rootpath / "benchmarks" / "rivals")
    models = importlib.import_module("language_models")
    monkeypatch.setattr(models, "GRID", GRID)
    protocol = Protocol.prepare(make_corpus(150), grid=GRID)
    words = [[text.count(term) for term in TERMS] for text in protocol.corpus.texts]
    spoken = np.array(words, float) + 0.01
    places = np.stack([protocol.targets.rows(spoken[:, i] > 0.5).mean(axis=0) for i in range(4)])
    atlas = nibabel.concat_images([GRID.to_img(each) for each in places])
    nibabel.save(atlas, tmp_path / "atlas.nii.gz")
    common = {"ids": protocol.ids, "all": spoken, "abstract": spoken}
    np.savez(tmp_path / "context.npz", **common, images=str(tmp_path / "atlas.nii.gz"))
    np.savez(tmp_path / "clip.npz", **common, images=spoken)
    monkeypatch.setenv("NEUROCONTEXT", str(tmp_path / "context.npz"))
    monkeypatch.setenv("EMBEDDINGS", str(tmp_path / "clip.npz"))
    entries = ["mean", models.NeuroConText(), models.NiCLIP(GRID)]
    with pytest.warns(DataWarning, match="neurocontext does not say what it was trained on"):
        found = benchmark(protocol.corpus, tmp_path / "out", entries, folds=1, protocol=protocol)
    nats = found.scores[found.scores["kind"] == "all"].set_index("entry")["nats"]
    assert (nats[["neurocontext", "niclip"]] > nats["mean"]).all()
