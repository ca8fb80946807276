"""Losses, each an object in a file of its own, and the table in which they are registered."""

from copy import copy
from typing import Any

from neurowhere.exceptions import FitError
from neurowhere.model.losses.likelihood import Likelihood
from neurowhere.model.losses.linear import (
    L1,
    L2,
    LabelConstrained,
    LabelsL1,
    LabelsL2,
    LabelTerms,
    LinearLoss,
    LiteralL1,
    LiteralL2,
    LiteralLabels,
    MeanMap,
)
from neurowhere.model.training import Loss
from neurowhere.text.features import WEIGHTINGS

__all__ = [
    "L1",
    "L2",
    "LOSSES",
    "LabelTerms",
    "LabelsL1",
    "LabelsL2",
    "Likelihood",
    "LinearLoss",
    "LiteralL1",
    "LiteralL2",
    "LiteralLabels",
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
        LiteralL1(),
        LiteralL2(),
        LiteralLabels(),
    )
}


def find_loss(
    loss: str,
    constraint: str | None = None,
    *,
    features: str = "tfidf",
    sharpness: float | None = None,
    intercept: bool = True,
) -> Loss:
    """Find the loss that the parameters of an encoder stand for.

    Parameters
    ----------
    loss : str
    constraint : str or None
    features : "tfidf" or "tf"
    sharpness : float or None
    intercept : bool

    Returns
    -------
    Loss

    Examples
    --------
    >>> find_loss("l2", "labels").name
    'labels'
    >>> find_loss("l2", sharpness=1.0).sharpness
    (1.0,)
    """
    asked: dict[str, Any] = {"loss": loss, "constraint": constraint}
    base = _registered(asked)
    if base is None:
        raise FitError(_expected(loss, constraint))
    usual = {"features": "tfidf", "sharpness": None, "intercept": True}
    given = {"features": features, "sharpness": sharpness, "intercept": intercept}
    options = {name: value for name, value in given.items() if value != usual[name]}
    return _registered(asked | options) or _with_options(base, options)


def _registered(parameters: dict[str, Any]) -> Loss | None:
    found = (each for each in LOSSES.values() if each.parameters == parameters)
    return next(found, None)


def _with_options(base: Loss, options: dict[str, Any]) -> Loss:
    """Return a loss like another one, but for some options."""
    if not isinstance(base, LinearLoss):
        raise FitError(f"expected l1 or l2 for {' and '.join(options)}, got loss {base.name!r}")
    if "intercept" in options and not isinstance(base, L2 | LabelConstrained):
        raise FitError(
            f"expected loss='l2' or constraint='labels' for intercept=False, got {base.name!r}"
        )
    variant = copy(base)
    if "features" in options:
        if options["features"] not in WEIGHTINGS:
            known = ", ".join(map(repr, WEIGHTINGS))
            raise FitError(f"expected features among {known}, got {options['features']!r}")
        variant.features = options["features"]
    if "sharpness" in options:
        if not options["sharpness"] > 0:
            raise FitError(f"expected a sharpness above 0, got {options['sharpness']!r}")
        variant.sharpness = (float(options["sharpness"]),)
    variant.intercept = options.get("intercept", True)
    return variant


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
    fitting = sorted({repr(each["loss"]) for each in known if each["constraint"] == constraint})
    return f"expected loss {' or '.join(fitting)} for constraint={constraint!r}, got {loss!r}"
