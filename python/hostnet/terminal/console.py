"""Tables and paragraphs on the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment

from hostnet.terminal.screen import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


class Screen(Console):
    """A console that takes text as it is: no markup, and nothing in it commands the terminal."""

    def __init__(self, **options: Any) -> None:
        """As `Console`, with stdout as it is now."""
        super().__init__(**{"file": sys.stdout, "highlight": False, "emoji": False, "markup": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something, made visible."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
