from types import SimpleNamespace

import nibabel
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.contrast.conftest import StubShard, make_records, stub_summing, write_records
from tests.studies import GRID, PLACES, TERMS

from neurowhere import Atlas, Corpus, Encoder, contrast_documents
from neurowhere.contrast import ByColumn, ByTerm, Query
from neurowhere.contrast import library as library_module
from neurowhere.contrast import run as run_module
from neurowhere.contrast.contrast import Contrast, permutation_null, ratio_bounds
from neurowhere.contrast.shard import Rows, sum_documents, sum_rows, without_terms
from neurowhere.corpus import Document
from neurowhere.exceptions import CorpusError, DataWarning, FitError, OutputError, QueryError
from neurowhere.space import VoxelGrid
from neurowhere.text import TermExtractor, Vocabulary

ARRAYS = ("probabilities", "reference", "group_replicates", "reference_replicates", "log_ratio")


@pytest.fixture(scope="session")
def atlas():
    """One block around the left of each place."""
    labels = np.zeros(GRID.shape, dtype=np.int16)
    values = [4, 130, 200, 7]
    for value, places in zip(values, PLACES.values()):
        near = (np.abs(GRID.centers_mm[:, None] - np.array(places)).max(axis=2) < 14).any(axis=1)
        labels[GRID.brain] = np.where(near, value, labels[GRID.brain])
    return Atlas((labels, GRID.affine), dict(zip(values, PLACES)))


@pytest.fixture
def contrast(model, tmp_path):
    """Run a contrast of this model, with one job and a cache of its own."""

    def run(source, group, **options):
        options = {"cache": tmp_path / "cache", "n_jobs": 1, "replicates": 50, **options}
        return contrast_documents(source, group, model=model, **options)

    return run


def test_a_planted_effect_is_found(contrast, source, atlas):
    result = contrast(source, "huntington", without_term=True)
    assert result.about["documents_in_group"] == 40
    assert result.about["documents_with_known_terms"] == 120
    assert result.about["terms_left_out"] == ["huntington disease"]
    regions = result.regions(atlas).set_index("region")
    assert regions.index[0] == "amygdala"
    assert regions.loc["amygdala", "low"] > 1.1
    assert (regions.drop("amygdala")["ratio"] < 1.05).all()
    assert result.terms["term"][0] == "amygdala"
    assert result.terms["share"][0] > result.terms["share_reference"][0]
    assert np.abs(result.terms.loc[0, ["x", "y", "z"]] - np.array(PLACES["amygdala"][1])).max() < 50
    at_amygdala = result.partition.region_of(PLACES["amygdala"])
    assert result.significant()[at_amygdala].all()
    assert (result.interval[0][at_amygdala] > 0).all()
    assert "40 documents that mention huntington against all 120" in repr(result)


def test_the_map_is_the_difference_of_logs_of_mean_encodings(contrast, model, source):
    result = contrast(source, "huntington")
    texts = [f"{r['title']}\n\n{r['abstract']}" for r in make_records()]
    encodings = model.predict(texts)
    group = Query("huntington").mentions(texts) > 0
    volume = model.brain_.total_volume_mm3

    def log_mean(rows):
        density = encodings[rows].mean(axis=0) / model.partition_.volumes_mm3
        return np.log(0.5 / volume + 0.5 * density)

    expected = log_mean(group) - log_mean(slice(None))
    np.testing.assert_allclose(result.log_ratio, expected, rtol=1e-3, atol=1e-4)
    image = np.asarray(result.log_ratio_img.dataobj)
    np.testing.assert_allclose(image[GRID.brain], expected, rtol=1e-3, atol=1e-4)
    integral = result.density_img.get_fdata().sum() * GRID.voxel_volume_mm3
    assert abs(integral - 1) < 1e-4


