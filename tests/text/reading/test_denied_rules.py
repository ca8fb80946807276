"""Names of rules are denied like other names, with the vocabulary that is shipped."""

import pytest

from neurowhere import load_model, read_mentions
from neurowhere.text.reading.tags import rules

UNDENIED = {  # verbs, adjectives, and sites of electrodes, which are not named after "no"
    "alexia with agraphia",
    "inability to speak",
    "one-and-a-half syndrome",
    "precuneal",
    "sites Fp1, Fp2, Fpz",
    "sites T5, T6, P7, P8",
    "sites T9, T10, TP9, TP10, P9, P10",
}
COUNTER = load_model().extractor_.counter
NAMES = sorted({entry.name for entry in rules().entries.values()})


@pytest.mark.parametrize("text", ["There is no {}.", "No {} was found on examination."])
def test_what_a_name_implies_is_denied_with_it(text):
    read = {name: read_mentions(text.format(name), COUNTER).rule_based for name in NAMES}
    affirmed = {name for name, found in read.items() if any(each.is_present for each in found)}
    assert affirmed <= UNDENIED
    assert sum(bool(found) for found in read.values()) > len(NAMES) / 2


@pytest.mark.parametrize("text", ["The {} is normal.", "{}: unremarkable."])
def test_a_place_of_a_rule_is_normal(text):
    (mention,) = read_mentions(text.format("posterior fossa"), COUNTER).rule_based
    assert mention.status == "denied"
