"""Executes the notebooks of `examples/notebooks` and writes them with their outputs: `make notebooks`.

The notebooks are kept as text, in the percent format of jupytext, which editors and Jupyter open as notebooks.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hostnet.errors import MissingPackageError

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "examples" / "notebooks").glob("*.py"))
OUTPUTS = ROOT / "notebooks"
"""Folder of the executed notebooks, which git ignores."""

EXTRA = "'hostnet[notebook]'"
"""Extra of the package that installs all that notebooks need."""

CELL_S = 1500
"""Time after which a cell counts as hanging, in s."""


def executed(source: Path) -> Any:
    """Returns a notebook with the outputs of its cells, executed in a temporary folder.

    Raises:
        MissingPackageError: A package is not installed that reads or executes notebooks.
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    notebook = package("jupytext").read(source)
    package("ipykernel")
    with TemporaryDirectory(prefix="hostnet-") as sockets, TemporaryDirectory(prefix="hostnet-") as folder:
        # Sockets in a folder instead of ports, which other users of the machine could reach.
        kernels = {"KernelManager": {"transport": "ipc", "ip": str(Path(sockets) / "kernel")}}
        config = package("traitlets.config").Config(kernels)
        patience = {"timeout": CELL_S, "startup_timeout": CELL_S}
        place = {"resources": {"metadata": {"path": folder}}}
        package("nbclient").NotebookClient(notebook, config=config, **patience, **place).execute()
    return notebook


def package(name: str) -> Any:
    """Imports a package of the extra.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError("notebooks", EXTRA) from error


def main() -> int:
    """Executes all notebooks, or those named, and prints the paths of their outputs."""
    wanted = set(sys.argv[1:])
    try:
        nbformat = package("nbformat")
        OUTPUTS.mkdir(exist_ok=True)
        for source in SOURCES:
            if not wanted or source.stem in wanted:
                target = OUTPUTS / f"{source.stem}.ipynb"
                nbformat.write(executed(source), target)
                print(target.relative_to(ROOT))
    except MissingPackageError as error:
        print(f"error[{error.code}]: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
