"""Notes of a page: what it omits, and names that cover more than they suggest."""

from __future__ import annotations

CORES = "C2M"
"""Name of all cores together if their workloads are unknown."""

NOT_PREDICTED = "what would help is not predicted: predictions do not cover {what} yet; hostnet explain simulates it"
"""Replaces the remedies on a page of a server that predictions do not cover."""

NOT_TRIED_WITH_GUEST = (
    "what would help was not tried: each simulation would need {what}, which is part of the run alone"
)
"""Replaces the remedies on a page of a server with a controller, a governor or a tiering policy of the user's."""

NOT_RAISED = "not tried, to save time: {what}; --confirm tries them all"
"""Note on a page whose limits were raised in short simulations."""

NOT_TRIED = "--confirm also simulates placements that avoid crossing sockets"
"""Note on a page where data of devices cross sockets."""

NOT_OF_HOSTS = "what would help is shown for single servers only; sweep a key of this host, or see the table limits"
"""Replaces the remedies on the page of a host."""

DEVICES = "drives means all devices: on a networked host, its NIC too"
"""Note on the page of a host that mentions drives."""

LENT = (
    "reads and writes by other servers in memory that this one lends hold none of its credits; the table memory has "
    "their throughput"
)
"""Note on the page of a server that lends memory."""

OF_OTHER_SOCKETS = (
    "the latency breakdown is that of the cores of this socket: waits of other sockets' lines at UPI are not broken "
    "out and count as CHA admission or not explained"
)
"""Note on the page of a server whose memory is used by cores of other sockets."""
