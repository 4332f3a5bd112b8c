"""Chips of tiles with network interfaces: their configurations, runs and results."""

from hostnet.chips.results import ChipPart, ChipResults
from hostnet.chips.run import chip, chip_plan, run_chip_plan

__all__ = ["ChipPart", "ChipResults", "chip", "chip_plan", "run_chip_plan"]
