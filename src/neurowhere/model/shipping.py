"""Shipping: an encoder made of what the recipe has fitted."""

from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from neurowhere.learn import Choice, LengthCalibration
from neurowhere.model.encoder import Encoder
from neurowhere.model.kinds import Fit
from neurowhere.model.neighbours import Neighbours
from neurowhere.text import TermExtractor


def to_encoder(
    fit: Fit, choice: Choice, calibration: LengthCalibration, rows: NDArray[np.intp]
) -> Encoder:
    """Make an encoder that reads texts and predicts as a fit does.

    Parameters
    ----------
    fit : Fit
    choice : Choice
    calibration : LengthCalibration
    rows : array of int
        Studies that it was fitted to; those close to a text can be found.

    Returns
    -------
    Encoder
    """
    material = fit.material
    model = Encoder(material.grid, "likelihood", vocabulary=material.vocabulary, min_studies=0)
    model.partition_ = model.brain_ = material.grid
    model.vocabulary_ = material.vocabulary
    model.extractor_ = TermExtractor(material.vocabulary, nested=True)
    model.weighting_, model.predictor_ = fit.weighting, fit.predictor
    model.choice_, model.certificate_, model.calibration_ = choice, None, calibration
    projections = fit.predictor.project(fit.weighting.transform(material.counts[rows]))
    ids = material.corpus.documents["id"].to_numpy(dtype=str)[rows]
    model.neighbours_ = Neighbours.from_projections(ids, projections)
    model.training_ = {
        "studies": len(rows),
        "peaks": int(np.isin(material.targets.study, rows).sum()),
        "articles": int(np.isin(material.articles.study, rows).sum()),
        "texts_without_coordinates": int(material.bodies[0].shape[0]),
        "names_of_places": 0 if fit.predictor.prior is None else len(fit.predictor.prior.terms),
        "origin": material.corpus.origin,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("neurowhere"),
    }
    return model
