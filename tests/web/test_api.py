import gzip
import json
import re

import nibabel
import numpy as np
import pytest
from pydantic import TypeAdapter
from tests.web.conftest import open_client

from neurowhere import Summary, default_atlas, summarise
from neurowhere.model.schema import Difference
from neurowhere.web import schemas
from neurowhere.web.errors import Problem
from neurowhere.web.server import create_app

# Made once: each parses source code, which two threads of Python 3.11 cannot do at a time.
ADAPTERS = {"Summary": TypeAdapter(Summary), "Difference": TypeAdapter(Difference)}
FEAR = "Fear activated the left amygdala; no response in the visual cortex. Left hand."


def post(client, path, **query):
    return client.post(f"/api/v1/{path}", json=query)


def to_image(response):
    assert response.headers["content-type"] == "application/gzip"
    return nibabel.Nifti1Image.from_bytes(gzip.decompress(response.content))


def integral(image):
    return image.get_fdata().sum() * abs(np.linalg.det(image.affine[:3, :3]))


# ---- encode


def test_encode_tells_terms_sides_denials_regions_and_peaks(client):
    answer = post(client, "encode", text=FEAR, regions=3).json()
    ADAPTERS["Summary"].validate_python(answer)
    assert [term["term"] for term in answer["terms"]] == ["amygdala"]
    amygdala, visual = answer["mentions"]
    assert (amygdala["side"], FEAR[slice(*amygdala["side_where"])]) == ("left", "left")
    assert FEAR[slice(*visual["where"])] == "visual cortex"
    assert FEAR[slice(*visual["negation_where"])] == "no"
    (hand,) = answer["unapplied_sides"]
    assert FEAR[slice(*hand["where"])] == "Left"
    assert len(answer["regions"]) == 3
    assert all(region["name"].startswith("left ") for region in answer["regions"])
    assert answer["peaks"][0]["at"][0] < 0
    assert answer["place"] is answer["sentences"] is None


def test_what_is_denied_and_sides_can_be_counted_or_not(client):
    answer = post(client, "encode", text=FEAR, negation=False, sides=False).json()
    assert {term["term"] for term in answer["terms"]} == {"amygdala", "visual cortex"}


def test_offsets_count_code_points(client):
    text = "🧠🧠 amygdala"
    (term,) = post(client, "encode", text=text).json()["terms"]
    assert text[slice(*term["where"][0])] == "amygdala"


def test_a_place_has_its_reasons(client):
    place = post(client, "encode", text=FEAR, at=[-22, -4, -18]).json()["place"]
    assert place["name"] == "left amygdala"
    assert place["ratio"] > 1
    assert [reason["term"] for reason in place["why"]] == ["amygdala"]


def test_sentences_are_encoded_by_themselves(client):
    text = "  The amygdala.\nThe visual cortex! And nothing."
    sentences = post(client, "encode", text=text, sentences=True).json()["sentences"]
    words = [text[slice(*sentence["where"])] for sentence in sentences]
    assert words == ["The amygdala.", "The visual cortex!", "And nothing."]
    assert [sentence["terms"] for sentence in sentences] == [["amygdala"], ["visual cortex"], []]
    assert sentences[2]["support"]["level"] == "none"


def test_a_text_without_known_terms_is_the_mean_map_and_says_so(client):
    answer = post(client, "encode", text="Guten Tag").json()
    support = answer["support"]
    assert [support[name] for name in ("level", "terms", "words", "nats")] == ["none", 0, 2, 0]
    assert answer["terms"] == answer["similar"] == []
    assert answer["regions"]


# ---- forms


def test_the_density_integrates_to_one(client):
    assert integral(to_image(post(client, "encode.nii.gz", text=FEAR))) == pytest.approx(1, 1e-4)


@pytest.mark.parametrize("resolution_mm", [2, 5.5])
def test_images_come_at_the_resolution_that_was_asked_for(client, resolution_mm):
    image = to_image(post(client, "encode.nii.gz", text=FEAR, resolution_mm=resolution_mm))
    np.testing.assert_allclose(image.header.get_zooms(), resolution_mm)
    assert integral(image) == pytest.approx(1, 1e-4)


def test_regions_of_mass_are_nested_levels(client):
    levels = to_image(post(client, "encode.nii.gz", text=FEAR, image="mass")).get_fdata()
    density = to_image(post(client, "encode.nii.gz", text=FEAR)).get_fdata()
    assert set(np.unique(levels)) == {0, 1, 2, 3}
    means = [density[levels == level].mean() for level in (1, 2, 3)]
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "application/json"),
        ("application/gzip", "application/gzip"),
        ("image/*", "image/png"),
        ("text/html;q=0.2, application/json;q=0.1", "text/html; charset=utf-8"),
    ],
)
def test_the_accept_header_chooses_the_form(client, accept, kind):
    answer = client.post("/api/v1/encode", json={"text": "amygdala"}, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind


def test_a_form_that_is_not_there_is_refused(client):
    answer = client.post("/api/v1/encode", json={"text": "a"}, headers={"Accept": "video/mp4"})
    assert answer.status_code == 406
    assert "image/png" in answer.json()["detail"]


def test_a_suffix_wins_over_the_accept_header(client):
    headers = {"Accept": "application/json"}
    answer = client.post("/api/v1/encode.nii.gz", json={"text": "amygdala"}, headers=headers)
    assert answer.headers["content-type"] == "application/gzip"


def test_a_report_holds_the_text_escaped(client):
    answer = post(client, "encode.html", text="the amygdala <script>alert(1)</script>")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("encode.png", {"text": FEAR, "image": "log_ratio"}),
        ("difference.png", {"text": "amygdala", "other": "motor cortex"}),
        ("term.png", {"name": "amygdala"}),
    ],
)
def test_maps_are_drawn(client, path, query):
    assert post(client, path, **query).content.startswith(b"\x89PNG")


