"""Mixture: the map of a report is drawn from its places."""

import numpy as np
import pytest

from neurowhere import load_model
from neurowhere.space.geometry import side_of_regions

REPORT = """FINDINGS: A 4.2 x 3.8 cm enhancing mass is centred in the left temporal lobe, with
oedema extending into the parietal white matter. Mass effect on the left lateral ventricle, and 6
mm of midline shift at the level of the foramen of Monro. The basal ganglia and thalami are normal.
IMPRESSION: Left temporal lobe mass, suspicious for glioblastoma."""
NORMAL = """MRI of the brain. No mass, infarct or hemorrhage. The thalami and the basal ganglia are
unremarkable. Ventricles are normal in size. No midline shift. Sinuses are clear."""
POINT = (-56.0, -20.0, -20.0)  # in the left middle temporal gyrus


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def report(model):
    return model.encode(REPORT)


def ratio(encoding, model, name, side=0):
    inside = model.predictor_.prior.region_of(model.vocabulary_.index(name))
    if side:
        inside = inside & (side * side_of_regions(model.partition_) > 0)
    return encoding.probabilities[inside].sum() / model.mean_map_[inside].sum()


def test_a_report_is_drawn_where_its_finding_is(report, model):
    assert report.kind == "report"
    assert ratio(report, model, "temporal lobe", side=1) > 4
    for elsewhere in ("foramen of monro", "thalamus", "basal ganglia", "frontal lobe"):
        assert ratio(report, model, elsewhere) < 1, elsewhere
    assert ratio(report, model, "temporal lobe", side=-1) < 0.3
    assert report.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_the_kind_can_be_asked_for(report, model):
    study = model.encode(REPORT, kind="study")
    assert study.kind == "study"
    assert study.findings == ()
    assert ratio(study, model, "temporal lobe", side=1) < ratio(
        report, model, "temporal lobe", side=1
    )
    short = "Left insula and putamen"
    assert model.encode(short).kind == "study"
    assert model.encode(short, kind="report").kind == "report"


def test_shares_of_places_sum_to_the_probability_of_a_voxel(report, model):
    table = report.shares(POINT)
    assert table["share"].sum() == pytest.approx(1)
    first = table.iloc[0]
    assert (first["place"], first["role"], first["side"]) == ("temporal lobe", "seat", "left")
    region = int(model.partition_.region_of(np.array([POINT]))[0])
    mixture = report.report.mixture
    parts = [part.share * part.map[region] for part in mixture.components]
    whole = sum(parts) + mixture.share_of_whole * mixture.whole[region]
    assert whole == pytest.approx(report.probabilities[region], rel=1e-4)


def test_a_place_explains_its_own_log_ratio(report, model):
    """Of the log ratio at a voxel, each component adds its share of its own; the rest is mixing."""
    region = int(model.partition_.region_of(np.array([POINT]))[0])
    indicator = np.zeros(len(model.mean_map_))
    indicator[region] = 1
    explained = report.explain(indicator)
    table = report.shares(POINT)
    temporal = list(report.uses).index("temporal lobe")
    of_place = table[table["place"] == "temporal lobe"]
    own = float((of_place["share"] * of_place["log_ratio"]).sum())
    assert explained[temporal] == pytest.approx(own, abs=0.05)


def test_a_normal_report_draws_nothing(model):
    normal = model.encode(NORMAL)
    assert normal.kind == "report"
    assert normal.support.withheld == "the report says that nothing is wrong"
    np.testing.assert_array_equal(normal.probabilities, model.mean_map_.astype(np.float32))


def test_maps_of_many_texts_are_those_of_each(model):
    texts = [REPORT, NORMAL, "fear and the amygdala"]
    together = [each.probabilities for each in model.encode_many(texts)]
    for text, q in zip(texts, together, strict=True):
        np.testing.assert_allclose(q, model.encode(text).probabilities, atol=1e-6)


def test_layers_and_sizes_choose_within_a_lobe(model):
    text = "MRI: 2 cm enhancing lesion in the {} of the left frontal lobe with oedema, no shift."
    deep = model.encode(text.format("deep white matter")).probabilities
    cortical = model.encode(text.format("cortex")).probabilities
    assert np.abs(deep - cortical).sum() / 2 > 0.3
    small = "MRI: {} enhancing mass of the left hippocampus with oedema and midline shift."
    large = [model.encode(small.format(size)).probabilities for size in ("1 cm", "5 cm")]
    entropies = [-(q[q > 0] * np.log(q[q > 0])).sum() for q in large]
    assert entropies[1] > entropies[0] + 0.3


def test_a_structure_that_a_study_names_is_not_below_the_mean_map(model):
    text = (
        "Participants viewed faces during fMRI. Compared with controls, patients showed increased "
        "activation of the right inferior frontal gyrus and of the left fusiform gyrus."
    )
    encoding = model.encode(text)
    assert encoding.kind == "study"
    assert ratio(encoding, model, "inferior frontal gyrus", side=-1) > 0.95
