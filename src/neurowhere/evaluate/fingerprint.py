"""Fingerprints of what is compared, so that scores of different data never mix."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import digest
from neurowhere.evaluate.problem import Material, Problem


def describe_material(material: Material) -> dict[str, Any]:
    """Describe what all trials learn from and are scored on, with fingerprints."""
    terms = () if material.vocabulary is None else material.vocabulary.terms
    counts = material.counts
    return {
        "studies": len(material.corpus),
        "peaks": len(material.corpus.peaks),
        "studies_left_out": material.left_out,
        "terms": len(terms),
        "corpus_sha256": _digest(
            [
                repr(material.corpus.documents["id"].tolist()),
                material.groups,
                material.corpus.peak_rows,
                material.xyz_mm,
            ]
        ),
        "features_sha256": _digest(
            [repr(terms), *([] if counts is None else [counts.data, counts.indices, counts.indptr])]
        ),
        "brain_sha256": _digest([material.brain.brain, material.brain.affine]),
    }


def describe_problem(problem: Problem) -> dict[str, Any]:
    """Describe a partition, with a fingerprint."""
    targets, regions = problem.targets, problem.regions
    places = [regions.volumes_mm3, targets.region, targets.shares.indices, targets.shares.indptr]
    about = problem.summary()
    names = repr((regions.names, about["bandwidth"]))
    return {**about, "sha256": _digest([names, *places])}


def _digest(values: Iterable[Any]) -> str:
    """Digest texts and arrays, whose integers count as of one type."""
    return digest(*(value if isinstance(value, str) else _widened(value) for value in values))


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.int64) if array.dtype.kind in "biu" else array
