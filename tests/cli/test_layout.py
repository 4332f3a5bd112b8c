"""Tables on a screen: headings are never truncated, lines fit, and every column is shown."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import hostnet
from hostnet.cli.show import change_text, new_table, number, percent, with_interval
from hostnet.cli.show_brief import print_brief
from hostnet.cli.show_cluster import print_cluster
from hostnet.cli.show_server import print_run
from hostnet.cli.show_sweep import sweep_table
from hostnet.terminal.layout import short_paths, wrapped_names
from hostnet.units import format_si
from tests.docs.reference import ROOT
from tests.support import Cli, assert_tells, with_small_llc

EXAMPLES = [file for file in sorted(ROOT.glob("examples/*.toml")) if file.name not in ("noc.toml", "chip.toml")]
QUICK = ("nudma.toml", "service.toml", "redis.toml", "datagrams.toml")
WORDS = st.text("abcdefgh", min_size=1, max_size=14)


def printed(width: int, *parts: object) -> list[str]:
    """Returns the lines printed on a screen of this width."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@given(
    headings=st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=14, unique=True),
    cells=st.lists(st.integers(0, 10**9), min_size=1, max_size=3),
    names=st.integers(1, 2),
    width=st.sampled_from([60, 80, 100]),
)
@settings(max_examples=40, deadline=None)
def test_every_heading_is_whole_and_every_line_fits(
    headings: list[str], cells: list[int], names: int, width: int
) -> None:
    table = new_table(*headings, left=(0,), names=names)
    for cell in cells:
        table.add_row(*(str(cell) for _ in headings))
    seen = []
    for part in table.fitted(width):
        lines = printed(width, part)
        assert max(map(len, lines)) <= width
        seen += [str(column.header) for column in part.columns]
        words = " ".join(lines[: next(index for index, line in enumerate(lines) if "─" in line)]).split()
        assert sorted(words) == sorted(" ".join(str(column.header) for column in part.columns).split())
        assert all(str(cell) in " ".join(lines) for cell in cells)
    assert set(seen) == set(headings)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=5).map(".".join), min_size=1, max_size=5, unique=True))
def test_short_paths_are_the_ends_of_their_paths_and_differ(paths: list[str]) -> None:
    short = short_paths(paths, ["seed"])
    assert len(set(short)) == len(paths)
    assert all(f".{path}".endswith(f".{end}") for path, end in zip(paths, short, strict=True))
    assert "seed" not in short or "seed" in paths


def test_paths_are_cut_to_what_differs() -> None:
    assert short_paths(["host.server.power.governor", "host.server.power.idle"]) == ["governor", "idle"]
    assert short_paths(["core.count", "ssd.count"]) == ["core.count", "ssd.count"]
    paths = ["host.server.power.governor", "host.server.power.idle"]
    manifest = {"over": [{"path": path} for path in paths], "seeds": []}
    row = {"class": "load", "limited_by": "clock", "goodput_gbps": 1.0, **dict.fromkeys(paths, "performance")}
    headings = [str(column.header) for column in sweep_table(manifest, [row]).columns]
    assert headings == ["governor", "idle", "class", "Gbps", "limited by"]


def test_a_sweep_tells_intervals_only_if_asked() -> None:
    row = {"core.count": 2, "workload": "a", "limited_by": "b", "throughput_gb_per_s": 9.0, "throughput_ci95": 0.5}
    manifest = {"over": [{"path": "core.count"}], "seeds": []}
    cells = [list(sweep_table(manifest, [row], intervals=wanted).columns[2].cells) for wanted in (True, False)]
    assert cells == [["9.00 ±0.50"], ["9.00"]]


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[] if file.name in QUICK else [pytest.mark.long]) for file in EXAMPLES],
    ids=lambda file: file.stem,
)
def test_every_table_of_an_example_is_whole(
    file: Path, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    results = hostnet.run(file, overrides=["run.warmup=2 us", "run.duration=5 us", *with_small_llc(file)])
    if results.plan.is_cluster:
        print_cluster(results, Path("runs/a"))
    else:
        print_run(results.summary, Path("runs/a"))
    print_brief(results.summary, Path("runs/a"))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    assert not re.search(r"\d us\b|\bus$", text, re.MULTILINE)
    assert not re.search(r"\d%", text)
    assert not re.search(r"(?<!\w)-0 ", text)
    # A truncated heading would occur twice.
    for index, line in enumerate(lines):
        if line.startswith("───") and lines[index - 2 : index - 1] == [""]:
            cells = [cell.strip() for cell in lines[index - 1].split("  ") if cell.strip()]
            assert len(set(cells)) == len(cells), cells


@pytest.mark.parametrize(
    ("joules", "text"),
    [(8.058408e-6, "8.06 µJ"), (1.026104e-3, "1.03 mJ"), (0.0, "0 J"), (999.9e-9, "1.00 µJ"), (-3e-9, "-3.00 nJ")],
)
def test_energies_have_a_prefix(joules: float, text: str) -> None:
    assert format_si(joules, "J") == text


def test_zero_has_no_sign() -> None:
    assert (number(-0.001), with_interval(-0.001, 0.5), percent(-0.0001)) == ("0.00", "0.00 ±0.50", "0.0 %")
    assert (change_text(-0.0001), change_text(0.05), change_text(None)) == ("0.0 %", "+5.0 %", "-")


def test_a_brief_run_shows_what_each_workload_gets_and_where_it_is_kept(cli: Cli) -> None:
    lines = cli("run", cli.file, "--brief").stdout.splitlines()
    assert lines[-1] == "runs/quadrant-1"
    headings = next(line for line in lines if line.startswith("workload"))
    assert headings.split() == ["workload", "GB/s", "latency", "ns", "limited", "by"]
    assert {"disk", "stream"} <= {line.split()[0] for line in lines if line}
    assert len(lines) < 14
    assert_tells(cli.fails("run", cli.file, "--brief", "--json"), "conflicting-keys | --brief")


@given(parts=st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=8), width=st.integers(7, 30))
def test_names_break_between_their_words(parts: list[str], width: int) -> None:
    for mark in "_./":
        name = mark.join(parts)
        lines = wrapped_names(name, width).split("\n")
        assert "".join(lines) == name
        assert all(len(line) <= width for line in lines)
        assert all(line.endswith(mark) for line in lines[:-1])
        assert (len(lines) == 1) == (len(name) <= width)


def test_columns_without_any_value_are_left_out() -> None:
    table = new_table("caches", "hits", "leaks", left=(0,))
    table.add_row("disk", "-", "5.0 %")
    table.add_row("all", "-", "-")
    assert printed(80, table.without_columns_of("-"))[0].split() == ["caches", "leaks"]


def test_sockets_stay_with_their_numbers_where_there_is_room() -> None:
    table = new_table("domain", "credits in use", left=(0,))
    table.add_row("UPI write-back, socket 0 to 1", "18.7 of 128")
    assert [line.split("  ")[0].strip() for line in printed(35, *table.fitted(35))[-2:]] == [
        "UPI write-back,",
        "socket 0 to 1",
    ]
