"""Maps of many terms: each as it would be alone, by region as the definition says."""

import json

import nibabel
import numpy as np
import pandas as pd
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Atlas, Encoder, iter_term_maps, parcellate_terms, write_term_maps
from neurowhere.exceptions import FitError, OutputError, VocabularyError
from neurowhere.model import term_maps
from neurowhere.report import maps as writing

NAMES = ["visual cortex", "left amygdala", "amygdala"]


@pytest.fixture(scope="module")
def model():
    return Encoder(GRID, "likelihood", vocabulary=TERMS, repeats=1, rank=8).fit(make_corpus(80))


@pytest.fixture(scope="module")
def atlas():
    """Left and right halves, and a region outside of the brain, on an anisotropic grid."""
    labels = np.zeros((40, 24, 30), np.int16)
    labels[:20], labels[20:], labels[0, 0, 0] = 3, 200, 7
    affine = np.diag([4.0, 9.0, 6.0, 1.0])
    affine[:3, 3] = -78, -120, -80
    return Atlas((labels, affine), {3: "left", 200: "right", 7: "=nowhere"})


def test_all_maps_are_those_of_the_terms_alone(model, monkeypatch):
    monkeypatch.setattr(term_maps, "CHUNK", 3)  # so that there are several
    found = list(iter_term_maps(model))
    assert [each.name for each in found] == list(model.extractor_.terms)
    for each in found:
        np.testing.assert_array_equal(each.effect, model.term_map(each.name).effect)


def test_sided_terms_that_were_learned_are_among_all():
    corpus = make_corpus(160, lateral=True)
    model = Encoder(GRID, "l2", laterality=True, vocabulary=TERMS).fit(corpus)
    found = {each.name: each for each in iter_term_maps(model)}
    left = found["left motor cortex"]
    assert (left.term, left.side, left.method) == ("motor cortex", "left", "learned")
    np.testing.assert_array_equal(left.effect, model.term_map("left motor cortex").effect)
    assert not np.array_equal(left.effect, found["motor cortex"].effect)


def test_means_by_region_are_what_they_are_said_to_be(model, atlas):
    """Voxel by voxel of the finer grid."""
    table = parcellate_terms(model, NAMES, atlas=atlas)
    assert list(table.index) == NAMES
    assert list(table.columns) == list(atlas.names)
    for name in NAMES:
        values = np.asarray(model.term_img(name).dataobj)[GRID.brain]
        voxels = np.argwhere(atlas.regions >= 0)
        where = GRID.region_of(nibabel.affines.apply_affine(atlas.affine, voxels))
        region = atlas.regions[tuple(voxels.T)]
        for k, label in enumerate(atlas.names):
            inside = (region == k) & (where >= 0)
            expected = values[where[inside]].mean() if inside.any() else np.nan
            assert table.loc[name, label] == pytest.approx(expected, abs=1e-5, nan_ok=True)
    assert table["=nowhere"].isna().all()
    assert abs(table.loc["left amygdala", "right"]) < abs(table.loc["left amygdala", "left"])


def test_a_model_of_an_atlas_has_its_own_regions():
    model = Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(make_corpus())
    table = parcellate_terms(model, ["amygdala"])
    expected = model.term_map("amygdala").effect / model.partition_.volumes_mm3
    np.testing.assert_allclose(table.loc["amygdala"], expected, rtol=1e-4, atol=1e-12)


def test_an_image_holds_the_maps_in_the_order_of_its_names(model, tmp_path):
    assert write_term_maps(model, tmp_path / "out", [*NAMES, NAMES[0]], resolution_mm=15) == 3
    image = nibabel.load(tmp_path / "out" / "maps.nii.gz")
    about = json.loads((tmp_path / "out" / "maps.json").read_text("utf-8"))
    assert "The map of a term" in (tmp_path / "out" / "methods.txt").read_text("utf-8")
    assert [each["name"] for each in about["terms"]] == NAMES
    assert about["terms"][1]["method"] == "restricted"
    assert about["unit"] == "log probability"
    for number, name in enumerate(NAMES):
        one = model.term_map(name).to_img(resolution_mm=15)
        np.testing.assert_array_equal(image.dataobj[..., number], np.asarray(one.dataobj))
        np.testing.assert_array_equal(image.affine, one.affine)
    assert image.header.get_sform(coded=True)[1] == 4  # MNI


def test_the_same_maps_are_the_same_bytes(model, tmp_path):
    for name in "ab":
        write_term_maps(model, tmp_path / name, NAMES)
    assert len({(tmp_path / name / "maps.nii.gz").read_bytes() for name in "ab"}) == 1


def test_a_table_is_written_by_rows(model, atlas, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "ROWS_AT_ONCE", 3)
    write_term_maps(model, tmp_path / "out", atlas=atlas)
    table = pd.read_csv(tmp_path / "out" / "regions.csv", index_col="term")
    expected = parcellate_terms(model, atlas=atlas)
    assert list(table.index) == list(expected.index)
    np.testing.assert_allclose(table, expected, rtol=1e-5)
    about = json.loads((tmp_path / "out" / "regions.json").read_text("utf-8"))
    assert [each["index"] for each in about["atlas"]["regions"]] == [3, 7, 200]


def test_nothing_is_left_of_a_folder_that_was_not_finished(model, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "write_info", stop)
    with pytest.raises(KeyboardInterrupt):
        write_term_maps(model, tmp_path / "out", NAMES)
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused(model, tmp_path, monkeypatch):
    with pytest.raises(VocabularyError, match=r"'amygdalla' is not among .* did you mean amygdala"):
        iter_term_maps(model, ["amygdala", "amygdalla"])
    with pytest.raises(VocabularyError, match=r"^2 names are not among the terms .*: 'a', 'b'$"):
        parcellate_terms(model, ["a", "amygdala", "b"])
    with pytest.raises(VocabularyError, match="expected at least one term"):
        write_term_maps(model, tmp_path / "out", [])
    monkeypatch.setattr(writing, "MOST_VOLUMES", 2)
    with pytest.raises(ValueError, match="expected up to 2 maps in one NIfTI image, got 3"):
        write_term_maps(model, tmp_path / "out", NAMES)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(OutputError, match="not empty"):
        write_term_maps(model, tmp_path / "out", NAMES)
    mean_map = Encoder(GRID, "l2", text="none").fit(make_corpus())
    with pytest.raises(FitError, match="knows no terms"):
        iter_term_maps(mean_map)
