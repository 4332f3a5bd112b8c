"""The notes of a page: sentences that stand where something is not told, or is told of more than its name says."""

from __future__ import annotations

CORES = "C2M"
"""What all cores together are called where their workloads are not known."""

NOT_PREDICTED = "what would help is predicted, and predictions do not cover {what} yet; hostnet explain simulates it"
"""Stands on a page in place of what would help."""

NOT_RAISED = "raised in no simulation, for the time it takes: {what}; --confirm does"
"""Stands on a page whose limits were raised in short simulations."""

NOT_TRIED = "--confirm simulates other placements of what crosses sockets"
"""Stands on a page where data of devices cross sockets."""

NOT_OF_HOSTS = "what would help is told of single servers; sweep a key of this host, or see the table limits"
"""Stands on the page of a host in place of what would help."""

DEVICES = "drives stands for all devices: of a host on a network its NIC too"
"""Stands on the page of every host."""

LIMITED = "{class} is limited by {limit}: {why}"
"""Stands on the page of the host that is the place of the limit of a class of traffic, or an end of that place."""

LENT = (
    "what other servers read and write in memory that this one lends holds none of its credits; the table memory says "
    "how much that is"
)
"""Stands on the page of a server that lends memory."""

OF_OTHER_SOCKETS = (
    "the parts of the latency are those of cores of this socket: what lines of other sockets wait for at UPI is not "
    "told apart, and is in CHA admission and in what is not explained"
)
"""Stands on the page of a server whose memory cores of other sockets use."""
