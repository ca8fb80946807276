"""The proof that comes with a solution: how far it can be from the optimum."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Certificate:
    """Primal and dual values at a solution; the optimum lies between them.

    Certificates of independent problems add up.

    >>> total = Certificate(primal=10.0, dual=9.9) + Certificate(primal=30.0, dual=29.9)
    >>> round(total.relative_gap, 4)
    0.005
    """

    primal: float = 0.0
    dual: float = 0.0

    @property
    def gap(self) -> float:
        """Upper bound on the distance to the optimal value."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """Gap as a share of the primal value; 0 for an exact zero problem."""
        return self.gap / self.primal if self.primal > 0 else 0.0

    def __add__(self, other: "Certificate") -> "Certificate":
        return Certificate(self.primal + other.primal, self.dual + other.dual)
