"""Text without coordinates: documents about a term, contrasted with what is expected of their kind.

Documents are cut into shards on disk (`library`, `shard`) and searched (`selection`, `matching`).
What they have in common is worked out once (`covariates`, `background`), and groups are held
against it (`regression`, `contrast`); `run` is the line through all of it.
"""

from neurowhere.contrast.contrast import Contrast
from neurowhere.contrast.run import contrast_documents, default_cache
from neurowhere.contrast.selection import ByColumn, ByTerm, Query

__all__ = [
    "ByColumn",
    "ByTerm",
    "Contrast",
    "Query",
    "contrast_documents",
    "default_cache",
]
