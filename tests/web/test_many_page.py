"""Many texts at once: files or a table, a row with a small map for each."""

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
    assert "Left: insula" in rows[0]
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
    visit.page.click("#many-close")
    assert visit.page.is_hidden("#many")
    assert visit.errors == []


def test_several_files_become_rows(shipped_visit):
    visit = shipped_visit
    give(visit, ("a.txt", b"left insula"), ("b.txt", b"right insula"), ("c.xyz", b"?"))
    assert names(visit) == ["a.txt", "b.txt"]
    assert "c.xyz" in visit.page.inner_text("#many-note")
