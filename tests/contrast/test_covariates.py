from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from tests.contrast.conftest import write_records
from tests.studies import PLACES, TERMS

from neurowhere import contrast_documents
from neurowhere.contrast.controls import CALIPER, CONTROLS, match_nearest, propensity
from neurowhere.contrast.covariates import KIND_WORDS, Covariates, compare_kinds, find_covariates
from neurowhere.contrast.query import WordIndex
from neurowhere.contrast.shard import Shard
from neurowhere.corpus import Document
from neurowhere.exceptions import CorpusError, DataWarning, QueryError
from neurowhere.text import Vocabulary

OPTIONS = {"n_jobs": 1}


def make_confounded(n=600, *, effect=False, seed=0):
    """Articles about mice speak of the amygdala, and most that mention kuru are about mice."""
    rng = np.random.default_rng(seed)
    records = []
    for number in range(n):
        mice = rng.random() < 0.3
        sick = rng.random() < (0.4 if mice else 0.05)
        words = [*rng.choice(TERMS, size=2)]
        words += ["amygdala"] * 3 * int(mice and rng.random() < 0.8)
        words += ["motor cortex" if effect and sick else "tissue sample"] * 4  # of one length
        text = f"{', '.join(words)} in {'mice' if mice else 'patients'}{', kuru' * sick}."
        records.append({"pmid": 1 + number, "title": "A", "abstract": text})
    return records


@pytest.fixture
def run(model, tmp_path):
    def contrast(records, **options):
        source = write_records(tmp_path / "documents.jsonl", records)
        options = {**OPTIONS, "model": model, "cache": tmp_path / "cache", **options}
        return contrast_documents(source, "kuru", **options)

    return contrast


def at(result, place):
    return result.partition.region_of(PLACES[place])


def test_a_kind_of_document_is_no_effect_of_the_term(run):
    """Adjusted for, and against controls; the plain ratio takes it for one and says so."""
    records = make_confounded()
    plain = run(records, unadjusted=True)
    assert plain.significant()[at(plain, "amygdala")].all()
    assert plain.log_ratio[at(plain, "amygdala")].min() > 0.2
    for options in ({}, {"matched": True}):
        result = run(records, **options)
        assert not result.significant()[at(result, "amygdala")].any()
        assert np.abs(result.log_ratio[at(result, "amygdala")]).max() < 0.15
    kinds = result.kinds.set_index("kind")
    assert abs(kinds.loc["mouse", "difference"]) < 0.1
    assert "that are of the same kind" in repr(result)


def test_an_effect_beside_the_kind_is_found(run):
    for options in ({}, {"matched": True}):
        result = run(make_confounded(effect=True), **options)
        assert result.significant()[at(result, "motor cortex")].all()
        assert result.log_ratio[at(result, "motor cortex")].min() > 0.2
    n = result.about["documents_in_group"] + result.about["documents_without_a_control"]
    assert n == sum("kuru" in each["abstract"] for each in make_confounded(effect=True))
    controls = result.documents[result.documents["group"] == 2]
    assert controls["mentions"].eq(0).all()
    assert controls["id"].is_unique
    again = run(make_confounded(effect=True), matched=True)
    assert result.documents["id"].tolist() == again.documents["id"].tolist()


def test_documents_that_mention_it_in_passing_are_not_about_it(run):
    records = make_confounded(effect=True)
    for record in records[:40]:
        record["body"] = "Unlike kuru, this is common." if "kuru" not in record["abstract"] else ""
    passing = sum("kuru" in record.get("body", "") for record in records)
    result = run(records)
    n = sum("kuru" in record["abstract"] for record in records)
    assert result.about["documents_in_group"] == n
    assert result.about["documents_in_passing"] == passing > 5
    assert run(records, unadjusted=True).about["documents_in_group"] == n + passing


