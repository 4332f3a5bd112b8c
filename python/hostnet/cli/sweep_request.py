"""Options of `hostnet sweep`, with their checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hostnet._core import ConfigError
from hostnet.cli.declare import ConfigurationFile, Engine, json_option, set_option


@dataclass(frozen=True)
class SweepRequest:
    """Options of `hostnet sweep`, as given."""

    file: ConfigurationFile
    over: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="PATH=VALUE,...",
            help="Parameter and its values, e.g. iio.write_credits=46,92,184 or core.lfb.entries=4..12..2. "
            "Repeatable; every combination is computed.",
        ),
    ] = ()
    overrides: Annotated[tuple[str, ...], set_option("a value in every point")] = ()
    seeds: Annotated[int | None, typer.Option(metavar="N", help="Compute every point with N seeds.")] = None
    engine: Engine = "run"
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Number of parallel points.", show_default="all cores"),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory of the sweep.", show_default="runs/<name>-sweep-<n>")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue the sweep in --out.")] = False
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster: tcp://host:port or a scheduler file."),
    ] = None
    json: Annotated[bool, json_option("Print sweep.json, the directory and the rows as JSON.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the path of the directory.")] = False

    def check(self) -> None:
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There is such an option; the message suggests a remedy.
        """
        if self.json and self.quiet:
            raise ConfigError("conflicting-keys", "--json and --quiet: both say what to print; give one of them")
        if self.resume and self.out is None:
            raise ConfigError("requires-key", "--resume: name the directory to continue with --out")
