"""What differs between two runs: their configuration, their results, and the first event in which they part."""

from hostnet.comparison.differences import KeyDifference, ResultDifference, config_differences, result_differences
from hostnet.comparison.events import part
from hostnet.comparison.sides import Side, read_side, side_of
from hostnet.comparison.two import Comparison, compare

__all__ = [
    "Comparison",
    "KeyDifference",
    "ResultDifference",
    "Side",
    "compare",
    "config_differences",
    "part",
    "read_side",
    "result_differences",
    "side_of",
]
