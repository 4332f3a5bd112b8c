"""The order of keys: the one in which they stand. A new key comes last, until somebody moves its lines.

The schema has no order of its own, and which key a reader wants to see first is for an author to say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path


def arranged(names: Iterable[str], standing: Iterable[str]) -> list[str]:
    """Names in the order in which they stand, new ones behind them."""
    places = {name: place for place, name in enumerate(standing)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def standing_fields(folder: Path) -> dict[str, list[str]]:
    """The fields of every class in the files of a folder."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.py")))
    classes = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        node.name: [
            part.target.id
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        for node in classes
    }


def standing_rows(table: str) -> list[str]:
    """The keys of the rows of a table in Markdown."""
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
