"""Simulates a memory system without a server, with requests from a description or a trace."""

from hostnet.memory_alone.commands import check_commands, check_file
from hostnet.memory_alone.plan import resolve_settings
from hostnet.memory_alone.results import Latency, MemoryResult
from hostnet.memory_alone.run import memory, run_plan

__all__ = [
    "Latency",
    "MemoryResult",
    "check_commands",
    "check_file",
    "memory",
    "resolve_settings",
    "run_plan",
]
