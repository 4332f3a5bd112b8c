"""A process that has imported the command, and forks for each of its runs.

The imports take more CPU time than most runs of the tests: 0.7 s of 0.9 s.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent

IMPORTED_LATE = (
    "numpy",
    "pandas",
    "pyarrow",
    "pyarrow.parquet",
    "rich.console",
    "rich.table",
    "rich.progress",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "PIL.PngImagePlugin",
)
"""Libraries and parts of them that the command imports lazily."""


class Zygote:
    """A client of the process that forks: it requests runs of the command, one after another."""

    def __init__(self) -> None:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        # A module run as a program would appear in the command's messages under its own name.
        program = [sys.executable, "-c", "from tests.zygote import serve; serve()"]
        self._process = subprocess.Popen(program, cwd=ROOT, **pipes)

    def run(self, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs the command in a folder, with the environment of the tests."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        outputs = [folder.parent / f"{folder.name}.{name}" for name in ("stdout", "stderr")]
        wanted = [list(arguments), str(folder), dict(os.environ), *map(str, outputs)]
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        stdout, stderr = (output.read_text() for output in outputs)
        return subprocess.CompletedProcess(["hostnet", *arguments], code, stdout, stderr)


@cache
def zygote() -> Zygote:
    """Returns the client of this process. Its server ends with this process, which closes its stdin."""
    return Zygote()


def serve() -> None:
    """Forks for each line of stdin, and prints the exit code of the command."""
    import hostnet

    for module in pkgutil.walk_packages(hostnet.__path__, "hostnet."):
        importlib.import_module(module.name)
    for name in IMPORTED_LATE:
        importlib.import_module(name)
    # The garbage collector of a child would copy every page that it touches.
    gc.freeze()
    while line := sys.stdin.readline():
        if (child := os.fork()) == 0:
            run_here(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def run_here(arguments: list[str], folder: str, environment: Mapping[str, str], *outputs: str) -> None:
    """Becomes the command, with its streams, folder, environment and arguments."""
    from hostnet.cli import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, output in enumerate(outputs, start=1):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["hostnet", *arguments]
    try:
        main()
    except SystemExit as leaving:
        sys.stdout.flush()
        sys.stderr.flush()
        # Freeing inherited objects would copy their pages, too.
        os._exit(leaving.code if isinstance(leaving.code, int) else 1)
