"""Why a map is what it is: terms, sides, negation, support, close studies."""

import numpy as np
import pytest
from tests.studies import GRID, PLACES, TERMS, make_corpus

from neurowhere import Encoder, default_atlas
from neurowhere.exceptions import PartitionError
from neurowhere.model.regions import N_REGIONS
from neurowhere.model.source import TermUse
from neurowhere.model.summary import summarise
from neurowhere.model.support import Evidence
from neurowhere.text.reading.mentions import Mention, Mentions

TEXT = "The left amygdala and the visual cortex responded; no lesion in the motor cortex."


@pytest.fixture(scope="module")
def model():
    encoder = Encoder(GRID, "likelihood", vocabulary=TERMS, rank=6, repeats=1)
    return encoder.fit(make_corpus(200))


@pytest.fixture(scope="module")
def linear():
    return Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus(200))


def test_contributions_are_exact_for_a_log_linear_model(model):
    result = model.encode("amygdala, visual cortex and motor cortex")
    ratio = np.log(result.probabilities) - np.log(model.mean_map_)
    places = [(-22, -4, -18), (8, -92, 2)]
    sums = [result.why(place)["contribution"].sum() for place in places]
    here = ratio[GRID.region_of(places)]
    assert sums[0] - sums[1] == pytest.approx(here[0] - here[1], abs=1e-4)


def test_contributions_are_exact_with_a_ridge_in_the_exponent(shipped):
    text = (
        "Reappraisal decreased responses of the amygdala to negative pictures and increased those "
        "of prefrontal and parietal cortex, in a study of emotion regulation and working memory."
    )
    result = shipped.encode(text)
    short = shipped.predictor_.gates.of(shipped.transform([text])).short
    assert shipped.predictor_.blend.gate(short)[0] > 0.3
    ratio = np.log(result.probabilities) - np.log(shipped.mean_map_)
    places = [(-22, -4, -18), (8, -92, 2)]
    sums = [result.why(place)["contribution"].sum() for place in places]
    here = ratio[shipped.partition_.region_of(places)]
    assert sums[0] - sums[1] == pytest.approx(here[0] - here[1], abs=1e-3)


def test_contributions_are_exact_for_a_linear_model(linear):
    result = linear.encode("amygdala and motor cortex")
    region = GRID.region_of([(-22, -4, -18)])[0]
    moved = linear.weighting_.transform(linear.extractor_.counts([result.text]))
    effects = (moved @ linear.predictor_.coefficients)[0] * linear.sharpness_
    expected = effects[region] - effects @ linear.mean_map_
    assert result.why((-22, -4, -18))["contribution"].sum() == pytest.approx(expected, rel=1e-4)


def test_a_term_speaks_for_its_own_place(model):
    result = model.encode("amygdala and visual cortex")
    assert result.why((8, -92, 2))["term"][0] == "visual cortex"
    amygdala = np.zeros(GRID.n_regions)
    amygdala[GRID.region_of([(-22, -4, -18), (22, -4, -18)])] = 1
    table = result.why(amygdala).set_index("term")["contribution"]
    assert table["amygdala"] > 0 > table["visual cortex"]


def test_places_that_are_none(model):
    result = model.encode(TEXT)
    with pytest.raises(PartitionError, match="0, 0, 200 mm lies outside of the brain"):
        result.why((0, 0, 200))
    with pytest.raises(PartitionError, match=r"expected a point .* got an array of shape \(4,\)"):
        result.why([1, 2, 3, 4])


def test_what_a_text_denies_does_not_count(model):
    result = model.encode(TEXT)
    assert sorted(result.terms["term"]) == ["amygdala", "visual cortex"]
    assert [mention.is_negated for mention in result.mentions] == [False, False, True]
    asked = model.encode(TEXT, negation=False)
    assert "motor cortex" in asked.terms["term"].tolist()
    features = model.transform([TEXT])
    plain = model.encode(TEXT, negation=False, sides=False, kind="study")
    expected = model.predict_features(features)[0]
    np.testing.assert_allclose(plain.probabilities, expected, rtol=1e-5, atol=1e-9)


