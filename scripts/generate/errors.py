"""Writes the table of error codes in the docs."""

from __future__ import annotations

import re
from pathlib import Path

from hostnet import _core

TABLE = re.compile(r"(?<=<!-- errors -->\n).*?(?=<!-- end -->)", re.S)
HEAD = ["| code | meaning | remedy |", "|---|---|---|"]


def files(root: Path) -> dict[Path, str]:
    """Returns the content of the page with the table of codes."""
    page = root / "docs" / "errors.md"
    rows = [f"| `{code}` | {meaning} | {fix} |" for code, meaning, fix in _core.error_table()]
    table = "\n".join([*HEAD, *rows, ""])
    return {page: TABLE.sub(lambda _: table, page.read_text(encoding="utf-8"))}
