"""Descriptions of servers and of what runs on them, with the same names as in configuration files."""

from hostnet.system.cache import L2, Cache, Ddio, Llc, Prefetch, SnoopFilter
from hostnet.system.config import Config
from hostnet.system.host import Cha, Core, Lfb, Run, Server, Tor
from hostnet.system.io import FioCosts, Iio, Pcie, Ssd
from hostnet.system.memory import AddressMap, Controller, Dram, Memory, ReadQueue, Timing, WriteQueue
from hostnet.system.network import Control, Nic, NicLink, Pfc, Remote, RemoteStream, Stack, Upi
from hostnet.system.workload import App, AppInstructions, AppLayout, Fio, FioJob, Stream

__all__ = [
    "L2",
    "AddressMap",
    "App",
    "AppInstructions",
    "AppLayout",
    "Cache",
    "Cha",
    "Config",
    "Control",
    "Controller",
    "Core",
    "Ddio",
    "Dram",
    "Fio",
    "FioCosts",
    "FioJob",
    "Iio",
    "Lfb",
    "Llc",
    "Memory",
    "Nic",
    "NicLink",
    "Pcie",
    "Pfc",
    "Prefetch",
    "ReadQueue",
    "Remote",
    "RemoteStream",
    "Run",
    "Server",
    "SnoopFilter",
    "Ssd",
    "Stack",
    "Stream",
    "Timing",
    "Tor",
    "Upi",
    "WriteQueue",
]
