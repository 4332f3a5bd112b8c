"""Console for tables and paragraphs."""

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
    """Console that prints text literally: without markup, and with control characters made visible."""

    def __init__(self, **options: Any) -> None:
        """Creates a `Console` on the current stdout."""
        super().__init__(**{"file": sys.stdout, "highlight": False, "emoji": False, "markup": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders segments with control characters made visible."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
