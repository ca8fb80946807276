"""Model: the estimator from texts to densities, what it says of a text, and models on disk."""

from neurowhere.model.algebra import add, mix, subtract
from neurowhere.model.decoding import Decoding, decode, decode_many
from neurowhere.model.encoder import Encoder
from neurowhere.model.encoding import Encoding
from neurowhere.model.schema import Summary, Support
from neurowhere.model.store import load_model, save_model
from neurowhere.model.summary import summarise
from neurowhere.model.term_maps import TermMap, iter_term_maps, parcellate_terms

__all__ = [
    "Decoding",
    "Encoder",
    "Encoding",
    "Summary",
    "Support",
    "TermMap",
    "add",
    "decode",
    "decode_many",
    "iter_term_maps",
    "load_model",
    "mix",
    "parcellate_terms",
    "save_model",
    "subtract",
    "summarise",
]
