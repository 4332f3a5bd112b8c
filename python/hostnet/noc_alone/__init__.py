"""The network on a chip on its own: packets from a description or a trace, and no server around it."""

from hostnet.noc_alone.plan import plan_of, size_of
from hostnet.noc_alone.results import NocLatency, NocResult
from hostnet.noc_alone.run import noc, run_plan

__all__ = ["NocLatency", "NocResult", "noc", "plan_of", "run_plan", "size_of"]
