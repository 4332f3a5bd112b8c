"""Drafts the frequencies and sleep states of cores from Linux sysfs and turbostat."""

from hostnet.sysfs.draft import power_table
from hostnet.sysfs.tree import CoreProperties, IdleState, read_cores
from hostnet.sysfs.turbostat import TurbostatMeans, read_turbostat

__all__ = ["CoreProperties", "IdleState", "TurbostatMeans", "power_table", "read_cores", "read_turbostat"]
