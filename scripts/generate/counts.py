"""Writes the table of counted instructions in the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path

TABLE = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- end -->)", re.S)
HEAD = ["| work | instructions | per |", "|---|---|---|"]


def files(root: Path) -> dict[Path, str]:
    """Returns the content of the page with the table of counts."""
    page, record = root / "docs" / "speed.md", root / "crates" / "bench" / "counts.json"
    counts = json.loads(record.read_text(encoding="utf-8"))["versions"][-1]["counts"]
    rows = [f"| {count['case']} | {count['instructions']:.0f} | {count['unit']} |" for count in counts]
    table = "\n".join([*HEAD, *rows, ""])
    return {page: TABLE.sub(lambda _: table, page.read_text(encoding="utf-8"))}
