"""Tables of a server: their rows, chosen once for the screen and for the page of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.glossary import column_meaning
from hostnet.server_columns import KINDS, Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = dict[str, Any]


@dataclass(frozen=True)
class ServerTable:
    """A table of a server. `source` names the result table that defines its columns."""

    title: str
    source: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    screen_rows: Sequence[Row] | None = None
    """Rows on the screen, if they are fewer. An `idle` row stands for several of which nothing was used."""
    idle_index: int = 1
    """Index of the column on the screen that says "idle" in such a row."""

    def definition(self, column: Column) -> str | None:
        """Returns the definition of a column."""
        return column.about or column_meaning(self.source, column.key)

    def filled(self, column: Column) -> bool:
        """Returns True if any row has a value of a column, or all are idle; other columns are not shown."""
        has_value = any(row.get(column.key) not in (None, "") for row in self.rows)
        return has_value or all(row.get("idle") for row in self.rows)


TABLES = {
    kind["title"]: ServerTable(kind["title"], kind["source"], tuple(map(Column.of, kind["columns"])), ())
    for kind in KINDS
}
"""Every table, by title and without rows."""


def _tables(group: str, summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of a group with their rows."""
    return [
        replace(TABLES[told["title"]], **told) for told in json.loads(_core.server_tables(group, json.dumps(summary)))
    ]


def workload_tables(summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of workloads, of their storage I/O and of their applications; the latter two only if any."""
    return _tables("workloads", summary)


def cache_tables(summary: Mapping[str, Any]) -> list[ServerTable]:
    """Returns the tables of cache accesses of cores and of devices, and of the LLC of each of several sockets."""
    return _tables("caches", summary)


def domain_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of credits, latency and throughput by domain, with a row per place. `label` names both."""
    (table,) = _tables("domains", summary)
    return table


def channel_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of memory channels and their total; with several sockets, the total of each."""
    (table,) = _tables("channels", summary)
    return table


def total_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the total of the memory channels."""
    (table,) = _tables("total", summary)
    return table


def link_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of UPI traffic by direction."""
    (table,) = _tables("upi", summary)
    return table


def tiering_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of pages that migrate to and from memory behind a link."""
    (table,) = _tables("tiering", summary)
    return table


def mesh_table(summary: Mapping[str, Any]) -> ServerTable:
    """Returns the table of the distances and waiting times of messages on the mesh, by workload."""
    (table,) = _tables("mesh", summary)
    return table
