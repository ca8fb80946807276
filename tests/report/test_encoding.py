import base64
import gzip
import hashlib
import json
import re

import nibabel
import numpy as np
import pandas as pd
import pytest
from tests.model.test_encoder import make_atlas
from tests.report.pages import Page
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, VoxelGrid, default_atlas
from neurowhere.exceptions import OutputError
from neurowhere.model.summary import summarise
from neurowhere.report import encoding as report
from neurowhere.report.encoding import DENSITIES, encoding_page, viewer_data, write_encoding

FILES = {
    "info.json", "log_ratio.nii.gz", "map.nii.gz", "map.png", "mass_50.nii.gz", "mass_80.nii.gz",
    "mass_95.nii.gz", "peaks.csv", "regions.csv", "report.html", "studies.csv", "surface.png",
    "terms.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    target = tmp_path_factory.mktemp("report") / "out"
    write_encoding(result, target, atlas=make_atlas(), about={"model": "a toy"})
    return target


@pytest.fixture
def no_pictures(monkeypatch):
    """Pictures take seconds, and most tests do not look at them."""
    monkeypatch.setattr(report, "_write_pictures", lambda *_: {})


def integral(image):
    return image.get_fdata().sum() * abs(np.linalg.det(image.affine[:3, :3]))


# ---- images


def test_the_folder_has_all_files_and_their_checksums(folder):
    assert {file.name for file in folder.iterdir()} == FILES
    info = json.loads((folder / "info.json").read_text())
    assert set(info["sha256"]) == FILES - {"info.json"}
    for name, checksum in info["sha256"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == checksum


def test_images_hold_the_maps(result, folder):
    density = nibabel.load(folder / "map.nii.gz")
    assert integral(density) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(density.get_fdata(), result.density_img.get_fdata(), rtol=1e-5)
    ratio = nibabel.load(folder / "log_ratio.nii.gz")
    np.testing.assert_array_equal(ratio.get_fdata(), result.log_ratio_img.get_fdata())
    regions = []
    for share in (50, 80, 95):
        image = nibabel.load(folder / f"mass_{share}.nii.gz")
        assert image.get_data_dtype() == np.uint8
        np.testing.assert_array_equal(image.get_fdata(), result.mass_img(share / 100).get_fdata())
        regions.append(image.get_fdata())
    assert (regions[0] <= regions[1]).all()
    assert (regions[1] <= regions[2]).all()


def test_images_are_in_mni_space(folder):
    for file in folder.glob("*.nii.gz"):
        header = nibabel.load(file).header
        assert header["sform_code"] == header["qform_code"] == 4
        assert header.get_xyzt_units()[0] == "mm"


@pytest.mark.parametrize("edge", [3, 5, 7.5])
def test_a_density_on_another_grid_integrates_to_one(result, tmp_path, no_pictures, edge):
    write_encoding(result, tmp_path / "out", resolution_mm=edge)
    image = nibabel.load(tmp_path / "out" / "map.nii.gz")
    assert image.header.get_zooms() == (edge, edge, edge)
    assert integral(image) == pytest.approx(1, abs=1e-5)


def test_on_the_grid_of_an_image_that_cuts_the_brain_only_its_share_is_left(
    result, tmp_path, no_pictures
):
    affine = np.diag([-7.0, 8.0, 9.0, 1.0])
    affine[:3, 3] = (-1, -140, -90)  # x from −1 mm down: the left half
    like = nibabel.Nifti1Image(np.zeros((16, 30, 25), np.uint8), affine)
    write_encoding(result, tmp_path / "out", like=like)
    image = nibabel.load(tmp_path / "out" / "map.nii.gz")
    np.testing.assert_array_equal(image.affine, affine)
    left = result.probabilities[GRID.centers_mm[:, 0] <= 2.5].sum()  # its cells reach to 2.5
    assert 0.3 < left < 0.8
    assert integral(image) == pytest.approx(left, abs=1e-4)


# ---- tables and info


def test_tables_hold_the_numbers(result, folder):
    terms = pd.read_csv(folder / "terms.csv").set_index("term")
    start, end = map(int, terms.loc["visual cortex", "where"].split("-"))
    assert result.text[start:end] == "visual cortices"
    regions = pd.read_csv(folder / "regions.csv")
    assert regions["region"].tolist() == result.regions(make_atlas())["region"].tolist()
    np.testing.assert_allclose(regions["probability"], result.regions(make_atlas())["probability"])
    peaks = pd.read_csv(folder / "peaks.csv", keep_default_na=False)
    assert peaks.columns.tolist() == ["x", "y", "z", "density", "ratio", "region", "name"]
    assert set(peaks["region"]) <= {"", *make_atlas().names}
    studies = pd.read_csv(folder / "studies.csv", keep_default_na=False)
    assert studies["id"].tolist() == ["123", "doi-<b>"]
    assert studies["title"].tolist() == ["Fear <i>and</i> the amygdala", ""]
    page = (folder / "report.html").read_text()
    assert "<td>Fear &lt;i&gt;and&lt;/i&gt; the amygdala</td>" in page


def test_the_place_of_a_region_is_its_densest(result):
    atlas = make_atlas()
    places = result.gazetteer(atlas).densest_mm(result.density, range(4))
    np.testing.assert_array_equal(atlas.region_of(places), range(4))
    for k, place in enumerate(places):
        inside = atlas.affine[:3, :3] @ np.argwhere(atlas.regions == k).T + atlas.affine[:3, 3:]
        best = max(result.density[j] for j in GRID.region_of(inside.T) if j >= 0)
        assert result.density[GRID.region_of(place[None])[0]] == best


def test_info_names_the_template_and_the_settings(folder):
    info = json.loads((folder / "info.json").read_text())
    assert info["kind"] == "encoding"
    assert info["template"]["bids_name"] == "MNI152NLin2009aSym"
    assert "nonlinear symmetric" in info["template"]["name"]
    assert info["about"] == {"model": "a toy"}
    assert info["with_text"] is True
    assert info["mass"] == {"50%": 0.5, "80%": 0.8, "95%": 0.95}


@pytest.mark.parametrize(
    ("edges", "origin"), [((-9, 8, 7), (30, -30, -20)), ((-60, 60, 60), (180, -180, -240))]
)
def test_a_mask_of_its_own_is_not_called_the_template(tmp_path, no_pictures, edges, origin):
    mask = np.zeros((7, 8, 9), dtype=bool)
    mask[2:5, 2:6, 2:7] = True
    affine = np.diag([*edges, 1.0])
    affine[:3, 3] = origin
    model = Encoder(VoxelGrid(mask=(mask, affine)), "l2", vocabulary=["amygdala"])
    model.fit(["amygdala", "nothing"] * 5, [[[0, 0, 8]], [[12, -8, 1]]] * 5)
    write_encoding(model.encode("amygdala"), tmp_path / "out")
    info = json.loads((tmp_path / "out" / "info.json").read_text())
    assert info["template"]["name"].startswith("unknown")


# ---- the page


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text("utf-8")


def test_the_text_is_shown_and_nothing_of_it_is_html(page, result):
    found = Page(page)
    assert found.tags.count("script") == 2  # data and viewer
    assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
    assert "<img src=x" not in page
    assert result.text in "".join(found.words)
    assert "doi-&lt;b&gt;" in page


def test_the_page_needs_no_network(page):
    found = Page(page)
    for tag, name, value in found.addresses:
        if tag == "a":
            assert value.startswith("https://pubmed.ncbi.nlm.nih.gov/")
        else:
            assert (name, value[:5]) == ("src", "data:")
    style = "".join(re.findall("<style>(.*?)</style>", page, re.DOTALL))
    assert "url(" not in style
    assert "@import" not in style
    assert "link" not in found.tags
    assert len(re.findall("https?:", page)) == 1


def test_the_policy_allows_this_script_and_this_style_only(page):
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; img-src data:;")
    for name in ("style", "script"):
        content = re.search(f"<{name}>(.*?)</{name}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_page_tells_what_was_found(page, result):
    words = " ".join(" ".join(Page(page).words).split())
    assert "For research, not for diagnosis." in words
    assert "well supported" in words or "weakly supported" in words
    for name in ("amygdala", "visual cortex"):
        assert f"<td>{name}</td>" in page
    assert '<s class="denied" title="motor cortex: negated here, not counted">' in page
    assert 'data-place="' in page
    assert '<a href="https://pubmed.ncbi.nlm.nih.gov/123/" rel="noreferrer">123</a>' in page


def test_without_the_text_no_file_holds_any_of_it(result, tmp_path):
    write_encoding(result, tmp_path / "out", atlas=make_atlas(), with_text=False)
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES
    for file in (tmp_path / "out").iterdir():
        content = file.read_bytes()
        if file.suffix == ".gz":
            content = gzip.decompress(content)
        content = re.sub(rb"[A-Za-z0-9+/=]{200,}", b"", content)  # packed: letters by chance
        for word in (b"Jabberwock", b"PICA", b"hacked", b"cortices", b"lesion"):
            assert word not in content, (file.name, word)
    assert "where" not in pd.read_csv(tmp_path / "out" / "terms.csv")
    assert "The text was left out" in (tmp_path / "out" / "report.html").read_text()


def test_a_text_without_known_terms_gets_a_page_too(model, tmp_path):
    write_encoding(model.encode("nothing known"), tmp_path / "out")
    assert "the model knows no word of this text" in (tmp_path / "out" / "report.html").read_text()


def test_a_model_of_an_atlas_names_its_own_regions(tmp_path, no_pictures):
    model = Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(make_corpus())
    result = model.encode("amygdala")
    write_encoding(result, tmp_path / "out")
    assert len(pd.read_csv(tmp_path / "out" / "regions.csv")) == 4
    image = nibabel.load(tmp_path / "out" / "map.nii.gz")
    assert integral(image) == pytest.approx(1, abs=1e-5)
    assert '"smooth":false' in (tmp_path / "out" / "report.html").read_text()


def test_without_an_atlas_regions_are_those_of_the_default_one(result, tmp_path, no_pictures):
    write_encoding(result, tmp_path / "out")
    regions = pd.read_csv(tmp_path / "out" / "regions.csv")
    first = result.regions()["region"].tolist()
    assert regions["region"].tolist()[: len(first)] == first
    assert {*regions["region"]} >= {*default_atlas().names}


def unpack(packed):
    data = gzip.decompress(base64.b64decode(packed["data"]))
    kind = {1: np.uint8, 2: np.dtype("<u2")}[packed["bytes"]]
    return np.frombuffer(data, kind).reshape(packed["shape"]) * packed["scale"]


def test_the_viewer_gets_the_densities(result):
    atlas = make_atlas()
    data = viewer_data(result, (1.4, -2.6, 3.0), atlas)
    relative = result.density_img.get_fdata() * GRID.total_volume_mm3
    density = unpack(data["volumes"]["density"])
    np.testing.assert_allclose(density, relative, atol=relative.max() / DENSITIES)
    inverse = np.array(data["volumes"]["density"]["inverse"])
    np.testing.assert_allclose(inverse @ GRID.affine, np.eye(4)[:3], atol=1e-12)
    assert data["place"] == [1, -3, 3]
    for share, level in data["levels"].items():
        region = result.mass_img(float(share) / 100).get_fdata() == 1
        np.testing.assert_array_equal((density >= level) & (density > 0), region)
    labels = unpack(data["volumes"]["atlas"]).astype(int)
    affine = np.linalg.inv([*data["volumes"]["atlas"]["inverse"], [0, 0, 0, 1]])
    for voxel in [(10, 30, 20), (40, 20, 30), (36, 56, 12)]:
        place = affine @ [*voxel, 1]
        assert labels[voxel] == atlas.region_of(place[None, :3])[0] + 1


def test_reasons_are_those_of_the_region(result):
    atlas = make_atlas()
    summary = summarise(result, atlas, n_regions=None, n_explained=4)
    reasons = {
        row.region: [(why.term, why.contribution) for why in row.why] for row in summary.regions
    }
    mask = np.zeros(GRID.n_regions)
    xyz = atlas.affine[:3, :3] @ np.argwhere(atlas.regions == 0).T + atlas.affine[:3, 3:]
    for region in GRID.region_of(xyz.T):
        mask[region] += region >= 0  # 1,000 mm³ each
    expected = result.why(mask * 1000 / GRID.volumes_mm3)
    assert [term for term, _ in reasons["amygdala"]] == expected["term"].tolist()
    np.testing.assert_allclose(
        [value for _, value in reasons["amygdala"]], expected["contribution"]
    )
    assert encoding_page(result, summary, atlas).count('"why":[[') >= 1


# ---- whole or not at all


def fail(*_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing(result, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_write_pictures", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        write_encoding(result, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays_when_writing_fails(result, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "info.json").write_text("keep")
    with pytest.raises(OutputError, match="exists and is not empty"):
        write_encoding(result, tmp_path / "out")
    monkeypatch.setattr(report, "_write_pictures", fail)
    with pytest.raises(OutputError, match="No space left"):
        write_encoding(result, tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "info.json").read_text() == "keep"


def test_a_result_saves_itself(result, tmp_path, no_pictures):
    result.save(tmp_path / "out", with_text=False)
    assert "Jabberwock" not in (tmp_path / "out" / "report.html").read_text()
