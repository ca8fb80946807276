"""Answers of negspaCy and medspaCy: python rivals.py < mentions.jsonl, in the folder to write to.

Needs an environment with spacy 3.8, negspacy 1.1, medspacy 1.3 and PyRuSH 1.0. Both are told the
mentions and use their own default rules for English; a mention that is not negated is a finding.
They read no sides, so that both get the last side that is written before the mention in its
sentence, at most six tokens away.
"""

import json
import sys
import warnings
from pathlib import Path

SIDES = {"left": "left", "l": "left", "lt": "left", "right": "right", "r": "right", "rt": "right"}
SIDES |= dict.fromkeys(["bilateral", "both", "bilat"], "both")
NEAR = 6  # tokens


def main():
    warnings.simplefilter("ignore")
    import medspacy
    import spacy
    from loguru import logger
    from negspacy.negation import Negex  # noqa: F401 (registers itself)

    logger.remove()
    asked = [json.loads(line) for line in sys.stdin]
    negex = spacy.blank("en")
    negex.add_pipe("sentencizer")
    negex.add_pipe("negex")
    context = medspacy.load(enable=["medspacy_pyrush", "medspacy_context"])
    readers = {
        "negspaCy": (negex, lambda entity: entity._.negex),
        "medspaCy": (context, lambda entity: entity._.is_negated),
    }
    for name, (pipeline, is_negated) in readers.items():
        lines = [json.dumps(answer(report, pipeline, is_negated)) for report in asked]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def answer(report, pipeline, is_negated):
    """Return each mention with its side, and whether it is a finding."""
    from spacy.util import filter_spans

    document = pipeline.make_doc(report["text"])
    spans = {
        (each["start"], each["end"]): document.char_span(
            each["start"], each["end"], label="PLACE", alignment_mode="expand"
        )
        for each in report["mentions"]
    }
    document.ents = filter_spans(list(spans.values()))
    for _, component in pipeline.pipeline:
        document = component(document)
    negated = {token.i for entity in document.ents if is_negated(entity) for token in entity}
    found = []
    for each in report["mentions"]:
        span = spans[each["start"], each["end"]]
        words = document[max(span.sent.start, span.start - NEAR) : span.end]
        sides = [SIDES[word.lower_] for word in words if word.lower_ in SIDES]
        finding = not any(token.i in negated for token in span)
        found.append({**each, "side": sides[-1] if sides else None, "finding": finding})
    return {"id": report["id"], "mentions": found}


if __name__ == "__main__":
    main()
