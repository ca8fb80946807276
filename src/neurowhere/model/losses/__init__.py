"""Losses, each an object in a file of its own, and the table in which they are registered."""

from neurowhere.exceptions import FitError
from neurowhere.model.losses.likelihood import Likelihood
from neurowhere.model.losses.linear import (
    L1,
    L2,
    LabelsL1,
    LabelsL2,
    LabelTerms,
    LinearLoss,
    MeanMap,
)
from neurowhere.model.training import Loss

__all__ = [
    "L1",
    "L2",
    "LOSSES",
    "LabelTerms",
    "LabelsL1",
    "LabelsL2",
    "Likelihood",
    "LinearLoss",
    "Loss",
    "MeanMap",
    "find_loss",
]

# Every loss that an encoder or a comparison can be asked for, by name. A new one is one more line.
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        L1(),
        L2(),
        Likelihood(),
        LabelsL2(),
        LabelsL1(),
    )
}


def find_loss(loss: str, constraint: str | None = None) -> Loss:
    """Find the loss that the parameters of an encoder stand for.

    Parameters
    ----------
    loss : str
    constraint : str or None

    Returns
    -------
    Loss

    Examples
    --------
    >>> find_loss("l2", "labels").name
    'labels'
    """
    for each in LOSSES.values():
        if each.parameters == {"loss": loss, "constraint": constraint}:
            return each
    raise FitError(_expected(loss, constraint))


def _expected(loss: str, constraint: str | None) -> str:
    """Say what was expected in place of parameters that stand for no loss."""
    known = [each.parameters for each in LOSSES.values()]
    losses, constraints = (
        list(dict.fromkeys(repr(each[name]) for each in known)) for name in ("loss", "constraint")
    )
    if repr(loss) not in losses:
        return f"expected loss among {', '.join(losses)}, got {loss!r}"
    if repr(constraint) not in constraints:
        return f"expected constraint among {', '.join(constraints)}, got {constraint!r}"
    fitting = sorted(repr(each["loss"]) for each in known if each["constraint"] == constraint)
    return f"expected loss {' or '.join(fitting)} for constraint={constraint!r}, got {loss!r}"
