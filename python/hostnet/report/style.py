"""Style of the plots drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"a": "#0069ad", "b": "#c2500a", "c": "#0c7f63", "d": "#8a4f9e"}
DASHES = {"a": "-", "b": "--", "c": ":", "d": "-."}
MARKS = {"a": "o", "b": "s", "c": "D", "d": "^"}

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": "#5a636d",
    "axes.labelcolor": "#1c2126",
    "xtick.color": "#5a636d",
    "ytick.color": "#5a636d",
    "grid.color": "#e5e7e9",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "hostnet",
}


def plain(text: object) -> str:
    """Escapes text that matplotlib would parse as mathematics."""
    return str(text).replace("$", r"\$")


def new_figure(width_inch: float, height_inch: float) -> Figure:
    """Creates an empty figure without a window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width_inch, height_inch), layout="constrained")


def label_decades(axes: Axes) -> None:
    """Labels a logarithmic y axis at 1, 2 and 5 times the powers of ten, with plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
