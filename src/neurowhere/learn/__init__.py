"""Regressors: arrays in, coefficients and certificate out."""

from neurowhere.learn.closed_forms import (
    label_blocks,
    one_feature_l1,
    one_feature_l2,
    ridge_blocks,
    target_products,
)
from neurowhere.learn.exponent import Gates, Prior
from neurowhere.learn.l1 import l1_blocks
from neurowhere.learn.linear import Block, Certificate, Design, LinearFit, collect
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
    deviations,
    predictor_from_arrays,
    softmax,
    to_probabilities,
)
from neurowhere.learn.scoring import (
    LengthCalibration,
    Peaks,
    PeakScorer,
    calibrate,
    highest_density,
    mass_for,
    nats_above_uniform,
    peak_levels,
    score_studies,
)
from neurowhere.learn.selection import SHARPNESS, Choice, choose, shuffle_split

__all__ = [
    "SHARPNESS",
    "Block",
    "Certificate",
    "Choice",
    "Design",
    "Gates",
    "LengthCalibration",
    "Linear",
    "LinearFit",
    "LogLinear",
    "PeakScorer",
    "Peaks",
    "Predictor",
    "Prior",
    "Schedule",
    "Studies",
    "average",
    "calibrate",
    "choose",
    "collect",
    "deviations",
    "fit_loglinear",
    "highest_density",
    "l1_blocks",
    "label_blocks",
    "learn_term_weights",
    "mass_for",
    "nats_above_uniform",
    "one_feature_l1",
    "one_feature_l2",
    "peak_levels",
    "predictor_from_arrays",
    "reweighted",
    "ridge_blocks",
    "score_studies",
    "shuffle_split",
    "softmax",
    "target_products",
    "to_probabilities",
]
