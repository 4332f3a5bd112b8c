"""Drafts a server file from the topology that `lstopo --of xml` writes."""

from hostnet.hwloc.draft import Draft, draft
from hostnet.hwloc.reader import read_topology
from hostnet.hwloc.text import text_of
from hostnet.hwloc.topology import BareNode, Drive, Nic, Package, Topology, TopologyError

__all__ = [
    "BareNode",
    "Draft",
    "Drive",
    "Nic",
    "Package",
    "Topology",
    "TopologyError",
    "draft",
    "read_topology",
    "text_of",
]
