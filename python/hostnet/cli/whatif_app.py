"""The command `hostnet whatif`: the NIC elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from hostnet.whatif import Placed


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(whatif)


def whatif(
    file: Annotated[Path, typer.Argument(help="The configuration of hosts on a network, TOML or JSON.")],
    attach: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE,...",
            help="Where the NIC is to sit: pcie, onchip, dimm, cxl.",
            show_default="all that are possible",
        ),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only the NIC of this host table. Repeatable.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Replace a value. Repeatable.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Replace the seed.")] = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", "-j", help="Runs at a time; the results do not depend on it.", show_default="all"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for the runs.", show_default="runs/<name>-whatif-<n>"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print whatif.json instead of the tables.")] = False,
) -> int:
    """Tell what would change if the NIC sat elsewhere: at PCIe, on the die, in a DIMM, at CXL.

    One run for each place, and nothing else changed. Each is kept as `hostnet run` keeps it, for plot and compare.

    Exit codes: 1 a run could not go on, 2 something given is wrong, 130 stopped by Ctrl-C.
    """
    from hostnet import rundir
    from hostnet.cli.main import EXIT_INTERRUPTED
    from hostnet.cli.run import RUNS
    from hostnet.running.ranges import check_seed
    from hostnet.terminal.progress import Watch
    from hostnet.terminal.screen import say
    from hostnet.whatif import parse_places, possible_places, what_if

    check_seed("--seed", seed)
    rundir.check_place(out or rundir.fresh_path(RUNS, f"{file.stem}-whatif"))
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
    if out is not None:
        path = rundir.publish(out, lambda place: _write(placed, refused, place))
    else:
        path = rundir.publish_fresh(RUNS, f"{file.stem}-whatif", lambda place: _write(placed, refused, place))
    if json:
        say((path / "whatif.json").read_text(encoding="utf-8"), end="")
    else:
        _print(placed, refused, path)
    return 0


def _write(placed: Sequence[Placed], refused: dict[str, str], place: Path) -> None:
    """Fills an empty folder: a run for each place, and the comparison."""
    import json

    from hostnet import rundir
    from hostnet.whatif import host_rows, loss_notes, stage_rows, traffic_rows

    for one in placed:
        (place / one.place).mkdir()
        rundir.write_run(one.results, place / one.place)
    found = {
        "format": 1,
        "name": placed[0].results.summary["name"],
        "stages": stage_rows(placed),
        "traffic": traffic_rows(placed),
        "hosts": host_rows(placed),
        "losses": loss_notes(placed),
        "refused": refused,
        "unvalidated": _notes(placed),
    }
    rundir.write_text(place / "whatif.json", json.dumps(found, indent=1) + "\n")


def _notes(placed: Sequence[Placed]) -> list[str]:
    """What is not validated in any of the runs, once for all hosts of which it is said."""
    hosts: dict[str, dict[str, None]] = {}
    for one in placed:
        for note in filter(None, (one.results.summary["unvalidated"] or "").split("; ")):
            host, _, what = note.partition(": ")
            hosts.setdefault(what, {})[host] = None
    return [f"{', '.join(own)}: {what}" for what, own in hosts.items()]


def _print(placed: Sequence[Placed], refused: dict[str, str], path: Path) -> None:
    """Prints the tables; the last line is the path of the folder."""
    from rich.text import Text

    from hostnet.cli import show
    from hostnet.whatif import host_rows, loss_notes, stage_rows, traffic_rows

    stages, traffic, hosts = stage_rows(placed), traffic_rows(placed), host_rows(placed)
    with show.page() as console:
        console.print(Text(show.headline(placed[0].results.summary), style="bold"))
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
        left_out = (f"{place} is left out: {why}" for place, why in refused.items())
        show.print_notes(console, [*loss_notes(placed), *_notes(placed), *left_out, *_too_short(traffic)])
        show.print_path(console, path)


def _too_short(traffic: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Returns advice on percentiles that need more requests than there were."""
    from hostnet.cluster_view import TAIL

    places = dict.fromkeys(row["place"] for row in traffic if row["mean_us"] is not None and row["p99_us"] is None)
    if places:
        few = f"more than there were at {', '.join(places)}; use a longer run.duration"
        yield f"P99 needs {TAIL['p99_us'][1]} requests, {few}"


def _without_iio(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a host, without the rates of an IIO that carries no NIC traffic."""
    return row if row["in_gbps"] or row["out_gbps"] else {**row, "in_gbps": None, "out_gbps": None}


def _with_energy(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row of traffic with its energies formatted."""
    from hostnet.units import format_si

    energies = {"energy_per_byte": ("pj_per_byte", 1e-12), "energy_per_request": ("nj_per_operation", 1e-9)}
    known = {name: row[key] * joules for name, (key, joules) in energies.items() if row[key] is not None}
    return {**row, **{name: format_si(joules, "J").replace("µ", "u") for name, joules in known.items()}}


def _stage_table(stages: Sequence[dict[str, Any]]) -> Table:
    """A row per class, direction and stage, a column per place."""
    from hostnet.stages import STAGES

    places = {row["place"]: f"{row['place']} µs" for row in stages}
    told = {stage: name for stage, name in STAGES.items() if any(row.get(stage) for row in stages)}
    rows: list[dict[str, Any]] = []
    for ends in dict.fromkeys((row["class"], row["way"]) for row in stages):
        own = {row["place"]: row for row in stages if (row["class"], row["way"]) == ends}
        for stage, name in {**told, "mean_us": "all"}.items():
            said = ("", "") if stage != next(iter(told)) else ends
            values = {place: row.get(stage) for place, row in own.items()}
            rows.append({"class": said[0], "way": said[1], "stage": name, **values})
    return _table({"class": "class", "way": "way", "stage": "stage", **places}, rows, ("class", "way", "stage"))


def _table(headings: dict[str, str], rows: Sequence[dict[str, Any]], texts: Sequence[str]) -> Table:
    """A table of rows, some of whose columns are text."""
    from hostnet.cli import show

    told = {key: heading for key, heading in headings.items() if any(row.get(key) is not None for row in rows)}
    table = show.new_table(*told.values(), left=[index for index, key in enumerate(told) if key in texts])
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in told))
    return table


def _cell(value: Any) -> str:
    from hostnet.cli.show import NOTHING, number

    return value if isinstance(value, str) else number(value) if value is not None else NOTHING
