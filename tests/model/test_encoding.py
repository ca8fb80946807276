from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus, small_model

from neurowhere import Encoder, Encoding, VoxelGrid, default_atlas, summarise
from neurowhere.exceptions import FitError, PartitionError, VocabularyError
from neurowhere.text.labels import region_names

TEXT = "The amygdala, <visual cortices> and\nthe amyg-\ndala; more unknown words."


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def atlas_model():
    return Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(make_corpus())


@pytest.fixture(scope="module", params=["grid", "atlas"])
def result(request, model, atlas_model):
    return (model if request.param == "grid" else atlas_model).encode(TEXT)


def test_it_is_what_the_model_predicts(model):
    result = model.encode(TEXT)
    assert isinstance(result, Encoding)
    np.testing.assert_array_equal(result.probabilities, model.predict([TEXT])[0], strict=True)
    assert repr(result).startswith("Encoding: 2 known terms in 71 characters; strongest at ")


def test_names_that_only_rules_point_to_are_not_counted_as_known(shipped):
    result = shipped.encode("Left PCA infarct")
    assert len(result.uses) > result.support.terms
    assert f" {result.support.terms} known terms in 16 " in repr(result)


@pytest.mark.parametrize("text", ["spinal cord infarct", "left carotid stenosis"])
def test_a_finding_outside_the_brain_has_no_support_and_keeps_its_map(shipped, text):
    encoding = shipped.encode(text)
    assert encoding.support.level == "none"
    assert encoding.support.summary.startswith(f"outside the brain: {encoding.support.outside}")
    assert encoding.support.summary.endswith("a map of brain studies about it is available")
    assert encoding.probabilities.sum() == pytest.approx(1)
    assert "<img" not in encoding._repr_html_()


def test_of_the_brain_nothing_is_withheld(shipped):
    support = shipped.encode("Carotid occlusion with an infarct of the left insula").support
    assert (support.level, support.outside, support.withheld) == ("good", None, None)


def test_density_integrates_to_one(result):
    image = result.density_img
    voxel_mm3 = abs(np.linalg.det(image.affine[:3, :3]))
    assert image.get_fdata().sum() * voxel_mm3 == pytest.approx(1, abs=1e-5)
    assert image.get_fdata().min() >= 0


def test_log_ratio_is_that_of_half_uniform_densities(result):
    total = result.brain.total_volume_mm3
    for k in (0, 1, result.partition.n_regions - 1):
        v = result.partition.volumes_mm3[k]
        text = 0.5 * (1 / total + result.probabilities[k] / v)
        mean = 0.5 * (1 / total + result.mean_map[k] / v)
        assert result.log_ratio[k] == pytest.approx(np.log(text / mean), abs=1e-6)
    outside = result.density_img.get_fdata() == 0
    image = result.log_ratio_img.get_fdata()
    assert np.isfinite(image).all()
    assert (image[outside] <= 0).all()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.95, 1.0])
def test_mass_region_is_the_smallest_that_holds_the_share(model, share):
    result = model.encode(TEXT)
    inside = result.mass_img(share).get_fdata()[GRID.brain]
    assert set(np.unique(inside)) <= {0, 1}
    chosen = inside == 1
    mass = result.probabilities[chosen].sum()
    assert mass >= share - 1e-6
    assert result.density[chosen].min() >= result.density[~chosen].max()
    weakest = np.flatnonzero(chosen)[result.density[chosen].argmin()]
    assert mass - result.probabilities[weakest] < share + 1e-6


def test_mass_region_can_be_calibrated(model):
    plain = model.encode(TEXT)
    source = copy(plain.source)
    source.__dict__["mass_for"] = lambda share: share**0.5
    calibrated = replace(plain, source=source)
    np.testing.assert_array_equal(
        calibrated.mass_img(0.25).get_fdata(), plain.mass_img(0.5).get_fdata()
    )


@pytest.mark.parametrize("share", [0, -0.1, 1.1, np.nan])
def test_a_share_is_a_share(model, share):
    with pytest.raises(PartitionError, match="expected a share of the peaks"):
        model.encode(TEXT).mass_img(share)


def test_terms_tell_where_they_are(model):
    terms = model.encode(TEXT).terms
    assert terms.columns.tolist() == ["term", "count", "weight", "where", "contribution"]
    table = terms.set_index("term")
    assert table.loc["amygdala", "count"] == 2
    found = [TEXT[start:end] for start, end in table.loc["amygdala", "where"]]
    assert found == ["amygdala", "amyg-\ndala"]
    assert [TEXT[a:b] for a, b in table.loc["visual cortex", "where"]] == ["visual cortices"]
    assert np.linalg.norm(terms["weight"]) == pytest.approx(1)
    assert terms["weight"].is_monotonic_decreasing


