"""Model: the estimator from texts to densities, what it says of a text, and models on disk."""

from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding, Support, TermMap
from neurowhere.model.store import load_model, save_model

__all__ = ["Encoder", "Encoding", "Support", "TermMap", "load_model", "save_model"]
