"""Answers of neurowhere: python neurowhere_reader.py < mentions.jsonl > neurowhere.jsonl.

A mention is a finding if neurowhere reads it as the seat of one or as a part that it reaches.
"""

import json
import sys
import warnings

from neurowhere import load_model

ROLES = {"seat", "extension"}
SIDES = {"bilateral": "both"}


def main():
    warnings.simplefilter("ignore")
    model = load_model()
    for line in sys.stdin:
        asked = json.loads(line)
        findings = model.encode(asked["text"]).findings
        places = [place for finding in findings for place in finding.places]
        found = [{**each, **read(each, places)} for each in asked["mentions"]]
        print(json.dumps({"id": asked["id"], "mentions": found}))


def read(mention, places):
    """Return the side of a mention, and whether it is a finding."""
    for place in places:
        if place.span[0] < mention["end"] and mention["start"] < place.span[1]:
            side = SIDES.get(place.side, place.side)
            return {"side": side, "finding": place.role in ROLES and place.status != "denied"}
    return {"side": None, "finding": False}


if __name__ == "__main__":
    main()
