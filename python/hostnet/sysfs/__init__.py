"""Drafts the frequencies and the sleep of cores from what Linux and turbostat say of a machine."""

from hostnet.sysfs.draft import power_table
from hostnet.sysfs.tree import Cores, State, read_cores
from hostnet.sysfs.turbostat import Measured, read_turbostat

__all__ = ["Cores", "Measured", "State", "power_table", "read_cores", "read_turbostat"]
