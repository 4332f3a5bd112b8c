"""Chips of tiles with network interfaces: their configurations, runs and results."""

from hostnet.chips.results import ChipPart, ChipResults
from hostnet.chips.run import chip, chip_plan, run_chip_plan
from hostnet.chips.why import Trial, Why, why_chip

__all__ = ["ChipPart", "ChipResults", "Trial", "Why", "chip", "chip_plan", "run_chip_plan", "why_chip"]
