"""Which mentions medspaCy's ConText and negspaCy's NegEx negate: JSON lines in, JSON out.

Runs in an environment that has medspacy and negspacy (and numpy < 2). Each line of standard input
has a text and the spans of its mentions; the result has, for each rival, a list for each text of
whether each mention is negated. Both are told the mentions and use their own default rules.
"""

import json
import sys
import warnings

import medspacy
import spacy
from negspacy.negation import Negex  # noqa: F401 (registers itself)


def main():
    warnings.simplefilter("ignore")
    sentences = [json.loads(line) for line in sys.stdin]
    rivals = {"ConText (medspaCy)": context(), "NegEx (negspaCy)": negex()}
    print(json.dumps({name: list(run(rival, sentences)) for name, rival in rivals.items()}))


def context():
    pipeline = medspacy.load(enable=["medspacy_pyrush", "medspacy_context"])
    return pipeline, lambda entity: entity._.is_negated


def negex():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("negex")
    return pipeline, lambda entity: entity._.negex


def run(rival, sentences):
    pipeline, is_negated = rival
    for sentence in sentences:
        document = pipeline.make_doc(sentence["text"])
        spans = [
            document.char_span(*span, label="TERM", alignment_mode="expand")
            for span in sentence["spans"]
        ]
        document.ents = spacy.util.filter_spans(spans)
        for _, component in pipeline.pipeline:
            document = component(document)
        negated = {token.i for entity in document.ents if is_negated(entity) for token in entity}
        yield [any(token.i in negated for token in span) for span in spans]


if __name__ == "__main__":
    main()
