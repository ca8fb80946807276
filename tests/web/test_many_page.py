"""Many texts at once: files or a table, a row with a small map for each."""

import gzip
import zipfile

import nibabel
import numpy as np
import pytest

pytestmark = pytest.mark.browser

TABLE = "id,text\nfirst,infarct of the left insula\nsecond,right amygdala and fear\nthird,asdf\n"
PAINTED = """() => [...document.querySelectorAll("#many-table canvas")].map(canvas =>
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(n => n))"""


def give(visit, *files):
    visit.go("#text=fear")
    visit.page.set_input_files(
        "#text-files",
        [{"name": name, "mimeType": "text/plain", "buffer": words} for name, words in files],
    )
    visit.page.wait_for_selector("#many-save:enabled")


def names(visit):
    return visit.page.locator("#many-table tbody button").all_inner_texts()


def test_a_table_becomes_rows_that_sort_open_and_are_saved(shipped_visit, tmp_path):
    visit = shipped_visit
    give(visit, ("texts.csv", TABLE.encode()))
    rows = visit.page.locator("#many-table tbody tr").all_inner_texts()
    assert "Left insula" in rows[0]
    assert "amygdala" in rows[1]
    assert "No place" in rows[2]
    assert visit.page.evaluate(PAINTED) == [True, True]  # the third has no map
    visit.page.click("#many-table >> text=Peak")
    assert names(visit)[-1] == "third"
    visit.page.click("#many-table tbody >> text=second")
    visit.until("document.getElementById('reading').textContent.startsWith('right amygdala')")
    visit.ready()
    assert visit.page.inner_text("#answer").startswith("Right: amygdala")
    with visit.page.expect_download() as download:
        visit.page.click("#many-save")
    download.value.save_as(tmp_path / "texts.csv")
    header, first, *others = (tmp_path / "texts.csv").read_text().splitlines()
    assert header == "name,where,support,kind,nats,x,y,z,ratio,regions"
    assert first.startswith("first,")
    assert len(others) == 2
    with visit.page.expect_download() as download:
        visit.page.click("#many-maps")
    download.value.save_as(tmp_path / "maps.zip")
    with zipfile.ZipFile(tmp_path / "maps.zip") as folder:
        assert folder.testzip() is None
        assert folder.namelist() == ["texts.csv", "1-first.nii.gz", "2-second.nii.gz"]
        rows = folder.read("texts.csv").decode().splitlines()
        image = nibabel.Nifti1Image.from_bytes(gzip.decompress(folder.read("1-first.nii.gz")))
    assert rows[0].endswith(",regions,map")
    assert [row.rpartition(",")[2] for row in rows[1:]] == ["1-first.nii.gz", "2-second.nii.gz", ""]
    voxel_mm3 = abs(np.linalg.det(image.affine[:3, :3]))
    assert image.get_fdata().sum() * voxel_mm3 == pytest.approx(1, abs=1e-3)
    assert b"density" in bytes(image.header["descrip"])
    visit.page.click("#many-close")
    assert visit.page.is_hidden("#many")
    assert visit.errors == []


def test_several_files_become_rows(shipped_visit):
    visit = shipped_visit
    give(visit, ("a.txt", b"left insula"), ("b.txt", b"right insula"), ("c.xyz", b"?"))
    assert names(visit) == ["a.txt", "b.txt"]
    assert "c.xyz" in visit.page.inner_text("#many-note")


def test_of_too_many_texts_the_first_are_read_and_the_rest_is_told(shipped_visit):
    visit = shipped_visit
    visit.go("#text=fear")
    table = "text\n" + "fear\n" * 2003
    visit.page.set_input_files(
        "#text-files", [{"name": "t.csv", "mimeType": "text/csv", "buffer": table.encode()}]
    )
    visit.until("/2,000 of 2,003/.test(document.getElementById('many-note').textContent)")
    assert "neurowhere encode FILE -o FOLDER" in visit.page.inner_text("#many-note")
    visit.page.click("#many-close")
    assert visit.page.locator("#many-table tbody tr").count() == 0
