"""Ranges: what each number of a model may be, declared once and checked before it is used."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["RANGES", "Range", "check_ranges"]

NUMBERS = "biuf"  # kinds of NumPy's types
ROUNDING = 1e-6  # by which a probability may exceed 1


class Range(NamedTuple):
    """What a number may be, or each number of a list, a mapping or an array."""

    low: float
    high: float
    is_whole: bool = False
    is_optional: bool = False  # whether null says that there is none
    holder: type | None = None  # Mapping or Sequence, of several numbers outside of an array

    def __str__(self) -> str:
        kind = "a whole number " if self.is_whole else ""
        return f"{kind}between {self.low:,g} and {self.high:,g}"

    def wrong(self, value: Any) -> Iterator[Any]:
        """Yield what is out of range; of many numbers the first."""
        if value is None:
            if not self.is_optional:
                yield "nothing"
            return
        is_several = isinstance(value, Mapping | Sequence) and not isinstance(value, str)
        if is_several if self.holder is None else not isinstance(value, self.holder | np.ndarray):
            yield f"a {type(value).__name__}"
            return
        yield from self._wrong_numbers(
            np.asarray([*value.values()] if isinstance(value, Mapping) else value)
        )

    def _wrong_numbers(self, numbers: np.ndarray) -> Iterator[Any]:
        if numbers.dtype.kind not in NUMBERS:
            yield f"what is {'no' if numbers.ndim == 0 else 'not all'} number"
            return
        if numbers.size and not self._holds(numbers.min(), numbers.max()):
            yield f"{next(value for value in numbers.flat if not self._holds(value, value)):g}"
        elif self.is_whole and (parts := numbers[numbers != np.floor(numbers)]).size:
            yield f"{parts[0]:g}"

    def _holds(self, low: float, high: float) -> bool:
        """Return whether the least and the largest number are in range; what is NaN is not."""
        return bool(low >= self.low and high <= self.high + ROUNDING)


FLAG = Range(0, 1, is_whole=True)
COUNT = Range(0, 1e12, is_whole=True)
SHARE = Range(0, 1)
WEIGHT = Range(0, 1e3)
SHARPNESS = Range(0, 1e3)
PENALTY = Range(0, 1e15)
COEFFICIENT = Range(-1e9, 1e9)  # products of two, summed over all terms, are finite in float32

# By the file of a model, and the place in it. What is in no file is not looked for.
RANGES: dict[str, dict[str, Range]] = {
    "model.json": {
        "parameters.min_studies": COUNT,
        "parameters.section_weights": WEIGHT._replace(is_optional=True, holder=Mapping),
        "parameters.laterality": FLAG,
        "parameters.negation": FLAG,
        "parameters.sides": FLAG,
        "parameters.findings": FLAG,
        "parameters.hedge_weight": WEIGHT,
        "parameters.sharpness": SHARPNESS._replace(is_optional=True),
        "parameters.intercept": FLAG,
        "parameters.nested": FLAG._replace(is_optional=True),
        "parameters.bandwidth": Range(0, 1e3),
        "parameters.lambdas": PENALTY._replace(is_optional=True, holder=Sequence),
        "parameters.validation": SHARE,
        "parameters.tolerance": SHARE,
        "parameters.rank": Range(1, 1e5, is_whole=True, is_optional=True),
        "parameters.repeats": Range(1, 1e5, is_whole=True),
        "parameters.seed": Range(0, 2**64, is_whole=True),
        "learned.choice.penalty": PENALTY,
        "learned.choice.sharpness": SHARPNESS,
        "learned.choice.score": COEFFICIENT,
        "learned.choice.scores": COEFFICIENT._replace(holder=Sequence),
        "learned.certificate.primal": Range(-1e300, 1e300),
        "learned.certificate.dual": Range(-1e300, 1e300),
        "learned.nested": FLAG,
        "training.studies": COUNT,
        "training.peaks": COUNT,
    },
    "predictor.npz": {
        "mean": SHARE,
        "sharpness": SHARPNESS,
        "intercept": FLAG,
        "coefficients": COEFFICIENT,
        "centre": COEFFICIENT,
        "loadings": COEFFICIENT,
        "components": COEFFICIENT,
        "short": COEFFICIENT,
        "long": COEFFICIENT,
        "blend_loadings": COEFFICIENT,
        "blend_components": COEFFICIENT,
        "blend_strength": SHARE,
        "blend_kept": SHARE,
        "prior_terms": COUNT,
        "prior_weights": WEIGHT,
        "prior_baseline": WEIGHT,
        "prior_scales": WEIGHT,
        "prior_lengths": COUNT,
    },
    "terms.npz": {
        "idf": WEIGHT,
        "studies": COUNT,
        "log_totals": COEFFICIENT,
        "centres": COEFFICIENT,
        "spreads": Range(0, 1e9),
    },
    "calibration.npy": {"": SHARE},
    "calibration.npz": {"knots": Range(1, 1e9), "masses": SHARE, "gains": COEFFICIENT},
    "studies.npz": {"vectors": COEFFICIENT},
    "partition.npz": {"affine": Range(-1e6, 1e6)},
    "brain.npz": {"affine": Range(-1e6, 1e6)},
}


def check_ranges(file: str, content: Mapping[str, Any]) -> None:
    """Raise an error that names the first number of a file that is out of its range.

    Parameters
    ----------
    file : str
        Name of a file of `RANGES`.
    content : mapping
        What it holds: arrays by their names, or the objects of JSON.

    Examples
    --------
    >>> check_ranges("model.json", {"parameters": {"sharpness": -5}})
    Traceback (most recent call last):
    ValueError: expected sharpness between 0 and 1,000, got -5
    """
    for place, allowed in RANGES.get(file, {}).items():
        found = _find(content, place)
        for wrong in () if found is ... else allowed.wrong(found):
            name = place.rpartition(".")[2] or "all numbers"
            raise ValueError(f"expected {name} {allowed}, got {wrong}")


def _find(content: Any, place: str) -> Any:
    """Return what is at a place, or an ellipsis if there is nothing."""
    for name in place.split("."):
        if not isinstance(content, Mapping) or name not in content:
            return ...
        content = content[name]
    return content
