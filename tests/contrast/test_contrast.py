import json
import re
from dataclasses import replace
from types import SimpleNamespace

import nibabel
import numpy as np
import pandas as pd
import pytest
from tests.contrast.conftest import make_records, write_records
from tests.studies import GRID, PLACES, TERMS

from neurowhere import Atlas, Corpus, Encoder, contrast_documents
from neurowhere.contrast import ByColumn, ByTerm, Query
from neurowhere.contrast import library as library_module
from neurowhere.contrast import run as run_module
from neurowhere.contrast.background import sum_rows
from neurowhere.contrast.shard import without_terms
from neurowhere.corpus import Document
from neurowhere.exceptions import CorpusError, DataWarning, FitError, OutputError, QueryError
from neurowhere.text import TermExtractor, Vocabulary

ARRAYS = ("probabilities", "reference", "log_ratio")


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
def contrast(model, atlas, tmp_path):
    """Run a contrast of this model, with one job and a cache of its own."""

    def run(source, group, **options):
        options = {"cache": tmp_path / "cache", "n_jobs": 1, "atlas": atlas, **options}
        return contrast_documents(source, group, model=model, **options)

    return run


def test_a_planted_effect_is_found(contrast, source):
    result = contrast(source, "huntington")
    assert result.about["documents_in_group"] == 40
    assert result.about["documents_with_known_terms"] == 120
    assert result.about["terms_left_out"] == ["huntington disease"]
    regions = result.regions().set_index("region")
    assert regions.index[0] == "amygdala"
    assert regions.loc["amygdala", "low"] > 1.1
    assert regions.index[regions["passes"] & (regions["t"] > 0)].tolist() == ["amygdala"]
    assert regions.loc["amygdala", "q"] < 1e-2
    assert result.terms["term"][0] == "amygdala"
    assert result.terms["share"][0] > result.terms["share_reference"][0]
    assert np.abs(result.terms.loc[0, ["x", "y", "z"]] - np.array(PLACES["amygdala"][1])).max() < 50
    at_amygdala = result.partition.region_of(PLACES["amygdala"])
    assert result.significant()[at_amygdala].all()
    assert (result.interval[0][at_amygdala] > 0).all()
    assert "40 documents that are about huntington against what is expected from 120" in repr(
        result
    )


def test_the_map_is_the_difference_of_logs_of_mean_encodings(contrast, model, source):
    result = contrast(source, "huntington", unadjusted=True)
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
    with_term = contrast(source, "huntington", unadjusted=True)
    without = contrast(source, "huntington", unadjusted=True, without_term=True)
    seen = model.partition_.region_of(PLACES["visual cortex"])  # what the model learned of it
    assert with_term.log_ratio[seen].mean() > without.log_ratio[seen].mean() + 0.05
    texts = [f"{r['title']}\n\n{r['abstract']}" for r in make_records()]
    bare = model.predict([text.replace("Huntington's disease", "") for text in texts])
    np.testing.assert_allclose(without.reference, bare.mean(axis=0), rtol=1e-4, atol=1e-7)
    named = contrast(source, "amygdala", without=["huntingt*", "motor cortex"], unadjusted=True)
    assert named.about["terms_left_out"] == ["motor cortex", "huntington disease"]


def test_initials_are_left_out_where_the_text_defines_them_and_nowhere_else():
    """ "aphasia" is no reason to leave out "ca" and "pa"."""
    vocabulary = Vocabulary(("hd", "huntington disease", "motor cortex"))
    model = SimpleNamespace(extractor_=TermExtractor(vocabulary), vocabulary_=vocabulary)
    columns = run_module.columns_left_out(model, [ByTerm("huntington")], [])
    assert [vocabulary.terms[column] for column in columns] == ["huntington disease"]
    texts = ["Huntington disease (HD) is rare; HD is inherited.", "HD, high definition."]
    documents = [Document(str(n), {"body": text}) for n, text in enumerate(texts)]
    counts = model.extractor_.counts(Corpus.from_documents(documents))
    left = without_terms(counts, model.extractor_, columns).toarray()
    assert left.tolist() == [[0, 0, 0], [1, 0, 0]]


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
    options = {"model": model, "cache": tmp_path / "cache", "n_jobs": 1}
    result = contrast_documents(source, "multiple sclerosis", **options)
    assert result.about["terms_left_out"] == ["multiple sclerosis"]
    assert result.about["words_left_out_with_them"] == ["sclerosis"]
    group = [text for text in texts if "multiple" in text]
    bare = [text.replace("multiple sclerosis", "it") for text in group]
    expected = model.predict(bare).mean(axis=0)
    np.testing.assert_allclose(result.probabilities, expected, rtol=1e-4, atol=1e-7)


def test_the_next_term_encodes_its_own_documents_only(contrast, source, monkeypatch):
    contrast(source, "motor cortex", unadjusted=True)
    encoded = []

    def counting(summing, task):
        encoded.append(sum(len(each.rows) for each in task))
        return sum_rows(summing, task)

    monkeypatch.setattr("neurowhere.contrast.background.sum_rows", counting)
    monkeypatch.setattr(library_module, "cut", None)
    second = contrast(source, "huntington", unadjusted=True)
    n = second.about["documents_in_group"]
    assert encoded == [n]


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
    weighted = contrast(source, "huntington", weighted=True, unadjusted=True)
    expected = np.average(encodings, axis=0, weights=mentions)
    np.testing.assert_allclose(weighted.probabilities, expected, rtol=1e-4, atol=1e-7)
    share = weighted.documents["weight"] / weighted.documents["mentions"]
    np.testing.assert_allclose(share, 1 / mentions[mentions > 0].mean())
    often = contrast(source, "huntington", min_mentions=3, unadjusted=True)
    assert often.about["documents_in_group"] == np.count_nonzero(mentions >= 3)
    assert often.documents["mentions"].min() == 3
    assert "at least 3 times" in often.group


