"""Runs configurations, or predicts what a run would show."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.arguments import check_steps, check_threads, json_of
from hostnet.files import read_config
from hostnet.results import Results, Source, Timing
from hostnet.units import parse_time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.system import Cluster, Config

    Progress = Callable[[dict[str, Any]], bool | None]


def run(
    config: Config | str | PathLike[str],
    *,
    seed: int | None = None,
    threads: int = 1,
    series: str | None = None,
    counters: str | None = None,
    trace: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Runs one configuration.

    Args:
        config: A `Config`, or the path of a TOML or JSON file.
        seed: Replaces the configuration's seed.
        threads: Threads to use; the results do not depend on it.
        series: The step at which time series are recorded, for example "10 us"; none if not given.
        counters: The interval at which the counters of all units are read, for `hostnet.counters.write`; none if not
            given.
        trace: How long to follow every line, from the end of the warm-up on, for example "20 us"; `Results.trace` is
            then a file for the Perfetto UI. No trace if not given.
        progress: Called about ten times a second with a dict of simulated_ps, target_ps, events, phase and progress
            (0 to 1). If it returns False, the run stops and its results are not complete.

    Raises:
        ConfigError: The configuration or an argument is wrong.
        SimulationError: The run could not go on.
        OSError: The file cannot be read.
    """
    source = source_of(config)
    plan = resolve(source, seed)
    return run_plan(
        plan,
        source,
        threads=threads,
        series_ps=_series_ps(series),
        counters_ps=0 if counters is None else parse_time_ps(counters, "counters"),
        trace_ps=0 if trace is None else parse_time_ps(trace, "trace"),
        progress=progress,
    )


def predict(config: Config | str | PathLike[str]) -> Results:
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
    configs: Sequence[Config | str | PathLike[str]],
    *,
    threads: int | None = None,
    series: str | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs many configurations, several at a time, and returns their results in the same order.

    Args:
        configs: `Config`s or paths of TOML or JSON files.
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


def source_of(config: Config | Cluster | str | PathLike[str], overrides: Sequence[str] = ()) -> Source:
    """Reads what the user gave as configuration, without judging it.

    Raises:
        ConfigError: It holds what no file can hold, or the file is too long or not UTF-8 text.
        OSError: It cannot be read.
    """
    if not isinstance(config, str | PathLike):
        return _described(config, tuple(overrides))
    path = Path(config)
    text = read_config(path)
    form = "json" if path.suffix == ".json" else "toml"
    return Source(text, form, fspath(config), str(path.parent), tuple(overrides))


def _described(config: Config | Cluster, overrides: tuple[str, ...]) -> Source:
    from hostnet.system import Cluster, Config

    if not isinstance(config, Config | Cluster):
        raise TypeError(f"config: a Config, a Cluster or the path of a file is wanted, not {config!r}")
    text = json_of(config.to_dict(), "config")
    return Source(text, "json", f"<{type(config).__name__}>", config.base_dir, overrides)


def resolve(source: Source, seed: int | None = None) -> _core.Plan:
    """Checks a configuration.

    Raises:
        ConfigError: Something in it is wrong.
    """
    plan = _core.resolve(
        source.text,
        format=source.format,
        file=source.file,
        base_dir=source.base_dir,
        overrides=list(source.overrides),
    )
    if seed is None:
        return plan
    if not 0 <= seed < 2**64:
        raise _core.ConfigError(f"seed: {seed} must be between 0 and 2^64 - 1")
    return plan.with_seed(seed)


def run_plan(
    plan: _core.Plan,
    source: Source,
    *,
    threads: int = 1,
    series_ps: int = 0,
    counters_ps: int = 0,
    checkpoint_at_ps: int = 0,
    trace_ps: int = 0,
    checkpoint: bytes | None = None,
    progress: Progress | None = None,
) -> Results:
    """Runs a checked configuration; `run` without the checks."""
    check_threads(threads)
    check_steps(plan, series_ps)
    started, began_s = _now(), time.perf_counter()
    native = _core.run(
        plan,
        threads=threads,
        series_ps=series_ps,
        counters_ps=counters_ps,
        checkpoint_at_ps=checkpoint_at_ps,
        trace_ps=trace_ps,
        checkpoint=checkpoint,
        progress=progress,
    )
    wall_time_s = time.perf_counter() - began_s
    timing = Timing(started, wall_time_s, native.events / max(wall_time_s, 1e-9), threads)
    return Results(native, plan, source, timing, has_series=series_ps > 0)


def predict_plan(plan: _core.Plan, source: Source) -> Results:
    """Predicts a checked configuration; `predict` without the checks."""
    started, began_s = _now(), time.perf_counter()
    native = _core.predict(plan)
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
