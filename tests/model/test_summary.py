"""One summary of an encoding, the same on every face."""

import json

import numpy as np
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import small_model
from typer.testing import CliRunner

from neurowhere import save_model, summarise
from neurowhere.cli import app
from neurowhere.model.regions import N_REGIONS, reasons_by_region, reasons_for

TEXT = "Fear activated the left amygdala; no response in the visual cortex. Left hand."


@pytest.fixture(scope="module")
def model():
    return small_model("likelihood")


def test_it_is_plain_data_with_a_version(model):
    summary = summarise(model.encode(TEXT), make_atlas(), n_regions=2, at=(-22, -4, -18))
    plain = summary.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["schema_version"] == 1
    assert [row["term"] for row in plain["terms"]] == ["amygdala"]
    assert len(plain["regions"]) == 1  # the other one is below the mean map
    assert plain["place"]["why"][0]["term"] == "amygdala"
    denied = plain["mentions"][1]
    assert (denied["term"], denied["status"]) == ("visual cortex", "denied")
    assert TEXT[slice(*denied["negation_where"])] == "no"
    assert "cues:no" in denied["rows"]
    assert [TEXT[slice(*side["where"])] for side in plain["unapplied_sides"]] == ["Left"]


def test_regions_are_those_of_the_table(model):
    encoding, atlas = model.encode(TEXT), make_atlas()
    summary = summarise(encoding, atlas, n_regions=None)
    table = encoding.regions(atlas)
    assert [row.region for row in summary.regions] == table["region"].tolist()
    np.testing.assert_allclose([row.probability for row in summary.regions], table["probability"])
    for row in summary.regions:
        assert atlas.names[atlas.region_of(np.array([row.at]))[0]] == row.region


def test_regions_and_peaks_that_the_text_does_not_raise_are_not_listed(shipped):
    encoding = shipped.encode("left V1")
    summary = summarise(encoding)
    assert 1 < len(summary.regions) < N_REGIONS
    assert min(row.excess for row in summary.regions) > 0
    assert (encoding.peaks["ratio"] > 1).all()
    assert len(summarise(encoding, sort="probability").regions) == N_REGIONS
    assert len(summarise(shipped.encode("")).regions) == N_REGIONS


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("fear and the amygdala", ["left amygdala", "right amygdala"]),
        ("left amygdala and right fusiform gyrus", ["left amygdala", "right fusiform gyrus"]),
        (
            "signal of the red nuclei and the globi pallidi",
            ["left red nucleus", "right red nucleus", "left pallidum", "right pallidum"],
        ),
    ],
)
def test_regions_that_the_text_names_come_first(shipped, text, named):
    regions = summarise(shipped.encode(text)).regions
    assert {row.name for row in regions[: len(named)]} == {*named}
    assert [row.named for row in regions] == sorted((row.named for row in regions), reverse=True)
    by_probability = summarise(shipped.encode(text), sort="probability").regions
    shares = [row.probability for row in by_probability]
    assert shares == sorted(shares, reverse=True)


def test_a_place_with_two_names_is_listed_once(shipped):
    regions = summarise(shipped.encode("deep cerebellar nuclei, cerebellar nuclei")).regions
    assert len([row for row in regions if "landmark" in row.region]) == 1


def test_without_the_text_nothing_of_it_is_left_but_terms(model):
    encoding = model.encode(TEXT + " A left PICA infarct.")
    plain = summarise(encoding, make_atlas(), with_text=False).to_dict()
    assert "PICA" not in json.dumps(plain)
    assert not plain["kind_signs"]
    assert all(row["where"] is None for row in [*plain["terms"], *plain["mentions"]])


def test_without_the_text_a_finding_names_no_artery_that_is_no_term(shipped):
    encoding = shipped.encode("MRI brain. Findings: acute left PICA infarct. Impression: stroke.")
    assert any(
        place.name == "posterior inferior cerebellar artery"
        for finding in summarise(encoding).findings
        for place in finding.places
    )
    without = json.dumps(summarise(encoding, with_text=False).to_dict())
    assert "inferior cerebellar artery" not in without
    assert '"name": "cerebellum, medulla oblongata"' in without


def test_the_reasons_of_many_regions_are_those_of_each(shipped):
    for text in ("fear and reward", "MRI. Findings: acute infarct of the left insula. No edema."):
        encoding = shipped.encode(text)
        gazetteer = encoding.gazetteer()
        found = reasons_by_region(encoding, gazetteer)
        assert "" in found  # what is in no region
        for label in [*found][:3]:
            row = gazetteer.atlas.names.index(label)
            weights = gazetteer.shared_mm3[[row]].toarray()[0] / encoding.partition.volumes_mm3
            expected = reasons_for(encoding, weights)
            assert [each.term for each in found[label]] == [each.term for each in expected]
            np.testing.assert_allclose(
                [each.contribution for each in found[label]],
                [each.contribution for each in expected],
                rtol=1e-3,
                atol=1e-4,
            )


def test_the_command_line_and_http_give_the_same_object(model, tmp_path):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from tests.web.conftest import open_client

    from neurowhere import create_app

    save_model(model, tmp_path / "model")
    result = CliRunner().invoke(app, ["encode", TEXT, "--json", "--model", str(tmp_path / "model")])
    with open_client(create_app(model)) as client:
        answer = client.post("/api/v1/encode", json={"text": TEXT}).json()
    assert json.loads(result.stdout) == answer


def test_words_within_names_are_shown_as_the_names(shipped):
    encoding = shipped.encode("Left MCA infarct; temporal lobe, temporal.")
    terms = {row.term: row for row in summarise(encoding).terms}
    assert {"middle cerebral artery", "insula", "inferior frontal gyrus", "temporal"} <= {*terms}
    assert not {"middle", "artery", "frontal", "inferior", "lobe"} & {*terms}
    added = sum(row.contribution for row in terms.values())
    assert added == pytest.approx(encoding.terms["contribution"].sum())
    assert terms["insula"].implied
