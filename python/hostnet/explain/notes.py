"""The notes of a page: they say what the page leaves out, or that a name covers more than it seems."""

from __future__ import annotations

CORES = "C2M"
"""Name of all cores together if their workloads are not known."""

NOT_PREDICTED = "what would help is not predicted: predictions do not cover {what} yet; hostnet explain simulates it"
"""Stands on a page in place of what would help."""

NOT_RAISED = "not tried, to save time: {what}; --confirm tries them all"
"""Stands on a page whose limits were raised in short simulations."""

NOT_TRIED = "--confirm also simulates placements that avoid crossing sockets"
"""Stands on a page where data of devices cross sockets."""

NOT_OF_HOSTS = "what would help is shown for single servers only; sweep a key of this host, or see the table limits"
"""Stands on the page of a host in place of what would help."""

DEVICES = "drives means all devices: on a networked host, its NIC too"
"""Stands on the page of a host that speaks of drives."""

LENT = (
    "reads and writes by other servers in memory that this one lends hold none of its credits; the table memory has "
    "their throughput"
)
"""Stands on the page of a server that lends memory."""

OF_OTHER_SOCKETS = (
    "the latency breakdown is that of the cores of this socket: waits of other sockets' lines at UPI are not broken "
    "out and count as CHA admission or not explained"
)
"""Stands on the page of a server whose memory cores of other sockets use."""
