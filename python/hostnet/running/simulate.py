"""Runs or predicts configurations."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import read_config
from hostnet.plain_json import json_of
from hostnet.processes import ResultsElsewhereError
from hostnet.running.arguments import check_callbacks, check_threads
from hostnet.running.capture import SNAPLEN, Capture, capture_file
from hostnet.running.names import near_names
from hostnet.running.ranges import check_seed
from hostnet.running.results import Results, Source, Timing, named_server
from hostnet.terminal.progress import follow
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.processes import Group
    from hostnet.system import Cluster, Config
    from hostnet.terminal.progress import Progress, ProgressArgument

    AnyConfig = Config | Cluster | str | PathLike[str] | Mapping[str, Any]
    Controllers = Mapping[str, Any]
    Governors = Mapping[str, Any]


def run(
    config: AnyConfig,
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    threads: int = 1,
    series: str | None = None,
    counters: str | None = None,
    trace: str | None = None,
    host: str | None = None,
    controllers: Controllers | None = None,
    governors: Governors | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_host: str | None = None,
    pcap_snaplen: int = SNAPLEN,
    progress: ProgressArgument = None,
) -> Results:
    """Runs a configuration of a server or of hosts on a network.

    Args:
        config: A `Config` or a `Cluster`, the path of a TOML or JSON file, or a mapping with the same content.
        overrides: Assignments that override values, as for `--set`: "memory.channels=4".
        seed: Seed that overrides the one of the configuration, 0 to 2^64 - 1.
        threads: Threads to use, 1 to 1024; the results do not depend on it. One server uses one thread,
            and all of them to measure the rates of `fidelity="fluid"`.
        series: Step of the time series, for example "10 us"; by default, none are recorded.
        counters: Interval at which the counters of all units are read, for `hostnet.counters.write`; by default, they
            are not read.
        trace: Length of time after the warm-up for which every line is traced, for example "20 us". `Results.trace`
            then holds a file for the Perfetto UI. By default, nothing is traced.
        host: Server whose counters and trace are recorded; by default the only one.
        controllers: By names of hosts with `control.rule = "user"`: functions, or objects with a method `on_sample`.
            They are called with `Signals` at every sample and return None or `Actions`. For a host with a workload of
            kind "tiering": objects with a method `on_pages`, which get `Pages` and return None or pairs of a page and
            its new node. An exception ends the run.
        governors: By names of hosts with `power.governor = "user"`, or "server" for a single server: functions, or
            objects with a method `decide`. They are called with a `Look` at every interval and return None or the index
            of a P-state. An exception ends the run.
        pcap: File for the packets that a host sends and receives.
        pcap_host: Host whose packets are captured; by default the only server.
        pcap_snaplen: Most bytes kept per frame.
        progress: Function called about ten times a second with a dict of simulated_ps, target_ps, events, phase and
            progress (0 to 1). If it returns False, the run stops, and its results are not complete. While the run is
            prepared, the dict also has points; returning False then raises `KeyboardInterrupt`. True shows a bar, False
            none; by default, notebooks and terminals show one after two seconds.

    Raises:
        ConfigError: The configuration or an argument is invalid.
        SimulationError: The run failed.
        OSError: A file cannot be read or written.
    """
    source = source_of(config, overrides)
    with follow(progress) as callback:
        return run_plan(
            resolve(source, seed),
            source,
            threads=threads,
            series_ps=_series_ps(series),
            counters_ps=0 if counters is None else parse_time_ps(counters, "counters"),
            trace_ps=0 if trace is None else parse_time_ps(trace, "trace"),
            host=host,
            controllers=controllers,
            governors=governors,
            capture=None if pcap is None else Capture(Path(pcap), pcap_host, pcap_snaplen),
            progress=callback,
        )


run_cluster = run
"""Alias of `run` for hosts on a network."""


def predict(config: AnyConfig, *, overrides: Sequence[str] = ()) -> Results:
    """Predicts the results of a run from the configuration alone, in less than a millisecond.

    The results have the form of a run's. Values that only a run yields (confidence intervals, percentiles, single
    parts) are empty, and `summary["uncertainty"]` bounds the error of the prediction.

    Args:
        config: As for `run`.
        overrides: Assignments that override values, as for `--set`.

    Raises:
        ConfigError: The configuration is invalid.
        OSError: The file cannot be read.
    """
    source = source_of(config, overrides)
    return predict_plan(resolve(source), source)


def run_many(
    configs: Sequence[AnyConfig],
    *,
    threads: int | None = None,
    series: str | None = None,
    progress: ProgressArgument = None,
) -> list[Results]:
    """Runs many configurations, several at a time, and returns their results in the same order.

    Args:
        configs: Configurations as for `run`.
        threads: Runs at a time; by default the number of cores. The results do not depend on it.
        series: As for `run`.
        progress: As for `run`, with a dict of done, total, simulated_ps, events and progress (0 to 1). If the function
            returns False, all runs stop.

    Raises:
        ConfigError: A configuration or an argument is invalid; nothing has run.
        SimulationError: One of the runs failed.
        OSError: A file cannot be read.
    """
    sources = [source_of(config) for config in configs]
    plans = [(resolve(source, None), source) for source in sources]
    with follow(progress) as callback:
        return run_plans(plans, threads=threads, series_ps=_series_ps(series), progress=callback)


def source_of(config: AnyConfig, overrides: Sequence[str] = ()) -> Source:
    """Reads a configuration without checking it.

    Raises:
        ConfigError: `config` has a wrong type, or the file is too long or not UTF-8.
        OSError: The file cannot be read.
    """
    if isinstance(overrides, str):
        raise _core.ConfigError("wrong-type", f"overrides: a list is wanted, such as [{overrides!r}]")
    if not isinstance(config, str | PathLike):
        return _described(config, tuple(overrides))
    path = Path(config)
    text = read_config(path)
    form = "json" if path.suffix == ".json" else "toml"
    return Source(text, form, fspath(config), str(path.parent), tuple(overrides))


def _described(config: Config | Cluster | Mapping[str, Any], overrides: tuple[str, ...]) -> Source:
    """Returns the source of a configuration that is a Python object."""
    from hostnet.system import Cluster, Config

    if isinstance(config, Config | Cluster):
        text = json_of(config.to_dict(), "config")
        return Source(text, "json", f"<{type(config).__name__}>", config.base_dir, overrides)
    if isinstance(config, Mapping):
        return Source(json_of(config, "config"), "json", "<config>", ".", overrides)
    wanted = "a Config, a Cluster, the path of a file or a mapping is wanted"
    raise _core.ConfigError("wrong-type", f"config: {wanted}, not {config!r}")


def resolve(source: Source, seed: int | None = None) -> _core.Plan:
    """Resolves a configuration, optionally with another seed.

    Raises:
        ConfigError: The configuration or the seed is invalid.
    """
    given = {"format": source.format, "file": source.file, "base_dir": source.base_dir}
    with near_names(source):
        plan = _core.resolve(source.text, **given, overrides=list(source.overrides))
    if seed is None:
        return plan
    check_seed("seed", seed)
    return plan.with_seed(seed)


def resolve_server(source: Source) -> _core.Plan:
    """Resolves a configuration of a single server.

    Raises:
        ConfigError: The configuration is invalid, or describes hosts on a network.
    """
    plan = resolve(source)
    if plan.is_cluster:
        raise _core.ConfigError(
            "wrong-kind", f"{source.file}: host: describes hosts on a network; a server is wanted here"
        )
    return plan


def check_lines_counted(plan: _core.Plan, host: str) -> None:
    """Raises ConfigError if the counters of a server would count bursts instead of lines."""
    from hostnet.explanation.hosts import fidelity

    if fidelity(json.loads(plan.effective_json()), host) == "burst":
        raise _core.ConfigError(
            "needs-line-fidelity", 'counters: count cache lines, and this server is simulated in bursts; give "line"'
        )


def run_plan(
    plan: _core.Plan,
    source: Source,
    *,
    threads: int = 1,
    series_ps: int = 0,
    counters_ps: int = 0,
    checkpoint_at_ps: int = 0,
    checkpoint_every_ps: int = 0,
    trace_ps: int = 0,
    host: str | None = None,
    checkpoint: bytes | None = None,
    records: Sequence[bytes] = (),
    on_checkpoint: Callable[[str | None, int, bytes], None] | None = None,
    controllers: Controllers | None = None,
    governors: Governors | None = None,
    capture: Capture | None = None,
    processes: Group | None = None,
    progress: Progress | None = None,
) -> Results:
    """Runs a resolved configuration.

    `on_checkpoint` receives each part of a checkpoint: its name (that of a record, "index", or None for a checkpoint in
    one file), the simulated time in ps, and the bytes. With `processes`, each process calls it, and the first one
    returns the results.

    Raises:
        ResultsElsewhereError: The run is over, and this process is not the first.
    """
    check_threads(threads)
    plan.check_series(series_ps)
    check_callbacks(controllers, "controllers", '{"receiver": my_controller}')
    check_callbacks(governors, "governors", '{"server": MyGovernor()}')
    looked_at = named_server(plan, host) if counters_ps or trace_ps else ""
    if counters_ps:
        check_lines_counted(plan, looked_at)
    started, began_s = _now(), time.perf_counter()
    if processes is not None:
        processes.begin()
    with capture_file(plan, capture, writes=processes is None or processes.rank == 0) as (capture_arguments, keep):
        native = _core.run(
            plan,
            threads=threads,
            series_ps=series_ps,
            counters_ps=counters_ps,
            checkpoint_at_ps=checkpoint_at_ps,
            checkpoint_every_ps=checkpoint_every_ps,
            trace_ps=trace_ps,
            host=looked_at or None,
            checkpoint=checkpoint,
            records=list(records),
            on_checkpoint=on_checkpoint,
            controllers=list((controllers or {}).items()),
            governors=list((governors or {}).items()),
            capture=capture_arguments,
            processes=processes,
            progress=progress,
        )
        keep()
    if native is None:
        raise ResultsElsewhereError
    wall_time_s = time.perf_counter() - began_s
    ranks, effort = (1, None) if processes is None else (processes.ranks, processes.effort.shares(wall_time_s))
    timing = Timing(started, wall_time_s, native.events / max(wall_time_s, 1e-9), threads, ranks, effort)
    return Results(native, plan, source, timing, series_ps > 0, looked_at)


def predict_plan(plan: _core.Plan, source: Source) -> Results:
    """Predicts a resolved configuration."""
    started, began_s = _now(), time.perf_counter()
    try:
        native = _core.predict(plan)
    except _core.ConfigError as error:
        # The core's message starts with the name of the plan; users look for the file.
        raise error.reworded(f"{source.file}: {str(error).removeprefix(f'{plan.name}: ')}") from None
    return Results(native, plan, source, Timing(started, time.perf_counter() - began_s, 0.0, 1))


def run_plans(
    plans: Sequence[tuple[_core.Plan, Source]],
    *,
    threads: int | None = None,
    series_ps: int = 0,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs resolved configurations together and returns their results in the same order."""
    if threads is not None:
        check_threads(threads)
    for plan, _ in plans:
        plan.check_series(series_ps)
    started, began_s = _now(), time.perf_counter()
    natives = _core.run_many([plan for plan, _ in plans], threads=threads or 0, series_ps=series_ps, progress=progress)
    wall_time_s = time.perf_counter() - began_s
    events_per_s = sum(native.events for native in natives) / max(wall_time_s, 1e-9)
    timing = Timing(started, wall_time_s, events_per_s, threads or 0)
    return [
        Results(native, plan, source, timing, has_series=series_ps > 0)
        for native, (plan, source) in zip(natives, plans, strict=True)
    ]


def _series_ps(series: str | None) -> int:
    """Parses the step of time series; 0 for None."""
    return 0 if series is None else parse_time_ps(series, "series")


def _now() -> str:
    """Returns the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
