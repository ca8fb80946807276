"""Decoding: places speak for the terms that were learned there."""

import time
import warnings

import nibabel
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, PLACES, TERMS, make_corpus
from threadpoolctl import threadpool_limits

from neurowhere import Encoder, Vocabulary, load_model, save_model
from neurowhere.exceptions import DataWarning, FitError, PartitionError
from neurowhere.model import decoding
from neurowhere.model.decoding import decode, map_weights, peak_weights, rank_terms
from neurowhere.model.term_maps import _make_scales, keep_scales, log_ratios, term_scales


@pytest.fixture(scope="module")
def model():
    return Encoder(GRID, "likelihood", vocabulary=TERMS, repeats=1, rank=8).fit(make_corpus(80))


@pytest.fixture(scope="module", params=["l2", "sided", "atlas"])
def other_model(request):
    if request.param == "atlas":
        return Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(make_corpus())
    sided = request.param == "sided"
    corpus = make_corpus(120, lateral=sided)
    return Encoder(GRID, "l2", laterality=sided, vocabulary=TERMS).fit(corpus)


@pytest.mark.parametrize("term", TERMS)
def test_places_speak_for_their_terms(model, term):
    found = decode(model, PLACES[term][0])
    assert found.terms["term"].iloc[0] == term
    assert found.terms["score"].iloc[0] > 0
    assert term in repr(found)
    assert decode(model, PLACES[term]).terms["term"].iloc[0] == term


@pytest.mark.parametrize("term", TERMS[:3])
def test_other_models(other_model, term):
    found = decode(other_model, PLACES[term]).terms["term"].iloc[0]
    assert found.removeprefix("left ").removeprefix("right ") == term


def test_sides_are_decoded_where_they_were_learned():
    corpus = make_corpus(160, lateral=True)
    model = Encoder(GRID, "l2", laterality=True, vocabulary=TERMS).fit(corpus)
    left, right = PLACES["motor cortex"]
    assert decode(model, left).terms["term"].iloc[0] == "left motor cortex"
    assert decode(model, right).terms["term"].iloc[0] == "right motor cortex"


def test_scores_are_what_they_are_said_to_be(model):
    """By the definition, region by region, in double precision."""
    weights = peak_weights(model, PLACES["amygdala"]).astype(np.float64)
    mean = model.mean_map_
    table = rank_terms(model, weights, 4).set_index("term")
    seen = dict(zip(model.extractor_.terms, model.term_studies_))
    for term in TERMS:
        q = model.predict([term])[0].astype(np.float64)
        u, r = np.log(0.5 + 0.5 * weights / mean), np.log(0.5 + 0.5 * q / mean)
        u, r = u - u @ mean, r - r @ mean
        correlation = (mean * u) @ r / np.sqrt((mean * u) @ u * ((mean * r) @ r))
        discount = 0.2 * np.log(seen[term] / (seen[term] + 10))
        expected = np.tanh(np.arctanh(correlation) + discount)
        assert table.loc[term, "score"] == pytest.approx(expected, abs=1e-3)
        ratio = np.exp(sum(w * np.log((a + b) / (2 * b)) for w, a, b in zip(weights, q, mean)))
        assert table.loc[term, "ratio"] == pytest.approx(ratio, rel=1e-3)


def test_a_term_of_few_studies_comes_after_one_of_many_with_the_same_map():
    texts = [f"fear {'dread' if i < 3 else ''}" if i % 2 else "sight" for i in range(60)]
    places = [(-22, -4, -18) if i % 2 else (8, -92, 2) for i in range(60)]
    model = Encoder(GRID, "l2", vocabulary=["dread", "fear", "sight"], min_studies=1)
    model.fit(texts, [[place] for place in places])
    model.term_studies_ = np.array([1, 30, 30])
    found = decode(model, (-22, -4, -18)).terms
    assert found["term"].tolist()[0] == "fear"
    assert found["alike"].tolist()[0] == "dread"


