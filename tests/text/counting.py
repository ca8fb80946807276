"""What mentions add up to, counted plainly: an oracle for the columns that a model counts."""

import numpy as np
from scipy import sparse

from neurowhere.text.reading.implied import Implied


def count_mentions(mentions, extractor, *, with_negated=False):
    """Count the mentions that are not negated: float32, of shape (1, n_terms).

    Where nothing is negated, or with `with_negated`, these are ``extractor.counts([text])``.
    """
    sided = {name: len(extractor.vocabulary) + i for i, name in enumerate(extractor.sided)}
    counts = np.zeros((1, len(extractor.terms)))
    for mention in mentions.found if with_negated else mentions.present:
        weight = 1.0 if with_negated else mention.weight
        counts[0, extractor.vocabulary.index(mention.term)] += weight
        if (name := f"{mention.side} {mention.term}") in sided and not mention.is_crossed:
            counts[0, sided[name]] += weight
    return extractor.weigh({"body": sparse.csr_matrix(counts)})


def implied_structures(mentions):
    """Return the structures that names point to, each with the largest weight of its names.

    Names that the text denies, or that are no findings, point nowhere; a hedged name weighs as
    much as its mention.
    """
    weights = {}
    for mention in mentions.rule_based:
        for term, side, weight in mention.implied if mention.is_present else ():
            weights[term, side] = max(weight * mention.weight, weights.get((term, side), 0.0))
    return tuple(Implied(term, side, weight) for (term, side), weight in weights.items())
