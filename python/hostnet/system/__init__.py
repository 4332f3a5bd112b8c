# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Descriptions of servers, clusters and their workloads, with the same names as in configuration files."""

from hostnet.system.cache import L2, Cache, Ddio, Llc, Prefetch, SnoopFilter
from hostnet.system.chiplets import Chiplets
from hostnet.system.cluster import Cluster, Host
from hostnet.system.config import Config
from hostnet.system.die import Die
from hostnet.system.dimm import DimmAsync, DimmDriver, NCache, NicDimm, RowClone
from hostnet.system.energy import Energy
from hostnet.system.expander import Expander
from hostnet.system.fabric import Bottleneck, Cable, Network, Ramp, ScaleUp, Switch, SwitchEnergy, Trunk
from hostnet.system.host import Cha, Core, Lfb, Run, Server, Tor
from hostnet.system.io import DmaDevice, FioCosts, Iio, Iommu, Iotlb, Pcie, Ssd
from hostnet.system.jobs import Job, JobCompute, JobStep, Transformer
from hostnet.system.mcn import Mcn
from hostnet.system.memory import AddressMap, Controller, Dram, Memory, ReadQueue, Timing, WriteQueue
from hostnet.system.network import Control, Remote, Sockets, Stack, Upi
from hostnet.system.nic import Compress, CxlLink, Nic, NicFunction, NicLink, OnChip, Pfc
from hostnet.system.parts import Socket
from hostnet.system.pool import Pool, PoolPrefetch
from hostnet.system.power import CState, DynamicPower, Governor, Ncap, Power, PState, PStateRange, StaticPower
from hostnet.system.traffic import Flow, Move, OtherRequests, Service, ServiceIo, SizePoint, Transport
from hostnet.system.workload import App, AppInstructions, AppLayout, Dma, Fio, FioJob, RemoteStream, Stream, Tiering

__all__ = [
    "L2",
    "AddressMap",
    "App",
    "AppInstructions",
    "AppLayout",
    "Bottleneck",
    "CState",
    "Cable",
    "Cache",
    "Cha",
    "Chiplets",
    "Cluster",
    "Compress",
    "Config",
    "Control",
    "Controller",
    "Core",
    "CxlLink",
    "Ddio",
    "Die",
    "DimmAsync",
    "DimmDriver",
    "Dma",
    "DmaDevice",
    "Dram",
    "DynamicPower",
    "Energy",
    "Expander",
    "Fio",
    "FioCosts",
    "FioJob",
    "Flow",
    "Governor",
    "Host",
    "Iio",
    "Iommu",
    "Iotlb",
    "Job",
    "JobCompute",
    "JobStep",
    "Lfb",
    "Llc",
    "Mcn",
    "Memory",
    "Move",
    "NCache",
    "Ncap",
    "Network",
    "Nic",
    "NicDimm",
    "NicFunction",
    "NicLink",
    "OnChip",
    "OtherRequests",
    "PState",
    "PStateRange",
    "Pcie",
    "Pfc",
    "Pool",
    "PoolPrefetch",
    "Power",
    "Prefetch",
    "Ramp",
    "ReadQueue",
    "Remote",
    "RemoteStream",
    "RowClone",
    "Run",
    "ScaleUp",
    "Server",
    "Service",
    "ServiceIo",
    "SizePoint",
    "SnoopFilter",
    "Socket",
    "Sockets",
    "Ssd",
    "Stack",
    "StaticPower",
    "Stream",
    "Switch",
    "SwitchEnergy",
    "Tiering",
    "Timing",
    "Tor",
    "Transformer",
    "Transport",
    "Trunk",
    "Upi",
    "WriteQueue",
]