def test_without_the_term_the_model_does_not_know_it(contrast, model, source):
    with_term = contrast(source, "huntington")
    without = contrast(source, "huntington", without_term=True)
    seen = model.partition_.region_of(PLACES["visual cortex"])  # what the model learned of it
    assert with_term.log_ratio[seen].mean() > without.log_ratio[seen].mean() + 0.05
    texts = [f"{r['title']}\n\n{r['abstract']}" for r in make_records()]
    bare = model.predict([text.replace("Huntington's disease", "") for text in texts])
    np.testing.assert_allclose(without.reference, bare.mean(axis=0), rtol=1e-4, atol=1e-7)
    named = contrast(source, "amygdala", without=["huntingt*", "motor cortex"])
    assert named.about["terms_left_out"] == ["motor cortex", "huntington disease"]


def test_initials_are_left_out_with_the_term():
    vocabulary = Vocabulary(("hd", "huntington disease", "motor cortex", "mc"))
    model = SimpleNamespace(extractor_=SimpleNamespace(terms=vocabulary.terms))
    model.vocabulary_ = vocabulary
    columns = run_module._columns_left_out(model, ByTerm("huntington"), [])
    assert [vocabulary.terms[column] for column in columns] == ["hd", "huntington disease"]


def test_words_within_a_name_are_left_out_where_it_is_mentioned():
    """As if the text had never had the name; a word that stands alone is counted as before."""
    terms = ["sclerosis", "multiple sclerosis", "cortex", "tuberous sclerosis", "visual cortex"]
    extractor = TermExtractor(Vocabulary(terms), {"title": 0.3, "body": 1.0}, nested=True)
    name = "multiple sclerosis"
    title = f"{name} and visual cortex"
    body = f"{name}, {name}; sclerosis; tuberous sclerosis, cortex"
    texts = [{"title": title, "body": body}, {"title": title, "body": name}, {"body": "cortex"}]

    def count(sections):
        return extractor.counts(Corpus.from_documents([Document("1", sections)]))

    for sections in texts:
        bare = {key: text.replace(name, "it") for key, text in sections.items()}
        found = without_terms(count(sections), extractor, np.array([1]))
        np.testing.assert_allclose(found.toarray(), count(bare).toarray(), atol=1e-6)
        assert found.nnz == count(bare).nnz


def test_the_map_without_a_term_is_that_of_texts_without_its_name(tmp_path):
    terms = [*TERMS, "sclerosis", "multiple sclerosis"]
    rng = np.random.default_rng(0)
    words = [rng.choice(terms, size=3) for _ in range(60)]
    texts = [", ".join(each) for each in words]
    peaks = [[PLACES[word][0] for word in each if word in PLACES] or [[0, 0, 0]] for each in words]
    model = Encoder(GRID, loss="l2", vocabulary=terms, min_studies=1, nested=True)
    model.fit(texts, peaks)
    records = [{"pmid": n, "abstract": text} for n, text in enumerate(texts, start=1)]
    source = write_records(tmp_path / "a.jsonl", records)
    options = {"model": model, "cache": tmp_path / "cache", "n_jobs": 1, "replicates": 20}
    result = contrast_documents(source, "multiple sclerosis", without_term=True, **options)
    assert result.about["terms_left_out"] == ["multiple sclerosis"]
    assert result.about["words_left_out_with_them"] == ["sclerosis"]
    group = [text for text in texts if "multiple" in text]
    bare = [text.replace("multiple sclerosis", "it") for text in group]
    expected = model.predict(bare).mean(axis=0)
    np.testing.assert_allclose(result.probabilities, expected, rtol=1e-4, atol=1e-7)


def test_what_is_left_out_changes_replicates_as_if_all_were_summed_anew(
    contrast, source, monkeypatch
):
    quick = contrast(source, "huntington", without_term=True)

    def slow(library, found, summing, workers):
        rows = [Rows(each.shard, each.known) for each in found]
        return sum_documents(summing, rows, workers)

    monkeypatch.setattr(run_module, "sum_all", slow)
    anew = contrast(source, "huntington", without_term=True)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(quick, name), getattr(anew, name), rtol=2e-4, atol=1e-7)
    np.testing.assert_allclose(quick.null.z, anew.null.z, rtol=1e-2, atol=1e-3)


