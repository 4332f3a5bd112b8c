"""What a controller in Python answers."""

from __future__ import annotations

from typing import NamedTuple


class Actions(NamedTuple):
    """What a controller answers. None leaves things as they are."""

    level: int | None = None
    """The level to go to, 0 to 4; without effect while an earlier change is under way."""
    echo: bool | None = None
    """Whether packets are marked from now on."""