def test_generic_words_are_not_listed():
    vocabulary = Vocabulary(["fear", "human", "sight"], {}, {"human": "generic"})
    texts = ["human fear" if i % 2 else "sight" for i in range(40)]
    places = [[(-22, -4, -18) if i % 2 else (8, -92, 2)] for i in range(40)]
    model = Encoder(GRID, "l2", vocabulary=vocabulary).fit(texts, places)
    assert set(decode(model, (-22, -4, -18)).terms["term"]) == {"fear", "sight"}


def test_base_rates_do_not_matter():
    """A term that every study mentions says nothing; one of few studies does."""
    rng = np.random.default_rng(0)
    texts = ["brain fear" if i % 10 == 0 else "brain" for i in range(200)]
    places = [(-22, -4, -18) if i % 10 == 0 else (8, -92, 2) for i in range(200)]
    peaks = [rng.normal(place, 3, (3, 3)) for place in places]
    model = Encoder(GRID, "l2", vocabulary=["brain", "fear"]).fit(texts, peaks)
    assert decode(model, (-22, -4, -18)).terms["term"].iloc[0] == "fear"


def test_few_candidates_find_the_same(model, monkeypatch):
    weights = peak_weights(model, PLACES["amygdala"])
    everything = rank_terms(model, weights, 1).loc[0]
    monkeypatch.setattr(decoding, "N_CANDIDATES", 2)
    monkeypatch.setattr(decoding, "N_DRAWN", 20)
    found = rank_terms(model, weights, 1).loc[0]
    assert found["term"] == everything["term"]
    assert found["score"] == pytest.approx(everything["score"], abs=1e-5)


def test_closest_studies_report_peaks_there(model):
    corpus = make_corpus(80)
    found = decode(model, PLACES["visual cortex"]).studies
    texts = dict(zip(corpus.documents["id"], corpus.texts))
    assert all("visual cortex" in texts[name] for name in found["id"].head(5))


def test_points_outside(model):
    with pytest.raises(PartitionError, match="points in the brain, in MNI mm, got 0, 0, 200"):
        decode(model, (0, 0, 200))
    with pytest.raises(PartitionError, match="got none"):
        decode(model, [])
    with pytest.warns(DataWarning, match="1 of 2 points lie outside"):
        some = decode(model, [(0, 0, 200), (-22, -4, -18)])
    assert some.terms["term"].iloc[0] == "amygdala"


def test_mean_map_knows_no_terms():
    with pytest.raises(FitError, match="knows no terms"):
        decode(Encoder(GRID, text="none").fit(make_corpus()), (0, 0, 0))


# ---- maps


def image_of(values, affine):
    return nibabel.Nifti1Image(values.astype(np.float32), affine)


@pytest.mark.parametrize("term", TERMS)
def test_the_map_of_a_term_decodes_to_it(model, term, tmp_path):
    image = model.encode(term).density_img
    assert decode(model, image).terms["term"].iloc[0] == term
    image.to_filename(tmp_path / "map.nii.gz")
    assert decode(model, tmp_path / "map.nii.gz").terms["term"].iloc[0] == term


def test_own_grid_is_taken_as_it_is(model):
    q = model.encode("amygdala").probabilities
    weights = map_weights(model.partition_, model.partition_.to_img(q))
    np.testing.assert_allclose(weights, q / q.sum(), atol=1e-7)


@pytest.mark.parametrize("size", [5.0, 30.0])
def test_finer_and_coarser_maps_on_a_flipped_grid(model, size):
    affine = np.diag([-size, size, size, 1.0])
    affine[:3, 3] = [90, -126, -72]
    shape = np.ceil(np.array([181, 217, 181]) / size).astype(int)
    values = np.zeros(shape)
    x, y, z = np.rint((np.array([-38, -24, 56]) - affine[:3, 3]) / np.diag(affine)[:3]).astype(int)
    values[x, y, z] = 5
    weights = map_weights(model.partition_, image_of(values, affine))
    assert weights.sum() == pytest.approx(1)
    centre = weights @ model.partition_.centers_mm
    assert np.linalg.norm(centre - (affine @ [x, y, z, 1])[:3]) < 12


