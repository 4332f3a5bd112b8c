"""Keeps packages that this processor cannot run from ending the process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

from hostnet.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

TRIALS = {"numpy": "import numpy; numpy.ones((2, 2)) @ numpy.ones((2, 2))", "pyarrow": "import pyarrow"}
"""Packages whose wheels use instructions that old processors lack, and code that needs those instructions: matrix
products of NumPy need more of them than its import. The later packages can do without the earlier."""


class UnfitPackageError(ConfigError, ImportError):
    """Raised if a package cannot run on this processor; the message says which instructions it may need."""


class ProcessorGuard(MetaPathFinder):
    """Import hook that tries a package in a process of its own before this process imports it."""

    def __init__(self, missing: Sequence[str]) -> None:
        """Creates the guard for a processor that lacks the given instruction sets."""
        self.missing = missing
        self.survived: dict[str, bool] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Returns None, so that the next finder finds the module.

        Raises:
            UnfitPackageError: The package ended the process in which it was tried.
        """
        del path, target
        if name not in TRIALS:
            return
        for package in list(TRIALS)[: list(TRIALS).index(name) + 1]:
            if package not in self.survived:
                unfit = [earlier for earlier, survived in self.survived.items() if not survived]
                self.survived[package] = survives(TRIALS[package], unfit)
        if not self.survived[name]:
            raise UnfitPackageError(
                "missing-package",
                f"{name}: cannot run on this processor, which lacks {', '.join(self.missing)}; "
                f"build it here: pip install --force-reinstall --no-binary {name} {name}",
            )


def survives(trial: str, without: Sequence[str] = ()) -> bool:
    """Returns False if code ends a process of its own by a signal. Modules in `without` count as missing there."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", f"import sys; sys.modules.update(dict.fromkeys({list(without)})); {trial}"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode >= 0


def guard_imports(missing: Sequence[str]) -> None:
    """Guards the import of compiled packages on a processor that lacks instruction sets."""
    sys.meta_path.insert(0, ProcessorGuard(missing))
