"""The command `hostnet filter`: filters a memory trace through caches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet.cli.declare import json_option
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from hostnet.filtering import CacheLevel, FilterResult


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command(name="filter")(filter_command)


def filter_command(
    trace: Annotated[
        Path,
        typer.Argument(help="Trace of lackey, drmemtrace, Ramulator or DRAMsim3, plain or compressed (gz, xz, zst)."),
    ],
    l1: Annotated[str | None, typer.Option(metavar="SIZE,WAYS", help="L1 cache, e.g. 32KiB,8.")] = None,
    l2: Annotated[str | None, typer.Option(metavar="SIZE,WAYS", help="L2 cache, e.g. 1MiB,16.")] = None,
    llc: Annotated[str | None, typer.Option(metavar="SIZE,WAYS", help="Last-level cache, e.g. 24.75MiB,11.")] = None,
    cache: Annotated[
        list[str] | None,
        typer.Option(metavar="SIZE,WAYS", help="Cache level. Repeatable, starting next to the processor."),
    ] = None,
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="Take the caches from a server preset.")] = None,
    replacement: Annotated[
        str, typer.Option(metavar="lru|random|qlru", help="Replacement policy of levels that name none.")
    ] = "lru",
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of the trace.", show_default="detected"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write misses and write-backs to FILE; .gz, .xz or .zst compresses."),
    ] = None,
    output_format: Annotated[
        str, typer.Option(metavar="NAME", help="Format of the output: ramulator, ramulator1 or dramsim3.")
    ] = "ramulator",
    keep_addresses: Annotated[
        bool, typer.Option("--keep-addresses", help="Do not compact the pages of the output.")
    ] = False,
    json: Annotated[bool, json_option("Print JSON instead of the table.")] = False,
) -> int:
    """Filter a memory trace through caches, and keep the accesses that reach memory.

    `hostnet memory FILE` runs the output. --l1, --l2 and --llc override levels of a preset.

    Exit codes: 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet import filtering
    from hostnet.cli.main import EXIT_INTERRUPTED
    from hostnet.terminal.progress import Watch

    levels = parse_levels({"L1": l1, "L2": l2, "LLC": llc}, cache or [], preset, replacement)
    check_output(trace, output, output_format)
    with Watch(show=True, keeps=output is None) as watch:
        result = filtering.filter_trace(
            trace,
            levels,
            format=format_,
            output=output,
            output_format=output_format,
            keep_addresses=keep_addresses,
            progress=watch,
        )
    if json:
        echo_json(result.to_dict())
    else:
        print_result(result, output if result.complete else None)
    return 0 if result.complete else EXIT_INTERRUPTED


def parse_levels(
    named: dict[str, str | None], cache: list[str], preset: str | None, replacement: str
) -> list[CacheLevel]:
    """Returns the cache levels that the options describe.

    Raises:
        ConfigError: The options contradict each other, or one is invalid.
    """
    from hostnet._core import ConfigError
    from hostnet.filtering import preset_levels

    given = {name: text for name, text in named.items() if text is not None}
    if cache and (given or preset):
        raise ConfigError(
            "conflicting-keys", "--cache: names all levels by itself; leave out --l1, --l2, --llc and --preset"
        )
    if cache:
        return [
            parse_cache_level("--cache", f"level {number}", text, replacement) for number, text in enumerate(cache, 1)
        ]
    levels = {} if preset is None else {level.name: level for level in preset_levels(preset)}
    levels |= {name: parse_cache_level(f"--{name.lower()}", name, text, replacement) for name, text in given.items()}
    if not levels:
        raise ConfigError("missing-key", "no caches: give --preset, or levels such as --l1 32KiB,8 --llc 24.75MiB,11")
    return [levels[name] for name in named if name in levels]


def parse_cache_level(option: str, name: str, text: str, replacement: str) -> CacheLevel:
    """Parses a level; error messages start with the option."""
    from hostnet._core import ConfigError
    from hostnet.filtering import parse_level

    try:
        return parse_level(name, text, replacement)
    except ConfigError as error:
        raise error.reworded(f"{option} {error}") from None


def check_output(trace: Path, output: Path | None, output_format: str) -> None:
    """Checks that the output can be written.

    Raises:
        ConfigError: Its format is unknown, or it is a folder, has no folder, or is the trace itself.
        OSError: Its folder cannot be written.
    """
    from hostnet import rundir
    from hostnet._core import ConfigError
    from hostnet.filtering import OUTPUT_FORMATS

    if output_format not in OUTPUT_FORMATS:
        raise ConfigError(
            "unknown-name", f"--output-format {output_format}: is not known; known are: {', '.join(OUTPUT_FORMATS)}"
        )
    if output is None:
        return
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise ConfigError("file-access", f"--output {output}: name a file in a folder that exists")
    if output.exists() and trace.exists() and output.samefile(trace):
        raise ConfigError("file-access", f"--output {output}: is the trace itself; name another file")
    rundir.check_file(output)


def print_result(result: FilterResult, output: Path | None) -> None:
    """Prints a row for each level, and the size of the output."""
    from hostnet.cli.show import new_table, percent, print_tables
    from hostnet.terminal.console import Screen

    console, summary = Screen(), result.to_dict()
    per_access = summary["instructions"] / summary["accesses"] if summary["accesses"] else 0
    console.print(
        f"{result.trace}: {summary['format']}, {summary['accesses']} accesses, "
        f"{summary['instructions']} instructions ({per_access:.2f} per access)",
        soft_wrap=True,
    )
    headings = ("level", "size", "ways", "accesses", "misses", "share", "write-backs", "MPKI")
    table = new_table(*headings, left=(0,))
    for row in summary["levels"]:
        share = row["misses"] / row["accesses"] if row["accesses"] else None
        per_1000 = f"{1000 * row['misses'] / summary['instructions']:.2f}" if summary["instructions"] else "-"
        table.add_row(
            row["level"],
            size_text(row["bytes"]),
            str(row["ways"]),
            str(row["accesses"]),
            str(row["misses"]),
            percent(share),
            str(row["write_backs"]),
            per_1000,
        )
    print_tables(console, table)
    if not result.complete:
        console.print("stopped before its end: the counts cover the part that was read")
    if output is not None:
        console.print(f"\n{output}: {summary['requests']} requests", soft_wrap=True)


def size_text(size: int) -> str:
    """Formats bytes in the largest binary unit that is not larger than the size."""
    from hostnet.units import SIZE_BYTES

    for unit in ("GiB", "MiB", "KiB"):
        if size >= SIZE_BYTES[unit]:
            return f"{size / SIZE_BYTES[unit]:.4g} {unit}"
    return f"{size} B"
