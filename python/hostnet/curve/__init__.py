"""The loaded-latency curve of a server: bandwidth against read latency, as users of Intel MLC know it."""

from hostnet.curve.files import content_of, write_curve
from hostnet.curve.points import Point, Setting, measure, parse_reads

__all__ = ["Point", "Setting", "content_of", "measure", "parse_reads", "write_curve"]
