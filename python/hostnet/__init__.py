"""hostnet simulates the network inside a server: cores, caches, memory controllers, PCIe and drives.

    import hostnet

    results = hostnet.run("server.toml")
    print(results.workloads["stream"]["throughput_gb_per_s"])

`Config` and the classes it is made of describe a server and what runs on it; `run` and `run_many` simulate it, and
`predict` tells in less than a millisecond about what they would measure; `Results` holds it. `compare` shows what
differs between two runs, and `sweep` computes a configuration under every combination of some values. `memory`
simulates the memory system on its own, and `check_commands` checks a stream of DRAM commands; `noc` simulates the
network on a chip on its own. `counters` reads and writes files of hardware counters, and `codec` compresses gradients.
`run_cluster` simulates hosts on a network, each with its own host network; `Cluster` and its classes describe them,
`Signals` and `Actions` are what controllers of the hosts see and answer, and `Look` is what governors of one's own see.
`formula` is the published formula for what queueing adds to latencies. `chip` simulates a chip whose cores read the
memory of another one through network interfaces.
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
    from hostnet.explain.formula import FormulaConstants, Inflation, cha_admission, formula
    from hostnet.memory_alone import Latency, MemoryResult, check_commands, memory
    from hostnet.noc_alone import NocLatency, NocResult, noc
    from hostnet.running.actions import Actions
    from hostnet.running.results import ClusterResults, Results, ServerResults
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
    "hostnet.explain.formula": ("FormulaConstants", "Inflation", "cha_admission", "formula"),
    "hostnet.memory_alone": ("Latency", "MemoryResult", "check_commands", "memory"),
    "hostnet.noc_alone": ("NocLatency", "NocResult", "noc"),
    "hostnet.running.results": ("ClusterResults", "Results", "ServerResults"),
    "hostnet.running.simulate": ("predict", "run", "run_cluster", "run_many"),
    "hostnet.sweeps": ("SweepResults", "sweep"),
}
"""Where the names above live, those of `hostnet.system` aside. They are loaded when they are asked for: the command
line needs few of them, and each takes its time."""


def __getattr__(name: str) -> Any:
    """Loads a name when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("codec", "counters"):
        return import_module(f"hostnet.{name}")
    home = next((home for home, names in _HOMES.items() if name in names), "hostnet.system")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """Every name, loaded or not."""
    return sorted({*globals(), *__all__})
