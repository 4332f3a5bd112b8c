"""Sweeps: computes a configuration for every combination of parameter values."""

from hostnet.sweeps.api import SweepResults, sweep

__all__ = ["SweepResults", "sweep"]
