"""Seats of a report: rows, the region, and how they are kept."""

import numpy as np
import pytest

from neurowhere.model.seats import read_seats, seat_region, seats_of, write_seats

REPORT = (
    "MRI brain. FINDINGS: 3 cm enhancing mass in the left temporal lobe, centred on the left "
    "middle temporal gyrus, compressing the left lateral ventricle. Right frontal lobe normal.\n"
    "IMPRESSION: Possible left temporal glioma."
)


@pytest.fixture(scope="module")
def encoding(shipped):
    return shipped.encode(REPORT)


def test_a_place_is_one_row_with_its_size_and_share(encoding):
    seats = seats_of(encoding).seats
    assert len({(seat.region, seat.side) for seat in seats}) == len(seats)
    largest = {seat.region: seat for seat in seats}["middle temporal gyrus"]
    assert (largest.side, largest.size_mm, largest.status) == ("left", 30.0, "affirmed")
    assert 0.9 < sum(seat.share for seat in seats) <= 1
    assert not any("ventricle" in seat.region or "frontal" in seat.region for seat in seats)


def test_the_region_is_that_of_the_precise_seat_on_its_side(encoding, shipped):
    inside = seat_region(encoding)
    places = encoding.partition.centers_mm[inside]
    assert inside.any()
    assert (places[:, 0] < 0).all()
    lobe = seat_region(
        shipped.encode("CT: 2 cm haematoma in the left temporal lobe.", kind="report")
    )
    assert inside.sum() < lobe.sum() / 2
    assert (inside & lobe).sum() > 0.6 * inside.sum()


def test_a_study_has_none_and_a_normal_report_no_region(shipped):
    study = "We scanned healthy participants with fMRI during a task; the insula was activated."
    assert seats_of(shipped.encode(study)) is None
    normal = seats_of(
        shipped.encode("CT head: no mass, no haemorrhage, no infarct.", kind="report")
    )
    assert (normal.seats, normal.runs) == ([], [])


def test_they_are_read_as_they_were_written(encoding, shipped, tmp_path):
    seats = seats_of(shipped.encode(REPORT.replace("Possible left", "Right")))
    assert seats.contradictions
    write_seats(seats, tmp_path)
    again = read_seats(tmp_path)
    assert again.seats == seats.seats
    assert again.runs == seats.runs
    assert str(again.contradictions[0]) == str(seats.contradictions[0])
    inside = np.zeros(len(encoding.mean_map), bool)
    for first, end in again.runs:
        inside[first:end] = True
    assert (inside == seat_region(shipped.encode(REPORT.replace("Possible left", "Right")))).all()
    assert read_seats(tmp_path / "elsewhere") is None


def test_without_the_text_none_of_its_words_is_kept(shipped):
    seats = seats_of(shipped.encode(REPORT.replace("Possible left", "Right")), with_text=False)
    assert {seat.what for seat in seats.seats} == {None}
    assert [str(each) for each in seats.contradictions] == ["temporal: left, but right"]
