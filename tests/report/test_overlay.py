"""The overlay of many reports: counts, table and picture."""

import nibabel
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from neurowhere import overlay
from neurowhere.exceptions import TextError
from neurowhere.model.seats import seat_region
from neurowhere.report.overlay import COLUMNS, _Counts

TEXTS = {
    "a": "CT: 3 cm haematoma in the left thalamus.",
    "b": "MRI: 9 mm acute infarct of the left thalamus, 4 mm midline shift.",
    "c": "MRI: 4 cm enhancing mass in the right occipital lobe.\n"
    "IMPRESSION: Left occipital glioma.",
    "d": "CT: no mass, no haemorrhage, no midline shift. Thalami normal.",
    "e": "We scanned healthy participants with fMRI during a memory task; the insula was active.",
}


@pytest.fixture(scope="module")
def encodings(shipped):
    return dict(zip(TEXTS, shipped.encode_many(TEXTS.values()), strict=True))


@pytest.fixture(scope="module")
def found(encodings):
    return overlay(encodings.items())


def test_a_place_counts_the_reports_with_their_seat_there(found, encodings):
    expected = np.sum([seat_region(encodings[name]) for name in "abc"], axis=0)
    assert (found.counts == expected).all()
    assert found.counts.max() == 2
    assert str(found) == "seats of 3 reports (1 report without a seat and 1 study left out)"


def test_the_table_has_a_row_for_each_seat(found):
    table = found.table
    assert tuple(table.columns) == COLUMNS
    assert table["text"].tolist() == ["a", "b", "c", "c"]
    assert table.loc[0, ["region", "side", "what", "size_mm", "status"]].tolist() == [
        *("thalamus", "left", "haematoma", 30.0, "affirmed")
    ]
    assert table["contradiction"].map(bool).tolist() == [False, False, True, True]


def test_saved_files_say_the_same(found, tmp_path):
    found.save(tmp_path)
    image = nibabel.load(tmp_path / "overlay.nii.gz")
    assert image.get_data_dtype() == np.int16
    assert np.asarray(image.dataobj).max() == 2
    assert (pd.read_csv(tmp_path / "seats.csv")["region"] == found.table["region"]).all()
    pixels = np.asarray(Image.open(tmp_path / "overlay.png").convert("RGB")).astype(int)
    assert ((pixels[..., 0] - pixels[..., 2]) > 100).any()  # what is drawn is red


def test_names_are_numbers_without_any(shipped):
    found = overlay(shipped.encode_many([TEXTS["a"], TEXTS["b"]]))
    assert found.table["text"].tolist() == ["1", "2"]


def test_nothing_is_refused():
    with pytest.raises(TextError, match="expected encodings of reports, got none"):
        overlay([])


@pytest.mark.parametrize(
    ("highest", "expected"),
    [(1, "1"), (2, "1 2"), (7, "1 2 4 6 7"), (16, "1 5 10 16"), (1200, "1 500 1,200")],
)
def test_the_bar_has_whole_numbers(highest, expected):
    assert " ".join(_Counts("YlOrRd", 0, highest, 0.5).ticks.values()) == expected
