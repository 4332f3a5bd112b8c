"""Simulates a network on a chip without a server, with packets from a description or a trace."""

from hostnet.noc_alone.plan import resolve_settings, size_of
from hostnet.noc_alone.results import NocLatency, NocResult
from hostnet.noc_alone.run import noc, run_plan

__all__ = ["NocLatency", "NocResult", "noc", "resolve_settings", "run_plan", "size_of"]
