"""Label-constrained losses: each region of an atlas is predicted from its own label alone."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from neurowhere.learn import (
    Block,
    Design,
    Linear,
    LinearFit,
    label_blocks,
    one_feature_l1,
    one_feature_l2,
)
from neurowhere.learn.design import Array
from neurowhere.model.losses.linear import LinearLoss, target_columns
from neurowhere.model.training import TrainingData, TrainingOptions
from neurowhere.text import Vocabulary, words_of_label

CONSTRAINT = "labels"


@dataclass(frozen=True, eq=False)
class LabelTerms:
    """The labels of an atlas as terms.

    Attributes
    ----------
    names : tuple of str
        Label of each region in words, "" where it names nothing.
    vocabulary : Vocabulary
        The different names.
    """

    names: tuple[str, ...]
    vocabulary: Vocabulary

    @classmethod
    def from_labels(cls, labels: Iterable[str]) -> Self:
        """Read the labels of an atlas, one per region."""
        names = tuple(words_of_label(label)[0] for label in labels)
        return cls(names, Vocabulary(sorted(set(filter(None, names)))))

    @property
    def selector(self) -> sparse.csr_matrix:
        """A one where the term is the region's label: (n_terms, n_regions)."""
        regions = [k for k, name in enumerate(self.names) if name]
        terms = [self.vocabulary.index(self.names[k]) for k in regions]
        shape = (len(self.vocabulary), len(self.names))
        return sparse.csr_matrix((np.ones(len(regions)), (terms, regions)), shape=shape)


class LabelConstrained(LinearLoss):
    """A regression of each region on the mentions of its own label.

    Attributes
    ----------
    base : str
        Loss that the constraint is put on.
    """

    base: ClassVar[str]
    lambdas = tuple(np.geomspace(100, 0.01, 9).tolist())
    needs_labels = True

    @abstractmethod
    def slope(self, x: Array, y: Array, lam: float) -> Array:
        """Solve regressions on one feature each; see `neurowhere.learn.labels`."""

    @property
    def parameters(self) -> dict[str, str | None]:
        """Parameters of an `Encoder` that has this loss."""
        return {"loss": self.base, "constraint": CONSTRAINT}

    def inputs(self, data: TrainingData) -> sparse.csr_matrix:
        """Return one column per region: the feature of its label."""
        selector = sparse.csr_matrix(_labels(data), dtype=data.features.dtype)
        return sparse.csr_matrix(data.features @ selector)

    def blocks(
        self,
        design: Design,
        data: TrainingData,
        lambdas: list[float],
        options: TrainingOptions,
        stage: str,
    ) -> Iterator[Block]:
        """Solve every region in closed form."""
        return label_blocks(
            design,
            lambda regions: target_columns(data, regions),
            data.n_regions,
            lambdas,
            self.slope,
        )

    def predictor(
        self, fitted: LinearFit, design: Design, data: TrainingData, sharpness: float
    ) -> Linear:
        """Move the coefficient of each region to the term that is its label."""
        labels, m = _labels(data), data.n_regions
        coefficients = labels.toarray() * np.diagonal(fitted.coefficients)
        centre = labels @ design.mean / np.maximum(labels.getnnz(axis=1), 1)
        return Linear(fitted.mean / m, np.asarray(coefficients / m, np.float32), centre, sharpness)


class LabelsL2(LabelConstrained):
    """Least squares on labels, as in the paper."""

    name = "labels"
    title = "labels (ℓ2)"
    base = "l2"

    def slope(self, x: Array, y: Array, lam: float) -> Array:
        """Solve least squares in closed form."""
        return one_feature_l2(x, y, lam)


class LabelsL1(LabelConstrained):
    """Least absolute deviations on labels."""

    name = "labels-l1"
    title = "labels (ℓ1)"
    base = "l1"

    def slope(self, x: Array, y: Array, lam: float) -> Array:
        """Solve least absolute deviations in closed form."""
        return one_feature_l1(x, y, lam)


def _labels(data: TrainingData) -> sparse.csr_matrix:
    assert data.labels is not None  # whoever trains a loss that needs labels gives them
    return data.labels
