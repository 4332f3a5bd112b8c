"""`hostnet new`: writes a commented template, and the files that it names."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet import _core
from hostnet.files import write_file
from hostnet.terminal.screen import echo

if TYPE_CHECKING:
    from collections.abc import Callable

TRACE = "program.lackey.xz"
"""Trace that the template of the application `trace` replays."""

TRACE_LINES = 20_000
"""Number of accesses in the sample of a trace."""

ALTERNATIVES = ("--stream-and-drives", "--app", "--cluster", "--chip")
"""Options that select a template."""


@dataclass(frozen=True)
class Template:
    """Options of `hostnet new`."""

    file: Annotated[Path | None, typer.Argument(help="File to write.", show_default="<name>.toml")] = None
    stream_and_drives: Annotated[
        bool, typer.Option("--stream-and-drives", help="Server whose cores store while four drives are read.")
    ] = False
    app: Annotated[
        str | None,
        typer.Option("--app", metavar="APP", help="Application beside storage reads; see `hostnet list apps`."),
    ] = None
    alone: Annotated[bool, typer.Option("--alone", help="With --app: omit the storage reads.")] = False
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="NAME", help=f"Cluster: {', '.join(_core.cluster_templates())}."),
    ] = None
    chip: Annotated[bool, typer.Option("--chip", help="Chip of tiles with network interfaces.")] = False
    preset: Annotated[
        str | None,
        typer.Option("--preset", metavar="NAME", help="With --chip: preset of the chip; see `hostnet list chips`."),
    ] = None

    @property
    def name(self) -> str:
        """Name of the file without its suffix, unless one is given."""
        return self.app or self.cluster or ("chip" if self.chip else "server")

    def check(self) -> None:
        """Rejects options that contradict each other.

        Raises:
            ConfigError: There are such options.
        """
        selected = (self.stream_and_drives, self.app is not None, self.cluster is not None, self.chip)
        given = [option for option, is_given in zip(ALTERNATIVES, selected, strict=True) if is_given]
        if len(given) > 1:
            raise _core.ConfigError("conflicting-keys", f"{' and '.join(given)}: give one of them")
        if self.preset is not None and not self.chip:
            raise _core.ConfigError("requires-key", "--preset: selects a chip; give --chip, too")
        if self.alone and self.app is None:
            raise _core.ConfigError(
                "requires-key", "--alone: omits the storage reads beside an application; give --app, too"
            )

    def text(self) -> str:
        """Returns the template.

        Raises:
            ConfigError: There is no application, cluster or chip of the given name.
        """
        if self.chip:
            return _reworded("--preset", lambda: _core.chip_template(self.preset))
        if (cluster := self.cluster) is not None:
            return _reworded("--cluster", lambda: _core.cluster_template(cluster))
        if (app := self.app) is not None:
            return _reworded("--app", lambda: _core.app_template(app, alone=self.alone))
        return _core.stream_and_drives_template() if self.stream_and_drives else _core.template()


def write_template(template: Template) -> int:
    """Writes the template of the options to a file that does not exist yet, and the trace that it names."""
    template.check()
    text = template.text()
    file = template.file or Path(f"{template.name}.toml")
    files = {file: text.encode()}
    if TRACE in text:
        files[file.parent / TRACE] = sample_trace()
    for path in files:
        if path.exists() or path.is_symlink():
            raise FileExistsError(f"{path}: exists; hostnet new does not overwrite")
    for path, content in files.items():
        write_file(path, content)
    echo(f"{file}: run it with: hostnet run {file}")
    return 0


def sample_trace() -> bytes:
    """Returns a compressed trace in the format of lackey: one core that adds up an array, line by line."""
    lines = (f"I  00401000,4\n L {0x10000000 + 64 * index:08x},8\n" for index in range(TRACE_LINES))
    return lzma.compress("".join(lines).encode())


def _reworded(option: str, make: Callable[[], str]) -> str:
    """Returns the result of a function whose errors are about an option."""
    try:
        return make()
    except _core.ConfigError as error:
        raise error.reworded(f"{option}: {error}") from None
