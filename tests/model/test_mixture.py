"""Mixture: the map of a report is drawn from its places."""

import pickle

import numpy as np
import pytest

from neurowhere import load_model
from neurowhere.space import default_atlas
from neurowhere.space.geometry import gazetteer_of, side_of_regions

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
    mixture = report.mixture
    parts = [part.share * part.map[region] for part in mixture.components]
    whole = sum(parts) + mixture.share_of_whole * mixture.whole[region]
    assert whole == pytest.approx(report.probabilities[region], rel=1e-4)


def test_terms_explain_the_log_ratio_exactly(report, model):
    places = np.array([POINT, (40.0, 30.0, 20.0), (10.0, -16.0, 8.0)])
    regions = model.partition_.region_of(places)
    moved = np.log(report.probabilities[regions] / model.mean_map_[regions])
    added = [report.why(place)["contribution"].sum() for place in places]
    assert np.diff(added) == pytest.approx(np.diff(moved), abs=0.01)
    strongest = report.why(POINT).iloc[0]
    assert strongest["term"] == "temporal lobe"
    assert strongest["contribution"] > 1


def test_a_normal_report_draws_nothing(model):
    normal = model.encode(NORMAL)
    assert normal.kind == "report"
    assert normal.support.withheld == "the report says that nothing is wrong"
    assert model.encode("CT head unremarkable.").support.withheld == normal.support.withheld
    np.testing.assert_array_equal(normal.probabilities, model.mean_map_.astype(np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "CT head: acute subarachnoid haemorrhage. No hydrocephalus.",
        "CT: severe hydrocephalus. No mass.",
        "Acute hydrocephalus with dilated lateral ventricles. No haemorrhage.",
        "MRI brain. Cerebellar tonsils lie 14 mm below the foramen magnum. No mass.",
        "Both ICAs are patent. 7 mm aneurysm of the left MCA bifurcation.",
    ],
)
def test_a_finding_without_a_place_is_not_called_normal(model, text):
    support = model.encode(text).support
    assert "nothing is wrong" not in support.summary
    assert "denies" not in support.summary


def test_a_lesion_on_the_surface_that_is_not_drawn_is_told(model):
    text = "CT: left acute subdural haematoma with herniation. Small contusion in the right {}."
    told = model.encode(text.format("frontal lobe")).support
    assert told.summary.startswith("weak: “subdural haematoma” (left) is outside the tissue")
    short = "Left convexity subdural haematoma, large. Tiny right cerebellar microbleed."
    assert "“subdural haematoma” (left)" in model.encode(short).support.summary
    overlying = "Extradural haematoma overlying the right temporal lobe. Sinuses clear."
    assert "not drawn" not in model.encode(overlying).support.summary
    denied = text.replace("left acute", "no").replace("with", "or").format("frontal lobe")
    assert model.encode(denied).support.level == "good"


def test_maps_of_many_texts_are_those_of_each(model):
    texts = [REPORT, NORMAL, "fear and the amygdala"]
    together = [each.probabilities for each in model.encode_many(texts)]
    for text, q in zip(texts, together, strict=True):
        np.testing.assert_allclose(q, model.encode(text).probabilities, atol=1e-6)


def test_what_is_normal_is_held_below_the_average(model):
    text = "MRI: enhancing mass, 3 cm, in the left frontal operculum, oedema. {}No shift."
    free, normal = (model.encode(text.format(said)) for said in ("", "The left insula is normal. "))
    assert ratio(normal, model, "insula", side=1) < 0.5 * ratio(free, model, "insula", side=1)
    assert ratio(normal, model, "insula", side=1) < 1


def test_the_other_side_of_the_midline_is_that_of_the_atlas(model):
    """A fifth of the left cuneus of the atlas is right of x = 0."""
    gazetteer = gazetteer_of(default_atlas(), model.partition_)
    left = gazetteer.shared_mm3[gazetteer.atlas.names.index("Cuneus_L")].toarray().ravel()
    text = "CT head. 3 cm hematoma of the right cuneus. The left cuneus is normal."
    q = model.encode(text, kind="report").probabilities
    assert q @ left / (model.mean_map_ @ left) < 6  # else 25


