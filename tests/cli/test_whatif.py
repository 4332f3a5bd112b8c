"""`hostnet whatif`: the NIC at other places."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostnet
from hostnet.attachments import PLACES, PlacedRun, host_rows, loss_notes, stage_rows, traffic_rows, what_if
from tests.docs.reference import ROOT
from tests.support import Cli, assert_tells

if TYPE_CHECKING:
    from hostnet.running.results import Results

PAGE = ROOT / "docs" / "whatif.md"
SERVERS = re.sub(
    r'(duration = )".*"', r'\1"100 us"', PAGE.read_text(encoding="utf-8").split("```toml")[1].split("```")[0]
)
"""The cluster of the page, in a short run."""


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
        assert_tells(cli.fails(*command.split(), "places"), "wrong-kind | for example places/onchip")


def test_without_a_nic_on_a_network_there_is_nothing_to_move(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(
        '[server]\npreset = "cascade-lake-6234"\n[workload.a]\nkind = "stream"\ncores = "0"\n', encoding="utf-8"
    )
    told = cli("whatif", str(file))
    assert (told.returncode, "there is no server with a NIC on a network" in told.stderr) == (2, True)


def a_run(place: str, goodput: float, half: float | None, **more: Any) -> PlacedRun:
    """Returns a run in which a class has this goodput."""
    own = {"class": "bulk", "goodput_gbps": goodput, "goodput_ci95": half, "goodput_drift": None, "marked_by_host": 0}
    summary = {
        "classes": [{**own, **more}],
        "limits": [{"class": "bulk", "limit": "marks", "why": "the reason"}],
        "hosts": [{"host": "a", "iio_write_occupancy": 18.2}],
        "control": [
            {
                "host": "a",
                "echo_share": 0.3,
                "occupancy_mean_lines": 67.8,
                "occupancy_discarded": 3,
                "occupancy_samples": 4,
            }
        ],
    }
    return PlacedRun(place, cast("Results", SimpleNamespace(summary=summary)))


@given(
    first=st.floats(0.1, 100),
    share=st.floats(0, 2),
    halves=st.tuples(*[st.floats(0, 20) | st.none()] * 2),
    marked=st.booleans(),
)
def test_a_loss_beyond_noise_has_its_reason_and_nothing_else_is_called_one(
    first: float, share: float, halves: tuple[float | None, float | None], marked: bool
) -> None:
    other = first * share
    notes = loss_notes([a_run("pcie", first, halves[0]), a_run("onchip", other, halves[1], marked_by_host=int(marked))])
    low, high = first - (halves[0] or 0), other + (halves[1] or 0)
    if None not in halves and high < low and other < 0.89 * first:
        assert [note.count("the reason") for note in notes] == [1]
        assert ("75 % of the samples" in notes[0], "holds 18.2" in notes[0]) == (marked, marked)
    elif None in halves or high >= low + 1e-6 or other > 0.91 * first:
        assert notes == []


def test_what_drifts_is_no_steady_state() -> None:
    (note,) = loss_notes([a_run("pcie", 50.0, 1.0), a_run("onchip", 49.0, 1.0, goodput_drift=-20.0)])
    assert note.startswith("onchip: bulk drifts: -20 Gbps (-41 %)")


def test_marks_of_a_control_that_suits_pcie_are_told() -> None:
    """With a NIC on the die, hostCC marks at the threshold for PCIe because the write buffer is fuller."""
    source = ROOT / "examples/hostcc.toml"
    short = ["run.warmup=1 ms", "run.duration=1 ms"]
    placed = what_if(source, ["pcie", "onchip"], overrides=short)
    (note,) = loss_notes(placed)
    assert note.startswith("netapp has ")
    assert "I_S at receiver is " in note
    (marks,) = [row["limit"] for row in traffic_rows(placed) if row["place"] == "onchip"]
    assert marks == "marks"
    assert (
        loss_notes(what_if(source, ["pcie", "onchip"], overrides=[*short, "host.receiver.control.occupancy=90"])) == []
    )
