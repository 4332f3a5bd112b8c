"""The function `hostnet.explain`."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, overload

from hostnet._core import ConfigError, is_chip
from hostnet.explanation.arguments import Subject, check_options, subject_of
from hostnet.explanation.page import Page, explain_counters, explain_file, explain_results, explain_run
from hostnet.explanation.run_files import read_json
from hostnet.explanation.slo import parse_slo
from hostnet.explanation.tail import ExaminedRun, Tails, asked_of_file, asked_of_run, explain_slos
from hostnet.running.results import Results
from hostnet.running.simulate import source_of
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.running.simulate import AnyConfig
    from hostnet.terminal.progress import Progress, ProgressArgument


@overload
def explain(
    what: Results | AnyConfig,
    *,
    server: str | PathLike[str] | None = None,
    cores: int | None = None,
    overrides: Sequence[str] = (),
    host: str | None = None,
    confirm: bool = False,
    brief: bool = False,
    progress: ProgressArgument = None,
) -> Page: ...


@overload
def explain(
    what: Results | AnyConfig,
    *,
    overrides: Sequence[str] = (),
    host: str | None = None,
    slo: str | Sequence[str],
    brief: bool = False,
    progress: ProgressArgument = None,
) -> Tails: ...


def explain(
    what: Results | AnyConfig,
    *,
    server: str | PathLike[str] | None = None,
    cores: int | None = None,
    overrides: Sequence[str] = (),
    host: str | None = None,
    slo: str | Sequence[str] = (),
    confirm: bool = False,
    brief: bool = False,
    progress: ProgressArgument = None,
) -> Page | Tails:
    """Explains the performance of a run: bottlenecks, sources of latency, and what would help.

    Args:
        what: Results, a run directory, a configuration, which is run first, or a file of counters (.csv). A chip is
            explained by `hostnet.chip(...).explain()`.
        server: Preset or configuration of the server that the counters come from.
        cores: Number of busy cores, for counters; by default estimated from the LFB entries in use.
        overrides: Assignments that override values of the configuration, as for `--set`.
        host: Server of a cluster to explain; by default the only one that can be explained.
        slo: Latency objectives of services to check and to explain, such as "p99 < 1 ms".
        confirm: True to also simulate the changes that are predicted to help.
        brief: True to omit what would help.
        progress: As for `hostnet.run`.

    Raises:
        ConfigError: An argument is invalid, or what it names cannot be explained.
        SimulationError: A run failed.
        KeyboardInterrupt: `progress` stopped the runs.
        OSError: A file cannot be read.
    """
    subject = subject_of(what)
    slos = [slo] if isinstance(slo, str) else list(slo)
    check_options(
        subject,
        server=server,
        cores=cores,
        overrides=overrides,
        host=host,
        slos=slos,
        confirm=confirm,
        brief=brief,
    )
    changes = tuple(overrides)
    if not isinstance(what, Results):
        _reject_chip(what, subject, changes)
    with follow(progress) as callback:
        if slos:
            promises = [parse_slo(text) for text in slos]
            examined = _examined(what, subject, changes, callback)
            return explain_slos(examined, promises, host=host, brief=brief, progress=callback)
        if isinstance(what, str | PathLike) and subject is Subject.COUNTERS:
            page = explain_counters(what, server, cores=cores)
        else:
            page = _page(what, subject, changes, host, callback)
        return page if brief else page.with_steps(confirm=confirm, try_limits=True, progress=callback)


def _page(
    what: Results | AnyConfig, subject: Subject, overrides: tuple[str, ...], host: str | None, progress: Progress
) -> Page:
    """Explains a run or a configuration."""
    if isinstance(what, Results):
        return explain_results(what, host)
    if isinstance(what, str | PathLike) and subject is Subject.RUN:
        return explain_run(what, host)
    return explain_file(what, overrides=overrides, progress=progress, host=host)


def _examined(
    what: Results | AnyConfig, subject: Subject, overrides: tuple[str, ...], progress: Progress
) -> ExaminedRun:
    """Returns the run whose objectives are checked."""
    if isinstance(what, Results):
        return ExaminedRun(what.plan, what.source.base_dir, what.summary)
    if isinstance(what, str | PathLike) and subject is Subject.RUN:
        return asked_of_run(what)
    return asked_of_file(what, overrides, progress)


def _reject_chip(what: AnyConfig, subject: Subject, overrides: tuple[str, ...]) -> None:
    """Rejects the configuration or the run directory of a chip.

    Raises:
        ConfigError: It is of a chip; the message says how to explain it.
    """
    of_chip = False
    name = "config"
    if subject is Subject.CONFIGURATION:
        source = source_of(what, overrides)
        name, of_chip = source.file, is_chip(source.text, source.format)
    elif isinstance(what, str | PathLike) and (Path(what) / "summary.json").is_file():
        name, of_chip = fspath(what), read_json(Path(what), "summary.json").get("kind") == "chip"
    if of_chip:
        raise ConfigError("wrong-kind", f"{name}: is of a chip, which hostnet.chip(...).explain() explains")
