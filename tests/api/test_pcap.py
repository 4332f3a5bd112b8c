"""Captures hold the packets that were sent and received, as an independent reader parses them."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

import hostnet
from hostnet import _core
from tests.support import Cli, raises_code

SHORT = r'\1 = "400 us"'
INCAST = re.sub(r'(duration|warmup) = ".*"', SHORT, _core.cluster_template("dumbbell"))
HOSTCC = re.sub(r'(duration|warmup) = ".*"', r'\1 = "150 us"', _core.cluster_template("hostcc"))


@dataclass(frozen=True)
class Frame:
    """A TCP frame in a capture."""

    time_ns: int
    ip_bytes: int
    source: str
    ports: tuple[int, int]
    data_bytes: int


def read(path: Path) -> list[Frame]:
    """Reads the frames of a little-endian pcap file with time stamps in ns."""
    content = path.read_bytes()
    magic, major, _, _, _, _, link = struct.unpack_from("<IHHiIII", content)
    assert (magic, major, link) == (0xA1B23C4D, 2, 1)
    frames, at = [], 24
    while at < len(content):
        seconds, nanoseconds, kept, whole = struct.unpack_from("<IIII", content, at)
        frame = content[at + 16 : at + 16 + kept]
        assert len(frame) == kept <= whole
        at += 16 + kept
        assert frame[12:14] == b"\x08\x00"
        (ip_bytes,) = struct.unpack_from(">H", frame, 16)
        assert (ip_bytes, frame[23]) == (whole - 14, 6)
        assert internet_checksum(frame[14:34]) == 0
        source, target, offset = *struct.unpack_from(">HH", frame, 34), frame[46] >> 4
        address = ".".join(map(str, frame[26:30]))
        frames.append(
            Frame(10**9 * seconds + nanoseconds, ip_bytes, address, (source, target), ip_bytes - 20 - 4 * offset)
        )
    return frames


def internet_checksum(header: bytes) -> int:
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(HOSTCC.replace('warmup = "150 us"', 'warmup = "0 us"'), encoding="utf-8")
    return path


def test_every_packet_of_the_receiver_is_there(file: Path, tmp_path: Path) -> None:
    results = hostnet.run_cluster(file, pcap=tmp_path / "a.pcap")
    frames = read(tmp_path / "a.pcap")
    times = [frame.time_ns for frame in frames]
    assert times == sorted(times)
    assert times[-1] <= 150_000
    (receiver,) = results.hosts.values()
    came = [frame for frame in frames if frame.source == "10.1.0.2"]
    went = [frame for frame in frames if frame.source == "10.1.0.1"]
    if results.plan.hosts[0] == "sender":
        came, went = went, came
    assert len(came) == receiver["nic_received"]
    sent = {row["place"]: row["sent_packets"] for row in results.summary["queues"] if row["place"] == "receiver"}
    assert len(went) == sent["receiver"]
    assert sum(frame.data_bytes for frame in came) > 0


def test_a_capture_changes_nothing(file: Path, tmp_path: Path) -> None:
    plain = hostnet.run_cluster(file)
    seen = hostnet.run_cluster(file, pcap=tmp_path / "a.pcap", threads=2)
    hostnet.run_cluster(file, pcap=tmp_path / "b.pcap", pcap_snaplen=262144)
    assert plain.result_hash == seen.result_hash
    small, large = read(tmp_path / "a.pcap"), read(tmp_path / "b.pcap")
    assert small == large
    assert (tmp_path / "a.pcap").stat().st_size < (tmp_path / "b.pcap").stat().st_size


def test_both_ends_of_a_cable_see_the_same_packets(file: Path, tmp_path: Path) -> None:
    for host in ("sender", "receiver"):
        hostnet.run_cluster(file, pcap=tmp_path / f"{host}.pcap", pcap_host=host)
    sender, receiver = (read(tmp_path / f"{host}.pcap") for host in ("sender", "receiver"))
    arrived = [frame for frame in receiver if frame.source == sender[0].source]
    departed = [frame for frame in sender if frame.source == sender[0].source]
    assert len(arrived) > 50
    same = zip(departed, arrived, strict=False)
    assert all((a.ports, a.ip_bytes) == (b.ports, b.ip_bytes) and a.time_ns < b.time_ns for a, b in same)


def replaying(capture: Path, scale: float = 1.0) -> str:
    return f"""
[host.receiver]
preset = "cascade-lake-hostcc"
[host.sender]
kind = "endpoint"
[network]
rate = "100 Gbps"
mtu = "4000 B"
[flow.again]
kind = "replay"
from = "sender"
to = "receiver"
pcap = "{capture}"
scale = {scale}
[run]
warmup = "0 us"
duration = "800 us"
"""


def test_a_capture_of_our_own_is_replayed_into_a_server_and_an_endpoint(file: Path, tmp_path: Path) -> None:
    hostnet.run_cluster(file, pcap=tmp_path / "a.pcap")
    frames = read(tmp_path / "a.pcap")
    again = tmp_path / "again.toml"
    again.write_text(replaying(tmp_path / "a.pcap", 2.0), encoding="utf-8")
    results = hostnet.run_cluster(again, pcap=tmp_path / "b.pcap")
    assert results.classes["again"]["nic_received"] == len(frames)
    again.write_text(
        replaying(tmp_path / "a.pcap").replace('preset = "cascade-lake-hostcc"', 'kind = "endpoint"'), encoding="utf-8"
    )
    results = hostnet.run_cluster(again)
    tor = [row for row in results.summary["queues"] if row["to"] == "receiver"]
    assert [row["sent_packets"] for row in tor] == [len(frames)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--pcap", "no/a.pcap"], "--pcap no/a.pcap: name a file in a folder that exists"),
        (["--pcap-host", "receiver"], "--pcap-host: is about a capture; give --pcap FILE too"),
        (["--pcap", "a.pcap", "--pcap-host", "recevier"], 'there is no host "recevier"; did you mean "receiver"?'),
        (["--pcap", "a.pcap", "--pcap-snaplen", "0"], "--pcap-snaplen: 0 must be between 1 and 262144"),
    ],
)
def test_wrong_options_are_refused(cli: Cli, file: Path, options: list[str], says: str) -> None:
    done = cli("run", file, *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert not list(Path(file.parent).glob("*.pcap"))


def test_two_servers_need_a_name(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(_core.cluster_template("dumbbell"), encoding="utf-8")
    with raises_code("missing-key"):
        hostnet.run_cluster(path, pcap=tmp_path / "a.pcap")


def damaged(capture: Path, how: str) -> None:
    content = capture.read_bytes()
    changed = {
        "cut": content[:-7],
        "other link": content[:20] + struct.pack("<I", 127) + content[24:],
        "no capture": b"[host]\n" * 40,
        "empty": b"",
    }
    capture.write_bytes(changed[how])


@pytest.mark.parametrize("how", ["cut", "other link", "no capture", "empty"])
def test_a_bad_capture_is_an_error_with_its_place(cli: Cli, file: Path, tmp_path: Path, how: str) -> None:
    capture = tmp_path / "a.pcap"
    hostnet.run_cluster(file, pcap=capture)
    damaged(capture, how)
    again = tmp_path / "again.toml"
    again.write_text(replaying(capture), encoding="utf-8")
    done = cli("run", again)
    assert done.returncode == 2
    assert "flow.again.pcap" in done.stderr
    assert "a.pcap" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()
