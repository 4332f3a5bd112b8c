"""Loaded-latency curves of a server: read latency over bandwidth, as Intel MLC measures them."""

from hostnet.curves.files import content_of, write_curve
from hostnet.curves.matrix import Pair, matrix_of, measure_matrix, write_matrix
from hostnet.curves.points import Point, Setting, measure, parse_reads

__all__ = [
    "Pair",
    "Point",
    "Setting",
    "content_of",
    "matrix_of",
    "measure",
    "measure_matrix",
    "parse_reads",
    "write_curve",
    "write_matrix",
]
