"""`hostnet whatif`: the NIC elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import hostnet
from hostnet.whatif import PLACES, host_rows, stage_rows, traffic_rows, what_if
from tests.support import Cli

PAGE = Path(__file__).parents[2] / "docs" / "whatif.md"
SERVERS = re.sub(
    r'(duration = )".*"', r'\1"100 us"', PAGE.read_text(encoding="utf-8").split("```toml")[1].split("```")[0]
)
"""The cluster of the page, for a moment."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(SERVERS, encoding="utf-8")
    return path


def test_the_ping_of_the_page_tells_the_places_apart(cli: Cli, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = cli("whatif", str(file), "--out", str(out))
    assert told.returncode == 0, told.stderr
    assert all(word in told.stdout for word in ("tx reg", "tx DMA", "limited by", "busy %", "a NIC at CXL"))
    assert max(map(len, told.stdout.splitlines())) <= 100
    found = json.loads((out / "whatif.json").read_text(encoding="utf-8"))
    there = {row["place"]: row for row in found["stages"] if row["way"] == "there"}
    assert list(there) == list(PLACES)
    assert there["onchip"]["mean_us"] < there["cxl"]["mean_us"] < there["pcie"]["mean_us"]
    for row in there.values():
        parts = sum(value for key, value in row.items() if key.startswith(("tx_", "rx_", "wire")))
        assert parts == pytest.approx(row["mean_us"], rel=1e-9)
    for place in PLACES:
        alone = hostnet.run(file, overrides=[f"host.a.nic.attach={place}"])
        kept = json.loads((out / place / "manifest.json").read_text(encoding="utf-8"))
        assert kept["result_hash"] == alone.result_hash, "what it runs is what `hostnet run` does"


def test_places_that_cannot_be_are_left_out_unless_they_are_asked_for(cli: Cli, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    two = ("--set", "host.a.sockets=2")
    told = cli("whatif", str(file), *two, "--out", str(out))
    assert told.returncode == 0, told.stderr
    assert "dimm is left out: " in told.stdout
    found = json.loads((out / "whatif.json").read_text(encoding="utf-8"))
    assert {row["place"] for row in found["traffic"]} == {"pcie", "onchip", "cxl"}
    assert "for servers of one socket" in found["refused"]["dimm"]
    told = cli("whatif", str(file), *two, "--attach", "pcie,dimm")
    assert (told.returncode, "for servers of one socket" in told.stderr) == (2, True)


def test_others_on_the_same_server_are_told(file: Path) -> None:
    beside = ['host.a.workload.beside={kind="stream", cores="1-2", reads=0.5}']
    placed = what_if(file, ["pcie"], overrides=beside)
    rows = host_rows(placed)
    assert [row["host"] for row in rows] == ["a-0", "a-1"]
    assert all(row["others_gb_per_s"] > 1 and row["others_latency_ns"] > 50 for row in rows)
    assert [row["limit"] for row in traffic_rows(placed)] == ["requests in flight"]
    assert len(stage_rows(placed)) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--attach", "pcie,oncip"], 'there is no place "oncip"; did you mean "onchip"?'),
        (["--attach", "pcie,pcie"], '"pcie" is named twice'),
        (["--attach", ""], 'there is no place ""'),
        (["--host", "b"], 'there is no server "b"'),
        (["--set", "host.a.fidelity=fluid"], 'needs fidelity = "line"'),
        (["--set", "host.a.nic.onchip.latency=1 ns"], "has an effect only with nic.attach"),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, file: Path, arguments: list[str], message: str) -> None:
    told = cli("whatif", str(file), *arguments)
    assert told.returncode == 2
    assert message in told.stderr
    assert not (file.parent / "runs").exists()


def test_a_folder_of_places_is_refused_with_one_that_can_be_named(cli: Cli, file: Path) -> None:
    done = cli("whatif", file, "--attach", "onchip,pcie", "--set", "run.duration=20 us", "--out", "places")
    assert done.returncode == 0, done
    for command in ("plot", "explain", "compare places/pcie"):
        assert "for example places/onchip" in cli.fails(*command.split(), "places")


def test_without_a_nic_on_a_network_there_is_nothing_to_move(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(
        '[server]\npreset = "cascade-lake-6234"\n[workload.a]\nkind = "stream"\ncores = "0"\n', encoding="utf-8"
    )
    told = cli("whatif", str(file))
    assert (told.returncode, "there is no server with a NIC on a network" in told.stderr) == (2, True)