def test_two_groups_by_a_column(contrast, model, source, atlas):
    options = {"without": ["hunt*"], "unadjusted": True}
    patients, controls = ByColumn("arm", "patients"), ByColumn("arm", "controls")
    result = contrast(source, patients, against=controls, **options)
    assert result.about["documents_in_group"] == 40
    assert result.about["documents_in_second_group"] == 80
    assert result.documents["group"].value_counts().to_dict() == {2: 80, 1: 40}
    regions = result.regions()
    assert regions["region"][0] == "amygdala"
    assert regions["low"][0] > 1.2
    flipped = contrast(source, controls, against=patients, **options)
    np.testing.assert_allclose(flipped.log_ratio, -result.log_ratio, atol=1e-4)
    np.testing.assert_allclose(flipped.voxels.t, -result.voxels.t, rtol=1e-2, atol=1e-3)
    texts = [f"{r['title']}\n\n{r['abstract']}".replace("Huntington", "") for r in make_records()]
    means = [model.predict(texts[k::3]).mean(axis=0) for k in (1, 2)]
    np.testing.assert_allclose(result.reference, np.mean(means, axis=0), rtol=1e-3, atol=1e-7)


def test_documents_in_both_groups_are_in_none(contrast, source):
    with pytest.warns(DataWarning, match="that mention huntington: only 3"):
        result = contrast(source, "huntington", against="amygdala", unadjusted=True)
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


def test_the_headline_is_ordered_by_the_ratio_and_the_table_by_t(contrast, source, atlas):
    result = contrast(source, "huntington", atlas=atlas)
    effects = replace(
        result.by_region,
        observed=np.array([2.0, 3.0, 4.0, 0.5]),
        expected=np.ones(4),
        t=np.array([9.0, 5.0, 7.0, -6.0]),
        q_values=np.array([0.01, 0.01, 0.2, 0.01]),
    )
    result = replace(result, by_region=effects)
    names = list(atlas.names)
    assert result.most_raised()["region"].tolist() == [names[1], names[0]]
    assert result.regions()["region"].tolist() == [names[k] for k in (0, 2, 1, 3)]


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


def test_few_documents_are_a_warning_and_one_has_no_interval(contrast, source):
    with pytest.warns(DataWarning, match='that mention "Study 3": only 1; take'):
        result = contrast(source, '"Study 3"')
    assert "only 1" in result.about["problems"][0]
    assert np.isnan(result.interval[0]).all()
    assert result.regions()[["low", "t", "p", "q"]].isna().all(axis=None)
    assert np.isfinite(result.log_ratio).all()
    assert not result.significant().any()
    assert "a hint: 1 documents are not enough for a test" in repr(result)


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
        result = contrast(source, "huntington", unadjusted=True)
    assert result.about["documents_with_known_terms"] == 100
    assert result.about["problems"][0] == "skipped 1 of 6 shards, damaged: 00000-00002"
    rows = [r for n, r in enumerate(make_records()) if not 40 <= n < 60]
    expected = model.predict([f"{r['title']}\n\n{r['abstract']}" for r in rows]).mean(axis=0)
    np.testing.assert_allclose(result.reference, expected, rtol=1e-4, atol=1e-7)


# ---- saving


def test_everything_is_saved(contrast, atlas, tmp_path):
    records = make_records()
    records[0]["title"] = "Study 0 <script>alert(1)</script>"
    source = write_records(tmp_path / "a.jsonl", records)
    result = contrast(source, "huntington")
    result.save(tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    images = {"map", "reference", "log_ratio", "log_ratio_low", "log_ratio_high", "t", "q"}
    assert names == {
        *(f"{name}.nii.gz" for name in {*images, "log_ratio_thresholded"}),
        *(
            "map.png",
            "lowered.png",
            "regions.png",
            "regions.csv",
            "terms.csv",
            "documents.csv",
            "kinds.csv",
        ),
        *("report.html", "methods.txt", "info.json"),
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
    methods = (tmp_path / "out" / "methods.txt").read_text("utf-8")
    assert methods == f"{result.methods()}\n"
    assert f"The {result.about['documents_in_group']} documents that" in methods
    assert "@article{benjamini1995controlling" in methods
    assert "Benjamini and Hochberg, 1995" in page
    assert "<script>alert" not in page
    viewer = json.loads(re.search(r'id="viewer-data">(.*?)</script>', page)[1])
    assert viewer["contrast"] is True
    assert viewer["average"] is False  # or what is raised would be grey
    assert "Raised most: amygdala." in page
    assert "http://" not in page
    assert "https://" not in page
    with pytest.raises(OutputError, match="exists and is not empty"):
        result.save(tmp_path / "out")
    result.save(tmp_path / "out", titles=False, overwrite=True)
    for name in ("report.html", "documents.csv"):
        assert "Study 0" not in (tmp_path / "out" / name).read_text("utf-8")


def test_images_are_made_on_the_grid_that_is_asked_for(contrast, source, tmp_path):
    result = contrast(source, "huntington")
    result.save(tmp_path / "out", resolution_mm=8)
    image = nibabel.load(tmp_path / "out" / "map.nii.gz")
    assert np.allclose(np.abs(np.diag(image.affine)[:3]), 8)


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
    nothing = replace(result.voxels, q_values=np.ones_like(result.log_ratio))
    assert replace(result, voxels=nothing).plot().axes  # of which nilearn would warn