def test_the_next_term_encodes_its_own_documents_only(contrast, source, monkeypatch):
    first = contrast(source, "huntington")
    encoded = []

    def counting(summing, task):
        encoded.append(sum(len(each.rows) for each in task))
        return sum_rows(summing, task)

    monkeypatch.setattr("neurowhere.contrast.shard.sum_rows", counting)
    monkeypatch.setattr(library_module, "cut", None)
    second = contrast(source, "visual cortex AND huntington")
    assert encoded == [second.about["documents_in_group"]]
    assert np.array_equal(first.reference, second.reference)
    assert np.array_equal(first.reference_replicates, second.reference_replicates)


def test_another_model_seed_or_vocabulary_is_never_taken_from_the_cache(
    contrast, model, source, tmp_path
):
    first = contrast(source, "huntington")
    other_seed = contrast(source, "huntington", seed=1)
    assert np.array_equal(first.reference, other_seed.reference)
    assert not np.array_equal(first.reference_replicates, other_seed.reference_replicates)
    corpus_texts = ["visual cortex", "motor cortex", "amygdala"] * 4
    peaks = [[[8, -92, 2]], [[-38, -24, 56]], [[-22, -4, -18]]] * 4
    other = Encoder(GRID, loss="l2", vocabulary=["visual cortex", "motor cortex"], min_studies=1)
    other.fit(corpus_texts, peaks)
    again = contrast_documents(
        source, "huntington", model=other, cache=tmp_path / "cache", n_jobs=1, replicates=50
    )
    assert not np.array_equal(first.reference, again.reference)
    assert again.about["documents_with_known_terms"] < 120


def test_nothing_is_kept_if_so_asked(contrast, source, tmp_path):
    place = tmp_path / "scratch"
    place.mkdir()
    result = contrast(source, "huntington", cache=place, keep=False)
    assert result.about["kept_in"] is None
    assert not list(place.iterdir())


def test_nothing_is_kept_in_a_home_either(contrast, source, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    contrast(source, "huntington", cache="~/scratch", keep=False)
    assert not (tmp_path / "~").exists()
    assert not list((tmp_path / "home" / "scratch").iterdir())


def test_weights_and_minimum_of_mentions(contrast, model, source):
    texts = [f"{r['title']}\n\n{r['abstract']}" for r in make_records()]
    mentions = Query("huntington").mentions(texts)
    encodings = model.predict(texts)
    weighted = contrast(source, "huntington", weighted=True)
    expected = np.average(encodings, axis=0, weights=mentions)
    np.testing.assert_allclose(weighted.probabilities, expected, rtol=1e-4, atol=1e-7)
    assert weighted.documents["weight"].tolist() == weighted.documents["mentions"].tolist()
    often = contrast(source, "huntington", min_mentions=3)
    assert often.about["documents_in_group"] == np.count_nonzero(mentions >= 3)
    assert often.documents["mentions"].min() == 3
    assert "at least 3 times" in often.group


def test_two_groups_by_a_column(contrast, model, source, atlas):
    result = contrast(
        source, ByColumn("arm", "patients"), against=ByColumn("arm", "controls"), without=["hunt*"]
    )
    assert result.about["documents_in_group"] == 40
    assert result.about["documents_in_second_group"] == 80
    assert result.documents["group"].value_counts().to_dict() == {2: 80, 1: 40}
    regions = result.regions(atlas)
    assert regions["region"][0] == "amygdala"
    assert regions["low"][0] > 1.2
    flipped = contrast(
        source, ByColumn("arm", "controls"), against=ByColumn("arm", "patients"), without=["hunt*"]
    )
    np.testing.assert_allclose(flipped.log_ratio, -result.log_ratio, atol=1e-6)
    np.testing.assert_allclose(flipped.null.p_values, result.null.p_values, rtol=1e-4)


def test_documents_in_both_groups_are_in_none(contrast, source):
    with pytest.warns(DataWarning, match="that mention huntington: only 7"):
        result = contrast(source, "huntington", against="amygdala")
    texts = [r["abstract"] for r in make_records()]
    one, other = (Query(q).mentions(texts) > 0 for q in ("huntington", "amygdala"))
    assert result.about["documents_in_both"] == np.count_nonzero(one & other)
    assert result.about["documents_in_group"] == np.count_nonzero(one & ~other)
    assert result.about["documents_in_second_group"] == np.count_nonzero(other & ~one)


def test_one_job_and_two_give_the_same(contrast, tmp_path, monkeypatch):
    monkeypatch.setattr("neurowhere.contrast.library.PART_BYTES", 1)
    folder = tmp_path / "many"
    folder.mkdir()
    records = make_records()
    for number in range(6):
        write_records(folder / f"{number}.jsonl", records[20 * number : 20 * number + 20])
    one = contrast(folder, "huntington", cache=tmp_path / "one")
    two = contrast(folder, "huntington", cache=tmp_path / "two", n_jobs=2)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-5, atol=1e-8)
    pd.testing.assert_frame_equal(one.documents, two.documents)


