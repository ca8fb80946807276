"""Text without coordinates: documents that mention a term contrasted with all others.

Documents are cut into shards on disk (`library`, `shard`), searched (`query`, `matching`,
`selection`), encoded and summed (`sums`), and compared (`null`, `contrast`); `run` is the line
through all of it.
"""

from neurowhere.contrast.contrast import Contrast
from neurowhere.contrast.query import Query
from neurowhere.contrast.run import contrast_documents, default_cache
from neurowhere.contrast.selection import ByColumn, ByTerm

__all__ = ["ByColumn", "ByTerm", "Contrast", "Query", "contrast_documents", "default_cache"]
