"""Decisions of a controller that is written in Python."""

from __future__ import annotations

from typing import NamedTuple


class Actions(NamedTuple):
    """Decision of a controller. None leaves a setting unchanged."""

    level: int | None = None
    """New throttling level, 0 to 4; has no effect while an earlier change is in progress."""
    echo: bool | None = None
    """True to mark packets from now on, False to stop marking."""
