import numpy as np
import pytest
from tests.contrast.conftest import write_records
from tests.studies import PLACES, TERMS

from neurowhere import contrast_documents
from neurowhere.contrast.controls import CONTROLS, LENGTH, compare_kinds, match_nearest, propensity
from neurowhere.contrast.matching import KIND_WORDS, WordIndex, count_kinds, kind_sums
from neurowhere.exceptions import CorpusError, DataWarning, QueryError

OPTIONS = {"n_jobs": 1, "replicates": 30}


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


def test_a_kind_of_document_is_no_effect_against_controls_of_that_kind(run):
    records = make_confounded()
    with pytest.warns(DataWarning, match=r'differ in kind from the reference: .*"mouse" \d+%'):
        plain = run(records)
    matched = run(records, matched=True)
    assert plain.significant()[at(plain, "amygdala")].all()
    assert plain.log_ratio[at(plain, "amygdala")].min() > 0.2
    assert not matched.significant().any()
    assert np.abs(matched.log_ratio[at(matched, "amygdala")]).max() < 0.15
    kinds = matched.kinds.set_index("kind")
    assert abs(kinds.loc["mouse", "difference"]) < 0.1 < 1 < kinds.loc["mouse", "difference_before"]
    assert "that are of the same kind" in repr(matched)


def test_an_effect_beside_the_kind_is_found_against_controls(run):
    matched = run(make_confounded(effect=True), matched=True)
    assert matched.significant()[at(matched, "motor cortex")].all()
    assert matched.log_ratio[at(matched, "motor cortex")].min() > 0.2
    n = matched.about["documents_in_group"] + matched.about["documents_without_a_control"]
    assert n == sum("kuru" in each["abstract"] for each in make_confounded(effect=True))
    controls = matched.documents[matched.documents["group"] == 2]
    assert controls["mentions"].eq(0).all()
    assert controls["id"].is_unique
    np.testing.assert_allclose(controls["weight"].sum(), matched.about["documents_in_group"])


def test_controls_are_the_same_again_and_weigh_as_their_documents(run):
    one, again = (run(make_confounded(), matched=True) for _ in range(2))
    assert one.documents["id"].tolist() == again.documents["id"].tolist()
    records = make_confounded()
    for record in records[::2]:
        record["abstract"] = record["abstract"].replace("kuru", "kuru, kuru")
    weighted = run(records, matched=True, weighted=True)
    sums = weighted.documents.groupby("group")["weight"].sum()
    np.testing.assert_allclose(sums[1], sums[2])


def test_controls_are_taken_from_a_second_group(run):
    with pytest.warns(DataWarning, match="only"):
        result = run(make_confounded(150), against="visual cortex", matched=True)
    assert result.against == "mention visual cortex and are of the same kind"


def test_an_effect_smaller_than_asked_for_does_not_pass(run):
    records = make_confounded(effect=True)
    result = run(records, matched=True, min_ratio=1.3)
    passing = result.significant()
    assert passing.any()
    assert np.abs(result.log_ratio[passing]).min() >= np.log(1.3)
    assert result.significant(min_ratio=1).sum() > passing.sum()
    with pytest.raises(QueryError, match=r"a ratio of at least 1, got 0\.5"):
        run(records, min_ratio=0.5)


def test_a_group_of_a_kind_of_its_own_has_no_controls(run):
    words = ["mouse", "optogenetic", "knockout", "vivo", "plasmid", "confocal"]
    records = [
        {"pmid": 1 + n, "abstract": f"amygdala {' '.join(words) * 9 + ' kuru' if n < 30 else ''}"}
        for n in range(60)
    ]
    with pytest.raises(CorpusError, match="none of 30 is like one of the 30 of the group"):
        run(records, matched=True)


def test_what_the_query_asks_for_is_no_kind(model, tmp_path):
    source = write_records(tmp_path / "documents.jsonl", make_confounded())
    with pytest.warns(DataWarning, match=r'"patient" 0% against \d+%'):
        result = contrast_documents(source, "mouse", model=model, cache=tmp_path / "c", **OPTIONS)
    assert "mouse" not in set(result.kinds["kind"])


# ---- parts


def test_each_gets_the_nearest_and_no_other_is_used_twice():
    rng = np.random.default_rng(0)
    group, others = rng.normal(1, 1, 40), rng.normal(0, 1, 400)
    pairs = match_nearest(group, others, 0.2, rng)
    used = [one for some in pairs for one in some]
    assert len(used) == len(set(used))
    assert max(map(len, pairs)) == CONTROLS
    for value, some in zip(group, pairs, strict=True):
        assert (np.abs(others[some] - value) <= 0.2).all()
    assert abs(np.mean([others[some[0]] for some in pairs if some]) - group.mean()) < 0.1


def test_the_propensity_balances_what_it_is_told():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 5)).astype(np.float32)
    inside = rng.random(4000) < 1 / (1 + np.exp(3 - x[:, 0] + x[:, 1]))
    odds = propensity(x, inside)
    pairs = match_nearest(odds[inside], odds[~inside], 0.2 * odds.std(), rng)
    with_one = [bool(some) for some in pairs]
    controls = [np.mean(x[~inside][some], axis=0) for some in pairs if some]
    before = np.abs(x[inside].mean(axis=0) - x[~inside].mean(axis=0))
    after = np.abs(x[inside][with_one].mean(axis=0) - np.mean(controls, axis=0))
    assert before[:2].min() > 0.6
    assert after.max() < 0.15


def test_standardised_differences_are_those_of_shares_and_lengths():
    counts = count_kinds(WordIndex.of(["mouse b c", "mouse", "patient of x", "rat rat"]))
    table = compare_kinds(kind_sums(counts[:2]), kind_sums(counts[1:])).set_index("kind")
    assert table.loc["mouse", ["share", "share_reference"]].tolist() == [1, pytest.approx(1 / 3)]
    scale = np.sqrt((0 + 2 / 9) / 2)
    assert table.loc["mouse", "difference"] == pytest.approx(2 / 3 / scale)
    length = np.exp(np.log1p([3, 1]).mean()) - 1
    assert table.loc[LENGTH, "share"] == pytest.approx(length)
    assert table.loc["drosophila", "difference"] == 0
    np.testing.assert_allclose(
        kind_sums(counts), kind_sums(counts[:1]) + kind_sums(counts[1:]), rtol=1e-12
    )


def test_no_kind_is_counted_twice_or_names_a_place(model):
    assert len(set(KIND_WORDS)) == len(KIND_WORDS)
    index = WordIndex.of(KIND_WORDS)
    for word in KIND_WORDS:
        assert len(index.forms_of(word)) == 1, word
    assert not set(KIND_WORDS) & set(" ".join(TERMS).split())