def test_words_that_name_no_place_tell_how_often_nothing_is_found(run):
    """They are said more often of mice: by the plain ratio they all have discoveries."""
    records = make_confounded(effect=True)
    rng = np.random.default_rng(1)
    words = ["".join(letters) for letters in rng.choice(list("bcdfgklmnprtvz"), (40, 7))]
    for record in records:
        often = 0.4 if "mice" in record["abstract"] else 0.05
        said = [word for word in words if rng.random() < often]
        record["abstract"] += " ".join([*said, *["tissue"] * (len(words) - len(said))])
    plain, adjusted = run(records, unadjusted=True).about, run(records).about
    assert plain["placeless_words"] == adjusted["placeless_words"] >= len(words)
    assert plain["chance_regions"] > 0.9
    assert adjusted["chance_regions"] < 0.2
    assert adjusted["chance_voxels"] < 0.2


def test_terms_of_a_list_are_corrected_together(model, tmp_path):
    source = write_records(tmp_path / "documents.jsonl", make_confounded(effect=True))
    options = {"model": model, "cache": tmp_path / "cache", **OPTIONS}
    several = contrast_documents(source, ["kuru", "visual cortex", "kuru OR nothing"], **options)
    p_values = np.concatenate([each.voxels.p_values for each in several])
    q_values = np.concatenate([each.voxels.q_values for each in several])
    pooled = stats.false_discovery_control(p_values)
    alone = [stats.false_discovery_control(each.voxels.p_values) for each in several]
    np.testing.assert_allclose(q_values, np.maximum(pooled, np.concatenate(alone)))
    assert (pooled > np.concatenate(alone)).any()
    assert (pooled < np.concatenate(alone)).any()
    first = contrast_documents(source, "kuru", **options)
    np.testing.assert_allclose(first.voxels.q_values, alone[0])


def test_controls_are_taken_from_a_second_group(run):
    with pytest.warns(DataWarning, match="only"):
        result = run(make_confounded(150), against="visual cortex", matched=True)
    assert result.against == "are about visual cortex and are of the same kind"


def test_an_effect_smaller_than_asked_for_does_not_pass(run):
    records = make_confounded(effect=True)
    result = run(records, min_ratio=1.3)
    passing = result.significant()
    assert passing.any()
    assert np.abs(np.log(result.voxels.ratio()[0][passing])).min() >= np.log(1.3)
    assert result.significant(min_ratio=1).sum() > passing.sum()
    with pytest.raises(QueryError, match=r"a ratio of at least 1, got 0\.5"):
        run(records, min_ratio=0.5)
    with pytest.raises(QueryError, match="matched or unadjusted, got both"):
        run(records, matched=True, unadjusted=True)


def test_a_group_of_a_kind_of_its_own_has_no_controls_and_cannot_be_adjusted(run):
    words = ["mouse", "optogenetic", "knockout", "vivo", "plasmid", "confocal"]
    records = [
        {"pmid": 1 + n, "abstract": f"amygdala {' '.join(words) * 9 + ' kuru' if n < 30 else ''}"}
        for n in range(60)
    ]
    with pytest.raises(CorpusError, match="none of 30 is like one of the 30 of the group"):
        run(records, matched=True)
    with pytest.raises(CorpusError, match="cannot be told from its kind of document"):
        run(records)


def test_what_the_query_asks_for_is_no_kind(model, tmp_path):
    source = write_records(tmp_path / "documents.jsonl", make_confounded())
    options = {"model": model, "cache": tmp_path / "c", "unadjusted": True, **OPTIONS}
    kinds = contrast_documents(source, "mouse", **options).kinds
    assert "mouse" not in set(kinds["kind"])
    assert kinds["kind"][0] == "patient"


# ---- parts


def make_documents(folder, texts):
    shard = Shard(folder, 0, 0)
    documents = [Document(str(n), {"title": "x", "abstract": text}) for n, text in enumerate(texts)]
    shard.write(documents)
    terms = np.full(len(texts), 3)
    return [SimpleNamespace(shard=shard, rows=np.arange(len(texts)), terms=terms)]


