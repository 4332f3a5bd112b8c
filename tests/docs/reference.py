"""Facts of the sources that the reference pages must state: table columns, domain names, limits."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def table_columns() -> dict[str, list[str]]:
    """Returns the columns of every result table, in order, as the simulator's source has them."""
    sources = sorted((ROOT / "crates/sim/src/report").glob("*.rs"))
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    tables = re.findall(r"const (\w+): &\[Column<\w+>\] = &\[\n(.*?)^\];", text, re.DOTALL | re.MULTILINE)
    return {name.lower(): re.findall(r'Column::(?:text|integer|number)\(\s*"(\w+)"', body) for name, body in tables}


def domain_names() -> list[str]:
    """Returns the names of domains in reports, as the simulator's source has them."""
    text = (ROOT / "crates/model/src/lib.rs").read_text(encoding="utf-8")
    return re.findall(r'^ +\w+ "([^"]+)"', text[text.index("\nmacro_rules! pool_groups {") :], re.MULTILINE)


def documented(page: str, heading: str | None = None) -> dict[str, list[str]]:
    """Returns the table rows of a page whose first cell is `code`: that code, and the cells after it.

    With a heading, returns only those of the tables between it and the next heading.
    """
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if heading is not None:
        text = text[text.index(f"\n{heading}\n") + len(heading) + 2 :]
        text = re.split(r"^#", text, maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, re.MULTILINE)
    return {key: [cell.strip() for cell in cells.split(" | ")] for key, cells in rows}


def asked_keys() -> list[str]:
    """Returns the keys of limits that a workload sets, from the source: raising them does not change the server."""
    text = (ROOT / "crates/analysis/src/limits/list.rs").read_text(encoding="utf-8")
    return re.findall(r'Key::asked\("([^"]+)"\)', text[: text.index("pub const TOGETHER")])


def documented_limits() -> list[tuple[list[str], list[str]]]:
    """Returns the rows of the table of limits: the names of each, and the keys."""
    text = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")
    table = text[text.index("| name | key | what is raised |") :].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    return [(re.findall("`([^`]+)`", names), re.findall("`([^`]+)`", keys)) for names, keys, _ in rows]
