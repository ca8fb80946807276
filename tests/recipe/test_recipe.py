"""The recipe of the shipped model, whole, on a made-up corpus."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from tests.studies import PLACES, TERMS, make_corpus

from neurowhere import Atlas, VoxelGrid, load_model, save_model
from neurowhere.learn import Schedule
from neurowhere.text import TermExtractor, Vocabulary
from recipe.fitting import HELD_ARTICLES, HELD_OTHERS, Recipe, _with_names, resampled
from recipe.material import (
    ArticleMentions,
    Material,
    associates,
    count_bodies,
    telling_words,
    with_candidates,
)
from recipe.places import cut, place_densities
from recipe.views import (
    LEAST_STUDIES,
    TIMES,
    Fit,
    Views,
    _cut,
    bare_terms,
    kinds_of_text,
    to_encoder,
)

GRID = VoxelGrid(4)
WORDS = ["fear", "sight"]  # extra words that go with amygdala and visual cortex


@pytest.fixture(scope="module")
def material():
    corpus = make_corpus(240)
    known = [*TERMS, "cuneus"]
    categories = dict.fromkeys(known, "anatomy") | dict.fromkeys(WORDS, "extra")
    vocabulary = Vocabulary([*known, *WORDS], {}, categories)
    extractor = TermExtractor(vocabulary, nested=True)
    texts = [_with_words(text) for text in corpus.texts]
    title, abstract = extractor.counts(texts), extractor.counts(corpus.texts)
    articles = [(row, f"Introduction We ask. Results {texts[row]} " * 9) for row in range(60)]
    cuneus = np.zeros(GRID.n_regions, np.float32)
    cuneus[GRID.region_of([(-4, -80, 28), (4, -80, 28)])] = GRID.n_regions / 2
    return Material(
        vocabulary,
        len(known),
        {"title": title, "abstract": abstract, "keywords": title},
        corpus,
        ArticleMentions.read(articles, extractor),
        lambda: articles,
        count_bodies(texts, extractor),
        {"cuneus": cuneus},
    )


def _with_words(text):
    return text + " Fear." * ("amygdala" in text) + " Sight." * ("visual" in text)


@pytest.fixture(scope="module")
def model(material):
    schedule = Schedule(rank=6, epochs=12)
    recipe = Recipe(seeds=1, n_jobs=1, coarse=schedule, fine=Schedule(rank=6, epochs=1))
    rows = np.arange(len(material.corpus))
    return to_encoder(*recipe.fit(material, rows), rows)


def peak(encoding):
    return encoding.peaks.loc[0, ["x", "y", "z"]].to_numpy(float)


@pytest.mark.parametrize(
    ("text", "term"),
    [("amygdala", "amygdala"), ("visual cortex", "visual cortex")],
)
def test_terms_point_to_their_place(model, text, term):
    found = peak(model.encode(text))
    assert min(np.linalg.norm(np.subtract(xyz, found)) for xyz in PLACES[term]) < 12


def test_extra_words_sharpen_a_short_text_and_say_little_alone(model):
    amygdala = GRID.region_of([(-22, -4, -18), (22, -4, -18)])
    both, other = model.encode("fear, motor cortex"), model.encode("motor cortex")
    assert both.probabilities[amygdala].sum() > other.probabilities[amygdala].sum()
    assert model.encode("fear").support.level == "weak"
    assert model.encode("the fear of it all").is_mean_map


def test_a_name_that_no_study_mentions_points_to_its_region(model):
    np.testing.assert_allclose(np.abs(peak(model.encode("cuneus"))), [4, 80, 28], atol=6)


@pytest.mark.parametrize(
    "text", ["left amygdala and cuneus", "fear, insula, amygdala", "sight and motor cortex"]
)
def test_contributions_are_exact(model, text):
    result = model.encode(text, sides=False)
    places = [(-22, -4, -18), (8, -92, 2)]
    here = GRID.region_of(places)
    first, second = np.log(result.probabilities[here]) - model.predictor_.bias[here]
    sums = [result.why(place)["contribution"].sum() for place in places]
    assert sums[0] - sums[1] == pytest.approx(first - second, abs=2e-3)


def test_articles_calibrate_as_they_are_read(material, model):
    articles = [(3, "The left amygdala. " * 4 + "No insula. Sight."), (7, "Right motor cortex")]
    material = replace(material, read_articles=lambda: articles)
    fit = Fit(material, model.weighting_, model.predictor_)
    *_, whole, cut, _ = kinds_of_text(fit, np.arange(5))
    assert whole.studies.tolist() == [3]
    assert whole.n_terms.tolist() == [1]  # the insula is denied, and "sight" is an extra word
    expected = model.encode(articles[0][1]).probabilities
    np.testing.assert_allclose(np.vstack(list(whole.maps)), expected[None], rtol=1e-5)
    np.testing.assert_allclose(np.vstack(list(cut.maps)), expected[None], rtol=1e-5)


def test_more_of_the_studies_with_an_article_are_held_out(material):
    rows = np.arange(0, len(material.corpus), 2)
    part, held = Recipe()._split(material, rows, 0)
    np.testing.assert_array_equal(np.sort(np.concatenate([part, held])), rows)
    has_article = np.isin(rows, material.articles.study)
    shares = [np.isin(rows[some], held).mean() for some in (has_article, ~has_article)]
    assert shares == pytest.approx([HELD_ARTICLES, HELD_OTHERS], abs=0.03)
    again, other = (Recipe()._split(material, rows, split)[1] for split in (0, 1))
    assert held.tolist() == again.tolist() != other.tolist()


def test_twins_are_held_out_together(material):
    corpus = material.corpus
    twins = replace(
        corpus,
        documents=corpus.documents.assign(
            pmid=(np.arange(len(corpus)) // 4).astype(str).astype(object)
        ),
    )
    _, held = Recipe()._split(replace(material, corpus=twins), np.arange(len(corpus)), 0)
    assert set(np.bincount(held // 4, minlength=len(corpus) // 4).tolist()) == {0, 4}


def test_the_first_words_of_an_article():
    assert _cut("One two\n three four", 3) == "One two\n three"
    assert _cut("One two", 3) == "One two"
    assert _cut("One two", None) == "One two"
    assert _cut("", 3) == ""


def test_a_saved_model_says_nearly_the_same(model, tmp_path):
    save_model(model, tmp_path / "small", small=True)
    twin = load_model(tmp_path / "small")
    text = "fear and the amygdala"
    first, second = model.encode(text), twin.encode(text)
    assert np.abs(first.probabilities - second.probabilities).sum() < 0.05
    assert second.support.nats == pytest.approx(first.support.nats, abs=0.05)
    assert second.holding(0.5).sum() == pytest.approx(first.holding(0.5).sum(), rel=0.2)
    save_model(twin, tmp_path / "again")
    np.testing.assert_array_equal(
        load_model(tmp_path / "again").encode(text).probabilities, second.probabilities
    )


def test_what_stands_in_the_results_of_an_article_weighs_more(model, monkeypatch):
    filler = "We write one more sentence to fill the page. " * 9
    text = (
        f"Introduction {filler} The amygdala, the amygdala, the amygdala. "
        f"Results {filler} The motor cortex."
    )
    before = model.encode(text).uses
    monkeypatch.setattr("neurowhere.model.reading.N_SECTIONS", 1.0)  # terms that make an article
    after = model.encode(text).uses
    assert before["amygdala"].weight > before["motor cortex"].weight
    assert after["amygdala"].weight < after["motor cortex"].weight
    assert after["amygdala"].count == 3


def test_associates_are_the_company_of_a_word():
    counts = sparse.csr_matrix([[1, 0, 1], [0, 1, 0]] * 50)
    features = sparse.csr_matrix(counts[:, :2], dtype=np.float32)
    found = associates(counts, features, np.eye(2, dtype=np.float32))
    assert found[2, 0] > 0.3 > -0.3 > found[2, 1]
    np.testing.assert_allclose(found[0], [0, -0.5 * 50 / 60], atol=1e-6)  # not what it is itself


def test_words_that_go_with_anything_do_not_tell():
    rng = np.random.default_rng(0)
    hidden = np.repeat(np.eye(2, dtype=np.float32), 50, axis=0)
    anywhere, here = rng.random(100) < 0.5, hidden[:, 0] > 0
    counts = sparse.csr_matrix(np.stack([anywhere, here], axis=1).astype(np.float32))
    assert telling_words(counts, hidden).tolist() == [1]


def test_views_show_what_a_study_has(material):
    weights = np.ones(len(material.vocabulary))
    weights[-1] = 0
    views = Views(material.sections, material.within, weights)
    for _ in range(3):
        drawn = views.draw()
        assert drawn[:, -1].nnz == 0
        assert not (drawn.toarray() > 0)[material.counts.toarray() == 0].any()
        assert (drawn.getnnz(axis=1) > 0).all()


def test_a_bare_term_pools_the_studies_that_have_it():
    n = LEAST_STUDIES
    counts = sparse.csr_matrix([[2, 1, 0, 1]] * n + [[1, 0, 1, 0]] * (n - 1), dtype=np.float32)
    within = sparse.csr_matrix(([1.0], ([1], [0])), shape=(4, 4))  # the first is within the second
    importance = np.arange(1.0, 2 * n)
    is_shown = np.array([True, True, True, False])
    texts, studies = bare_terms(counts, within, importance, is_shown)
    # The third is in too few studies.
    assert texts.toarray().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]] * TIMES
    expected = importance[:n] / importance[:n].sum()
    np.testing.assert_allclose(studies.toarray()[1], np.append(expected, np.zeros(n - 1)))
    np.testing.assert_allclose(studies.sum(axis=1), 1)


def test_maps_keep_their_values_on_a_finer_grid():
    coarse = VoxelGrid(8)
    slopes = coarse.centers_mm.T.astype(np.float32)  # three linear maps
    fine = resampled(slopes, coarse, GRID)
    inner = np.linalg.norm(GRID.centers_mm - [0, -20, 45], axis=1) < 20
    np.testing.assert_allclose(fine[:, inner], GRID.centers_mm.T[:, inner], atol=1e-2)


def test_names_take_the_regions_of_atlases_and_halves_of_them():
    volume = np.zeros((40, 40, 40), np.int16)
    volume[10:30, 10:30, 15:25] = 1
    affine = np.diag([4.0, 4.0, 4.0, 1.0])
    affine[:3, 3] = [-80, -100, -60]
    atlas = Atlas((volume, affine), {1: "Insula"})
    terms = ["insula", "posterior insula", "fear"]
    vocabulary = Vocabulary(terms, {}, dict.fromkeys(terms[:2], "anatomy"))
    found = place_densities(vocabulary, GRID, atlas, None)
    assert list(found) == terms[:2]
    y = [float(density @ GRID.centers_mm[:, 1]) / GRID.n_regions for density in found.values()]
    assert y[1] < y[0] - 10
    for density in found.values():
        assert density.mean() == pytest.approx(1, rel=1e-4)


def test_a_cut_halves_each_side():
    mask = np.ones((4, 6, 2), bool)
    affine = np.eye(4)
    affine[0, 3] = -2
    lateral = cut(mask, affine, "lateral")
    assert lateral[[0, 3]].all()
    middle = cut(mask, affine, "middle")
    assert middle.any(axis=(0, 2)).tolist() == [False, False, True, True, False, False]


def test_a_rare_name_of_a_place_weighs_as_much_as_its_words():
    corpus = make_corpus(40)
    vocabulary = Vocabulary(["amygdala", "amygdala pole", "pole"])
    extractor = TermExtractor(vocabulary, nested=True)
    counts = {"title": extractor.counts(corpus.texts)}
    articles = ArticleMentions.read([(0, "amygdala pole")], extractor)
    places = {"amygdala pole": None}
    material = Material(vocabulary, 3, counts, corpus, articles, list, [], places)
    idf = np.array([2, 0.5, 3], np.float32)
    rows = np.arange(len(corpus))
    assert _with_names(idf, material, rows).tolist() == [2, 3, 3]
    assert _with_names(idf, replace(material, places={}), rows).tolist() == idf.tolist()


def test_joining_words_are_no_candidates_in_any_form():
    words = ["beings", "ticklish"]
    counts = {"title": sparse.csr_matrix(np.ones((LEAST_STUDIES, len(words))))}
    corpus = SimpleNamespace(terms=words, counts=counts)
    wide = with_candidates(Vocabulary(["amygdala"]), corpus)
    assert list(wide) == ["amygdala", "ticklish"]
