"""What a host sends and receives, as a file for tcpdump, tshark or Wireshark."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.notes import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet._core import Plan

SNAPLEN = 128
"""Bytes of a frame that a capture keeps unless told otherwise: all headers; data is zeros."""

SNAPLEN_MAX = 262144


@dataclass(frozen=True)
class Capture:
    """What a host sends and receives, as a file for tcpdump, tshark or Wireshark."""

    path: Path
    """The file; it appears whole or not at all, and replaces one of that name."""
    host: str | None = None
    """The host whose cable is looked at; the only server if not given."""
    snaplen: int = SNAPLEN
    """Bytes of a frame that are kept at most."""
    said_as: tuple[str, str, str] = ("pcap", "pcap_host", "pcap_snaplen")
    """What messages call these."""


@contextmanager
def capture_file(
    plan: Plan, capture: Capture | None, *, writes: bool = True
) -> Iterator[tuple[tuple[str, str, int] | None, Callable[[], None]]]:
    """What the simulator is told about a capture, and a function that gives the file its name.

    Of several processes that share a run one `writes`.
    """
    if capture is None:
        yield None, lambda: None
        return
    from hostnet.files import scratch_file

    host = captured_host(plan, capture)
    if capture.path.is_dir() or not capture.path.absolute().parent.is_dir():
        raise ConfigError("file-access", f"pcap: {capture.path}: name a file in a folder that exists")
    if not writes:
        yield (str(capture.path), host, capture.snaplen), lambda: None
        return
    with scratch_file(capture.path) as (scratch, keep):
        yield (str(scratch), host, capture.snaplen), keep


def captured_host(plan: Plan, capture: Capture) -> str:
    """The host that a capture is of.

    Raises:
        ConfigError: There is no such host, none is named and there is not one server, or the snaplen is out of range.
    """
    of_file, of_host, of_snaplen = capture.said_as
    if not plan.is_cluster:
        raise ConfigError(
            "wrong-kind",
            f"{of_file}: captures are of packets; the configuration describes one server without a network",
        )
    if not 1 <= capture.snaplen <= SNAPLEN_MAX:
        raise ConfigError("out-of-range", f"{of_snaplen}: {capture.snaplen} must be between 1 and {SNAPLEN_MAX}")
    hosts, servers = plan.hosts, plan.servers
    if capture.host is None:
        if len(servers) != 1:
            raise ConfigError(
                "missing-key", f"{of_host}: missing; with {len(servers)} servers, name a host: {some(hosts)}"
            )
        return servers[0]
    if capture.host not in hosts:
        near = get_close_matches(capture.host, hosts, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"the hosts are {some(hosts)}"
        raise ConfigError("does-not-exist", f'{of_host}: there is no host "{capture.host}"; {hint}')
    return capture.host
