"""Text without coordinates: documents that mention a term contrasted with all others.

Documents are cut into shards on disk (`library`, `shard`), searched (`selection`, `matching`),
encoded and summed (`shard`), compared and held against chance (`contrast`); `run` is the line
through all of it.
"""

from neurowhere.contrast.contrast import Contrast
from neurowhere.contrast.run import contrast_documents, default_cache
from neurowhere.contrast.selection import ByColumn, ByTerm, Query

__all__ = ["ByColumn", "ByTerm", "Contrast", "Query", "contrast_documents", "default_cache"]
