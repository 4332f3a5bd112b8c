"""Runs configurations, or predicts what a run would show."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import read_config
from hostnet.processes import ResultsElsewhereError
from hostnet.running.arguments import check_guests, check_steps, check_threads, json_of
from hostnet.running.capture import SNAPLEN, Capture, capture_file
from hostnet.running.names import near_names
from hostnet.running.ranges import check_seed
from hostnet.running.results import Results, Source, Timing, named_server
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.processes import Group
    from hostnet.system import Cluster, Config

    AnyConfig = Config | Cluster | str | PathLike[str] | Mapping[str, Any]
    Controllers = Mapping[str, Any]
    Governors = Mapping[str, Any]
    Progress = Callable[[dict[str, Any]], bool | None]


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
    progress: Progress | None = None,
) -> Results:
    """Runs one configuration: of a server, or of hosts on a network.

    Args:
        config: A `Config` or a `Cluster`, the path of a TOML or JSON file, or a mapping of the same content.
        overrides: Values to replace, each as for `--set`: "memory.channels=4".
        seed: Replaces the configuration's seed.
        threads: Threads to use; the results do not depend on it. A server is one thread's work.
        series: The step at which time series are recorded, for example "10 us"; none if not given.
        counters: The interval at which the counters of all units are read, for `hostnet.counters.write`; none if not
            given.
        trace: How long to follow every line, from the end of the warm-up on, for example "20 us"; `Results.trace` is
            then a file for the Perfetto UI. No trace if not given.
        host: The server that counters and trace are of; the only one if not given.
        controllers: By the names of hosts with `control.rule = "user"`: functions, or objects with a method
            `on_sample`, called with `Signals` at every sample. They return None or `Actions`; what one raises ends the
            run.
        governors: By the names of hosts with `power.governor = "user"`, "server" where there is but one: functions, or
            objects with a method `decide`, called with a `Look` at every look. They return None or the index of a
            P-state; what one raises ends the run.
        pcap: A file to write what a host sends and receives to.
        pcap_host: That host; the only server if not given.
        pcap_snaplen: Bytes of a frame that are kept at most.
        progress: Called about ten times a second with a dict of simulated_ps, target_ps, events, phase and progress
            (0 to 1). If it returns False, the run stops and its results are not complete. While a run is prepared, the
            dict also has points; False raises `KeyboardInterrupt` then.

    Raises:
        ConfigError: The configuration or an argument is wrong.
        SimulationError: The run could not go on.
        OSError: The file cannot be read.
    """
    source = source_of(config, overrides)
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
        progress=progress,
    )


run_cluster = run
"""The same, by the name that says what is run."""


def predict(config: AnyConfig) -> Results:
    """Predicts what a run of a configuration would show, from the configuration alone, in less than a millisecond.

    The results have the form of a run's. What only a run can tell (confidence intervals, percentiles, single parts) is
    empty, and `summary["uncertainty"]` says how far off a prediction may be.

    Raises:
        ConfigError: The configuration is wrong.
        OSError: The file cannot be read.
    """
    source = source_of(config)
    return predict_plan(resolve(source), source)


def run_many(
    configs: Sequence[AnyConfig],
    *,
    threads: int | None = None,
    series: str | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs many configurations, several at a time, and returns their results in the same order.

    Args:
        configs: What `run` takes.
        threads: Runs at a time; as many as the machine has cores if not given. The results do not depend on it.
        series: As for `run`.
        progress: Called about ten times a second with a dict of done, total, simulated_ps, events and progress (0 to
            1). If it returns False, all runs stop.

    Raises:
        ConfigError: One of the configurations or an argument is wrong; nothing has run.
        SimulationError: One of the runs could not go on.
        OSError: A file cannot be read.
    """
    sources = [source_of(config) for config in configs]
    plans = [(resolve(source, None), source) for source in sources]
    return run_plans(plans, threads=threads, series_ps=_series_ps(series), progress=progress)


def source_of(config: AnyConfig, overrides: Sequence[str] = ()) -> Source:
    """Reads what the user gave as configuration, without judging it.

    Raises:
        ConfigError: It is nothing that describes a configuration, or the file is too long or not UTF-8 text.
        OSError: It cannot be read.
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
    from hostnet.system import Cluster, Config

    if isinstance(config, Config | Cluster):
        text = json_of(config.to_dict(), "config")
        return Source(text, "json", f"<{type(config).__name__}>", config.base_dir, overrides)
    if isinstance(config, Mapping):
        return Source(json_of(config, "config"), "json", "<config>", ".", overrides)
    wanted = "a Config, a Cluster, the path of a file or a mapping is wanted"
    raise _core.ConfigError("wrong-type", f"config: {wanted}, not {config!r}")


def resolve(source: Source, seed: int | None = None) -> _core.Plan:
    """Checks a configuration.

    Raises:
        ConfigError: Something in it is wrong.
    """
    given = {"format": source.format, "file": source.file, "base_dir": source.base_dir}
    with near_names(source):
        plan = _core.resolve(source.text, **given, overrides=list(source.overrides))
    if seed is None:
        return plan
    check_seed("seed", seed)
    return plan.with_seed(seed)


def resolve_server(source: Source) -> _core.Plan:
    """Checks a configuration that is to describe a server and nothing around it.

    Raises:
        ConfigError: Something in it is wrong, or it describes hosts on a network.
    """
    plan = resolve(source)
    if plan.is_cluster:
        raise _core.ConfigError(
            "wrong-kind", f"{source.file}: host: describes hosts on a network; a server is wanted here"
        )
    return plan


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
    """Runs a checked configuration; `run` without the checks.

    `on_checkpoint` gets what is kept at its time: the name of a record, "index", or None for a checkpoint of one file;
    the simulated time in ps; and the bytes. With `processes` each of them calls it, and the first has the results.

    Raises:
        ResultsElsewhereError: The run is over, and this process is not the first.
    """
    check_threads(threads)
    check_steps(plan, series_ps)
    check_guests(controllers, "controllers", '{"receiver": my_controller}')
    check_guests(governors, "governors", '{"server": MyGovernor()}')
    looked_at = named_server(plan, host) if counters_ps or trace_ps else ""
    started, began_s = _now(), time.perf_counter()
    if processes is not None:
        processes.begin()
    with capture_file(plan, capture, writes=processes is None or processes.rank == 0) as (asked, keep):
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
            capture=asked,
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
    """Predicts a checked configuration; `predict` without the checks."""
    started, began_s = _now(), time.perf_counter()
    try:
        native = _core.predict(plan)
    except _core.ConfigError as error:
        # The simulator knows a plan by its name; who made a file looks for that.
        raise error.reworded(f"{source.file}: {str(error).removeprefix(f'{plan.name}: ')}") from None
    return Results(native, plan, source, Timing(started, time.perf_counter() - began_s, 0.0, 1))


def run_plans(
    plans: Sequence[tuple[_core.Plan, Source]],
    *,
    threads: int | None = None,
    series_ps: int = 0,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs checked configurations together; `run_many` without the checks."""
    if threads is not None:
        check_threads(threads)
    for plan, _ in plans:
        check_steps(plan, series_ps)
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
    return 0 if series is None else parse_time_ps(series, "series")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
