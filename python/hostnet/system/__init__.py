"""Descriptions of servers and of what runs on them, with the same names as in configuration files."""

from hostnet.system.config import Config
from hostnet.system.host import Cha, Core, Lfb, Run, Server, Tor
from hostnet.system.io import FioCosts, Iio, Pcie, Ssd
from hostnet.system.memory import AddressMap, Controller, Dram, Memory, ReadQueue, Timing, WriteQueue
from hostnet.system.workload import Fio, FioJob, Stream

__all__ = [
    "AddressMap",
    "Cha",
    "Config",
    "Controller",
    "Core",
    "Dram",
    "Fio",
    "FioCosts",
    "FioJob",
    "Iio",
    "Lfb",
    "Memory",
    "Pcie",
    "ReadQueue",
    "Run",
    "Server",
    "Ssd",
    "Stream",
    "Timing",
    "Tor",
    "WriteQueue",
]
