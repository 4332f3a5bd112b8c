"""The command `hostnet chakra`: writes a job as execution traces, one file per rank."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from hostnet.cli.declare import set_option

RANK = "%d"
"""Placeholder for the rank in file names, as where traces are read."""


READERS = ("chakra", "astra-sim")
"""Programs that read traces; those of Chakra's format are the first."""


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(chakra)


def chakra(
    file: Annotated[Path, typer.Argument(help="Configuration of a cluster, TOML or JSON.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR/NAME", help="Write the trace of rank R to DIR/NAME.R.et.")],
    job: Annotated[
        str | None, typer.Option("--job", metavar="NAME", help="Job to write, if there are several.")
    ] = None,
    messages: Annotated[
        bool, typer.Option("--messages", help="Write the messages of collectives instead of collective nodes.")
    ] = False,
    reader: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="chakra|astra-sim",
            help="Program that reads the traces: astra-sim gets no computation of the processor, and a file of groups.",
        ),
    ] = READERS[0],
    overrides: Annotated[list[str] | None, set_option("a value")] = None,
) -> int:
    """Write the operations of a job's ranks as MLCommons Chakra execution traces."""
    from hostnet import _core
    from hostnet.running import simulate
    from hostnet.terminal.screen import echo

    for_astra_sim = _checked(reader) == "astra-sim"
    plan = simulate.resolve(simulate.source_of(file, tuple(overrides or ())))
    traces, groups = _core.chakra_traces(plan, job, messages=messages, astra_sim=for_astra_sim)
    # Other readers find the groups in the traces.
    listed = json.dumps(groups).encode() if for_astra_sim and groups else None
    write(out, traces, listed)
    last = f" to {_place(out, len(traces) - 1)}" if len(traces) > 1 else ""
    echo(f"{_place(out, 0)}{last}: {sum(map(len, traces))} bytes")
    if listed is not None:
        echo(f"{_groups_place(out)}: ranks of {len(groups)} groups")
    return 0


def _checked(reader: str) -> str:
    """Returns the program that reads the traces; raises `ConfigError` for an unknown one."""
    from hostnet._core import ConfigError
    from hostnet.cli.options import name_hint

    if reader not in READERS:
        raise ConfigError("unknown-name", f"--for {reader}: is not known; {name_hint(reader, list(READERS))}")
    return reader


def write(out: Path, traces: list[bytes], groups: bytes | None = None) -> None:
    """Writes the traces of all ranks and their groups, or none of them, and creates their folder.

    Raises:
        ConfigError: A trace of a further rank exists, which would be read as part of them.
        OSError: A trace cannot be written.
    """
    from hostnet._core import ConfigError
    from hostnet.files import scratch_file
    from hostnet.rundir import check_parent

    if not out.name:
        raise ConfigError("malformed-value", f"--out {out}: must be DIR/NAME; traces are DIR/NAME.0.et and so on")
    further = _place(out, len(traces))
    if further.exists():
        raise ConfigError(
            "file-access", f"{further}: is there, and would belong to these {len(traces)} traces; remove it"
        )
    places = {_place(out, rank): trace for rank, trace in enumerate(traces)}
    if groups is not None:
        places[_groups_place(out)] = groups
    check_parent(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # All traces are written before the first one gets its final name.
    with ExitStack() as stack:
        scratches = [stack.enter_context(scratch_file(place)) for place in places]
        for (scratch, _), content in zip(scratches, places.values(), strict=True):
            scratch.write_bytes(content)
        for _, keep in scratches:
            keep()


def _place(out: Path, rank: int) -> Path:
    """Returns the path of the trace of a rank."""
    name = out.name.replace(RANK, str(rank)) if RANK in out.name else f"{out.name}.{rank}.et"
    return out.with_name(name)


def _groups_place(out: Path) -> Path:
    """Returns the path of the file of groups."""
    name = out.name.partition(RANK)[0].rstrip("._-") if RANK in out.name else out.name
    return out.with_name(f"{name or 'ranks'}.groups.json")