# ---- batch, difference, term, decode


def test_a_batch_answers_as_one_by_one(client):
    texts = [FEAR, "motor cortex", "nothing"]
    results = post(client, "batch", texts=texts, regions=2).json()["results"]
    for text, result in zip(texts, results, strict=True):
        assert result == post(client, "encode", text=text, regions=2).json()


def test_a_difference_is_that_of_the_command_line(client, model):
    texts = {"text": "amygdala and motor cortex", "other": "motor cortex"}
    answer = post(client, "difference", **texts, regions=3).json()
    first, second = model.encode(texts["text"]), model.encode(texts["other"])
    atlas = default_atlas()
    assert answer["difference"] == summarise(first - second, atlas, n_regions=3).to_dict()
    assert answer["text"] == post(client, "encode", text=texts["text"], regions=3).json()
    image = to_image(post(client, "difference.nii.gz", **texts))
    np.testing.assert_allclose(image.get_fdata(), (first - second).log_ratio_img.get_fdata())


def test_a_difference_turns_around_with_its_texts(client):
    texts = {"text": "amygdala", "other": "motor cortex"}
    swapped = {"text": "motor cortex", "other": "amygdala"}
    there, back = (post(client, "difference", **query).json() for query in (texts, swapped))
    assert [row["region"] for row in there["more"]] == [row["region"] for row in back["less"]]
    assert 0 < there["distance"] == back["distance"] <= 1


def test_a_text_does_not_differ_from_itself(client):
    answer = post(client, "difference", text=FEAR, other=FEAR).json()
    assert (answer["distance"], answer["more"], answer["less"]) == (0, [], [])


def test_a_term_has_a_map_on_its_side(client):
    answer = post(client, "term", name="left amygdala").json()
    assert (answer["term"], answer["side"], answer["method"]) == ("amygdala", "left", "restricted")
    assert all(x < 0 for x, _, _ in answer["peaks"])
    image = to_image(post(client, "term.nii.gz", name="left amygdala"))
    right = np.indices(image.shape)[0] * image.affine[0, 0] + image.affine[0, 3] > 0
    assert not image.get_fdata()[right].any()


def test_a_place_decodes_to_its_term(client):
    answer = post(client, "decode", points=[[-22, -4, -18]], n=2).json()
    schemas.DecodeAnswer.model_validate(answer)
    assert answer["terms"][0]["term"] == "amygdala"
    assert len(answer["terms"]) == 2


def test_the_shipped_model_knows_close_studies(shipped):
    with open_client(create_app(shipped)) as client:
        answer = post(client, "encode", text="fear and the amygdala").json()
        ADAPTERS["Summary"].validate_python(answer)
        assert any("amygdala" in region["name"] for region in answer["regions"][:2])
        assert all("pubmed" in study["link"] for study in answer["similar"])
        assert len(answer["similar"]) == 10
        decoded = post(client, "decode", points=[[-24, -4, -18]]).json()
        assert "amygdala" in decoded["terms"][0]["term"]
        assert decoded["studies"]


# ---- what the server tells of itself


def test_the_model_card_names_limits_and_no_files(client):
    answer = client.get("/api/v1/model").json()
    assert answer["terms"] == 4
    assert answer["studies"] == 60
    assert answer["limits"]["max_text"] == 50_000
    assert "origin" not in answer


def test_metrics_count_requests(client):
    def count():
        lines = client.get("/api/v1/metrics").text.splitlines()
        name = 'neurowhere_requests_total{route="/api/v1/health",status="200"} '
        return next((float(line.removeprefix(name)) for line in lines if line.startswith(name)), 0)

    before = count()
    client.get("/api/v1/health")
    assert count() == before + 1


# ---- the description


OCTETS = "application/octet-stream"


def operations(client):
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    return [(path, verb, about) for path, verbs in paths.items() for verb, about in verbs.items()]


