"""`hostnet import`: a server file from a real machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="import")(import_)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.xml", help="What `lstopo --of xml FILE.xml` wrote.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The server file to write.")] = Path("server.toml"),
    package: Annotated[
        int | None, typer.Option(metavar="N", help="One processor of several alone, from 0.", show_default="all")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="PRESET", help="Gives what hwloc cannot know.", show_default="the nearest preset"),
    ] = None,
) -> int:
    """Draft a server file from the topology of a machine, as hwloc's lstopo writes it.

    Every value has a comment that says whether hwloc told it or it is assumed as in a preset.

    Exit codes: 2 something given is wrong.
    """
    from hostnet import rundir
    from hostnet.files import write_file
    from hostnet.hwloc import draft, read_topology, text_of

    rundir.check_new_file(out)
    drafted = draft(read_topology(file), package, base)
    write_file(out, text_of(drafted, file.name, out).encode())
    _print(drafted.description, drafted.base.name, drafted.why_base, drafted.notes, out)
    return 0


def _print(description: str, base: str, why: str, notes: tuple[str, ...], out: Path) -> None:
    from hostnet.cli import show

    with show.page() as console:
        console.print(description, style="bold")
        console.print(f"everything that hwloc cannot know is assumed as in {base} ({why})")
        show.print_notes(console, notes)
        show.print_path(console, out)
