"""`hostnet noc`: the network on a chip on its own, from the options to the page on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet import noc_alone, rundir
from hostnet._core import ConfigError
from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.options import Setting, checked, count, cut, option, seed, share, text
from hostnet.noc_alone import size_of
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import say_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet._core import NocPlan
    from hostnet.cli.options import Reader

RATE = "traffic.rate"


@dataclass(frozen=True)
class Options:
    """The options of `hostnet noc` as they were typed."""

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
        """Refuses options that contradict each other.

        Raises:
            ConfigError: Says which, and what would be right.
        """
        if self.trace is None:
            return
        for name in ("traffic", "rate", "packet_flits", "hotspots", "seed"):
            value = getattr(self, name)
            if value is not None:
                raise ConfigError(
                    "conflicting-keys",
                    f"{option(name)} {cut(value)}: describes generated packets; "
                    f"it cannot be given together with the trace {cut(str(self.trace))}",
                )

    def rates(self) -> list[float]:
        """The loads that --rate lists, if it lists several.

        Raises:
            ConfigError: One is no number.
        """
        if self.rate is None or "," not in self.rate:
            return []
        return [share(rate, f"--rate {cut(self.rate)}") for rate in self.rate.split(",")]

    def settings(self) -> Iterator[Setting]:
        """The keys that the options set.

        Raises:
            ConfigError: An option has no such value.
        """
        yield from self._given("noc.topology", "topology", text)
        yield from self._size()
        yield from self._given("noc.routing", "routing", text)
        yield from self._given("noc.vcs", "vcs", count)
        yield from self._given("noc.vc_flits", "vc_flits", count)
        yield from self._given("trace.path", "trace", self._trace_path)
        yield from self._given("traffic.pattern", "traffic", text)
        if not self.rates():
            yield from self._given(RATE, "rate", share)
        yield from self._given("traffic.packet_flits", "packet_flits", count)
        yield from self._hotspots()
        yield from self._given("traffic.seed", "seed", seed)
        yield from self._given("run.measure", "cycles", count)
        yield from self._given("run.warmup", "warmup", count)

    def _given(self, key: str, name: str, read: Reader) -> Iterator[Setting]:
        value = getattr(self, name)
        if value is not None:
            shown = cut(str(value)) if name == "trace" else f"{option(name)} {cut(str(value))}"
            yield Setting(key, read(value, shown), shown)

    def _trace_path(self, path: Path, shown: str) -> str:
        """Paths in a configuration start from its folder, the one on the command line does not."""
        return text(str(path if self.config is None else path.absolute()), shown)

    def _size(self) -> Iterator[Setting]:
        if self.size is not None:
            shown = f"--size {cut(self.size)}"
            for key, value in size_of(self.size, shown).items():
                yield Setting(key, value, shown)

    def _hotspots(self) -> Iterator[Setting]:
        """Hotspots are of one pattern, which they stand for unless another is named."""
        for entry in self._given("traffic.hotspots", "hotspots", nodes):
            if self.traffic is None:
                yield Setting("traffic.pattern", "hotspot", entry.shown, implied=True)
            yield entry


def noc_command(options: Options) -> int:
    """Does what the options say and returns the exit code."""
    if options.html is not None:
        check_page(options.html)
    if options.over or options.rates():
        from hostnet.cli.noc_over import over_command

        return over_command(options)
    plan = plan_of(options)
    with Watch(show=True) as watch:
        result = noc_alone.run_plan(plan, progress=watch)
    if options.html is not None:
        from hostnet.report.noc_page import NocRun, write_noc

        write_noc(options.html, [NocRun("", "", result.summary)])
    if options.json:
        say_json(result.to_dict())
    else:
        from hostnet.cli.show_noc import print_noc

        print_noc(result, options.html)
    return 0 if result.complete else EXIT_INTERRUPTED


def plan_of(options: Options) -> NocPlan:
    """The plan that the options describe.

    Raises:
        ConfigError: Something is wrong; the message names the option.
    """
    options.check()
    return checked(noc_alone.plan_of, list(options.settings()), options.overrides, options.config)


def check_page(path: Path) -> None:
    """Makes sure that a page can be put at `path`, before anything runs.

    Raises:
        ConfigError: It is a folder, or in no folder.
        OSError: Its folder cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigError("file-access", f"--html {path}: name a file in a folder that exists")
    rundir.check_file(path)


def nodes(value: str, shown: str) -> list[int]:
    """A list of nodes such as 27,36.

    Raises:
        ConfigError: It is none.
    """
    try:
        return [count(node, shown) for node in value.split(",")]
    except ConfigError:
        raise ConfigError("malformed-value", f"{shown}: must be numbers of nodes, such as 27 or 27,28,35,36") from None