def test_each_structure_moves_to_its_own_side(model):
    x = GRID.centers_mm[:, 0]
    left = model.encode("the left amygdala").probabilities
    assert left[x < 0].sum() > 0.85
    assert left.sum() == pytest.approx(1, abs=1e-5)
    neither = model.encode("the amygdala").probabilities
    for text in ("the left amygdala and the right amygdala", "the amygdala bilaterally"):
        np.testing.assert_allclose(model.encode(text).probabilities, neither, atol=1e-6)
    mixed = model.encode("left motor cortex and right visual cortex")
    for name, side in (("motor cortex", -1), ("visual cortex", 1)):
        named, other = sorted(PLACES[name], key=lambda place: -side * place[0])
        here, there = mixed.density[GRID.region_of([named, other])]
        assert here > 1.5 * there
    off = model.encode("the left amygdala", sides=False).probabilities
    np.testing.assert_allclose(off, neither, atol=1e-7)


def test_what_sides_add_is_explained_exactly(model):
    result = model.encode("left amygdala and right visual cortex")
    exponent = np.log(result.probabilities.astype(np.float64))
    bias = np.log(np.maximum(result.mean_map, 1e-9))
    centred = (exponent - bias) - (exponent - bias) @ result.mean_map
    for place in ((-22, -4, -18), (22, -4, -18)):
        region = int(model.partition_.region_of(np.array([place]))[0])
        total = result.why(place)["contribution"].sum()
        assert total == pytest.approx(centred[region], abs=1e-3)


TWO_PLACES = "Right occipital infarct and left insula infarct"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWO_PLACES, ["Calcarine_R", "Insula_L"]),
        ("Hematoma of the left thalamus and of the right frontal lobe", ["Frontal_Inf_Tri_R"]),
        ("genu and splenium of the corpus callosum", ["Cingulate_Post_L", "ACC_sub_L"]),
    ],
)
def test_every_structure_that_a_short_text_names_is_visible(shipped, text, expected):
    ratio = shipped.encode(text).regions(default_atlas()).set_index("region")["ratio"]
    assert (ratio[expected] > 1.5).all()


def test_each_named_structure_has_a_region_among_those_listed(shipped):
    regions = summarise(shipped.encode(TWO_PLACES)).regions
    labels = {row.region for row in regions}
    assert len(regions) == N_REGIONS
    assert "Insula_L" in labels
    assert labels & {f"{name}_R" for name in ("Calcarine", "Cuneus", "Lingual", "Occipital_Mid")}
    assert regions == sorted(regions, key=lambda row: (not row.named, -row.excess))
    assert len(summarise(shipped.encode(TWO_PLACES), n_regions=1).regions) == 1


def test_what_makes_a_structure_visible_is_explained_exactly(shipped):
    result = shipped.encode(TWO_PLACES)
    moved = np.log(result.probabilities) - np.log(np.maximum(result.mean_map, 1e-9))
    places = [(34, -84, 12), (-38, 6, 2)]
    here = result.partition.region_of(np.array(places))
    tables = [result.why(place).set_index("term")["contribution"] for place in places]
    assert tables[0].sum() - tables[1].sum() == pytest.approx(np.subtract(*moved[here]), abs=5e-3)
    assert tables[0]["occipital"] > 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pons", ["pons"]),
        ("Glioma of the midbrain and the left hippocampus", ["midbrain"]),
        ("hippocampus, putamen", []),  # which the atlas has
        ("Left hippocampal sclerosis; the pons is normal.", []),
    ],
)
def test_a_named_place_that_the_atlas_lacks_is_listed_as_a_landmark(shipped, text, expected):
    regions = summarise(shipped.encode(text), n_explained=1).regions
    landmarks = [row for row in regions if row.region.startswith("landmark")]
    assert [row.name for row in landmarks] == [f"{name} (landmark)" for name in expected]
    assert len(regions) == N_REGIONS
    for row in landmarks:
        assert row.ratio > 5
        assert row.why[0].term == row.name.removesuffix(" (landmark)")
        assert abs(row.at[0]) < 12  # in the brainstem
        assert row.at[2] < 0


@pytest.mark.parametrize(
    ("text", "name", "x"),
    [
        ("thalamus", "thalamus", 0),  # which the atlas has in parts
        ("left thalamus", "left thalamus", -1),
        ("Infarct of the right pons", "right pons", 1),
    ],
)
def test_a_landmark_is_first_and_on_its_side(shipped, text, name, x):
    row = summarise(shipped.encode(text)).regions[0]
    assert row.name == f"{name} (landmark)"
    assert x == 0 or np.sign(row.at[0]) == x
    both = summarise(shipped.encode(text, sides=False)).regions[0]
    assert both.name == f"{name.removeprefix('left ').removeprefix('right ')} (landmark)"


