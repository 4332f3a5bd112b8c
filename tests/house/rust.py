"""Analyses Rust sources without a compiler."""

from __future__ import annotations

import re
from typing import NamedTuple

NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(?P<hashes>\#*)".*?"(?P=hashes) | b?"(?:\\.|[^"\\])*" | b?'(?:\\[^'\n]+|[^\\'\n])'""",
    re.DOTALL | re.VERBOSE,
)
"""Comments, strings and characters, whose content is not code."""

FUNCTION = re.compile(r"\bfn\s+(\w+)")
PATH = re.compile(r"\b(?P<start>crate|super)::(?:(?P<name>\w+)|\{(?P<group>[^;]*?)\};)", re.DOTALL)


class Function(NamedTuple):
    """A function with a body."""

    name: str
    line: int
    lines: int


def bare(text: str) -> str:
    """Returns the code without comments, strings and characters, on the same lines."""
    return NOISE.sub(lambda found: "\n" * found[0].count("\n"), text)


def functions(text: str) -> list[Function]:
    """Yields every function with a body, from `fn` to its last brace."""
    code = bare(text)
    found = []
    for start in FUNCTION.finditer(code):
        end = end_of(code, start.end())
        if end is not None:
            lines = code.count("\n", start.start(), end) + 1
            found.append(Function(start[1], code.count("\n", 0, start.start()) + 1, lines))
    return found


def end_of(code: str, at: int) -> int | None:
    """Returns the end of the body that begins after `at`; None for a declaration without one."""
    depth = brackets = 0
    for place in range(at, len(code)):
        match code[place]:
            case "(" | "[":
                brackets += 1
            case ")" | "]":
                brackets -= 1
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    return place
            case ";" if depth == brackets == 0:
                return None
    return None


def modules_named(text: str, *, at_top: bool) -> set[str]:
    """Returns the modules of its crate that a file names: `crate::x`, and `super::x` if its parent is the crate."""
    named: set[str] = set()
    for path in PATH.finditer(bare(text)):
        if path["start"] == "crate" or at_top:
            named |= {path["name"]} if path["name"] else {part.split("::")[0].strip() for part in parts(path["group"])}
    return named


def parts(group: str) -> list[str]:
    """Yields the members of a group of a `use`, those in inner braces with their prefix."""
    members, depth = [""], 0
    for letter in group:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            members.append("")
        else:
            members[-1] += letter
    return members
