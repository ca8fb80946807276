"""Decoding in the page: coordinates that are typed, maps that are dropped, places clicked."""

import base64
import gzip

import pytest
from tests.web.test_api import blob

pytestmark = pytest.mark.browser

DROP = """([data, name, target]) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const zone = document.getElementById(target);
    for (const type of ["dragover", "drop"]) {
        const options = { dataTransfer, bubbles: true, cancelable: true };
        zone.dispatchEvent(new DragEvent(type, options));
    }
}"""


def drop(visit, content, name, target="drop"):
    data = base64.b64encode(content).decode()
    visit.page.evaluate(DROP, [data, name, target])


def first_term(visit):
    return visit.page.inner_text("#peaks tbody tr:first-child button")


def test_coordinates_that_are_typed_are_decoded(visit):
    visit.choose("mode", "decode")
    visit.page.fill("#points", "x y z\n-22, -4, -18\n22 −4 −18")
    visit.until("document.getElementById('caption').textContent === 'Your 2 points'")
    assert first_term(visit) == "amygdala"
    assert visit.place() == [-22, -4, -18]
    visit.open("regions")
    assert "left amygdala" in visit.regions()
    visit.until_address_has("points=")
    assert visit.errors == []


def test_coordinates_that_are_none_are_refused_in_words(visit):
    visit.choose("mode", "decode")
    visit.page.fill("#points", "-22 -4")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "Row 1: expected three numbers in mm" in visit.page.inner_text("#problem")
    visit.page.fill("#points", "-22 -4 -18; 0 0 150")
    visit.page.wait_for_selector("#problem", state="hidden")
    visit.page.wait_for_selector("#notice:not([hidden])")
    assert "1 point lies outside of the brain" in visit.page.inner_text("#notice")


def test_rows_may_have_labels_and_statistics_and_each_point_is_told(visit, tmp_path):
    visit.choose("mode", "decode")
    rows = "left amygdala -22 -4 -18 4.5\nvisual\t8, -92, 2\tZ=3.1\nwhat is this"
    visit.page.fill("#points", rows)
    visit.until("/^left amygdala/.test(document.querySelector('#points-table tbody')?.textContent)")
    assert "Not read: row 3 (“what is this”)" in visit.page.inner_text("#notice")
    visit.open("regions")
    first, second = visit.page.locator("#points-table tbody tr").all_inner_texts()
    assert first.startswith("left amygdala (−22, −4, −18)")
    assert "amygdala" in first.split("\t")[-1]
    assert second.startswith("visual (8, −92, 2)")
    with visit.page.expect_download() as download:
        visit.reveal("button[data-form=terms]")
        visit.page.click("button[data-form=terms]")
    download.value.save_as(tmp_path / "terms.csv")
    assert (tmp_path / "terms.csv").read_text().startswith("term,score,ratio\n")
    visit.page.fill("#points", "study,X,Y,Z\n12,-22,-4,-18\n13,22,-4,-18")
    visit.until("/^−22/.test(document.querySelector('#points-table tbody button').textContent)")
    assert visit.place() == [-22, -4, -18]
    assert visit.errors == []


def test_negative_values_are_told_and_decoded_apart(visit):
    from neurowhere.space import VoxelGrid

    grid = VoxelGrid(8)
    near = [
        ((grid.centers_mm - place) ** 2).sum(axis=1) < 15**2
        for place in ((-22, -4, -18), (8, -92, 2))
    ]
    image = grid.to_img(5.0 * near[0] - 4.0 * near[1])
    drop(visit, gzip.compress(image.to_bytes()), "signed.nii.gz", "stage")
    visit.until("/signed/.test(document.getElementById('caption').textContent)")
    assert first_term(visit) == "amygdala"
    assert "Negative values were ignored" in visit.page.inner_text("#notice")
    visit.page.check("#negative")
    visit.until("/negative values are decoded/.test(document.getElementById('notice').textContent)")
    assert first_term(visit) == "visual cortex"
    assert visit.errors == []


@pytest.mark.parametrize("target", ["drop", "stage"])
def test_a_map_that_is_dropped_is_shown_and_decoded(visit, target):
    if target == "drop":
        visit.choose("mode", "decode")
    drop(visit, gzip.compress(blob((-22, -4, -18))), "zmap.nii.gz", target)
    visit.until("document.getElementById('caption').textContent === 'Your map: zmap.nii.gz'")
    assert first_term(visit) == "amygdala"
    assert "Values above 0 count" in visit.page.inner_text("#notice")
    assert not any("zmap" in url for url in visit.requests)
    drop(visit, b"not an image" * 100, "notes.nii")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "Expected a NIfTI" in visit.page.inner_text("#problem")
    assert visit.errors == []


def test_the_browser_reads_an_image_as_nibabel_does(visit):
    """A point of a rotated, big-endian image of another type, between its voxels."""
    import nibabel
    import numpy as np
    from scipy.ndimage import map_coordinates

    rng = np.random.default_rng(0)
    values = rng.integers(-300, 300, (7, 8, 9)).astype(">i2")
    affine = np.array([[0, 3, 0.2, -9], [-2, 0, 0, 8], [0, 0.1, 2.5, -7], [0, 0, 0, 1]])
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(">i2")
    header.set_slope_inter(0.5, 3)
    header["scl_slope"], header["scl_inter"] = 0.5, 3
    image = nibabel.Nifti1Image(values, affine, header)
    image.header.set_slope_inter(0.5, 3)
    content = base64.b64encode(image.to_bytes()).decode()
    voxels = np.array([[2.3, 4.6, 5.1], [0.2, 6.9, 7.5]])
    read = nibabel.Nifti1Image.from_bytes(base64.b64decode(content)).get_fdata()
    points = voxels @ affine[:3, :3].T + affine[:3, 3]
    found = visit.page.evaluate(
        """async ([data, points]) => {
            const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
            const { readNifti } = await import("/static/nifti.js");
            const volume = await readNifti(new Blob([bytes]));
            return points.map((point) => volume.at(point));
        }""",
        [content, points.tolist()],
    )
    assert found == pytest.approx(map_coordinates(read, voxels.T, order=1), abs=0.01)


def test_a_place_that_is_clicked_is_told_with_its_terms_and_studies(shipped_visit):
    visit = shipped_visit
    visit.go("#mode=decode&points=-24+-4+-18")
    visit.page.focus("#map")
    visit.page.keyboard.press("ArrowLeft")
    visit.told_place()
    visit.open("place")
    assert "amygdala" in visit.page.inner_text("#decoded li >> nth=0")
    assert visit.page.locator("#speaking a").count() == 5
    assert visit.errors == []
