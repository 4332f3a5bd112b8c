"""The command `hostnet codec`: assesses the gradient codec on a file of floats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet.cli.declare import json_option
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from hostnet.codec.files import Assessment


RANKS_MAX = 1024


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command(name="codec")(codec)


def codec(
    file: Annotated[Path, typer.Argument(help="File of float32 values in .npy format.")],
    bound: Annotated[int, typer.Option(metavar="K", help="Bound the error of a float by 2^-K, K = 1 to 15.")] = 10,
    mode: Annotated[
        str,
        typer.Option(metavar="thesis|bounded|nearest", help="As published, keeping the bound, or rounding to nearest."),
    ] = "thesis",
    ranks: Annotated[
        int | None, typer.Option(metavar="N", help="Also show the speed-up of a ring of N ranks, 2 to 1024.")
    ] = None,
    json: Annotated[bool, json_option("Print JSON instead of the table.")] = False,
) -> int:
    """Compress a file of gradients, and show the compression ratio and the error.

    Exit codes: 2 invalid input.
    """
    from hostnet._core import CodecFeedback, ConfigError
    from hostnet.codec.arrays import check_bound
    from hostnet.codec.files import assess

    if ranks is not None and not 2 <= ranks <= RANKS_MAX:
        raise ConfigError("out-of-range", f"--ranks {ranks}: must be between 2 and {RANKS_MAX}")
    try:
        CodecFeedback(0, check_bound(bound), mode)
    except ConfigError as error:
        raise error.reworded(f"--{error}") from None
    found = assess(file, bound, mode, ranks or 0)
    if json:
        echo_json(found.to_dict())
    else:
        print_assessment(found)
    return 0


def print_assessment(found: Assessment) -> None:
    """Prints a row for each size class, and the derived figures."""
    from hostnet.cli.show import new_table, percent, print_tables
    from hostnet.terminal.console import Screen

    console, row = Screen(), found.to_dict()
    console.print(
        f"{found.file}: {row['floats']} floats, {found.mode}, bound 2^-{found.bound_exponent} = {found.bound:.3g}",
        soft_wrap=True,
    )
    table = new_table("bits", "floats", "share", left=())
    for entry in row["classes"]:
        table.add_row(str(entry["bits"]), str(entry["floats"]), percent(entry["share"]))
    print_tables(console, table)
    console.print()
    console.print(f"ratio {row['ratio']:.2f}: {row['plain_bytes']} bytes become {row['payload_bytes']}")
    if found.ring_ratio is not None:
        ratios = row["part_ratios"]
        console.print(
            f"around a ring of {len(ratios)} ranks {found.ring_ratio:.2f}: steps last as long as the part that stays "
            f"the largest, and parts have {min(ratios):.2f} to {max(ratios):.2f}",
            soft_wrap=True,
        )
    console.print(f"largest error {found.error_max:.3g}: {bound_text(found)}")
    if found.not_finite:
        console.print(f"{found.not_finite} floats are infinite or no numbers, and stay as they are")
    speeds = (row["compress_gb_per_s"], row["decompress_gb_per_s"])
    console.print("compressed at {:.2f} GB/s, decompressed at {:.2f} GB/s".format(*speeds))


def bound_text(found: Assessment) -> str:
    """Says whether the bound holds, and which mode guarantees it."""
    if found.bound_kept:
        return "the bound is kept"
    return "the bound is not kept; --mode bounded keeps it"
