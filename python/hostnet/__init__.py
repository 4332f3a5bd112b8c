"""hostnet simulates the network inside a server: cores, caches, memory controllers, PCIe and drives.

    import hostnet

    results = hostnet.run("server.toml")
    print(results.workloads["stream"]["throughput_gb_per_s"])

`Config` and the classes that it is made of describe a server and its workloads. `run` and `run_many` simulate
configurations, `predict` approximates the results of a simulation in less than a millisecond, and all three return
`Results`. `explain` says what limits a run and what would help, `compare` shows how two runs differ, and `sweep`
computes a configuration for every combination of some values.

`curve` measures latency under load, `whatif` compares attachments of the NIC, `calibrate` fits a server to
measurements, and `validate` compares simulated with published results. All functions have the names and the options of
the commands. Notebooks show what they return, and a progress bar while they run.

`run_cluster` simulates hosts on a network, each with its own host network. `Cluster` and its classes describe the
hosts. A controller of a host receives `Signals` and returns `Actions`; a governor receives a `Look`, a tiering policy
`Pages`.

Some parts can be simulated alone: `memory` simulates a memory system, and `check_commands` checks a stream of DRAM
commands against the timing rules; `noc` simulates a network on a chip; `chip` simulates a chip whose cores read the
memory of another chip through network interfaces.

`counters` reads and writes files of hardware counters, `codec` compresses gradients, and `formula` evaluates the
published formula for the latency that queueing adds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hostnet import class_names
from hostnet._core import missing_instructions as _missing_instructions
from hostnet._core import version as _version

if TYPE_CHECKING:
    from hostnet import codec, counters
    from hostnet._core import CheckpointError, CommandCheck, ConfigError, Look, Pages, Signals, SimulationError
    from hostnet.attachments.api import whatif
    from hostnet.attachments.results import WhatIfResults
    from hostnet.calibration import Calibration, calibrate
    from hostnet.chips import ChipPart, ChipResults, chip
    from hostnet.class_names import *  # noqa: F403
    from hostnet.comparison import Comparison, compare
    from hostnet.curves.api import curve
    from hostnet.curves.results import CurveResults, MatrixResults
    from hostnet.explanation.api import explain
    from hostnet.explanation.formula import FormulaConstants, Inflation, cha_admission, formula
    from hostnet.ledger.api import validate
    from hostnet.ledger.validate import Ledger
    from hostnet.memory_alone import Latency, MemoryResult, check_commands, memory
    from hostnet.noc_alone import NocLatency, NocResult, noc
    from hostnet.running.actions import Actions
    from hostnet.running.results import ClusterResults, Results
    from hostnet.running.server_results import ServerResults
    from hostnet.running.simulate import predict, run, run_cluster, run_many
    from hostnet.sweeps import SweepResults, sweep

__version__ = _version()

if _missing := _missing_instructions():
    from hostnet.processor import guard_imports

    guard_imports(_missing)

__all__ = [
    "Actions",
    "Calibration",
    "CheckpointError",
    "ChipPart",
    "ChipResults",
    "ClusterResults",
    "CommandCheck",
    "Comparison",
    "ConfigError",
    "CurveResults",
    "FormulaConstants",
    "Inflation",
    "Latency",
    "Ledger",
    "Look",
    "MatrixResults",
    "MemoryResult",
    "NocLatency",
    "NocResult",
    "Pages",
    "Results",
    "ServerResults",
    "Signals",
    "SimulationError",
    "SweepResults",
    "WhatIfResults",
    "__version__",
    "calibrate",
    "cha_admission",
    "check_commands",
    "chip",
    "codec",
    "compare",
    "counters",
    "curve",
    "explain",
    "formula",
    "memory",
    "noc",
    "predict",
    "run",
    "run_cluster",
    "run_many",
    "sweep",
    "validate",
    "whatif",
]
__all__ += class_names.__all__

_HOMES = {
    "hostnet._core": ("CheckpointError", "CommandCheck", "ConfigError", "Look", "Pages", "Signals", "SimulationError"),
    "hostnet.running.actions": ("Actions",),
    "hostnet.attachments.api": ("whatif",),
    "hostnet.attachments.results": ("WhatIfResults",),
    "hostnet.calibration": ("Calibration", "calibrate"),
    "hostnet.chips": ("ChipPart", "ChipResults", "chip"),
    "hostnet.comparison": ("Comparison", "compare"),
    "hostnet.curves.api": ("curve",),
    "hostnet.curves.results": ("CurveResults", "MatrixResults"),
    "hostnet.explanation.api": ("explain",),
    "hostnet.explanation.formula": ("FormulaConstants", "Inflation", "cha_admission", "formula"),
    "hostnet.ledger.api": ("validate",),
    "hostnet.ledger.validate": ("Ledger",),
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
