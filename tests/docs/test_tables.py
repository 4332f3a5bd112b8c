"""The page of tables names all files and columns that a run writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hostnet import _core
from tests.docs.reference import ROOT
from tests.support import Cli

PAGE = (ROOT / "docs/tables.md").read_text(encoding="utf-8")
SWEEPS = (ROOT / "docs/sweep.md").read_text(encoding="utf-8")

CLUSTER = """
[host.server]
preset = "cascade-lake-hostcc"

[host.client]
kind = "endpoint"

[flow.bulk]
kind = "bulk"
from = "client"
to = "server"

[run]
warmup = "5 us"
duration = "20 us"
"""

JSON = {
    "server": {"preset": "cascade-lake-6234"},
    "workload": {"loads": {"kind": "stream", "cores": "0"}},
    "run": {"warmup": "1 us", "duration": "5 us"},
}


def test_every_table_is_listed_where_its_columns_are() -> None:
    index = PAGE.partition("\n| of | tables |\n")[2].partition("\n\n")[0]
    links = dict(re.findall(r"\[(\w+)\]\([\w.]*#([\w-]+)\)", index))
    assert sorted(links) == sorted([*_core.table_info(), "epochs"])
    assert {name: anchor for name, anchor in links.items() if anchor.removesuffix("-1") != name} == {
        "host_series": "series"
    }


@pytest.fixture
def made(cli: Cli) -> set[str]:
    """Returns the files of run directories, in the notation of the page."""
    (cli.folder / "cluster.toml").write_text(CLUSTER)
    (cli.folder / "alone.json").write_text(json.dumps(JSON))
    runs = [
        cli.run("--csv", "--series", "5 us", "--counters", "pcm", "--trace"),
        cli.run("--seeds", "2"),
        *(cli.folder / cli("run", name, "--quiet").stdout.strip() for name in ("cluster.toml", "alone.json")),
    ]
    return {written(file.relative_to(run)) for run in runs for file in run.rglob("*") if file.is_file()}


def written(file: Path) -> str:
    """Returns the notation of the page for a file of a run directory."""
    if len(file.parts) > 1:
        return re.sub(r"^seed-\d+", "seed-<n>", file.parts[0]) + "/"
    return re.sub(rf"^(?:{'|'.join(_core.table_info())})\.", "<table>.", file.name)


def test_the_files_of_a_run_directory_are_listed(made: set[str]) -> None:
    assert made == listed(PAGE, "Run directory")


def listed(page: str, heading: str) -> set[str]:
    """Returns the files and folders in the first column of the table below a heading."""
    rows = page.partition(f"\n## {heading}\n\n")[2].partition("\n\n")[0]
    cells = "".join(row.split("|")[1] for row in rows.splitlines())
    return set(re.findall(r"`([\w<>-]+(?:\.\w+|/))`", cells))


def test_the_files_of_a_sweep_are_listed(cli: Cli) -> None:
    (cli.folder / "alone.json").write_text(json.dumps(JSON))
    made: set[str] = set()
    for name in (cli.file.name, "alone.json"):
        done = cli("sweep", name, "--over", "run.seed=1,2", "--quiet")
        folder = cli.folder / done.stdout.strip()
        made |= {entry.name + "/" * entry.is_dir() for entry in folder.iterdir()}
        tables = {file.stem for file in (folder / "tables").iterdir()}
        assert {"workloads", "domains", "channels"} <= tables <= set(_core.table_info())
    assert made == listed(SWEEPS, "The directory")


def test_the_summary_holds_the_rows_of_the_tables_that_the_page_says(cli: Cli) -> None:
    (cli.folder / "cluster.toml").write_text(CLUSTER)
    caches = ("--set", "host.server.cache.enabled=true", "--set", "host.server.cache.llc.sets=64")
    run = cli.folder / cli("run", "cluster.toml", *caches, "--series", "5 us", "--quiet").stdout.strip()
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    tables = {file.stem for file in run.glob("*.parquet")}
    of_servers = {name for server in summary["servers"].values() for name in server} & tables
    assert sorted(tables - {*summary, *of_servers}) == ["epochs", "flows", "host_series", "series"]
