"""The memory system on its own: requests from a description or a trace, and no server around it."""

from hostnet.memory_alone.commands import check_commands, check_file
from hostnet.memory_alone.plan import plan_of
from hostnet.memory_alone.results import Latency, MemoryResult
from hostnet.memory_alone.run import memory, run_plan

__all__ = [
    "Latency",
    "MemoryResult",
    "check_commands",
    "check_file",
    "memory",
    "plan_of",
    "run_plan",
]
