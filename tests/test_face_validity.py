"""The shipped model puts texts where every textbook does, and is known to miss a few."""

from pathlib import Path

import numpy as np
import pytest
from tests.face_validity import KNOWN, MISSED, judge

from neurowhere.model.decoding import decode, listed_terms, rank_terms
from neurowhere.model.term_maps import term_features
from neurowhere.space import default_atlas

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "decoding.md"
TOP, DOUBLED = 3, 2.0


@pytest.fixture(scope="module")
def model(shipped):
    return shipped


@pytest.fixture(scope="module")
def judged(model):
    """Rank and ratio of the expected regions of each text."""
    atlas = default_atlas()
    return {text: judge(model.encode(text), atlas, names) for text, names in KNOWN.items()}


def is_right(rank, ratio):
    return rank <= TOP or ratio >= DOUBLED


@pytest.mark.parametrize("text", KNOWN)
def test_known_region_is_at_the_top_or_doubled(judged, text):
    rank, ratio = judged[text]
    if text in MISSED and not is_right(rank, ratio):
        pytest.xfail(f"known to be missed: rank {rank}, {ratio:.2f} times the mean map")
    assert is_right(rank, ratio), (rank, ratio)


def test_most_are_right(judged):
    right = [text for text, found in judged.items() if is_right(*found)]
    assert len(right) >= 0.9 * len(KNOWN)
    first = [text for text, (rank, _) in judged.items() if rank == 1]
    assert len(first) >= 0.5 * len(KNOWN)


def test_the_page_of_known_answers_tells_what_is_right_and_what_is_missed(judged):
    page = PAGE.read_text("utf-8")
    wrong = {text: found for text, found in judged.items() if not is_right(*found)}
    assert f"The shipped model gets {len(KNOWN) - len(wrong)} right" in page
    for text, (rank, ratio) in wrong.items():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {text} |"))
        assert row.endswith(f"| {rank} | {ratio:.2f} |")


@pytest.mark.parametrize(("side", "other"), [("left", "right"), ("right", "left")])
@pytest.mark.parametrize(
    ("text", "cerebral"),
    [
        ("{} hand movement", "Precentral"),
        ("finger tapping with the {} hand", "Precentral"),
        ("tactile stimulation of the {} hand", "Postcentral"),
        ("stimuli in the {} visual field", "Calcarine"),
    ],
)
def test_the_other_hemisphere_serves_a_side_of_the_body(model, text, cerebral, side, other):
    regions = (
        model.encode(text.format(side)).regions(default_atlas()).set_index("region")["probability"]
    )
    same, crossed = side[0].upper(), other[0].upper()
    assert regions[f"{cerebral}_{crossed}"] > regions[f"{cerebral}_{same}"]
    if cerebral == "Precentral":  # movement: the cerebellum serves its own side
        assert regions[f"Cerebellum_4_5_{same}"] > regions[f"Cerebellum_4_5_{crossed}"]


def ratio_of_sides(model, text, region, side, other):
    """How many times as probable a region is opposite to a side as on it."""
    regions = model.encode(text).regions(default_atlas()).set_index("region")["probability"]
    return regions[f"{region}_{other[0].upper()}"] / regions[f"{region}_{side[0].upper()}"]


@pytest.mark.parametrize(("side", "other"), [("left", "right"), ("right", "left")])
@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("{} hand movements activated premotor cortex and the precentral gyrus", "Precentral"),
        ("Movements of the {} leg activated the supplementary motor area", "Paracentral_Lobule"),
        ("{} median nerve stimulation: somatosensory cortex", "Postcentral"),
        ("Right-handed people moved the {} hand. The thalamus was active", "Thal_VL"),
    ],
)
def test_structures_without_a_side_follow_the_limb_that_they_serve(
    model, text, region, side, other
):
    assert ratio_of_sides(model, text.format(side), region, side, other) > 1


@pytest.mark.parametrize(("side", "other"), [("left", "right"), ("right", "left")])
def test_the_cerebellum_follows_the_limb_of_its_own_side(model, side, other):
    text = f"{side} hand tapping activated the cerebellum"
    assert ratio_of_sides(model, text, "Cerebellum_6", side, other) < 1


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("pain of the {} hand activated the amygdala", "Amygdala"),
        ("{} hand movements activated the precentral gyrus of both hemispheres", "Precentral"),
        ("{}-handed subjects activated the premotor cortex", "Precentral"),
        ("stimuli in the {} visual field activated the precentral gyrus", "Precentral"),
    ],
)
def test_structures_that_do_not_serve_a_limb_keep_their_sides(model, text, region):
    # twice as probable on neither side, whichever the text names
    for side in ("left", "right"):
        ratio = ratio_of_sides(model, text.format(side), region, "left", "right")
        assert 1 / 2 < ratio < 2