def test_lateral_terms_tell_where_they_are():
    corpus = make_corpus(160, lateral=True)
    model = Encoder(GRID, "l2", vocabulary=TERMS, laterality=True).fit(corpus)
    text = "left amygdala. The amygdala"
    table = model.encode(text).terms.set_index("term")
    assert table["count"].to_dict() == {"amygdala": 2, "left amygdala": 1}
    assert table.loc["left amygdala", "where"] == [(5, 13)]


def test_a_side_beside_a_term_is_not_the_term_that_has_it_in_its_name():
    texts = [f"{side}putamen" for side in ("left ", "")] * 10
    peaks = [[[-24, 4, 0]], [[24, 4, 0]]] * 10
    model = Encoder(GRID, "l2", vocabulary=["putamen", "left putamen"]).fit(texts, peaks)
    table = model.encode("Left putamen; the putamen (left).").terms.set_index("term")
    assert table["count"].to_dict() == {"left putamen": 1, "putamen": 1}


@pytest.mark.parametrize("text", ["", "no known word", "\x00 12 ?!"])
def test_without_a_known_term_it_is_the_mean_map_and_says_so(model, text):
    result = model.encode(text)
    assert result.is_mean_map
    assert "no known term, so this is the mean map" in repr(result)
    np.testing.assert_allclose(result.log_ratio, 0, atol=1e-5)
    assert result.terms.empty


@pytest.mark.parametrize("sort", ["excess", "ratio"])
def test_regions_of_the_mean_map_are_sorted_by_probability(shipped, sort):
    regions = shipped.encode("zzz").regions(sort=sort)
    assert regions["probability"].is_monotonic_decreasing


def test_a_notebook_says_that_no_term_is_known(model):
    assert "knows no word" in model.encode("no known word")._repr_html_()


def test_a_model_of_the_mean_map_encodes_too():
    result = Encoder(GRID, text="none").fit(make_corpus()).encode("amygdala")
    assert result.is_mean_map
    assert result.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_regions_of_another_atlas_are_sums_over_voxels(model):
    result, atlas = model.encode(TEXT), make_atlas()
    table = result.regions(atlas).set_index("region")
    labels, affine = np.asarray(atlas.image[0]), atlas.affine
    density = result.density_img.get_fdata()
    expected = dict.fromkeys([7, 130, 131, 201], 0.0)
    for voxel in np.argwhere(labels):  # voxels of 10 mm, finer than the model's 12
        centre = affine @ [*voxel, 1]
        inside = np.floor(np.linalg.inv(GRID.affine) @ centre + 0.5).astype(int)[:3]
        expected[int(labels[tuple(voxel)])] += density[tuple(inside)] * 1000
    assert table["probability"].to_dict() == pytest.approx(
        dict(zip(atlas.names, expected.values())), rel=1e-5
    )
    assert table["probability"].is_monotonic_decreasing
    assert table["probability"].sum() < 1
    assert table.index[0] == "amygdala"
    assert table.loc["amygdala", "ratio"] > 1 > table.loc["motor cortex", "ratio"]


def test_regions_of_the_own_atlas(atlas_model):
    result = atlas_model.encode("amygdala")
    table = result.regions(atlas_model.partition)
    assert table["probability"].sum() == pytest.approx(1, abs=1e-5)
    assert table["region"][0] == result.regions().loc[0, "region"] == "amygdala"


def test_a_coarse_atlas_is_summed_on_the_voxels_of_the_model(model):
    coarse = make_atlas().resample(20)
    result = model.encode(TEXT)
    region = coarse.region_of(GRID.centers_mm)
    table = result.regions(coarse).set_index("region")["probability"]
    for k, name in enumerate(coarse.names):
        assert table[name] == pytest.approx(result.probabilities[region == k].sum(), abs=1e-6)


def test_regions_are_those_of_the_default_atlas_unless_asked_otherwise(model):
    result = model.encode(TEXT)
    expected = result.regions(default_atlas())
    assert result.regions().loc[0, "region"] == expected.loc[0, "region"]
    assert expected.loc[0, "name"] == region_names([expected.loc[0, "region"]]).popitem()[1]


def test_peaks_are_the_strongest_maxima(model):
    result = model.encode("visual cortex")
    peaks = result.peaks
    assert peaks.columns.tolist() == ["x", "y", "z", "density", "ratio"]
    assert np.linalg.norm(peaks.loc[0, ["x", "y", "z"]].astype(float) - [0, -92, 2]) < 18
    assert peaks["density"].is_monotonic_decreasing
    assert peaks.loc[0, "density"] == pytest.approx(result.density.max())
    assert peaks.loc[0, "ratio"] > 1