@pytest.mark.parametrize(
    ("text", "region"), [("fear", "Amygdala_L"), ("reward", "N_Acc_R"), ("memory", "Hippocampus_L")]
)
def test_small_regions_are_listed(shipped, text, region):
    assert region in [row.region for row in summarise(shipped.encode(text)).regions]


def test_a_hemisphere_leaves_structures_on_their_own_side(shipped):
    """A side of a whole hemisphere moves only what has no side of its own."""
    other = shipped.encode("Patients with left hemisphere stroke activated the right insula.")
    own = shipped.encode("Left hemisphere stroke with damage to the insula.")
    left, right = (
        [
            result.regions(default_atlas()).set_index("region")["probability"][f"Insula_{side}"]
            for side in "LR"
        ]
        for result in (own, other)
    )
    assert left[0] > 2 * left[1]
    assert right[1] > 5 * right[0]


@pytest.mark.parametrize(
    "text", ["Hippocampal atrophy, {}.", "Bilateral atrophy of the insula ({})"]
)
def test_of_two_sides_that_are_compared_one_is_more_probable(shipped, text):
    name = "Insula" if "insula" in text else "Hippocampus"
    for sides, more in (("L>R", "LR"), ("right more than left", "RL")):
        result = shipped.encode(text.format(sides))
        probability = result.regions(default_atlas()).set_index("region")["probability"]
        first, other = (probability[f"{name}_{side}"] for side in more)
        assert 1.5 < first / other < 4
        (mention,) = (each for each in summarise(result).mentions if each.side)
        assert (mention.side, mention.side_dominant[0].upper()) == ("bilateral", more[0])


def test_a_lesion_of_a_named_structure_does_not_say_where(shipped):
    first = (
        shipped.encode("Right occipital infarct").regions(default_atlas())["region"][:3].tolist()
    )
    assert set(first) <= {
        "Calcarine_R",
        "Lingual_R",
        "Cuneus_R",
        "Occipital_Mid_R",
        "Occipital_Inf_R",
    }
    alone, beside = (
        {row.term: row.weight for row in shipped.encode(text).terms.itertuples()}
        for text in ("acute infarct", "acute infarct of the precuneus")
    )
    assert alone["infarction"] > 0.9
    assert beside["infarction"] < 0.3 * beside["precuneus"]


def test_two_tracts_share_the_map(shipped):
    names = ["uncinate fasciculus", "inferior longitudinal fasciculus"]
    together = shipped.encode(" and ".join(f"left {name}" for name in names)).probabilities
    for name in names:
        alone = shipped.encode(f"left {name}").probabilities
        core = alone > 5 * shipped.mean_map_
        assert together[core].sum() > 0.3 * alone[core].sum()


def test_a_structure_that_a_text_denies_is_not_made_visible(shipped):
    denied = shipped.encode("Left insula infarct; the right occipital lobe is normal.")
    ratio = denied.regions(default_atlas()).set_index("region")["ratio"]
    assert ratio["Occipital_Mid_R"] < 1


def test_a_side_without_a_structure_of_its_own_moves_the_whole_map(model):
    x = GRID.centers_mm[:, 0]
    stroke = model.encode("left hemisphere, amygdala").probabilities
    plain = model.encode("amygdala").probabilities
    assert stroke[x < 0].sum() > plain[x < 0].sum() + 0.2


def test_support_says_how_much_is_known(model):
    none, good = model.encode("nothing"), model.encode("amygdala and visual cortex")
    assert (none.support.level, none.support.terms, none.support.nats) == ("none", 0, 0.0)
    assert good.support.level == "good"
    assert good.support.nats > 0.1
    rare = model.encode("amygdala of the wombat, the quokka, the numbat and the bilby")
    assert rare.support.level == "weak"
    assert str(rare.support).startswith("weak (1 known term, 4 unknown words; expected gain")
    foreign = model.encode("Der Patient hat eine Läsion der linken Amygdala und des Thalamus.")
    assert (foreign.support.foreign, foreign.support.level) == (True, "none")
    assert foreign.support.withheld == "not in English; translate the text"


