"""Kinds: reports are told from studies."""

import pytest

from neurowhere.text.kinds import COLUMNS, report_gate, signs_of_kind
from neurowhere.text.reading.tables import alternatives, read_table, split

REPORTS = [
    "MRI: 3 cm enhancing mass in the left insula with oedema, no midline shift.",
    "CT head: acute haemorrhage in the right putamen. Ventricles compressed. No fracture of the "
    "skull. Patient with hemiplegia.",
]
STUDIES = [
    "Participants performed a working memory task in the scanner. Activation of the left insula "
    "was significantly larger than in controls.",
    "Patients with stroke lesions of the insula and healthy controls were studied with fMRI.",
    "fear and the amygdala",
    "No sharp waves were preserved in this study of memory; hypometabolism was symmetric.",
    "",
]


@pytest.mark.parametrize("text", REPORTS)
def test_reports_open_the_gate(text):
    assert report_gate(text) > 0.9


@pytest.mark.parametrize("text", STUDIES)
def test_studies_and_queries_do_not(text):
    assert report_gate(text) < 0.05


def test_each_row_is_found_by_each_of_its_phrases():
    for row in read_table("neurowhere.text", "kinds", COLUMNS):
        for item in split(row["words"]):
            for phrase in alternatives(item):
                assert any(row.id in rows for rows in signs_of_kind(phrase).values()), phrase
