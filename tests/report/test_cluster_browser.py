"""Pages of clusters, jobs, power and chips in a browser: their pictures fit wide and narrow screens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hostnet
from hostnet.report.chip_page import chip_page
from tests.report.browser import NAMES, Browser, find_browser
from tests.report.test_browser import assert_sound

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason=f"no browser to look at pages with: none of {', '.join(NAMES)} is on PATH"
)

SIZE_MAX = 2_000_000
"""Largest page, in bytes."""

SHORT = 'run = { warmup = "20 us", duration = "50 us" }\n'
ALL_TO_ALL = (
    'flow.bg = { kind = "bulk", from = "node", to = "node", pairs = "random", sizes = "web-search", load = 0.3 }\n'
)

SERVERS = f"""
host.a-client-with-a-long-name = {{ kind = "endpoint", count = 3 }}
host.server.preset = "cascade-lake-hostcc"
host.server.workload.mapp = {{ kind = "remote", sockets = "0-2", reads = 0.5 }}
host.server.control = {{ rule = "hostcc", target = "80 Gbps" }}
network = {{ rate = "100 Gbps", mtu = "4096 B", switch.ecn = "600 kB" }}
flow.bulk = {{ kind = "bulk", from = "a-client-with-a-long-name", to = "server", transport = "dctcp" }}
flow.ask = {{ kind = "rpc", from = "server", to = "a-client-with-a-long-name", request = "1 kB", response = "2 kB" }}
{SHORT}"""

JOB = """
host.worker = {{ kind = "endpoint", count = {hosts} }}
network = {{ rate = "100 Gbps", mtu = "9000 B" }}
cable.worker-1 = {{ rate = "25 Gbps" }}
run.until = "jobs"

[job.train]
kind = "allreduce"
hosts = "worker"
ranks_per_host = {ranks}
bytes = "{size}"
iterations = 3
compute = "50 us"
"""

POWER = """
host.client = { kind = "endpoint" }
host.server = { preset = "i7-3770-gem5", fidelity = "fluid", power = { governor = "ondemand", idle = "menu" } }
network = { rate = "10 Gbps", latency = "1 us" }

[flow.load]
kind = "service"
from = "client"
to = "server"
to_cores = "0-3"
count = 8
transport = "reno"
request = "100 B"
response = "4 KiB"
service = { rate = 3000, cycles = 60000, workers = 64 }

[run]
warmup = "1 ms"
duration = "12 ms"
"""

PING = f"""
host.node = {{ preset = "netdimm-host", count = 2 }}
network = {{ topology = "direct", rate = "40 Gbps" }}
flow.ping = {{ kind = "datagram", pattern = "ping", from = "node-0", to = "node-1", request = "1 kB" }}
{SHORT}"""


def network(topology: str, hosts: int) -> str:
    """Returns a cluster of endpoints on a network with random flows."""
    host = f'host.node = {{ kind = "endpoint", count = {hosts} }}\n'
    return f'{host}network = {{ {topology}, rate = "100 Gbps" }}\n{ALL_TO_ALL}{SHORT}'


CLUSTERS = {
    "servers": SERVERS,
    "job": JOB.format(hosts=4, ranks=1, size="1 MB"),
    "ranks": JOB.format(hosts=5, ranks=8, size="40 kB"),
    "power": POWER,
    "ping": PING,
    "leaf-spine": network('topology = "leaf-spine", leaves = 4, spines = 2', 40),
    "torus": network('topology = "torus", size = [4, 3]', 24),
}

LARGE = {
    "ranks-512": JOB.format(hosts=64, ranks=8, size="16 MB"),
    "fat-tree": network('topology = "fat-tree", k = 8', 128),
    "many-leaves": network('topology = "leaf-spine", leaves = 40, spines = 10', 640),
    "ring": network('topology = "ring", size = 9', 18),
    "torus-3d": network('topology = "torus", size = [4, 4, 4]', 64),
    "dragonfly": network('topology = "dragonfly", a = 4, p = 2, h = 2', 72),
    "dumbbell": """
host.left-side = { kind = "endpoint", count = 9 }
host.right-side = { kind = "endpoint", count = 9 }
network = { topology = "dumbbell", left = "left-side", right = "right-side", rate = "10 Gbps" }
flow.bulk = { kind = "bulk", from = "left-side", to = "right-side" }
"""
    + SHORT,
}


def page_of(name: str, text: str, folder: Path) -> str:
    """Returns the page of a run with everything unfolded."""
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    saved = hostnet.run_cluster(file, series="1 ms" if name == "power" else "10 us").save(folder / name)
    page = (saved / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < SIZE_MAX
    return page.replace("<details", "<details open")


def chip_of() -> str:
    """Returns the page of a short run of a chip."""
    config = {"chip": {"preset": "scale-out-64"}, "run": {"warmup": "200 ns", "window": "1 us", "max": 1}}
    return chip_page(hostnet.chip(config).summary)


def joined(pages: list[str]) -> str:
    """Returns one page with the contents of all, so that the browser starts once."""
    contents = [re.search(r"<main>(.*)</main>", page, re.DOTALL) for page in pages]
    inner = "".join(found[1] for found in contents if found is not None)
    assert all(found is not None for found in contents)
    return re.sub(r"<main>.*</main>", lambda _: f"<main>{inner}</main>", pages[0], flags=re.DOTALL)


def test_pages_of_clusters_and_chips_are_sound(browser: Browser, tmp_path: Path) -> None:
    pages = [page_of(name, text, tmp_path) for name, text in CLUSTERS.items()]
    whole = joined([*pages, chip_of()])
    for picture in ('class="host network"', 'class="timeline"', 'class="shares"', 'class="mesh"', "Power of cores"):
        assert picture in whole
    assert_sound(browser.look(whole))


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_large_clusters_are_sound(name: str, browser: Browser, tmp_path: Path) -> None:
    assert_sound(browser.look(page_of(name, LARGE[name], tmp_path)))