def test_support_is_of_names_not_of_plain_words():
    def level(known, unknown, text="lobe of some kind", term="term", mentions=()):
        names = [term, *(f"{term} {n}" for n in range(1, len(known)))]
        uses = {
            name: TermUse(1, 1.0, [(0, 4)], False, subject)
            for name, subject in zip(names, known, strict=True)
        }
        return Evidence(text, 0.5, uses, Mentions(mentions), unknown).support.level

    everyday, long = "your lobe, please", "lobe of some kind and of others in words"
    placed = [Mention("lobe", 0, 4, is_structure=True)]
    assert level([1], unknown=1) == "good"
    assert level([1], unknown=2) == "weak"
    assert level([0, 0, 0, 0.5], unknown=1) == "weak"  # three generic words count for nothing
    assert level([0.75, 0.5], unknown=0) == "good"
    assert level([0.75, 0.5], unknown=0, text=everyday) == "weak"
    assert level([0.75, 0.5], unknown=0, text=f"{everyday}: brain") == "good"
    assert level([1, 0.5], unknown=0, text=everyday) == "good"
    assert level([0.75, 0.5], unknown=0, text=long) == "weak"  # a sentence says more
    assert level([0.75, 0.5], unknown=0, text=f"{long} of patients") == "good"
    assert level([0.75, 0.75, 0.5], unknown=0, text=long) == "good"
    assert level([1] * 15, unknown=100) == "good"  # a long text has enough of them
    assert level([0.75] * 4, unknown=4) == "weak"  # nothing of the brain is named
    assert level([0.75] * 4, unknown=4, text="neural lobe") == "good"
    assert level([1], unknown=3, mentions=placed) == "good"  # the map is far from the mean map
    assert level([1], unknown=4, mentions=placed) == "weak"
    assert level([1], unknown=1, term="infarct") == "weak"  # of a place that is not known
    assert level([1], unknown=0, term="infarct") == "good"
    assert level([1], unknown=0, text="lobe of the lung") == "weak"
    assert level([1], unknown=0, text="lobe: for i in range(3): print(lobe[i])") == "weak"
    assert level([1], unknown=0, text="Lappen der linken Lunge ist nicht zu sehen") == "weak"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        # a lesion, and nothing of where
        ("R XB infarct", "weak"),
        ("infarct in the quokka region", "weak"),
        ("ischemic stroke", "good"),
        ("left insular infarct of a quokka", "good"),
        # words by which reports are read
        ("72 yo: CT head unremarkable; MRI: 3 mm right-sided focus in the putamen", "good"),
        ("CTA: left M1 occlusion, NIHSS 14; denies headache, seizure unlikely", "good"),
        ("PMH: pontine stroke of a wombat. CT: R frontal hypodensity.", "good"),
        # little gain
        ("insomnia", "weak"),
        # other subjects in words of the model
        ("Temporal pattern mining of concurrent linear programs and logic", "weak"),
        ("Working memory usage exceeded on the database server", "weak"),
        ("Emotion recognition API pricing, speech billing and rate limits", "weak"),
        # other organs, in words that they share with the brain
        ("Right lower lobe pneumonia.", "none"),
        ("Thyroid ultrasound: 8 mm nodule in the left lobe.", "none"),
        ("Left ventricle ejection fraction 35%, septal hypokinesis.", "none"),
        ("The cardiac atrium and right ventricle were dilated", "none"),
        ("Right ventricle dilated.", "none"),
        ("CT head: right ventricle dilated.", "good"),
        ("Heart rate and the insula", "good"),
        ("Lung cancer, metastasis in the left frontal lobe", "good"),
        ("Brain MRI: dilated ventricles after cardiac arrest", "good"),
        ("memory and attention in aging", "good"),
        ("Word recognition is impaired when attention is divided between speech and music", "good"),
    ],
)
def test_support_of_reports_and_of_other_subjects(shipped, text, level):
    assert shipped.encode(text).support.level == level


def test_regions_hold_more_than_they_say_when_the_model_is_too_sure(model):
    result = model.encode("amygdala")
    assert model.calibration_.shape == (201,)
    sizes = [np.asarray(result.mass_img(share).dataobj).sum() for share in (0.5, 0.8, 0.95)]
    assert 0 < sizes[0] <= sizes[1] <= sizes[2]


def test_close_studies_have_the_same_words(model):
    corpus = make_corpus(200)
    texts = dict(zip(corpus.documents["id"].astype(str), corpus.texts, strict=True))
    near = model.encode("visual cortex").similar
    assert near["similarity"].is_monotonic_decreasing
    assert all("visual cortex" in texts[name] for name in near["id"][:5])
    assert near["link"][0] == f"https://pubmed.ncbi.nlm.nih.gov/{near['id'][0]}/"
    assert model.encode("nothing").similar.empty
    assert Encoder(GRID, text="none").fit(corpus).encode("visual cortex").similar is None
