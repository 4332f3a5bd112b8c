"""Results of one server of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServerResults:
    """Results of one server, as its part of the summary."""

    summary: dict[str, Any]
    """The summary of the server."""

    @property
    def workloads(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `workloads`, by workload."""
        return {row["workload"]: row for row in self.summary["workloads"]}

    @property
    def domains(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `domains` for the whole server and all workloads, by domain."""
        return {row["domain"]: row for row in self.summary["domains"] if row["workload"] == "all"}

    @property
    def channels(self) -> dict[int, dict[str, Any]]:
        """Rows of the table `channels`, by channel number; -1 is the total."""
        return {row["channel"]: row for row in self.summary["channels"]}

    @property
    def caches(self) -> dict[str, dict[str, Any]]:
        """Rows of the table `caches`, by workload; "all" is the total. Empty without caches."""
        return {row["workload"]: row for row in self.summary.get("caches", [])}

    @property
    def upi(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Rows of the table `upi`, by sending and receiving socket. Empty with one socket."""
        return {(row["from"], row["to"]): row for row in self.summary.get("upi", [])}

    @property
    def mesh(self) -> dict[tuple[int, int, int, str], dict[str, Any]]:
        """Rows of the table `mesh`, by socket, column, row and side. Empty without a die."""
        rows = self.summary.get("mesh", [])
        return {(row["socket"], row["column"], row["row"], row["side"]): row for row in rows}

    @property
    def mesh_ways(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """Rows of the table `mesh_ways`, by socket, workload and leg. Empty without a die."""
        return {(row["socket"], row["workload"], row["leg"]): row for row in self.summary.get("mesh_ways", [])}
