"""hostnet simulates the network inside a server: cores, caches, memory controllers, PCIe and drives.

    import hostnet

    results = hostnet.run("server.toml")
    print(results.workloads["stream"]["throughput_gb_per_s"])

`Config` and the classes that it is made of describe a server and its workloads. `run` and `run_many` simulate
configurations, `predict` approximates the results of a simulation in less than a millisecond, and all three return
`Results`. `compare` shows how two runs differ, and `sweep` computes a configuration for every combination of some
values.

`run_cluster` simulates hosts on a network, each with its own host network. `Cluster` and its classes describe the
hosts. A controller of a host receives `Signals` and returns `Actions`; a governor receives a `Look`.

Some parts can be simulated alone: `memory` simulates a memory system, and `check_commands` checks a stream of DRAM
commands against the timing rules; `noc` simulates a network on a chip; `chip` simulates a chip whose cores read the
memory of another chip through network interfaces.

`counters` reads and writes files of hardware counters, `codec` compresses gradients, and `formula` evaluates the
published formula for the latency that queueing adds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hostnet import class_names
from hostnet._core import version as _version

if TYPE_CHECKING:
    from hostnet import codec, counters
    from hostnet._core import CheckpointError, CommandCheck, ConfigError, Look, Signals, SimulationError
    from hostnet.chips import ChipPart, ChipResults, chip
    from hostnet.class_names import *  # noqa: F403
    from hostnet.comparison import Comparison, compare
    from hostnet.explanation.formula import FormulaConstants, Inflation, cha_admission, formula
    from hostnet.memory_alone import Latency, MemoryResult, check_commands, memory
    from hostnet.noc_alone import NocLatency, NocResult, noc
    from hostnet.running.actions import Actions
    from hostnet.running.results import ClusterResults, Results
    from hostnet.running.server_results import ServerResults
    from hostnet.running.simulate import predict, run, run_cluster, run_many
    from hostnet.sweeps import SweepResults, sweep

__version__ = _version()

__all__ = [
    "Actions",
    "CheckpointError",
    "ChipPart",
    "ChipResults",
    "ClusterResults",
    "CommandCheck",
    "Comparison",
    "ConfigError",
    "FormulaConstants",
    "Inflation",
    "Latency",
    "Look",
    "MemoryResult",
    "NocLatency",
    "NocResult",
    "Results",
    "ServerResults",
    "Signals",
    "SimulationError",
    "SweepResults",
    "__version__",
    "cha_admission",
    "check_commands",
    "chip",
    "codec",
    "compare",
    "counters",
    "formula",
    "memory",
    "noc",
    "predict",
    "run",
    "run_cluster",
    "run_many",
    "sweep",
]
__all__ += class_names.__all__

_HOMES = {
    "hostnet._core": ("CheckpointError", "CommandCheck", "ConfigError", "Look", "Signals", "SimulationError"),
    "hostnet.running.actions": ("Actions",),
    "hostnet.chips": ("ChipPart", "ChipResults", "chip"),
    "hostnet.comparison": ("Comparison", "compare"),
    "hostnet.explanation.formula": ("FormulaConstants", "Inflation", "cha_admission", "formula"),
    "hostnet.memory_alone": ("Latency", "MemoryResult", "check_commands", "memory"),
    "hostnet.noc_alone": ("NocLatency", "NocResult", "noc"),
    "hostnet.running.results": ("ClusterResults", "Results"),
    "hostnet.running.server_results": ("ServerResults",),
    "hostnet.running.simulate": ("predict", "run", "run_cluster", "run_many"),
    "hostnet.sweeps": ("SweepResults", "sweep"),
}
"""Modules that define the names above, except those of `hostnet.system`. `__getattr__` imports them on first use,
because the command line needs few of them and each import takes time."""


def __getattr__(name: str) -> Any:
    """Imports a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("codec", "counters"):
        return import_module(f"hostnet.{name}")
    home = next((home for home, names in _HOMES.items() if name in names), "hostnet.system")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """Returns all public names, whether or not they have been imported."""
    return sorted({*globals(), *__all__})
