"""Progress bar of a long computation: on a terminal, or below the cell of a notebook."""

from __future__ import annotations

import sys
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from hostnet.terminal.status import has_end, phase, progress_share

if TYPE_CHECKING:
    from rich.progress import Progress

    from hostnet.terminal.status import Pace, Status

NOTEBOOK_COLUMNS = 100
"""Width of the bar of a notebook, in characters."""


NOTEBOOK_STYLES = {
    "bar.back": "grey58",
    "bar.complete": "#1f7fd1",
    "bar.finished": "#1f7fd1",
    "progress.percentage": "none",
}
"""Colours that can be told apart on white and on black."""


class Bar(Protocol):
    """Bar that shows a state, and disappears at the end."""

    def show(self, status: Status, pace: Pace) -> None:
        """Shows a state."""

    def stop(self) -> None:
        """Removes the bar."""


class TerminalBar:
    """Bar in the last line of a terminal."""

    def __init__(self, stream: TextIO) -> None:
        """Creates the bar."""
        self._bar = new_bar(stream)
        self._bar.start()

    def show(self, status: Status, pace: Pace) -> None:
        """Shows a state."""
        fill(self._bar, status, pace)
        self._bar.refresh()

    def stop(self) -> None:
        """Removes the bar."""
        self._bar.stop()


class NotebookBar:
    """Bar below the running cell of a notebook. It needs no widgets, which `rich` itself would need there."""

    def __init__(self) -> None:
        """Creates the bar."""
        self._bar = new_bar(StringIO())
        self._shown: Any = None

    def show(self, status: Status, pace: Pace) -> None:
        """Shows a state."""
        fill(self._bar, status, pace)
        self._update(as_html(self._bar))

    def stop(self) -> None:
        """Removes the bar."""
        self._update("")

    def _update(self, markup: str) -> None:
        """Replaces what is displayed."""
        display: Any = import_module("IPython.display").display
        content = {"text/html": markup, "text/plain": ""}
        if self._shown is None:
            self._shown = display(content, raw=True, display_id=True)
        else:
            self._shown.update(content, raw=True)


def bar_for(stream: TextIO) -> Bar:
    """Creates the bar of this notebook, or of the terminal `stream`."""
    return NotebookBar() if in_notebook() else TerminalBar(stream)


def in_notebook() -> bool:
    """Returns True if a notebook runs this code."""
    # Only a kernel has imported IPython before, so other programs do not pay for the import.
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def new_bar(stream: TextIO) -> Progress:
    """Creates a progress bar that disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn("[progress.percentage]{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[detail]}"),
        console=Console(file=stream, force_jupyter=False),
        auto_refresh=False,
        transient=True,
    )
    bar.add_task("", total=1.0, detail="")
    return bar


def fill(bar: Progress, status: Status, pace: Pace) -> None:
    """Sets the only task of a bar to a state."""
    task = bar.tasks[0]
    task.total = 1.0 if has_end(status) else None
    bar.update(task.id, completed=progress_share(status), description=phase(status), detail=pace.detail(status))


def as_html(bar: Progress) -> str:
    """Returns a bar as a line of HTML, with text in the colour of the notebook."""
    from rich.console import Console
    from rich.theme import Theme

    theme = Theme(NOTEBOOK_STYLES)
    console = Console(file=StringIO(), record=True, force_jupyter=False, width=NOTEBOOK_COLUMNS, theme=theme)
    console.print(bar.get_renderable())
    line = '<pre style="line-height: 1.3; margin: 0; white-space: pre-wrap">{code}</pre>'
    return console.export_html(inline_styles=True, code_format=line)
