"""Configurations, runs and results of chips: tiles with network interfaces."""

from hostnet.chips.explanation import ChipExplanation, Trial, try_changes
from hostnet.chips.results import ChipPart, ChipResults
from hostnet.chips.run import chip, chip_plan, run_chip_plan

__all__ = ["ChipExplanation", "ChipPart", "ChipResults", "Trial", "chip", "chip_plan", "run_chip_plan", "try_changes"]
