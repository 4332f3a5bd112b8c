"""Options of `hostnet run` about counters and captures, with their checks."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hostnet._core import ConfigError
from hostnet.units import parse_time_ps

record_option = partial(typer.Option, rich_help_panel="Counters and captures")
"""Declares an option in the panel of these options."""

COUNTER_FORMS = ("perf", "pcm", "pcm-numa")
"""Formats of counter files, as in `hostnet.counters.FORMATS`."""

COUNTERS_INTERVAL = "100us"
"""Default interval between two readings of the counters."""

COUNTERS_PS_MIN = 10**6
"""Shortest interval between two readings of the counters, in ps."""


@dataclass(frozen=True)
class CounterOptions:
    """Options of `hostnet run` about counter files, as given."""

    form: Annotated[
        str | None,
        record_option(
            "--counters",
            metavar="perf|pcm|pcm-numa",
            help="Write counters.csv in the format of perf stat, pcm-raw or pcm-numa.",
        ),
    ] = None
    interval: Annotated[
        str | None,
        record_option(metavar="TIME", help="Interval between readings of the counters.", show_default="100us"),
    ] = None
    out: Annotated[
        Path | None,
        record_option(metavar="FILE", help="File for the counters.", show_default="counters.csv of the run"),
    ] = None
    per_socket: Annotated[
        bool, record_option("--counters-per-socket", help="Write sums per socket, like perf stat --per-socket.")
    ] = False

    @property
    def interval_ps(self) -> int:
        """Interval between two readings, in ps; 0 if no counters are requested."""
        return 0 if self.form is None else parse_time_ps(self.interval or COUNTERS_INTERVAL, "--counters-interval")

    def check(self) -> None:
        """Rejects options that contradict each other or are out of range.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.form is None:
            given = {
                "--counters-interval": self.interval,
                "--counters-out": self.out,
                "--counters-per-socket": self.per_socket or None,
            }
            for option, value in given.items():
                if value is not None:
                    raise ConfigError(
                        "requires-key", f"{option}: say with --counters which file it is about: perf, pcm or pcm-numa"
                    )
            return
        if self.form not in COUNTER_FORMS:
            near = get_close_matches(self.form, COUNTER_FORMS, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise ConfigError("unknown-name", f'--counters "{self.form}": must be perf, pcm or pcm-numa{hint}')
        if self.form != "perf" and self.per_socket:
            tool = "pcm-raw" if self.form == "pcm" else self.form
            raise ConfigError("no-effect", f"--counters-per-socket: {tool} always tells the units apart")
        if self.interval_ps < COUNTERS_PS_MIN or self.interval_ps % 1000:
            raise ConfigError(
                "out-of-range", f'--counters-interval "{self.interval}": must be whole ns and at least 1 us'
            )
        if self.out is not None and (self.out.is_dir() or not self.out.parent.is_dir()):
            raise ConfigError("file-access", f"--counters-out {self.out}: name a file in a folder that exists")


@dataclass(frozen=True)
class PcapOptions:
    """Options of `hostnet run` about captures, as given."""

    file: Annotated[
        Path | None,
        record_option("--pcap", metavar="FILE", help="Write a packet capture (pcap) of one host of a cluster."),
    ] = None
    host: Annotated[
        str | None, record_option(metavar="NAME", help="Host to capture.", show_default="the only server")
    ] = None
    snaplen: Annotated[
        int | None,
        record_option(metavar="BYTES", help="Maximum number of bytes to keep per frame.", show_default="128"),
    ] = None

    def check(self) -> None:
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.file is None:
            for option, value in {"--pcap-host": self.host, "--pcap-snaplen": self.snaplen}.items():
                if value is not None:
                    raise ConfigError("requires-key", f"{option}: is about a capture; give --pcap FILE too")
        elif self.file.is_dir() or not self.file.parent.is_dir():
            raise ConfigError("file-access", f"--pcap {self.file}: name a file in a folder that exists")
