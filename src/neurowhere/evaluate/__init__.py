"""Cross-validation, the metric on held-out studies, and the comparison of models."""

from neurowhere.evaluate.benchmark import Benchmark, benchmark
from neurowhere.evaluate.compare import Comparison, compare
from neurowhere.evaluate.metrics import total_variation
from neurowhere.evaluate.protocol import Protocol, words_of
from neurowhere.evaluate.scores import Difference, paired_difference, summarise
from neurowhere.evaluate.studies import StudyList
from neurowhere.evaluate.trial import Candidate
from neurowhere.learn import shuffle_split

__all__ = [
    "Benchmark",
    "Candidate",
    "Comparison",
    "Difference",
    "Protocol",
    "StudyList",
    "benchmark",
    "compare",
    "paired_difference",
    "shuffle_split",
    "summarise",
    "total_variation",
    "words_of",
]
