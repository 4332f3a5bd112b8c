"""A whole cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from hostnet import _core
from hostnet.files import parse_toml, read_config
from hostnet.running.arguments import json_of
from hostnet.system.convert import from_dict, to_dict
from hostnet.system.description import Description
from hostnet.system.fabric import Cable, Network, Switch
from hostnet.system.host import Run
from hostnet.system.jobs import Job
from hostnet.system.mcn import Mcn
from hostnet.system.network import Compress
from hostnet.system.parts import Parts
from hostnet.system.traffic import Flow, Transport


@dataclass(frozen=True, kw_only=True, repr=False)
class Host(Parts):
    """A host: a server with all of its parts, on a DIMM or not, or an endpoint without a host network."""

    kind: str | None = None
    """What it is made of: "server" (with its host network), "endpoint" (transports at the end of a cable: no NIC, no
    cores, no memory) or "dimm" (a server on a DIMM in a memory slot of another one: no NIC, but rings that the other
    can reach); "server" when absent.
    """
    preset: str | None = None
    """The server that its values start from."""
    sockets: int | None = None
    """Of a server: its sockets; those of its preset when absent, 1 without one. Range: 1 to 8."""
    count: int | None = None
    """How many hosts there are like this one; 1 when absent. Above 1 they are named NAME-0, NAME-1 ..., and NAME means
    all of them. Range: 1 to 16384.
    """
    at: str | Sequence[str] | None = None
    """In a topology of many switches: the switch that it is cabled to, or one for each of its hosts; the first with a
    free port when absent.
    """
    fidelity: str | None = None
    """How finely a server is simulated: "line" (line by line), "burst" (several lines at a time, as many as a TLP has)
    or "fluid" (packet by packet over a memory system that has rates); "line" when absent.
    """
    on: str | None = None
    """Of a DIMM: the host in whose memory slots it is."""
    channels: str | None = None
    """Of a DIMM: the memory channel of that host, or several, which those like it are in in turn, such as "0-1"; all
    when absent.
    """
    mcn: Mcn | None = None
    """Of a server with DIMMs in its slots: how they talk."""
    latency: str | None = None
    """Of an endpoint: from the last bit of a packet to its transport, and from the transport to the port, each (time);
    "1 us" when absent. Range: "1 ps" to "1 s".
    """
    queue: int | None = None
    """Of an endpoint: packets queued at its port at most, while its transports wait for room; 64 when absent.

    Range: 1 to 1000000.
    """
    compress: Compress | None = None
    """Of an endpoint: engines that make the data of packets smaller. A server has it as `nic.compress`."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cluster(Description):
    """Hosts, what joins them, what they send, and for how long: the content of a configuration file.

    Values with units are strings such as "100 Gbps", "5 us" or "4000 B". What is None comes from the preset of a host,
    from the network, or from the base of a transport. Values are checked when the configuration is run.
    """

    host: Mapping[str, Host]
    """The hosts, by name."""
    network: Network = Network()
    """What cables and switches are like, and, when there are no cables, how hosts are joined."""
    switch: Mapping[str, Switch] = field(default_factory=dict)
    """Switches, by name."""
    cable: Mapping[str, Cable] = field(default_factory=dict)
    """Cables, by name."""
    transport: Mapping[str, Transport] = field(default_factory=dict)
    """Transports, by name. "dctcp", "cubic", "reno", "roce" and "dcqcn" are there; one of that name changes it."""
    flow: Mapping[str, Flow] = field(default_factory=dict)
    """What is sent, by name."""
    job: Mapping[str, Job] = field(default_factory=dict)
    """Programs of ranks, by name."""
    run: Run = Run()
    """How long to simulate."""
    base_dir: str = "."
    """The folder that relative paths of captures and job files start from. It is not part of the file."""

    def to_dict(self) -> dict[str, Any]:
        """The configuration as nested dicts with the keys of the file; what is None is left out."""
        content: dict[str, Any] = to_dict(self)
        del content["base_dir"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], base_dir: str = ".") -> Cluster:
        """Makes a configuration of nested dicts with the keys of the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong.
        """
        _core.resolve(json_of(content, "cluster"), format="json", file="cluster", base_dir=base_dir)
        return from_dict(cls, {**content, "base_dir": base_dir})

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Cluster:
        """Reads a configuration file. A run without a name is named after the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong; the message gives the line.
            OSError: The file cannot be read.
        """
        file = Path(path)
        text = read_config(file)
        plan = _core.resolve(text, file=str(path), base_dir=str(file.parent))
        cluster = from_dict(cls, {**parse_toml(text, file), "base_dir": str(file.parent)})
        return replace(cluster, run=replace(cluster.run, name=plan.name))
