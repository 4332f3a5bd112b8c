"""Plots as the output of a cell."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import write_figure
from hostnet.report.html import Html, element, join

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
"""Formats of files that hostnet writes of each plot."""

DOTS_PER_INCH = 144
"""Resolution of plots in a notebook."""

CSS_PIXELS_PER_INCH = 96
"""Size of plots in a notebook; the resolution exceeds it, for screens with small pixels."""


class Plots(Mapping[str, "Figure"]):
    """Plots by name, as figures of matplotlib. A notebook shows all of them."""

    def __init__(self, figures: Mapping[str, Figure]) -> None:
        """Keeps the figures."""
        self._figures = dict(figures)

    def __getitem__(self, name: str) -> Figure:
        """Returns the figure `name`."""
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        """Yields the names."""
        return iter(self._figures)

    def __len__(self) -> int:
        """Returns the number of figures."""
        return len(self._figures)

    def __repr__(self) -> str:
        """Returns the names in one line."""
        return f"<Plots {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """Returns the plots, one below the other."""
        return str(join(plot_image(name, figure) for name, figure in self.items()))

    def save(self, folder: str | PathLike[str], formats: Sequence[str] = FORMATS) -> list[Path]:
        """Writes each plot into a folder, in each format that matplotlib knows, and returns the paths.

        Raises:
            OSError: The folder cannot be written.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        paths = {place / f"{name}.{suffix}": figure for name, figure in self.items() for suffix in formats}
        for path, figure in paths.items():
            write_figure(path, figure, dpi=200)
        return list(paths)


def drawn(figures: Mapping[str, Callable[[], Figure]], names: Sequence[str]) -> Plots:
    """Draws the figures with these names, or all of them if there is no name.

    Raises:
        ConfigError: There is no such figure.
    """
    import matplotlib as mpl

    from hostnet.report.style import STYLE

    for name in names:
        if name not in figures:
            near = get_close_matches(name, figures, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"the plots are {', '.join(figures)}"
            raise ConfigError("unknown-name", f'plot: there is no plot "{name}"; {hint}')
    with mpl.rc_context(STYLE):
        return Plots({name: figures[name]() for name in names or figures})


def plot_image(name: str, figure: Figure) -> Html:
    """Returns a plot as an image within the page, on white, as matplotlib draws it, whatever the theme."""
    content = BytesIO()
    # As for files, the layout must be settled before the plot is drawn.
    figure.draw_without_rendering()
    figure.savefig(content, format="png", dpi=DOTS_PER_INCH)
    source = f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"
    width = round(figure.get_figwidth() * CSS_PIXELS_PER_INCH)
    style = "background: #ffffff; max-width: 100%; height: auto; display: block; margin: 8px 0; border-radius: 6px"
    return element("img", src=source, alt=name, width=width, style=style)
