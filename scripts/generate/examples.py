"""Writes the table of configurations in the page of examples."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.pages.examples import examples

TABLE = re.compile(r"(?<=<!-- examples -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEAD = ["| file | content | command |", "|---|---|---|"]


def files(root: Path) -> dict[Path, str]:
    """Returns the content of the page with the table of configurations."""
    page = root / "examples/README.md"
    rows = [
        f"| [{example.name}.toml]({example.name}.toml) | {example.title} | `{example.commands[0]}` |"
        for group in examples(root).values()
        for example in group
    ]
    table = "\n".join([*HEAD, *rows, ""])
    return {page: TABLE.sub(lambda _: table, page.read_text(encoding="utf-8"))}
