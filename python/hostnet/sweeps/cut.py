"""Cuts a stream of points into pieces."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def cut(points: Iterable[int], size: int) -> Iterator[list[int]]:
    """Pieces of `size` points, the last one perhaps smaller."""
    iterator = iter(points)
    while piece := list(islice(iterator, size)):
        yield piece
