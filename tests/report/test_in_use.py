"""Equal names have equal numbers, wherever credits in use are shown."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.cli.show_server import print_run
from hostnet.explanation import explain_results, page_text
from hostnet.report import write_report

Held = tuple[str, float, float]
"""A name, its credits in use, and its capacity."""

SENTENCE = re.compile(r"^(\S+) .*: ([\d.]+) of (\d+) (.+?) in use,")
PAGE = re.compile(
    r"((?:C2M|P2M)-\w+|PCIe \S+): (\d+) (LFB entries of its cores|credits(?: of its links)?) x 64 B .*?"
    r" with ([\d.]+) of them"
)
CELL = re.compile(r"^ *(\S.*?)  +([\d.,]+) of (\d+)  ", re.MULTILINE)
CARD = re.compile(r"<dt>([^<]* of [^<]*)</dt>\s*<dd>([\d.,]+) of (\d+)")


def random_config(draw: random.Random) -> dict[str, Any]:
    """Returns a server whose workloads use some of its cores and some of its drives."""
    streams = draw.choice([[(0, 2)], [(0, 1), (2, 4)], [(0, 3), (2, 4)]])
    workloads: dict[str, Any] = {
        f"s{index}": {"kind": "stream", "cores": f"{low}-{high}", "reads": draw.choice([0.0, 0.5, 1.0])}
        for index, (low, high) in enumerate(streams)
    }
    rw, cores = draw.choice(["read", "write", "rw"]), draw.choice(["5", "5-6", "4-6"])
    jobs = [
        {"rw": rw, "bs": "128 KiB", "iodepth": 32, "size": "1 GiB", "ssd": ssd} for ssd in range(draw.randint(1, 4))
    ]
    if draw.random() < 0.8:
        workloads["disk"] = {"kind": "fio", "cores": cores, "jobs": jobs}
    return {
        "server": {"preset": "cascade-lake-6234"},
        "workload": workloads,
        "run": {"duration": "30 us", "warmup": "20 us", "seed": draw.randint(1, 99)},
    }


def of_workload(workload: str, words: str) -> str:
    """Returns the table name for the name that a sentence uses for a workload's own parts."""
    if words == "LFB entries of its cores":
        return f"LFB of {workload}"
    domain, _, links = words.partition(" credits")
    return f"{domain} of {workload}" if links else domain


def of_sentences(limits: list[str]) -> Iterator[Held]:
    for limit in limits:
        found = SENTENCE.match(limit)
        if found:
            yield of_workload(found[1], found[4]), float(found[2]), float(found[3])


def of_page(text: str) -> Iterator[Held]:
    for block in text.split("\n\n"):
        found = PAGE.search(block.replace("\n  ", " "))
        if found:
            words = found[3] if found[3].startswith("LFB") else f"{found[1]} {found[3]}"
            yield of_workload(block.split()[0], words), float(found[4]), float(found[2])


def of_cells(pattern: re.Pattern[str], text: str) -> Iterator[Held]:
    for name, held, capacity in pattern.findall(text.replace("&#x27;", "'")):
        yield name, float(held.replace(",", "")), float(capacity)


def of_tables(summary: dict[str, Any]) -> dict[str, tuple[float, float]]:
    rows = (row for row in summary["domains"] if row["part"] == row["workload"] == "all")
    return {row["domain"]: (row["in_use_mean"], row["capacity"]) for row in rows}


def screen_of(results: hostnet.Results) -> str:
    with redirect_stdout(StringIO()) as screen:
        print_run(results.summary, Path("run"))
    return screen.getvalue()


@pytest.mark.parametrize("seed", range(6))
def test_what_is_in_use_has_one_number_for_one_name(seed: int, tmp_path: Path) -> None:
    results = hostnet.run(random_config(random.Random(seed)))
    whole = of_tables(results.summary)
    html = write_report(results.save(tmp_path / "run")).read_text(encoding="utf-8")
    told = {
        "table": [(name, *numbers) for name, numbers in whole.items()],
        "screen": list(of_cells(CELL, screen_of(results))),
        "sentence": list(of_sentences(results.summary["limits"])),
        "page": list(of_page(page_text(explain_results(results)))),
        "card": list(of_cells(CARD, html)),
    }
    assert len(told["sentence"]) == len(told["page"]) == len(results.summary["workloads"])
    known: dict[str, tuple[float, float]] = {}
    for place, items in told.items():
        for name, held, capacity in items:
            pool, _, whose = name.partition(" of ")
            name = pool if whose and capacity == whole[pool][1] else name
            assert whose or name in whole, (place, name)
            if place in ("sentence", "page", "card"):
                assert name in known, f"{name} stands in the {place} and in no table"
            before = known.setdefault(name, (held, capacity))
            assert capacity == before[1], (place, name)
            assert held == pytest.approx(before[0], rel=0.006, abs=0.06), (place, name)
    for name, (held, capacity) in known.items():
        if " of " in name:
            assert f">{name}<" in html.replace("&#x27;", "'"), "the tables of the page have it too"
            assert (held, capacity) != whole[name.partition(" of ")[0]]