# ---- statistics


def test_random_groups_of_documents_are_rarely_significant(contrast, tmp_path):
    records = make_records(200, effect=0.0)
    rng = np.random.default_rng(3)
    for record in records:
        record["abstract"] = record["abstract"].replace("Huntington's disease", "")
        record["draw"] = str(rng.integers(6))
    source = write_records(tmp_path / "null.jsonl", records)
    p_values, passing = [], 0
    for draw in range(6):
        result = contrast(source, ByColumn("draw", str(draw)))
        p_values += [result.null.p_values[:: len(result.null.p_values) // 5]]
        passing += result.significant().any()
    assert passing <= 1
    assert np.concatenate(p_values).min() > 1e-4


def test_bootstrap_intervals_cover():
    """Ratio of a group's mean to that of all, whose true value is known."""
    rng = np.random.default_rng(4)
    maps = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    sick, well = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.4])
    n_sick, n_well = 60, 240
    truth = (sick @ maps) / (0.2 * sick @ maps + 0.8 * well @ maps)
    covered = []
    for seed in range(200):
        kinds = np.r_[rng.choice(3, n_sick, p=sick), rng.choice(3, n_well, p=well)]
        shard = StubShard(np.eye(3)[kinds])
        summing = stub_summing(maps, replicates=200, seed=seed)
        group = sum_rows(summing, [Rows(shard, np.arange(n_sick))])
        everyone = sum_rows(summing, [Rows(shard, np.arange(len(shard)))])
        low, high = interval_of_ratios(group, everyone)
        covered.append((low <= truth) & (truth <= high))
    share = np.mean(covered, axis=0)
    assert (share > 0.9).all()
    assert (share < 0.99).all()


def interval_of_ratios(group, reference):
    """Bounds of the ratios of three regions."""
    grid = VoxelGrid(mask=(np.ones((3, 1, 1)), np.eye(4)))
    result = Contrast(
        group="",
        against="",
        partition=grid,
        brain=grid,
        probabilities=group.mean,
        reference=reference.mean,
        group_replicates=group.replicate_means,
        reference_replicates=reference.replicate_means,
        sizes=(group.size, reference.size),
        null=permutation_null(group, None, reference),
        documents=pd.DataFrame(),
        terms=pd.DataFrame(),
        about={"documents_in_group": group.documents},
        kinds=pd.DataFrame(),
    )
    labels = np.arange(1, 4).reshape(3, 1, 1)
    table = result.regions(Atlas((labels, np.eye(4)), ["a", "b", "c"])).sort_values("region")
    return table["low"].to_numpy(), table["high"].to_numpy()


def test_intervals_of_skewed_documents_cover_where_percentiles_do_not():
    """Lognormal documents, in a group of 40 and in many others."""
    rng = np.random.default_rng(7)
    spread, n, m = 1.2, 40, 400
    x = rng.lognormal(0.0, spread, (n, m))
    others = rng.lognormal(0.0, spread, (2000, m))
    draws, draws_others = rng.poisson(1.0, (200, n)), rng.poisson(1.0, (200, 2000))
    means = x.mean(axis=0), others.mean(axis=0)
    each = draws @ x / draws.sum(axis=1)[:, None]
    each_other = draws_others @ others / draws_others.sum(axis=1)[:, None]
    low, high = ratio_bounds(means, (each, each_other), (n, 2000))
    percentiles = np.percentile(each / each_other, (2.5, 97.5), axis=0)
    assert 0.92 < np.mean((low <= 1) & (high >= 1)) < 0.99
    assert np.mean((percentiles[0] <= 1) & (percentiles[1] >= 1)) < 0.9
    larger, scaled = (
        ratio_bounds((5 * means[0], means[1]), (5 * each, each_other), (n, 2000)),
        ratio_bounds((5 * means[0], 5 * means[1]), (5 * each, 5 * each_other), (n, 2000)),
    )
    np.testing.assert_allclose(larger, 5 * np.array([low, high]))
    np.testing.assert_allclose(scaled, [low, high])


