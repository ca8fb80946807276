"""Score what a reader of radiology reports finds: sides, and places without a finding.

    python score.py --mentions > mentions.jsonl     # reports with the places to judge
    python score.py answers.jsonl [...]             # a table, one row per file of answers

It needs Python's standard library alone. README.md describes the reports and the answers.
"""

import argparse
import json
import re
from pathlib import Path

REPORTS = Path(__file__).parents[1] / "cases" / "reports_open.jsonl"
WORDS = {
    "frontal": r"frontal|frontals|precentral|IFG|MFG|SFG|Broca'?s? (?:area|region)|orbitofrontal|"
    r"gyr(?:us|i) rect(?:us|i)|supplementary motor area|SMA|operculum",
    "parietal": r"parietal|parietals|postcentral|precuneus|angular g(?:yrus|yri)?|"
    r"supramarginal|SMG|IPL|SPL",
    "temporal": r"temporal|hippocamp(?:us|i|al)|parahippocampal|amygdala[se]?|fusiform|uncus|STG|"
    r"MTG|ITG|Heschl'?s? gyrus",
    "occipital": r"occipital|cuneus|calcarine|lingual gyr(?:us|i)|occ",
    "insula": r"insulae?|insular",
    "thalamus": r"thalam(?:us|i|ic)|pulvinar",
    "basal ganglia": r"basal ganglia|BG|caudates?|putam(?:en|ina)|pallid(?:um|us)|lentiform|"
    r"striatum",
    "cerebellum": r"cerebell(?:um|ar)|vermis|crblm",
    "brain stem": r"brain ?stem|stem|midbrain|pon(?:s|tine)|medulla|mesencephalon",
}
MENTION = re.compile(
    "|".join(rf"(?P<g{i}>\b(?:{words})\b)" for i, words in enumerate(WORDS.values())), re.I
)
GROUPS = list(WORDS)
WITHOUT = {"normal", "denied", "compared"}  # why a place must not be raised
OTHER = {"left": "right", "right": "left"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", nargs="*", type=Path)
    parser.add_argument("--mentions", action="store_true")
    parser.add_argument("--reports", type=Path, default=REPORTS)
    arguments = parser.parse_args()
    reports = [json.loads(line) for line in arguments.reports.read_text("utf-8").splitlines()]
    if arguments.mentions:
        for report in reports:
            asked = {"id": report["id"], "text": report["text"], "mentions": mentions(report)}
            print(json.dumps(asked))
        return
    print("| reader | seats found | side right | denied: left alone | normal: left alone |")
    print("| --- | --- | --- | --- | --- |")
    for path in arguments.answers:
        answers = map(json.loads, path.read_text("utf-8").splitlines())
        found = score(reports, {answer["id"]: answer["mentions"] for answer in answers})
        cells = (f"{100 * a / b:.1f} % of {b}" if b else "–" for a, b in found.values())
        print(f"| {path.stem} | {' | '.join(cells)} |")


def mentions(report):
    """Return the places that a report names, of nine groups."""
    return [
        {"start": found.start(), "end": found.end(), "group": GROUPS[int(found.lastgroup[1:])]}
        for found in MENTION.finditer(report["text"])
    ]


def score(reports, answers):
    """Return numerators and denominators of the four scores."""
    lists = {"seats": [], "side": [], "denied": [], "normal": []}
    for report in reports:
        raised = [each for each in answers.get(report["id"], ()) if each["finding"]]
        for seat in report["seats"]:
            sides = {each.get("side") for each in raised if each["group"] == seat["group"]}
            lists["seats"].append(any(agrees(side, seat["side"]) for side in sides))
            rest = {each["side"] for each in report["seats"] if each["group"] == seat["group"]}
            if seat["side"] in OTHER and sides:
                wrong = OTHER[seat["side"]] in sides - rest
                lists["side"].append(seat["side"] in sides and not wrong)
        for place in report["not_raised"]:
            is_seat = any(overlap(place, seat) for seat in report["seats"])
            if place["why"] in WITHOUT and not is_seat:
                kind = "denied" if place["why"] == "denied" else "normal"
                lists[kind].append(not any(overlap(place, each) for each in raised))
    return {name: (sum(values), len(values)) for name, values in lists.items()}


def agrees(side, expected):
    return side in (None, "both", expected) or expected not in OTHER


def overlap(place, other):
    """Tell whether two places may be the same: of one group, and not of opposite sides."""
    sides = {place.get("side"), other.get("side")}
    return place["group"] == other["group"] and sides != {"left", "right"}


if __name__ == "__main__":
    main()
