"""Sweeps: a configuration under every combination of some values."""

from hostnet.sweeps.api import SweepResults, sweep

__all__ = ["SweepResults", "sweep"]
