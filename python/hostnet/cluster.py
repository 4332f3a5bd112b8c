"""Runs clusters: hosts, the network between them, and what they send."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from hostnet import _core
from hostnet.arguments import check_controllers, check_steps, check_threads, json_of
from hostnet.results import Measured, Source, Timing
from hostnet.simulate import source_of
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from hostnet.system import Cluster

    Progress = Callable[[dict[str, Any]], bool | None]
    Controllers = Mapping[str, Any]

SNAPLEN = 128
"""Bytes of a frame that a capture keeps unless told otherwise: all headers; data is zeros."""

SNAPLEN_MAX = 262144


class Actions(NamedTuple):
    """What a controller answers. None leaves things as they are."""

    level: int | None = None
    """The level to go to, 0 to 4; without effect while an earlier change is under way."""
    echo: bool | None = None
    """Whether packets are marked from now on."""


@dataclass(frozen=True)
class Capture:
    """What a host sends and receives, as a file for tcpdump, tshark or Wireshark."""

    path: Path
    """The file; it appears whole or not at all, and replaces one of that name."""
    host: str | None = None
    """The host whose cable is looked at; the only server if not given."""
    snaplen: int = SNAPLEN
    """Bytes of a frame that are kept at most."""
    said_as: tuple[str, str] = ("pcap_host", "pcap_snaplen")
    """What messages call the last two."""


@dataclass(frozen=True, repr=False)
class ClusterResults(Measured[_core.ClusterPlan]):
    """What a run of a cluster measured. Two runs of one configuration and seed are equal bit for bit."""

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """The Arrow tables by name. Series is there only if asked for."""
        from hostnet.tables import build_table

        left_out = () if self.has_series else ("series",)
        return {name: build_table(self.native, name) for name in self.native.table_names if name not in left_out}

    @property
    def classes(self) -> dict[str, dict[str, Any]]:
        """The rows of table classes by the name of the class."""
        return {row["class"]: row for row in self.summary["classes"]}

    @property
    def control(self) -> dict[str, dict[str, Any]]:
        """The rows of table control by the name of the host."""
        return {row["host"]: row for row in self.summary["control"]}

    @property
    def hosts(self) -> dict[str, dict[str, Any]]:
        """The rows of table hosts by the name of the host."""
        return {row["host"]: row for row in self.summary["hosts"]}


def is_cluster(source: Source) -> bool:
    """Whether a configuration describes a cluster: whether it has a table of hosts."""
    return _core.is_cluster(source.text, format=source.format)


def resolve(source: Source, seed: int | None = None) -> _core.ClusterPlan:
    """Checks the configuration of a cluster.

    Raises:
        ConfigError: Something in it is wrong.
    """
    overrides = list(source.overrides)
    if seed is not None:
        if not 0 <= seed < 2**64:
            raise _core.ConfigError(f"seed: {seed} must be between 0 and 2^64 - 1")
        overrides.append(f"run.seed={seed}")
    return _core.cluster_plan(
        source.text, format=source.format, file=source.file, base_dir=source.base_dir, overrides=overrides
    )


def run_cluster(
    config: Cluster | str | PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: int = 1,
    series: str | None = None,
    controllers: Controllers | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_host: str | None = None,
    pcap_snaplen: int = SNAPLEN,
    progress: Progress | None = None,
) -> ClusterResults:
    """Runs the cluster that a `Cluster`, a TOML or JSON file, or a mapping of the same content, describes.

    Args:
        config: A `Cluster`, the path of the file, or what it would hold.
        overrides: Values to replace, each as for `--set`: "flow.bulk.count=8".
        seed: Replaces the configuration's seed.
        threads: Threads to use; the results do not depend on it.
        series: The step at which time series are recorded, for example "10 us"; none if not given.
        controllers: By the names of hosts with `control.rule = "user"`: functions, or objects with a method
            `on_sample`, called with `Signals` at every sample. They return None or `Actions`; what one raises ends the
            run.
        pcap: A file to write what a host sends and receives to.
        pcap_host: That host; the only server if not given.
        pcap_snaplen: Bytes of a frame that are kept at most.
        progress: Called about ten times a second with a dict of simulated_ps, target_ps, events, phase and progress
            (0 to 1). If it returns False, the run stops and its results are not complete. While the rates of a fluid
            server are measured, before the run, the dict also has points; False raises `KeyboardInterrupt` then.

    Raises:
        ConfigError: The configuration or an argument is wrong.
        SimulationError: The run could not go on.
        OSError: The file cannot be read.
    """
    source = _source(config, overrides)
    series_ps = 0 if series is None else parse_time_ps(series, "series")
    return run_plan(
        resolve(source, seed),
        source,
        threads=threads,
        series_ps=series_ps,
        controllers=controllers,
        capture=None if pcap is None else Capture(Path(pcap), pcap_host, pcap_snaplen),
        progress=progress,
    )


def _source(config: Cluster | str | PathLike[str] | Mapping[str, Any], overrides: Sequence[str]) -> Source:
    if isinstance(overrides, str):
        raise _core.ConfigError(f"overrides: a list is wanted, such as [{overrides!r}]")
    if isinstance(config, str | PathLike) or _is_described(config):
        return source_of(config, overrides)
    if not isinstance(config, Mapping):
        raise _core.ConfigError(f"config: a Cluster, the path of a file or a mapping is wanted, not {config!r}")
    return Source(json_of(config, "config"), "json", "<config>", ".", tuple(overrides))


def _is_described(config: object) -> TypeGuard[Cluster]:
    from hostnet.system import Cluster

    return isinstance(config, Cluster)


def run_plan(
    plan: _core.ClusterPlan,
    source: Source,
    *,
    threads: int = 1,
    series_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint: bytes | None = None,
    controllers: Controllers | None = None,
    capture: Capture | None = None,
    progress: Progress | None = None,
) -> ClusterResults:
    """Runs a checked configuration; `run_cluster` without the checks."""
    check_threads(threads)
    check_steps(plan, series_ps)
    check_controllers(controllers)
    started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    with _capture_file(plan, capture) as (asked, keep):
        native = _core.run_cluster(
            plan,
            threads=threads,
            series_ps=series_ps,
            checkpoint_at_ps=checkpoint_at_ps,
            checkpoint=checkpoint,
            controllers=list((controllers or {}).items()),
            capture=asked,
            progress=progress,
        )
        keep()
    wall_time_s = time.perf_counter() - began_s
    timing = Timing(started, wall_time_s, native.events / max(wall_time_s, 1e-9), threads)
    return ClusterResults(native, plan, source, timing, series_ps > 0)


@contextmanager
def _capture_file(
    plan: _core.ClusterPlan, capture: Capture | None
) -> Iterator[tuple[tuple[str, str, int] | None, Callable[[], None]]]:
    """What the simulator is told about a capture, and a function that gives the file its name."""
    if capture is None:
        yield None, lambda: None
        return
    from hostnet.files import scratch_file

    host = captured_host(plan, capture)
    if capture.path.is_dir() or not capture.path.absolute().parent.is_dir():
        raise _core.ConfigError(f"pcap: {capture.path}: name a file in a folder that exists")
    with scratch_file(capture.path) as (scratch, keep):
        yield (str(scratch), host, capture.snaplen), keep


def captured_host(plan: _core.ClusterPlan, capture: Capture) -> str:
    """The host that a capture is of.

    Raises:
        ConfigError: There is no such host, none is named and there is not one server, or the snaplen is out of range.
    """
    of_host, of_snaplen = capture.said_as
    if not 1 <= capture.snaplen <= SNAPLEN_MAX:
        raise _core.ConfigError(f"{of_snaplen}: {capture.snaplen} must be between 1 and {SNAPLEN_MAX}")
    hosts, servers = plan.hosts, plan.servers
    if capture.host is None:
        if len(servers) != 1:
            raise _core.ConfigError(f"{of_host}: missing; with {len(servers)} servers, name a host: {_some(hosts)}")
        return servers[0]
    if capture.host not in hosts:
        near = get_close_matches(capture.host, hosts, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"the hosts are {_some(hosts)}"
        raise _core.ConfigError(f'{of_host}: there is no host "{capture.host}"; {hint}')
    return capture.host


def _some(names: list[str]) -> str:
    """The first of many names."""
    most = 8
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
