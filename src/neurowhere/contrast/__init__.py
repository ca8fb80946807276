"""Text without coordinates: documents about a term, contrasted with what is expected of their kind.

One line, which `run` goes through: documents are cut into shards on disk (`library`, `shard`) and
selected (`query`, `selection`); their kind is worked out once (`covariates`), with what all of them
say (`background`); groups are held against that (`regression`, or `controls`), tested, and told
(`contrast`).
"""

from neurowhere.contrast.contrast import Contrast
from neurowhere.contrast.query import Query
from neurowhere.contrast.run import contrast_documents, default_cache
from neurowhere.contrast.selection import ByColumn, ByTerm

__all__ = [
    "ByColumn",
    "ByTerm",
    "Contrast",
    "Query",
    "contrast_documents",
    "default_cache",
]
