"""Sweeps: a configuration under every combination of some values."""

from hostnet.sweep.api import SweepResults, sweep

__all__ = ["SweepResults", "sweep"]
