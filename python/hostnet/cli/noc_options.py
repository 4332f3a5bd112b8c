"""Options of `hostnet noc`, with their checks and the settings that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet._core import ConfigError
from hostnet.cli.declare import RowsOver, html_option, json_option, set_option
from hostnet.cli.options import (
    PartOptions,
    Setting,
    option_name,
    parse_count,
    parse_seed,
    parse_share,
    parse_text,
    shorten,
)
from hostnet.noc_alone import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE = "traffic.rate"

_packet_option = partial(typer.Option, rich_help_panel="Packets")
_network_option = partial(typer.Option, rich_help_panel="Network")
_run_option = partial(typer.Option, rich_help_panel="Measurement")


@dataclass(frozen=True)
class NocOptions(PartOptions):
    """Options of `hostnet noc` as given."""

    trace: Annotated[
        Path | None,
        typer.Argument(
            help="Trace with lines of cycle, source, destination and flits; plain or compressed (gz, xz, zst)."
        ),
    ] = None
    traffic: Annotated[
        str | None,
        _packet_option(
            metavar="PATTERN",
            help="Traffic pattern: uniform, transpose, bit-complement, bit-reverse, shuffle, tornado, neighbor or "
            "hotspot.",
            show_default="uniform",
        ),
    ] = None
    rate: Annotated[
        str | None,
        _packet_option(
            metavar="LOAD[,LOAD...]",
            help="Offered flits per node and cycle; several rates print a row each.",
            show_default="0.1",
        ),
    ] = None
    packet_flits: Annotated[str | None, _packet_option(metavar="N", help="Flits per packet.", show_default="1")] = None
    hotspots: Annotated[
        str | None,
        _packet_option(metavar="NODE[,NODE...]", help="Nodes that all nodes send to."),
    ] = None
    seed: Annotated[
        str | None,
        _packet_option(metavar="N", help="Seed of the random streams.", show_default="1"),
    ] = None
    size: Annotated[
        str | None,
        _network_option(metavar="CxR|N", help="Columns and rows of a mesh, or nodes of a ring.", show_default="8x8"),
    ] = None
    topology: Annotated[
        str | None, _network_option(metavar="NAME", help="Topology: mesh or ring.", show_default="mesh")
    ] = None
    routing: Annotated[
        str | None, _network_option(metavar="NAME", help="Routing: xy, yx or o1turn.", show_default="xy")
    ] = None
    vcs: Annotated[
        str | None, _network_option("--vcs", metavar="N", help="Virtual channels per port.", show_default="4")
    ] = None
    vc_flits: Annotated[
        str | None, _network_option("--vc-flits", metavar="N", help="Flits per buffer.", show_default="8")
    ] = None
    cycles: Annotated[
        str | None, _run_option(metavar="N", help="Measured cycles.", show_default="20k; all of a trace")
    ] = None
    warmup: Annotated[
        str | None, _run_option(metavar="N", help="Warm-up cycles.", show_default="6k; 0 with a trace")
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Configuration of the network, TOML or JSON."),
    ] = None
    overrides: Annotated[tuple[str, ...], set_option("any other value")] = ()
    over: RowsOver = ()
    json: Annotated[bool, json_option()] = False
    html: Annotated[Path | None, html_option("with a map of the links and curves")] = None

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


def parse_nodes(value: str, shown: str) -> list[int]:
    """Parses a list of nodes such as 27,36.

    Raises:
        ConfigError: The text is not such a list.
    """
    try:
        return [parse_count(node, shown) for node in value.split(",")]
    except ConfigError:
        raise ConfigError("malformed-value", f"{shown}: must be numbers of nodes, such as 27 or 27,28,35,36") from None
