"""The command `hostnet import`: drafts a server file from a real machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BASE = "cascade-lake-6234"
"""Preset of a machine for which only the frequencies and sleep states of cores are known."""


UNVALIDATED = "unvalidated: frequencies and sleep are drafted from a machine; voltages and powers are assumed"
"""Note on the results of such a server."""


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command(name="import")(import_)


def import_(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.xml", help="Output of `lstopo --of xml FILE.xml`.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Server file to write.")] = Path("server.toml"),
    package: Annotated[
        int | None, typer.Option(metavar="N", help="Draft only this processor, counted from 0.", show_default="all")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET", help="Preset for values that hwloc does not report.", show_default="the nearest preset"
        ),
    ] = None,
    power: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Import core frequencies and sleep states from /sys/devices/system/cpu or a copy. "
            "Without FILE.xml, they are added to --base.",
            show_default="none",
        ),
    ] = None,
    turbostat: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --power: output of `turbostat --out FILE`.", show_default="none"),
    ] = None,
) -> int:
    """Draft a server file from the hwloc topology and the sysfs of a machine.

    A comment on each value says whether it was measured on the machine or assumed as in a preset.

    Exit codes: 2 invalid input.
    """
    from hostnet import rundir
    from hostnet._core import ConfigError

    for path in filter(None, (file, power, turbostat)):
        path.stat()
    if file is None and power is None:
        raise ConfigError("missing-key", "nothing to import: give FILE.xml, --power DIR, or both")
    if turbostat is not None and power is None:
        raise ConfigError("requires-key", "--turbostat: has an effect only with --power")
    if file is None and package is not None:
        raise ConfigError("requires-key", "--package: has an effect only with FILE.xml")
    rundir.check_new_file(out)
    table = None if power is None else _table(power, turbostat)
    if file is None:
        return _write_power_only(table or "", base or BASE, out)
    return _write_machine(file, package, base, table, out)


def _table(power: Path, turbostat: Path | None) -> str:
    """Returns the table of frequencies and sleep states."""
    from hostnet.sysfs import power_table, read_cores, read_turbostat

    return power_table(read_cores(power), None if turbostat is None else read_turbostat(turbostat))


def _write_power_only(table: str, base: str, out: Path) -> int:
    """Writes a preset with the frequencies and sleep states of the machine."""
    import json

    from hostnet.cli import show

    server = f"[server]\npreset = {json.dumps(base)}\nunvalidated = {json.dumps(UNVALIDATED)}\n"
    _write(f"# Drafted by hostnet import. To run it, add a workload.\n\n{server}\n{table}", out)
    with show.buffered_console() as console:
        console.print(f"everything but frequencies and sleep is assumed as in {base}")
        show.print_path(console, out)
    return 0


def _write_machine(file: Path, package: int | None, base: str | None, table: str | None, out: Path) -> int:
    """Writes the server of a topology."""
    from hostnet.files import write_file
    from hostnet.hwloc import draft, read_topology, text_of

    drafted = draft(read_topology(file), package, base)
    text = text_of(drafted, file.name, out)
    if table is None:
        write_file(out, text.encode())
    else:
        _write(f"{text}\n{table}", out)
    _print(drafted.description, drafted.base.name, drafted.why_base, drafted.notes, out)
    return 0


def _write(text: str, out: Path) -> None:
    """Resolves a server file and writes it."""
    from hostnet import _core
    from hostnet.files import write_file
    from hostnet.presets import PROBE

    _core.resolve(text, file=str(out), overrides=[PROBE])
    write_file(out, text.encode())


def _print(description: str, base: str, why: str, notes: tuple[str, ...], out: Path) -> None:
    """Prints the description, the preset and the notes."""
    from hostnet.cli import show

    with show.buffered_console() as console:
        console.print(description, style="bold")
        console.print(f"everything that hwloc cannot know is assumed as in {base} ({why})")
        show.print_notes(console, notes)
        show.print_path(console, out)
