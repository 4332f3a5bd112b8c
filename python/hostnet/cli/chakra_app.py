"""The command `hostnet chakra`: a job as execution traces, a file of each rank."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

RANK = "%d"
"""Stands for the rank in names, as it does where traces are read."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(chakra)


def chakra(
    file: Annotated[Path, typer.Argument(help="The configuration of a cluster, TOML or JSON.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR/NAME", help="Where: DIR/NAME.0.et of rank 0, and so on.")],
    job: Annotated[str | None, typer.Option("--job", metavar="NAME", help="Which job, if there are several.")] = None,
    messages: Annotated[
        bool, typer.Option("--messages", help="The messages of collectives, and no nodes for collectives.")
    ] = False,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Replace a value. Repeatable.")
    ] = None,
) -> int:
    """Write what the ranks of a job do as execution traces of MLCommons Chakra."""
    from hostnet import _core
    from hostnet.running import simulate
    from hostnet.terminal.screen import say

    plan = simulate.resolve(simulate.source_of(file, tuple(overrides or ())))
    traces = _core.chakra_traces(plan, job, messages=messages)
    write(out, traces)
    last = f" to {_place(out, len(traces) - 1)}" if len(traces) > 1 else ""
    say(f"{_place(out, 0)}{last}: {sum(map(len, traces))} bytes")
    return 0


def write(out: Path, traces: list[bytes]) -> None:
    """Writes the traces of all ranks whole or none of them; their folder is made if there is none.

    Raises:
        ConfigError: There is one of a further rank, which would belong to them.
        OSError: They cannot be written.
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
    places = [_place(out, rank) for rank in range(len(traces))]
    check_parent(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # All are written before the first gets its name.
    with ExitStack() as stack:
        scratches = [stack.enter_context(scratch_file(place)) for place in places]
        for (scratch, _), content in zip(scratches, traces, strict=True):
            scratch.write_bytes(content)
        for _, keep in scratches:
            keep()


def _place(out: Path, rank: int) -> Path:
    name = out.name.replace(RANK, str(rank)) if RANK in out.name else f"{out.name}.{rank}.et"
    return out.with_name(name)