def test_intervals_of_many_documents_are_those_of_the_normal_approximation():
    rng = np.random.default_rng(8)
    n = 4000
    x, others = rng.normal(3.0, 0.5, (2, n, 3))
    draws, draws_others = rng.poisson(1.0, (2, 1000, n))
    means = x.mean(axis=0), others.mean(axis=0)
    each = draws @ x / draws.sum(axis=1)[:, None]
    each_other = draws_others @ others / draws_others.sum(axis=1)[:, None]
    low, high = ratio_bounds(means, (each, each_other), (n, n))
    ratio = means[0] / means[1]
    relative = stats.sem(x, axis=0) ** 2 / means[0] ** 2 + stats.sem(others) ** 2 / means[1] ** 2
    np.testing.assert_allclose(high - low, 2 * 1.96 * ratio * np.sqrt(relative), rtol=0.1)
    np.testing.assert_allclose((high + low) / 2, ratio, rtol=1e-3)
    np.testing.assert_allclose(
        ratio_bounds(means, (each, each_other), (n, n), offset=1e6), 1, atol=1e-5
    )


def test_the_bootstrap_agrees_with_the_normal_approximation():
    rng = np.random.default_rng(6)
    maps = rng.dirichlet(np.ones(3), size=40)
    shard = StubShard(np.eye(40)[rng.integers(40, size=400)])
    summing = stub_summing(maps, replicates=2000)
    sums = sum_rows(summing, [Rows(shard, np.arange(400))])
    p = shard.counts @ maps
    expected = stats.sem(p, axis=0)
    np.testing.assert_allclose(sums.replicate_means.std(axis=0), expected, rtol=0.1)


# ---- bad input


def test_a_term_in_no_document_is_one_line(contrast, source):
    with pytest.raises(CorpusError, match="mention kuru, but none of the 120 does"):
        contrast(source, "kuru")


def test_documents_of_which_the_model_knows_nothing_are_said(contrast, tmp_path):
    records = [*make_records(30), {"pmid": 5, "abstract": "kuru"}]
    source = write_records(tmp_path / "a.jsonl", records)
    with pytest.raises(CorpusError, match="but for 1 without any term that the model knows"):
        contrast(source, "kuru")


def test_a_column_or_a_value_that_is_not_there_is_one_line(contrast, source):
    with pytest.raises(
        CorpusError, match="none of the 120 does; the columns are id, title, pmid, arm"
    ):
        contrast(source, ByColumn("group", "patients"))
    with pytest.raises(CorpusError, match="; it holds patients, controls"):
        contrast(source, ByColumn("arm", "patient"))


def test_a_corpus_of_one_document_is_refused(contrast, tmp_path):
    source = write_records(tmp_path / "one.jsonl", make_records(1))
    with pytest.raises(CorpusError, match=r"at least two documents with a term .*got 1"):
        contrast(source, "huntington")


def test_a_term_in_every_document_is_refused(contrast, source):
    with pytest.raises(CorpusError, match=r"all 120 documents mention study"):
        contrast(source, "study")


def test_few_documents_are_a_warning_and_one_has_no_interval(contrast, source, atlas):
    with pytest.warns(DataWarning, match='that mention "Study 3": only 1; take'):
        result = contrast(source, '"Study 3"')
    assert "only 1" in result.about["problems"][0]
    assert np.isnan(result.interval[0]).all()
    assert result.regions(atlas)["low"].isna().all()
    assert np.isfinite(result.log_ratio).all()
    assert np.isfinite(result.null.p_values).all()


def test_a_broken_expression_is_refused_before_anything_is_read(contrast, tmp_path):
    with pytest.raises(QueryError, match="is no regular expression"):
        contrast(tmp_path / "no such file", "/[/")


