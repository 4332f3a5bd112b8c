"""Captures the packets of a host in a file for tcpdump, tshark or Wireshark."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.notes import list_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostnet._core import Plan

SNAPLEN = 128
"""Default number of bytes that a capture keeps per frame: all headers. Data is zeros."""

SNAPLEN_MAX = 262144


@dataclass(frozen=True)
class Capture:
    """Request to capture the packets that a host sends and receives in a file for tcpdump, tshark or Wireshark."""

    path: Path
    """The file. It is written atomically and replaces an existing one."""
    host: str | None = None
    """Host whose cable is captured; by default the only server."""
    snaplen: int = SNAPLEN
    """Maximum number of bytes kept per frame."""
    option_names: tuple[str, str, str] = ("pcap", "pcap_host", "pcap_snaplen")
    """Names of the three fields in error messages."""


@contextmanager
def capture_file(
    plan: Plan, capture: Capture | None, *, writes: bool = True
) -> Iterator[tuple[tuple[str, str, int] | None, Callable[[], None]]]:
    """Yields the arguments of a capture for the simulator, and a function that renames the finished file.

    If several processes share a run, only one of them has `writes` set.
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
    """Returns the host that a capture records.

    Raises:
        ConfigError: There is no such host, the host is ambiguous, or the snaplen is out of range.
    """
    of_file, of_host, of_snaplen = capture.option_names
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
                "missing-key", f"{of_host}: missing; with {len(servers)} servers, name a host: {list_names(hosts)}"
            )
        return servers[0]
    if capture.host not in hosts:
        near = get_close_matches(capture.host, hosts, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"the hosts are {list_names(hosts)}"
        raise ConfigError("does-not-exist", f'{of_host}: there is no host "{capture.host}"; {hint}')
    return capture.host
