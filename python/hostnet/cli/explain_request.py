"""Options of `hostnet explain`, with their checks."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hostnet._core import ConfigError
from hostnet.cli.declare import html_option, json_option, set_option
from hostnet.cli.page_file import check_page
from hostnet.files import CONFIGURATIONS


@dataclass(frozen=True)
class ExplainRequest:
    """Options of `hostnet explain` as given."""

    what: Annotated[
        Path,
        typer.Argument(metavar="RUN|FILE|CSV", help="Run directory, configuration to run first, or counters (.csv)."),
    ]
    server: Annotated[
        str | None, typer.Option(metavar="PRESET|FILE", help="Server of the counters.", show_default=False)
    ] = None
    cores: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of busy cores, for counters.",
            show_default="estimated from the LFB entries in use",
        ),
    ] = None
    overrides: Annotated[tuple[str, ...], set_option("a value of the configuration")] = ()
    host: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Server of a cluster to explain.", show_default="the only one that can be explained"
        ),
    ] = None
    slos: Annotated[
        tuple[str, ...],
        typer.Option(
            "--slo",
            metavar="PROMISE",
            help='Check a latency objective of services, such as "p99 < 1 ms", and explain their latency. Repeatable.',
        ),
    ] = ()
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Also simulate the changes that are predicted to help.")
    ] = False
    brief: Annotated[bool, typer.Option("--brief", help="Omit the remedies.")] = False
    json: Annotated[bool, json_option("Print JSON instead of the page.")] = False
    html: Annotated[Path | None, html_option("with the limits and latencies as charts")] = None

    @property
    def is_configuration(self) -> bool:
        """True if a configuration is to be explained."""
        return not self.what.is_dir() and self.what.suffix in CONFIGURATIONS

    def command(self, host: str) -> str:
        """Returns the command line that explains a host."""
        settings = (word for assignment in self.overrides for word in ("--set", assignment))
        flags = [f"--{flag}" for flag in ("confirm", "brief", "json") if getattr(self, flag)]
        return shlex.join(["hostnet", "explain", str(self.what), *settings, "--host", host, *flags])

    def check(self) -> None:
        """Rejects options that contradict each other or are out of range.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
            OSError: The page cannot be written.
        """
        from hostnet.explanation.arguments import check_options, subject_of

        names = ("server", "cores", "overrides", "host", "slos", "confirm", "brief")
        check_options(subject_of(self.what), **{name: getattr(self, name) for name in names})
        if self.html is not None:
            if self.slos:
                raise ConfigError("conflicting-keys", "--slo and --html: give one of them; objectives have no page")
            check_page(self.html)