def test_a_structure_with_a_side_leaves_the_limb_to_itself(model):
    texts = [f"{side} hand: left precentral gyrus" for side in ("left", "right")]
    assert all(ratio_of_sides(model, text, "Precentral", "left", "right") < 1 for text in texts)


@pytest.mark.parametrize(
    ("point", "term"),
    [
        ((-24, -4, -18), "amygdala"),
        ((-26, -20, -16), "hippocampus"),
        ((42, -54, -18), "fusiform"),
        ((-54, -22, 8), "auditory"),
        ((-38, -24, 56), "motor"),
        ((10, 10, -8), "striatum"),
        ((4, -88, 2), "visual"),
        ((38, 4, 2), "insula"),
    ],
)
def test_places_decode_to_their_names(model, point, term):
    assert any(term in name for name in decode(model, point).terms["term"].head(5))


@pytest.mark.slow
def test_the_maps_of_terms_decode_to_them(model):
    """Most of them, and not to a sharper term of the same place."""
    listed = np.flatnonzero(listed_terms(model))
    some = np.random.default_rng(0).permutation(listed)[:60]
    maps = model.predictor_.predict(term_features(model, some))
    names = [model.extractor_.terms[i] for i in some]
    found = [rank_terms(model, q, 5)["term"].tolist() for q in maps]
    assert np.mean([name == first for name, (first, *_) in zip(names, found)]) > 0.9
    assert np.mean([name in five for name, five in zip(names, found)]) > 0.75


@pytest.mark.slow
def test_the_search_for_terms_misses_none(model, monkeypatch):
    points = [(-24, -4, -18), (0, -52, 30), (-50, 20, 16)]
    found = [decode(model, point, n_terms=10).terms for point in points]
    monkeypatch.setattr("neurowhere.model.decoding.N_CANDIDATES", len(model.extractor_.terms))
    for point, table in zip(points, found):
        assert decode(model, point, n_terms=10).terms["term"].tolist() == table["term"].tolist()


@pytest.mark.parametrize(
    ("term", "place"),
    [
        ("basolateral amygdala", (-24, -4, -18)),
        ("fusiform face area", (42, -52, -18)),
        ("primary visual cortex", (8, -92, 2)),
        ("motor cortex", (-38, -24, 56)),
        ("supplementary motor area", (0, 0, 58)),
        ("nucleus accumbens", (10, 10, -8)),
        ("temporoparietal junction", (54, -54, 22)),
        ("anterior midcingulate cortex", (2, 20, 36)),
        ("anterior insula", (36, 22, 0)),
        ("brodmann area 44", (-50, 18, 14)),
        ("heschl gyrus", (-46, -20, 8)),
        ("crus", (34, -70, -32)),  # Crus I; the posterior lobe is listed beside it
        ("mediodorsal thalamus", (-10, -18, 8)),
        ("periaqueductal gray", (0, -30, -10)),
        ("locus coeruleus", (5, -37, -27)),
        ("hypothalamus", (4, -4, -10)),
        ("default mode network", [(0, -52, 26), (0, 52, -4), (-46, -66, 32), (48, -62, 30)]),
        ("theory of mind", [(54, -54, 22), (-52, -58, 24), (2, 56, 20), (2, -56, 36)]),
    ],
)
def test_textbook_places_decode_to_their_names(model, term, place):
    """Places that were looked at while decoding was written."""
    terms = decode(model, place, n_terms=6).terms
    listed = {*terms["term"], *(name for names in terms["alike"] for name in names.split("; "))}
    assert term in listed


def test_a_named_place_has_its_share_beside_a_stronger_one(model, monkeypatch):
    """The amygdala, which many studies report, does not hide a small nucleus beside it."""
    (core,) = model.predictor_.cores(np.array([model.vocabulary_.index("locus coeruleus")]))

    def held(text):
        return model.encode(text).probabilities[core.regions].sum()

    alone, beside = held("locus coeruleus"), held("amygdala and locus coeruleus")
    assert beside > 0.25 * alone
    monkeypatch.setattr("neurowhere.model.prediction.LONG", -1.0)  # no shares
    assert held("amygdala and locus coeruleus") < 0.5 * beside