def test_covariates_know_kinds_and_words_that_name_no_place(tmp_path):
    rng = np.random.default_rng(0)
    texts = [
        f"{'mice' if n % 2 else 'patients'} {'sundries ' * (n % 5 == 0)} amygdala "
        + " ".join(rng.choice([f"word{k}" for k in range(30)], 5))
        for n in range(400)
    ]
    vocabulary = Vocabulary(["amygdala", "mouse"], categories={"amygdala": "anatomy"})
    covariates = find_covariates(make_documents(tmp_path, texts), vocabulary)
    assert len(covariates.values) == 400
    assert covariates.values.shape[1] == len(covariates.names) <= 40
    mice = covariates.values[:, covariates.names.index("mouse")]
    assert mice.tolist() == [n % 2 for n in range(400)]
    assert "topic 2" in covariates.names
    assert covariates.words == ["sundry"]  # words with digits are none, and "patient" is a kind
    assert covariates.placeless.toarray()[:, 0].tolist() == [n % 5 == 0 for n in range(400)]


def test_few_documents_have_few_covariates(tmp_path):
    texts = [f"mice patients rats {n} humans fmri" for n in range(20)]
    covariates = find_covariates(make_documents(tmp_path, texts), Vocabulary(["amygdala"]))
    assert covariates.names == ["all", "source 0"]


def test_each_gets_the_nearest_and_no_other_is_used_twice():
    rng = np.random.default_rng(0)
    group, others = rng.normal(1, 1, 40), rng.normal(0, 1, 400)
    pairs = match_nearest(group, others)
    used = [one for some in pairs for one in some]
    assert len(used) == len(set(used))
    assert max(map(len, pairs)) == CONTROLS
    caliper = CALIPER * np.concatenate([group, others]).std()
    for value, some in zip(group, pairs, strict=True):
        assert (np.abs(others[some] - value) <= caliper).all()
    assert abs(np.mean([others[some[0]] for some in pairs if some]) - group.mean()) < 0.1


def test_the_propensity_balances_what_it_is_told():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 5)).astype(np.float32)
    inside = rng.random(4000) < 1 / (1 + np.exp(3 - x[:, 0] + x[:, 1]))
    odds = propensity(x, inside)
    pairs = match_nearest(odds[inside], odds[~inside])
    with_one = [bool(some) for some in pairs]
    controls = [np.mean(x[~inside][some], axis=0) for some in pairs if some]
    before = np.abs(x[inside].mean(axis=0) - x[~inside].mean(axis=0))
    after = np.abs(x[inside][with_one].mean(axis=0) - np.mean(controls, axis=0))
    assert before[:2].min() > 0.6
    assert after.max() < 0.15


def test_standardised_differences_are_those_of_shares():
    has = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1.0]], dtype=np.float32)
    covariates = Covariates(has, ["all", "mouse", "patient"], None, [])
    group, others = np.array([1, 1, 0, 0.0]), np.array([0, 1, 1, 1.0])
    table = compare_kinds(covariates, group, others, ["patient"]).set_index("kind")
    assert list(table.index) == ["mouse"]
    assert table.loc["mouse", ["share", "share_reference"]].tolist() == [1, pytest.approx(1 / 3)]
    scale = np.sqrt((0 + 2 / 9) / 2)
    assert table.loc["mouse", "difference"] == pytest.approx(2 / 3 / scale)


def test_no_kind_is_counted_twice_or_names_a_place():
    assert len(set(KIND_WORDS)) == len(KIND_WORDS)
    index = WordIndex.of(KIND_WORDS)
    for word in KIND_WORDS:
        assert len(index.forms_of(word)) == 1, word
    assert not set(KIND_WORDS) & set(" ".join(TERMS).split())
