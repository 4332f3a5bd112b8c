"""Outputs that pages quote in part: comparison with a real output, and renewal from one."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby

from scripts.pages.blocks import GAP

ALIKE = 0.6
"""Smallest similarity of two lines that are taken for one whose words have changed, 0 to 1."""


def pieces(quoted: list[str]) -> list[list[str]]:
    """Returns the stretches of lines between the gaps of a quotation."""
    return [list(lines) for is_gap, lines in groupby(quoted, lambda line: line.strip() == GAP) if not is_gap]


def is_quoted(quoted: list[str], printed: list[str]) -> bool:
    """Returns true if an output holds the pieces of a quotation in their order, and nothing else but its gaps."""
    gaps = [line.strip() == GAP for line in quoted]
    parts = pieces(quoted)
    if not parts:
        return any(gaps) or not printed
    at = 0
    for part in parts:
        place = next((start for start in range(at, len(printed)) if printed[start : start + len(part)] == part), None)
        if place is None or (place > 0 and part is parts[0] and not gaps[0]):
            return False
        if at and place < at:
            return False
        at = place + len(part)
    return at == len(printed) or gaps[-1]


def renewed(quoted: list[str], printed: list[str]) -> list[str]:
    """Returns a quotation with the words of a new output: the lines that resemble those that it had.

    Raises:
        ValueError: No line of the output resembles those of a piece.
    """
    if not any(line.strip() == GAP for line in quoted):
        return printed
    lines: list[str] = []
    at = 0
    for is_gap, group in groupby(quoted, lambda line: line.strip() == GAP):
        if is_gap:
            lines.append(GAP)
            continue
        first, last = place_of(list(group), printed[at:])
        lines += printed[at + first : at + last + 1]
        at += last + 1
    return lines


def place_of(piece: list[str], printed: list[str]) -> tuple[int, int]:
    """Returns the first and the last line of an output that resemble a piece of a quotation."""
    old, new = list(map(shape, piece)), list(map(shape, printed))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    found = [block for block in matcher.get_matching_blocks() if any(piece[block.a : block.a + block.size])]
    first = found[0].b if found else len(new) - 1
    last = found[-1].b + found[-1].size - 1 if found else 0
    if not found or found[0].a > 0:
        first = most_like(old[0], new, range(first, -1, -1))
    if not found or found[-1].a + found[-1].size < len(old):
        last = most_like(old[-1], new, range(max(last, first), len(new)))
    return first, last


def most_like(line: str, lines: list[str], places: range) -> int:
    """Returns the first of some places whose line is the most like a line.

    Raises:
        ValueError: None is like it.
    """
    alike = {place: SequenceMatcher(None, line, lines[place], autojunk=False).ratio() for place in places}
    best = max(alike, key=alike.__getitem__, default=-1)
    if best < 0 or alike[best] < ALIKE:
        raise ValueError(f"the output has nothing like {line!r}")
    return best


def shape(line: str) -> str:
    """Returns a line without its numbers and the widths of its columns."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,±+%#─-]+", "", line)).strip()
