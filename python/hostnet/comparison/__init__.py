"""Compares two runs: their configurations, their results, and the first event that differs."""

from hostnet.comparison.compare_runs import Comparison, compare
from hostnet.comparison.differences import KeyDifference, ResultDifference, config_differences, result_differences
from hostnet.comparison.events import find_divergence
from hostnet.comparison.sides import Side, read_side, side_of

__all__ = [
    "Comparison",
    "KeyDifference",
    "ResultDifference",
    "Side",
    "compare",
    "config_differences",
    "find_divergence",
    "read_side",
    "result_differences",
    "side_of",
]
