"""Cross-validation, the metric on held-out studies, and the comparison of models."""

from neurowhere.evaluate.benchmark import Benchmark, benchmark
from neurowhere.evaluate.compare import Comparison, compare
from neurowhere.evaluate.problem import Candidate
from neurowhere.evaluate.summary import Difference, paired_difference, summarise
from neurowhere.evaluate.trial import total_variation
from neurowhere.learn import shuffle_split

__all__ = [
    "Benchmark",
    "Candidate",
    "Comparison",
    "Difference",
    "benchmark",
    "compare",
    "paired_difference",
    "shuffle_split",
    "summarise",
    "total_variation",
]