def test_what_is_only_mentioned_is_not_raised(model):
    text = "MRI. A 3 cm enhancing mass is centred in the left superior parietal lobule. "
    plain, told = (
        model.encode(text + more) for more in ("", "The left postcentral gyrus was looked at.")
    )
    assert ratio(told, model, "postcentral gyrus", 1) < ratio(plain, model, "postcentral gyrus", 1)


def test_what_a_finding_extends_to_weighs_little(model):
    text = (
        "MRI: enhancing mass in the left insula with oedema extending into the left frontal lobe."
    )
    table = model.encode(text, kind="report").shares()
    assert table[table["role"] == "seat"]["share"].sum() > 0.8


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


def test_reports_of_a_list_keep_no_maps_of_their_places(model):
    """The maps of the places of a report weigh more than all else."""
    texts = [f"Case {n}. {REPORT}" for n in range(3)]
    found = list(model.encode_many(texts))
    n_regions = model.partition_.n_regions
    for encoding in found:
        assert len(encoding.mixture.components) > 1
        np.testing.assert_allclose(
            encoding.mixture.probabilities, encoding.probabilities, rtol=1e-4
        )
        maps = 4 * n_regions
        assert len(pickle.dumps(encoding)) < 1.5 * maps + 10_000


def test_a_gyrus_beside_the_seat_is_not_raised_by_its_lobe(model):
    text = "MRI: 2 cm mass in the left superior frontal gyrus. The precentral gyrus is 2 cm behind "
    text += "the cavity. T2 bright, enhancing. IMPRESSION: Left frontal mass."
    assert ratio(model.encode(text), model, "precentral gyrus", side=1) < 1


def test_a_report_that_concludes_nothing_draws_nothing(model):
    text = "CT HEAD. Headache and left weakness. FLAIR: no infarct. The left temporal lobe was "
    text += "checked because of slowing. Ventricles normal.\nIMPRESSION: Normal CT of the head."
    assert model.encode(text).support.level == "none"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Left arm weakness. MRI brain normal.", "weak"),
        ("Right facial droop and aphasia. CT head normal.", "weak"),
        ("Left hemianopia. Normal MRI of the brain.", "weak"),
        ("CT normal, DWI shows an infarct of the right insula", "good"),
        ("Acute left MCA stroke. CT head normal.", "good"),
        ("MRI brain normal. EEG: spikes over the left temporal lobe.", "good"),
        ("Memory in the normal brain", "good"),
        ("Left arm weakness", "good"),
    ],
)
def test_a_map_of_complaints_beside_a_normal_scan_is_weak(model, text, level):
    support = model.encode(text).support
    assert support.level == level
    assert ("the scan is normal" in support.summary) == (level == "weak")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Acute subdural haematoma over the left convexity with mass effect on the left lateral "
            "ventricle and effacement of the sulci",
            "outside the brain: meninges, left",
        ),
        ("Right subdural haematoma with a shift of 6 mm to the left.", ", right"),
        ("Chronic SDH along the right convexity, compressing the right frontal lobe.", ", right"),
        ("Epidural haematoma on the left with uncal herniation.", ", left"),
        ("Left subdural haematoma and a contusion of the right frontal lobe.", ""),
        ("Left subdural haematoma. Infarct of the pons.", ""),
    ],
)
def test_a_subdural_lesion_is_not_in_what_it_presses_on(model, text, reason):
    assert (model.encode(text).support.withheld or "").endswith(reason)
    assert bool(model.encode(text).support.withheld) == bool(reason)


@pytest.mark.parametrize(
    "text",
    [
        "Uncal herniation due to right MCA infarct",
        "Right uncus herniates; large right MCA infarct.",
        "Herniation of the right uncus caused by a large infarct of the right MCA.",
    ],
)
def test_herniation_is_of_what_is_pressed(model, text):
    encoding = model.encode(text)
    assert ratio(encoding, model, "insula", side=-1) > ratio(encoding, model, "uncus", side=-1)


def test_a_normal_study_with_a_calcification_has_nothing_wrong(model):
    text = "CT HEAD, 2 mm slices. Prior CT: right frontal subdural. Thalami: no bleed, no oedema. "
    text += "Physiological calcification of the pallidum.\nIMPRESSION: Normal study for age."
    assert model.encode(text).support.withheld == "the report says that nothing is wrong"
