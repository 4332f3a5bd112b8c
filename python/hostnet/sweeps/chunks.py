"""Splits a stream of points into chunks."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def split_into_chunks(points: Iterable[int], size: int) -> Iterator[list[int]]:
    """Yields chunks of `size` points; the last one may be smaller."""
    iterator = iter(points)
    while piece := list(islice(iterator, size)):
        yield piece
