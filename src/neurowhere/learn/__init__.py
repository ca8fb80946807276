"""Regressors: arrays in, coefficients and certificate out."""

from neurowhere.learn.blocks import Block, LinearFit, collect
from neurowhere.learn.calibration import calibrate, mass_for, peak_levels
from neurowhere.learn.certificate import Certificate
from neurowhere.learn.design import Design
from neurowhere.learn.l1 import l1_blocks
from neurowhere.learn.labels import label_blocks
from neurowhere.learn.loglinear import (
    Schedule,
    Studies,
    fit_loglinear,
    learn_term_weights,
    reweighted,
)
from neurowhere.learn.predictor import (
    Linear,
    LogLinear,
    Predictor,
    average,
    predictor_from_arrays,
)
from neurowhere.learn.probability import (
    deviations,
    nats_above_uniform,
    softmax,
    to_probabilities,
)
from neurowhere.learn.ridge import leave_one_out_errors, ridge_blocks, target_products
from neurowhere.learn.selection import Choice, Peaks, choose, validation_split

__all__ = [
    "Block",
    "Certificate",
    "Choice",
    "Design",
    "Linear",
    "LinearFit",
    "LogLinear",
    "Peaks",
    "Predictor",
    "Schedule",
    "Studies",
    "average",
    "calibrate",
    "choose",
    "collect",
    "deviations",
    "fit_loglinear",
    "l1_blocks",
    "label_blocks",
    "learn_term_weights",
    "leave_one_out_errors",
    "mass_for",
    "nats_above_uniform",
    "peak_levels",
    "predictor_from_arrays",
    "reweighted",
    "ridge_blocks",
    "softmax",
    "target_products",
    "to_probabilities",
    "validation_split",
]