def test_every_route_is_described_and_every_example_works(client):
    components = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    names = set()
    for path, verb, about in operations(client):
        names.add(path.removeprefix("/api/v1/").partition(".")[0])
        assert about["summary"]
        if "{" in path:
            continue  # of a job, which has to be started first
        assert about["responses"].keys() & {"200", "202"}
        body = None
        if verb == "post":
            if OCTETS in about["requestBody"]["content"]:
                continue  # a file, which has no example
            schema = about["requestBody"]["content"]["application/json"]["schema"]
            body = components[schema["$ref"].rpartition("/")[2]]["example"]
        if "gzip" in str(about) and "/encode" in path:
            continue  # the example is too long a word for the small vocabulary, and slow to draw
        answer = client.request(verb, path, json=body)
        expected = {404} if path.endswith("/document") else {200, 202}  # it has no collection
        assert answer.status_code in expected, (path, answer.text)
    assert names == {
        "encode",
        "batch",
        "difference",
        "term",
        "decode",
        "document",
        "decode/map",
        "region",
        "related",
        "terms",
        "text",
        "model",
        "health",
        "ready",
        "metrics",
        "figure",
        "methods",
        "jobs/batch",
        "jobs/contrast",
    } | {name for name in names if "{" in name}


def test_every_answer_has_an_example_that_is_one(client):
    described = client.get("/api/v1/openapi.json").json()
    for path, _, about in operations(client):
        for response in about["responses"].values():
            for form, content in response.get("content", {}).items():
                if form != "application/json":
                    continue
                name = content["schema"]["$ref"].rpartition("/")[2]
                schema = described["components"]["schemas"][name]
                example = content.get("example") or schema["example"]
                adapter = ADAPTERS.get(name) or TypeAdapter(getattr(schemas, name))
                adapter.validate_python(example)
        if "jobs" not in path:
            assert about["operationId"] == re.sub("[./]", "_", path.removeprefix("/api/v1/"))


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/v1/nowhere", None, 404, "not_found"),
        ("GET", "/api/v1/encode", None, 405, "method_not_allowed"),
        ("POST", "/api/v1/encode", {}, 422, "invalid_request"),
        ("POST", "/api/v1/encode", {"text": "a", "txet": 1}, 422, "invalid_request"),
        ("POST", "/api/v1/encode", {"text": "a", "at": [150, 0, 0]}, 422, "invalid_partition"),
        ("POST", "/api/v1/term", {"name": "xyzzy"}, 422, "invalid_vocabulary"),
        ("GET", "/static/nothing.js", None, 404, "not_found"),
        ("GET", "/docs/", None, 404, "not_found"),
    ],
)
def test_every_error_has_one_shape(client, method, path, body, status, code):
    answer = client.request(method, path, json=body)
    assert answer.status_code == status
    assert Problem.model_validate(answer.json()).code == code


def test_broken_json_is_an_error_of_that_shape(client):
    headers = {"Content-Type": "application/json"}
    for content in (b"{", b"\xff\xfe", b'{"text": "\\ud800"}', b"[1]", b"null"):
        answer = client.post("/api/v1/encode", content=content, headers=headers)
        assert answer.status_code == 422, content
        assert json.loads(answer.content)["code"] == "invalid_request"


# ---- images


def blob(place, size=8):
    """Image with a bright spot, as the bytes of a file."""
    shape, affine = (23, 28, 24), np.diag([size, size, size, 1.0])
    affine[:3, 3] = -90, -126, -72
    voxels = np.moveaxis(np.indices(shape), 0, -1)
    far = np.linalg.norm(voxels * size + affine[:3, 3] - place, axis=-1)
    return nibabel.Nifti1Image(np.exp(-((far / 10) ** 2)).astype(np.float32), affine).to_bytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_image_decodes_to_its_term(client, pack):
    answer = client.post("/api/v1/decode/map?n=2", content=pack(blob((-22, -4, -18))))
    assert answer.status_code == 200
    found = answer.json()
    assert found["terms"][0]["term"] == "amygdala"
    assert len(found["terms"]) == 2
    assert "left amygdala" in [row["name"] for row in found["regions"]]
    assert found["threshold"] == 0
    assert sum(row["probability"] for row in found["regions"]) <= 1


def test_a_threshold_leaves_out_what_is_below(client):
    image = gzip.compress(blob((-22, -4, -18)))
    found = client.post("/api/v1/decode/map?threshold=0.2", content=image).json()
    assert found["threshold"] == 0.2
    refused = client.post("/api/v1/decode/map?threshold=7", content=image)
    assert refused.status_code == 422
    assert "values above 7" in refused.json()["detail"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense" * 100,
        b"\x1f\x8bnonsense",
        gzip.compress(bytes(1000)),
        blob((0, 0, 0))[:900],
    ],
    ids=["empty", "no image", "not packed", "zeros", "cut short"],
)
def test_what_is_no_image_is_refused_in_words(client, content):
    answer = client.post("/api/v1/decode/map", content=content)
    assert answer.status_code == 422
    assert "expected" in answer.json()["detail"].lower()


def test_an_image_that_unpacks_to_too_much_is_refused(client):
    answer = client.post("/api/v1/decode/map", content=gzip.compress(bytes(90_000_000), 1))
    assert answer.status_code == 422
    assert "unpacked" in answer.json()["detail"]


def test_points_have_regions(client):
    found = post(client, "decode", points=[[-22, -4, -18]], regions=3).json()
    assert len(found["regions"]) == 3
    assert "left amygdala" in [row["name"] for row in found["regions"]]
    assert post(client, "decode", points=[[-22, -4, -18]], regions=0).json()["regions"] == []
