"""Drives of a server of two sockets: their socket, their path to memory, and its report."""

from __future__ import annotations

import json
from typing import Any

import pytest

import hostnet
from hostnet import Config, FioJob, Run, Server, Ssd
from hostnet.explanation import explain_results, page_text
from hostnet.sockets import server_sockets
from tests.support import raises_code

LOCAL, REMOTE = 0, 24
"""First core of the socket of the drives, and of the other one."""

OCTO = 'a path of each drive to every socket (ssd.mode = "octo")'


def config(core: int, *, streams: int = 0, rw: str = "read", **parts: Any) -> dict[str, Any]:
    """Returns eight jobs on four drives, and cores of socket 0 that use the memory of socket 1."""
    jobs = [
        {"rw": rw, "bs": "128 KiB", "iodepth": 32, "size": "1 GiB", "ssd": at % 4, "core": core + at} for at in range(8)
    ]
    workload: dict[str, Any] = {"fio": {"kind": "fio", "jobs": jobs}}
    if streams:
        workload["stream"] = {"kind": "stream", "cores": f"8-{7 + streams}", "memory": "node:1", "reads": 0.5}
    return {
        "server": {"preset": "skylake-8160"},
        "cache": {"enabled": True},
        "workload": workload,
        "run": {"warmup": "30 us", "duration": "30 us"},
        **parts,
    }


def moved(results: hostnet.Results) -> float:
    return float(results.workloads["fio"]["app_gb_per_s"])


def crossed(results: hostnet.Results) -> int:
    return int(results.domains.get("CHA->UPI", {"lines": 0})["lines"])


def test_drives_on_another_socket_are_slowed_by_what_loads_upi() -> None:
    free, loaded = (hostnet.run(config(REMOTE, streams=streams)) for streams in (0, 5))
    local = hostnet.run(config(LOCAL, streams=5))
    assert moved(free) == pytest.approx(13.2, rel=0.01), "as fast as the drives are"
    assert moved(loaded) < 0.93 * moved(free)
    assert moved(local) == pytest.approx(13.2, rel=0.01)


@pytest.mark.parametrize("rw", ["read", "write"])
def test_a_path_to_every_socket_is_local(rw: str) -> None:
    local, octo = (
        hostnet.run(config(REMOTE, rw=rw, ssd=ssd)) for ssd in ({"sockets": 1}, {"sockets": 0, "mode": "octo"})
    )
    assert moved(octo) == pytest.approx(moved(local), rel=0.03)
    assert crossed(octo) == crossed(local) == 0


def test_a_drive_with_two_paths_is_one_part() -> None:
    octo = hostnet.run(config(REMOTE, ssd={"mode": "octo"}))
    rows = [row for row in octo.rows("domains") if row["domain"] == "PCIe posted" and row["workload"] == "all"]
    assert [row["part"] for row in rows] == ["all", "ssd 0", "ssd 1", "ssd 2", "ssd 3", "socket 0"]
    assert [row["capacity"] for row in rows] == [512, 128, 128, 128, 128, 512]


def test_pages_know_the_drives_of_a_socket() -> None:
    described = Config(
        server=Server(preset="skylake-8160"),
        ssd=Ssd(sockets=[0, 1, 1, 1]),
        workload={"fio": hostnet.Fio(jobs=[FioJob(rw="read", bs="4 KiB", iodepth=1, size="1 MiB", ssd=0)])},
        run=Run(duration="20 us", warmup="5 us"),
    )
    effective = json.loads(hostnet.run(described).plan.effective_json())
    assert [place.parts["ssd"] for place in server_sockets(effective)] == [range(1), range(1, 4)]


@pytest.mark.long
def test_what_crosses_is_explained_and_other_placements_are_tried() -> None:
    page = explain_results(hostnet.run(config(REMOTE, streams=5))).with_steps(confirm=True)
    found = page.nonuniform
    assert found is not None
    assert found.as_dict()["drives"] == (0, 1, 2, 3)
    now, *others = page.as_dict()["nonuniform_dma"]["placements"]
    assert {other["what"] for other in others} == {
        "the jobs and their memory on socket 0",
        "the drives on socket 1",
        OCTO,
    }
    assert all(other["gain"] > 0.05 and other["crossing_gb_per_s"] < now["crossing_gb_per_s"] for other in others)
    text = " ".join(page_text(page).split())
    assert "Nonuniform DMA: data of fio between drives 0, 1, 2, 3 on socket 0 and memory of socket 1." in text
    assert "of 13.2 GB/s offered" in text


@pytest.mark.parametrize("parts", [{"ssd": {"sockets": 1}}, {"ssd": {"mode": "octo"}}])
def test_what_is_local_is_not_explained_by_nonuniform_dma(parts: dict[str, Any]) -> None:
    assert explain_results(hostnet.run(config(REMOTE, **parts))).nonuniform is None


@pytest.mark.long
def test_jobs_without_room_beside_their_drives_are_not_moved() -> None:
    full = config(REMOTE)
    full["workload"]["stream"] = {"kind": "stream", "cores": "0-23"}
    full["run"] = {"warmup": "4 us", "duration": "6 us"}
    page = explain_results(hostnet.run(full)).with_steps(confirm=True)
    assert page.nonuniform is not None
    whats = [placement["what"] for placement in page.as_dict()["nonuniform_dma"]["placements"]]
    assert "the drives on socket 1" in whats
    assert "the jobs and their memory on socket 0" not in whats


@pytest.mark.parametrize(
    ("ssd", "message"),
    [
        ({"sockets": 2}, "does-not-exist | ssd.sockets | server.sockets | 0 to 1"),
        ({"sockets": [0, 1]}, "wrong-count | ssd.sockets | ssd.count"),
        ({"sockets": [0, 0, 0, 5]}, "does-not-exist | ssd.sockets[3]"),
        ({"sockets": "both"}, "wrong-type | ssd.sockets"),
        ({"mode": "octopus"}, "unknown-name"),
    ],
)
def test_what_drives_cannot_be_is_said(ssd: dict[str, Any], message: str) -> None:
    with raises_code(message):
        hostnet.run(config(LOCAL, ssd=ssd))