def test_a_model_without_terms_is_refused(source):
    model = Encoder(GRID, text="none").fit(["a", "b"], [[[0, 0, 0]], [[8, 0, 0]]])
    with pytest.raises(FitError, match="knows no terms"):
        contrast_documents(source, "huntington", model=model)


def test_an_unreadable_shard_is_skipped_named_and_counted(contrast, model, source, monkeypatch):
    monkeypatch.setattr(library_module, "SHARD_DOCUMENTS", 20)
    whole = contrast(source, "huntington")
    folder = library_module.Path(whole.about["kept_in"])
    for path in folder.glob("00000-00002.*"):
        path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(DataWarning, match=r"skipped 1 of 6 shards \(00000-00002: .*is damaged"):
        result = contrast(source, "huntington")
    assert result.about["documents_with_known_terms"] == 100
    assert result.about["problems"] == ["skipped 1 of 6 shards, damaged: 00000-00002"]
    rows = [r for n, r in enumerate(make_records()) if not 40 <= n < 60]
    expected = model.predict([f"{r['title']}\n\n{r['abstract']}" for r in rows]).mean(axis=0)
    np.testing.assert_allclose(result.reference, expected, rtol=1e-4, atol=1e-7)


# ---- saving


def test_everything_is_saved(contrast, atlas, tmp_path):
    records = make_records()
    records[0]["title"] = "Study 0 <script>alert(1)</script>"
    source = write_records(tmp_path / "a.jsonl", records)
    result = contrast(source, "huntington")
    result.save(tmp_path / "out", atlas=atlas)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    images = {"map", "reference", "log_ratio", "log_ratio_low", "log_ratio_high", "z"}
    assert names == {
        *(f"{name}.nii.gz" for name in {*images, "log_ratio_thresholded"}),
        *("map.png", "regions.png", "regions.csv", "terms.csv", "documents.csv", "kinds.csv"),
        *("report.html", "info.json"),
    }
    image = nibabel.load(tmp_path / "out" / "log_ratio.nii.gz")
    np.testing.assert_allclose(image.get_fdata()[GRID.brain], result.log_ratio, rtol=1e-5)
    thresholded = nibabel.load(tmp_path / "out" / "log_ratio_thresholded.nii.gz").get_fdata()
    assert (
        (thresholded[GRID.brain] != 0) == (result.significant() & (result.log_ratio != 0))
    ).all()
    documents = pd.read_csv(tmp_path / "out" / "documents.csv")
    assert set(documents["id"]) == {1000 + number for number in range(0, 120, 3)}
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Study 0" in page
    assert "<script>alert" not in page
    assert 'id="viewer-data"' in page
    assert "http://" not in page
    assert "https://" not in page
    with pytest.raises(OutputError, match="exists and is not empty"):
        result.save(tmp_path / "out", atlas=atlas)
    result.save(tmp_path / "out", atlas=atlas, titles=False, overwrite=True)
    for name in ("report.html", "documents.csv"):
        assert "Study 0" not in (tmp_path / "out" / name).read_text("utf-8")


def test_images_are_made_on_the_grid_that_is_asked_for(contrast, source, tmp_path):
    result = contrast(source, "huntington")
    result.save(tmp_path / "out", resolution_mm=8)
    image = nibabel.load(tmp_path / "out" / "map.nii.gz")
    assert np.allclose(np.abs(np.diag(image.affine)[:3]), 8)
    assert not (tmp_path / "out" / "regions.csv").exists()


def test_a_full_disk_leaves_no_half_folder(contrast, source, tmp_path, monkeypatch):
    result = contrast(source, "huntington")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(nibabel.Nifti1Image, "to_filename", full)
    with pytest.raises(OutputError, match="No space left on device"):
        result.save(tmp_path / "out")
    assert not list(tmp_path.glob("*out*"))


def test_a_contrast_shows_and_plots_itself(contrast, source):
    import matplotlib as mpl

    mpl.use("Agg")
    result = contrast(source, "huntington")
    html = result._repr_html_()
    assert "data:image/png;base64," in html
    assert str(result.documents["id"].iloc[0]) in html
    assert result.plot("glass").axes
