"""The command `hostnet whatif`: compares attachments of the NIC."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hostnet.cli.declare import ParallelRuns, json_option, set_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    Row = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(whatif)


def whatif(
    file: Annotated[Path, typer.Argument(help="Configuration of hosts on a network, TOML or JSON.")],
    attach: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE,...",
            help="Attachments of the NIC: pcie, onchip, dimm, cxl.",
            show_default="all that are possible",
        ),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Move only the NIC of this host table. Repeatable.")
    ] = None,
    overrides: Annotated[list[str] | None, set_option("a value")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Override the seed.")] = None,
    threads: ParallelRuns = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the runs.", show_default="runs/<name>-whatif-<n>"),
    ] = None,
    json: Annotated[bool, json_option("Print whatif.json instead of the tables.")] = False,
) -> int:
    """Compare attachments of the NIC: PCIe, on the die, in a DIMM, or CXL.

    The configuration is run once per attachment, with nothing else changed. Each run directory is kept for plot and
    compare.

    Exit codes: 1 a run failed, 2 invalid input, 130 interrupted by Ctrl-C.
    """
    from hostnet import rundir
    from hostnet.attachments import parse_places, possible_places, what_if
    from hostnet.attachments.files import content_of, write_places
    from hostnet.cli.main import EXIT_INTERRUPTED
    from hostnet.rundir import RUNS
    from hostnet.running.ranges import check_seed
    from hostnet.terminal.progress import Watch
    from hostnet.terminal.screen import echo

    check_seed("--seed", seed)
    rundir.check_run_dir(out or rundir.fresh_path(RUNS, f"{file.stem}-whatif"))
    chosen: dict[str, Any] = {"hosts": tuple(host or ()), "overrides": tuple(overrides or ()), "seed": seed}
    refused: dict[str, str] = {}
    if attach is not None:
        places = parse_places(attach)
    else:
        places, refused = possible_places(file, **chosen)
    with Watch(show=True, keeps=False) as watch:
        placed = what_if(file, places, **chosen, threads=threads, progress=watch)
        if not all(one.results.complete for one in placed):
            return EXIT_INTERRUPTED
        watch.finish()
    content = content_of(placed, refused)
    if out is not None:
        path = rundir.publish(out, lambda folder: write_places(placed, content, folder))
    else:
        path = rundir.publish_fresh(RUNS, f"{file.stem}-whatif", lambda folder: write_places(placed, content, folder))
    if json:
        echo((path / "whatif.json").read_text(encoding="utf-8"), end="")
    else:
        _print(content, placed[0].results.summary, path)
    return 0


def _print(content: Row, summary: Row, path: Path) -> None:
    """Prints the tables; the last line is the path of the folder."""
    from rich.text import Text

    from hostnet.attachments.advice import gap_notes
    from hostnet.cli import show

    stages, traffic, hosts = content["stages"], content["traffic"], content["hosts"]
    with show.buffered_console() as console:
        console.print(Text(show.headline(summary), style="bold"))
        if stages:
            show.print_tables(console, _stage_table(stages))
        headings = {
            "class": "class",
            "place": "NIC",
            "goodput_gbps": "Gbps",
            "mean_us": "round trip µs",
            "p99_us": "P99",
            "memory_bytes_per_packet": "memory B/packet",
            "energy_per_byte": "energy per byte",
            "energy_per_request": "per request",
            "limit": "limited by",
        }
        show.print_tables(
            console, _table(headings, [_with_energy(row) for row in traffic], ("class", "place", "limit"))
        )
        headings = {
            "host": "host",
            "place": "NIC",
            "in_gbps": "in Gbps",
            "out_gbps": "out Gbps",
            "memory_gb_per_s": "memory GB/s",
            "busy_percent": "busy %",
            "power_w": "W",
            "others_gb_per_s": "others GB/s",
            "others_latency_ns": "their latency ns",
        }
        show.print_tables(console, _table(headings, [_without_iio(row) for row in hosts], ("host", "place")))
        left_out = (f"{place} is left out: {why}" for place, why in content["refused"].items())
        notes = [*content["losses"], *content["unvalidated"], *left_out, *gap_notes(traffic, hosts)]
        show.print_notes(console, notes)
        show.print_path(console, path)


def _without_iio(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a host, without the rates of an IIO that carries no NIC traffic."""
    return row if row["in_gbps"] or row["out_gbps"] else {**row, "in_gbps": None, "out_gbps": None}


def _with_energy(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row of traffic with its energies formatted."""
    from hostnet.units import format_si

    energies = {"energy_per_byte": ("pj_per_byte", 1e-12), "energy_per_request": ("nj_per_operation", 1e-9)}
    known = {name: row[key] * joules for name, (key, joules) in energies.items() if row[key] is not None}
    return {**row, **{name: format_si(joules, "J") for name, joules in known.items()}}


def _stage_table(stages: Sequence[dict[str, Any]]) -> Table:
    """Creates the table of stages: a row per class, direction and stage, a column per place."""
    from hostnet.stages import STAGES

    places = {row["place"]: f"{row['place']} µs" for row in stages}
    shown = {stage: name for stage, name in STAGES.items() if any(row.get(stage) for row in stages)}
    rows: list[dict[str, Any]] = []
    for ends in dict.fromkeys((row["class"], row["way"]) for row in stages):
        own = {row["place"]: row for row in stages if (row["class"], row["way"]) == ends}
        for stage, name in {**shown, "mean_us": "all"}.items():
            shown_ends = ("", "") if stage != next(iter(shown)) else ends
            values = {place: row.get(stage) for place, row in own.items()}
            rows.append({"class": shown_ends[0], "way": shown_ends[1], "stage": name, **values})
    return _table({"class": "class", "way": "way", "stage": "stage", **places}, rows, ("class", "way", "stage"))


def _table(headings: dict[str, str], rows: Sequence[dict[str, Any]], texts: Sequence[str]) -> Table:
    """Creates a table of rows; the columns in `texts` are text."""
    from hostnet.cli import show

    shown = {key: heading for key, heading in headings.items() if any(row.get(key) is not None for row in rows)}
    table = show.new_table(*shown.values(), left=[index for index, key in enumerate(shown) if key in texts])
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in shown))
    return table


def _cell(value: Any) -> str:
    """Formats a cell."""
    from hostnet.cli.show import NOTHING, number

    return value if isinstance(value, str) else number(value) if value is not None else NOTHING
