"""`hostnet noc`: simulates a network on a chip without a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet import noc_alone, rundir
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.options import (
    Setting,
    option_name,
    parse_count,
    parse_seed,
    parse_share,
    parse_text,
    resolve_with_options,
    shorten,
)
from hostnet.noc_alone import size_of
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import NocPlan
    from hostnet.cli.options import Reader

RATE = "traffic.rate"


@dataclass(frozen=True)
class Options:
    """Options of `hostnet noc` as given."""

    trace: Path | None = None
    traffic: str | None = None
    rate: str | None = None
    packet_flits: str | None = None
    hotspots: str | None = None
    seed: str | None = None
    size: str | None = None
    topology: str | None = None
    routing: str | None = None
    vcs: str | None = None
    vc_flits: str | None = None
    cycles: str | None = None
    warmup: str | None = None
    config: Path | None = None
    overrides: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    json: bool = False
    html: Path | None = None

    def check(self) -> None:
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.trace is None:
            return
        for name in ("traffic", "rate", "packet_flits", "hotspots", "seed"):
            value = getattr(self, name)
            if value is not None:
                raise ConfigError(
                    "conflicting-keys",
                    f"{option_name(name)} {shorten(value)}: describes generated packets; "
                    f"it cannot be given together with the trace {shorten(str(self.trace))}",
                )

    def rates(self) -> list[float]:
        """Returns the loads that `--rate` lists; empty unless there are several.

        Raises:
            ConfigError: One of them is not a number.
        """
        if self.rate is None or "," not in self.rate:
            return []
        return [parse_share(rate, f"--rate {shorten(self.rate)}") for rate in self.rate.split(",")]

    def settings(self) -> Iterator[Setting]:
        """Yields the settings of the options.

        Raises:
            ConfigError: An option has an invalid value.
        """
        yield from self._given("noc.topology", "topology", parse_text)
        yield from self._size()
        yield from self._given("noc.routing", "routing", parse_text)
        yield from self._given("noc.vcs", "vcs", parse_count)
        yield from self._given("noc.vc_flits", "vc_flits", parse_count)
        yield from self._given("trace.path", "trace", self._trace_path)
        yield from self._given("traffic.pattern", "traffic", parse_text)
        if not self.rates():
            yield from self._given(RATE, "rate", parse_share)
        yield from self._given("traffic.packet_flits", "packet_flits", parse_count)
        yield from self._hotspots()
        yield from self._given("traffic.seed", "seed", parse_seed)
        yield from self._given("run.measure", "cycles", parse_count)
        yield from self._given("run.warmup", "warmup", parse_count)

    def _given(self, key: str, name: str, read: Reader) -> Iterator[Setting]:
        """Yields the setting of an option, if given."""
        value = getattr(self, name)
        if value is not None:
            shown = shorten(str(value)) if name == "trace" else f"{option_name(name)} {shorten(str(value))}"
            yield Setting(key, read(value, shown), shown)

    def _trace_path(self, path: Path, shown: str) -> str:
        """Returns an absolute path if there is a configuration, whose paths are relative to its own folder."""
        return parse_text(str(path if self.config is None else path.absolute()), shown)

    def _size(self) -> Iterator[Setting]:
        """Yields the keys of the size."""
        if self.size is not None:
            shown = f"--size {shorten(self.size)}"
            for key, value in size_of(self.size, shown).items():
                yield Setting(key, value, shown)

    def _hotspots(self) -> Iterator[Setting]:
        """Yields the hotspots, which imply their traffic pattern unless another one is given."""
        for entry in self._given("traffic.hotspots", "hotspots", parse_nodes):
            if self.traffic is None:
                yield Setting("traffic.pattern", "hotspot", entry.shown, implied=True)
            yield entry


def noc_command(options: Options) -> int:
    """Runs the network of the options and returns the exit code."""
    if options.html is not None:
        check_page(options.html)
    if options.over or options.rates():
        from hostnet.cli.noc_over import over_command

        return over_command(options)
    plan = resolve_options(options)
    with Watch(show=True) as watch:
        result = noc_alone.run_plan(plan, progress=watch)
    if options.html is not None:
        from hostnet.report.noc_page import NocRun, write_noc

        write_noc(options.html, [NocRun("", "", result.summary)])
    if options.json:
        echo_json(result.to_dict())
    else:
        from hostnet.cli.show_noc import print_noc

        print_noc(result, options.html)
    return 0 if result.complete else EXIT_INTERRUPTED


def resolve_options(options: Options) -> NocPlan:
    """Resolves the options.

    Raises:
        ConfigError: An option is invalid; the message names it.
    """
    options.check()
    return resolve_with_options(noc_alone.resolve_settings, list(options.settings()), options.overrides, options.config)


def check_page(path: Path) -> None:
    """Checks before a run that a page can be written at `path`.

    Raises:
        ConfigError: `path` is a folder, or has no folder.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--html {path}: name a file in a folder that exists")
    rundir.check_file(path)


def parse_nodes(value: str, shown: str) -> list[int]:
    """Parses a list of nodes such as 27,36.

    Raises:
        ConfigError: The text is not such a list.
    """
    try:
        return [parse_count(node, shown) for node in value.split(",")]
    except ConfigError:
        raise ConfigError("malformed-value", f"{shown}: must be numbers of nodes, such as 27 or 27,28,35,36") from None