def test_a_notebook_shows_the_text_with_its_marks_and_a_picture(result):
    page = result._repr_html_()
    assert "amyg-\ndala</mark>" in page
    assert "&lt;<mark " in page
    assert "data:image/png;base64," in page
    assert "max-width: 100%" in page
    first = summarise(result).peaks[0]
    where = ", ".join(f"{mm:.0f}" for mm in first.at).replace("-", "−")
    assert f"<td>{where}</td><td>{first.name}</td>" in page


def test_term_image_is_the_row_of_coefficients_as_a_density(model):
    image = model.term_img("Amygdalae")
    row = model.sharpness_ * model.predictor_.coefficients[TERMS.index("amygdala")]
    np.testing.assert_allclose(image.get_fdata()[GRID.brain], row / 12.0**3, rtol=1e-6)


def test_a_side_restricts_the_map_to_its_hemisphere(model, atlas_model):
    for each in (model, atlas_model):
        whole = each.term_img("amygdala").get_fdata()
        sides = [each.term_map(f"the {side} amygdala") for side in ("left", "right")]
        assert [side.method for side in sides] == ["restricted", "restricted"]
        assert "restricted to the left hemisphere" in repr(sides[0])
        images = [side.img for side in sides]
        i = np.arange(whole.shape[0])
        x_mm = images[0].affine[0, 0] * i + images[0].affine[0, 3]
        left, right = (image.get_fdata() for image in images)
        np.testing.assert_array_equal(left[x_mm < 0], whole[x_mm < 0])
        np.testing.assert_array_equal(right[x_mm > 0], whole[x_mm > 0])
        assert not left[x_mm >= 0].any()
        assert not right[x_mm <= 0].any()


def test_a_lateral_term_of_the_vocabulary_is_learned():
    terms = ["left amygdala", "right amygdala", *TERMS]
    model = Encoder(GRID, "l2", vocabulary=terms).fit(make_corpus(80, lateral=True))
    found = model.term_map("left amygdala")
    assert (found.term, found.method) == ("left amygdala", "learned")
    assert GRID.centers_mm[found.effect.argmax(), 0] < 0


def test_both_sides_are_the_whole_map(model):
    both, whole = model.term_map("bilateral amygdala"), model.term_map("amygdala")
    np.testing.assert_array_equal(both.img.get_fdata(), whole.img.get_fdata())
    assert both.method == whole.method == "learned"


@pytest.mark.parametrize("name", ["liver", "left liver", "left", "", "amygdala visual cortex"])
def test_an_unknown_term_is_an_error(model, name):
    with pytest.raises(VocabularyError, match="is not among the 4 terms"):
        model.term_map(name)


def test_a_misspelt_term_gets_a_suggestion(model):
    with pytest.raises(VocabularyError, match="did you mean amygdala"):
        model.term_img("Amygdla")


def test_a_mean_map_has_no_terms():
    with pytest.raises(FitError, match="knows no terms"):
        Encoder(GRID, text="none").fit(make_corpus()).term_img("amygdala")


def test_an_unheard_of_mask_draws_too():
    mask = np.zeros((7, 8, 9), dtype=bool)
    mask[2:5, 2:6, 2:7] = True
    affine = np.diag([-9.0, 8.0, 7.0, 1.0])
    affine[:3, 3] = (30, -30, -20)
    grid = VoxelGrid(mask=(mask, affine))
    model = Encoder(grid, "l2", vocabulary=["amygdala"]).fit(
        ["amygdala", "nothing"] * 5, [[[0, 0, 8]], [[12, -8, 1]]] * 5
    )
    assert "data:image/png" in model.encode("amygdala")._repr_html_()


def test_a_text_without_a_known_term_gives_the_mean_map_whatever_side_it_names(shipped):
    result = shipped.encode("Shed: right lobe enlarged, door normal.")
    np.testing.assert_array_equal(result.probabilities, shipped.encode("zzz").probabilities)


def test_a_known_word_in_another_sense_is_not_suggested_for_itself(shipped):
    result = shipped.encode("renal cortex and medulla")
    assert "medulla" in [word for word, *_ in result.unknown]
    assert result.source.suggest("medulla") == []
    assert result.source.suggest("medula") != []


def test_a_model_without_text_knows_no_names():
    silent = Encoder(GRID, text="none").fit(make_corpus()).encode("Left amygdala, hipocampus")
    assert summarise(silent).unknown[-1].suggestions == []
    assert (silent.is_mean_map, silent.similar, silent.source.named()) == (True, None, {})
    assert silent.support.withheld is None
