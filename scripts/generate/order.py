"""Order of keys: the one in which they stand in the file. A new key comes last until an author moves its lines.

The schema has no order, and an author decides which key readers should see first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path


def arranged(names: Iterable[str], standing: Iterable[str]) -> list[str]:
    """Returns names in their order in the file, with new ones at the end."""
    places = {name: place for place, name in enumerate(standing)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def standing_fields(folder: Path) -> dict[str, list[str]]:
    """Returns the fields of every class in the files of a folder."""
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
    """Returns the keys of the rows of a Markdown table."""
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