def test_what_counts_in_a_map(model):
    grid = model.partition_
    values = np.zeros(grid.n_regions)
    left, right = grid.region_of(PLACES["motor cortex"])
    values[[left, right]] = 2, 4
    values[0] = -9
    weights = map_weights(grid, grid.to_img(values))
    assert (weights[left], weights[right]) == pytest.approx((1 / 3, 2 / 3))
    assert np.count_nonzero(map_weights(grid, grid.to_img(values), 2)) == 1
    data = np.asarray(grid.to_img(values).dataobj).copy()
    data[0, 0, 0], data[1, 1, 1] = np.nan, np.inf
    np.testing.assert_array_equal(map_weights(grid, image_of(data, grid.affine)), weights)


@pytest.mark.parametrize("values", [np.zeros((7, 8, 9)), -np.ones((7, 8, 9))])
def test_nothing_positive(model, values):
    with pytest.raises(PartitionError, match="expected values above 0 in the brain in the map"):
        decode(model, image_of(values, np.eye(4)))


def test_several_volumes(model):
    with pytest.raises(PartitionError, match="expected one 3-D map"):
        decode(model, image_of(np.ones((7, 8, 9, 2)), np.eye(4)))


def test_no_image(model, tmp_path):
    with pytest.raises(PartitionError, match="no file"):
        decode(model, tmp_path / "no.nii.gz")


def test_the_mean_map_speaks_for_no_term(model):
    ratios = log_ratios(model, np.arange(4))
    assert ratios.shape == (4, GRID.n_regions)
    at_mean = ratios @ model.mean_map_
    assert (at_mean < 0).all()
    assert (at_mean > np.log(0.5)).all()


def test_a_place_decodes_within_a_twentieth_of_a_second_once_warm(shipped):
    """In time of the processor, which does not depend on what else runs."""
    places = [(-24, -4, -18), (10, -90, 2), (40, 20, 10)]
    for place in places:
        decode(shipped, place)
    with threadpool_limits(1):
        begin = time.process_time()
        for place in places:
            decode(shipped, place)
        assert time.process_time() - begin < 0.05 * len(places)


def test_some_regions_of_a_map_are_those_of_the_whole(model):
    whole = log_ratios(model, np.arange(4))
    regions = np.array([3, 7, 1])
    np.testing.assert_allclose(log_ratios(model, np.arange(4), regions), whole[:, regions], 1e-5)


@pytest.mark.parametrize("small", [True, False])
def test_a_saved_model_keeps_what_decoding_needs(model, small, tmp_path):
    save_model(model, tmp_path / "model", small=small)
    twin = load_model(tmp_path / "model")
    np.testing.assert_array_equal(twin.term_studies_, model.term_studies_)
    stored = term_scales(twin)
    fresh = load_model(tmp_path / "model")
    keep_scales(fresh, _make_scales(fresh))
    for kept, made in zip(stored, term_scales(fresh)):
        np.testing.assert_allclose(kept, made, rtol=1e-4, atol=1e-6)
    assert decode(twin, PLACES["amygdala"]).terms["term"].iloc[0] == "amygdala"


# ---- unthresholded maps


def noise_on(grid, seed=0):
    rng = np.random.default_rng(seed)
    noise = gaussian_filter(rng.normal(size=grid.regions.shape), 1.5)
    return noise[grid.regions >= 0] / noise.std()


def test_a_cluster_stands_out_from_smooth_noise(model):
    values = noise_on(GRID)
    values[peak_weights(model, PLACES["amygdala"]) > 0.002] += 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = decode(model, GRID.to_img(values))
    assert found.threshold > 3
    assert found.terms["term"].iloc[0] == "amygdala"


def test_noise_alone_is_told(model):
    with pytest.warns(DataWarning, match="stand out from noise"):
        found = decode(model, GRID.to_img(noise_on(GRID)))
    assert 1 < found.threshold < 2
