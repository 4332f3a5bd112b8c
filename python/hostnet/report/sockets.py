"""Splits a server of several sockets into one host per socket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hostnet.report.host import ALL, CROSSING, DomainPath, HostView, pools_of
from hostnet.report.load import Row, RunFiles
from hostnet.sockets import ServerSocket, server_sockets


def sockets_of(run: RunFiles, host: HostView) -> tuple[HostView, ...]:
    """Returns the sockets of a run's server as hosts; empty if there is only one."""
    # With a single workload, there are only rows of all workloads.
    several = len(run.summary.get("workloads", [])) > 1
    return tuple(socket_of(place, host, run, several=several) for place in server_sockets(host.config))


def socket_of(place: ServerSocket, host: HostView, run: RunFiles, *, several: bool) -> HostView:
    """Returns the host of one socket."""
    all_of_it = [row for row in run.domains if place.has(str(row["part"]))]
    used = {row["domain"] for row in all_of_it if row["in_use_mean"]}
    own = [row for row in all_of_it if row["domain"] in used]
    pools = pools_of(sums_by_pool(own), own)
    of_workloads = [row for row in own if row["in_use_mean"] and (row["workload"] != ALL or not several)]
    there = {row["workload"] for row in of_workloads}
    channels = place.parts["channel"]
    rows = tuple(row for row in host.channels if row["channel"] in channels)
    return replace(
        host,
        config=place.config,
        pools=pools,
        channels=rows,
        channels_all=total_channels(rows),
        binding={
            limit: tuple(name for name in names if name in there or not several)
            for limit, names in host.binding.items()
            if there
        },
        socket=place.number,
        first={kind: numbers.start for kind, numbers in place.parts.items()},
        paths=tuple(path_of(way, of_workloads) for way in host.ways if way.domain in pools),
        llc=llc_of(run, place.number),
        links=tuple(row for row in links_of(run) if place.number in (row["from"], row["to"])),
    )


def llc_of(run: RunFiles, socket: int) -> Row | None:
    """Returns the LLC row of a socket, if any."""
    rows: list[Row] = (run.summary.get("llc") or {}).get("sockets") or []
    return rows[socket] if socket < len(rows) else None


def links_of(run: RunFiles) -> list[Row]:
    """Returns the UPI links between the sockets."""
    rows: list[Row] = run.summary.get("upi") or []
    return rows


def sums_by_pool(rows: Iterable[Row]) -> list[Row]:
    """Returns the pools summed over all parts of a socket."""
    sums: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["workload"] != ALL:
            continue
        whole = sums.setdefault(
            row["domain"],
            {"domain": row["domain"], "part": ALL, "workload": ALL, "capacity": 0, "in_use_mean": 0.0},
        )
        whole["capacity"] += row["capacity"] or 0
        whole["in_use_mean"] += row["in_use_mean"]
    return list(sums.values())


def path_of(domain_path: DomainPath, rows: Sequence[Row]) -> DomainPath:
    """Returns the path of a domain on a socket: through its memory if lines are homed there, and UPI if they cross."""
    of_way = {row["workload"] for row in rows if row["domain"] == domain_path.domain}

    def pass_through(pool: str) -> bool:
        return any(row["domain"] == pool and row["workload"] in of_way for row in rows)

    queue = next((hop for hop in domain_path.hops if hop in ("RPQ", "WPQ")), None)
    if queue is None:
        return domain_path
    at_home = pass_through(queue)
    hops = [hop for hop in domain_path.hops if at_home or hop not in (queue, "DRAM")]
    if pass_through(CROSSING):
        hops.insert(hops.index("CHA TOR") + 1, CROSSING)
    return replace(domain_path, hops=tuple(hops))


def total_channels(rows: Sequence[Row]) -> Row | None:
    """Returns the mean of the shares of all channels of a socket."""
    if not rows:
        return None
    busy = [row["bus_busy_share"] for row in rows if row.get("bus_busy_share") is not None]
    misses = [row["row_miss_ratio"] for row in rows if row.get("row_miss_ratio") is not None]
    return {
        "bus_busy_share": sum(busy) / len(busy) if busy else None,
        "row_miss_ratio": sum(misses) / len(misses) if misses else None,
    }
