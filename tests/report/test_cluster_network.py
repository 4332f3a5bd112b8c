"""The picture of a network: every host, switch and cable is in it, with its load, its troubles and its limits."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report.clusters.arrangement import HOSTS_MAX, RANGES, SWITCHES_MAX, Arrangement, arrange
from hostnet.report.clusters.grid_map import is_grid
from hostnet.report.clusters.host_box import fit
from hostnet.report.clusters.network import ClusterNetwork, network_of
from hostnet.report.clusters.network_map import network_map
from hostnet.report.clusters.network_section import network_section
from hostnet.report.link_lines import heat_scale
from hostnet.report.load import RunFiles

Row = dict[str, Any]


def port(place: str, to: str, gbps: float = 10.0, *, host: bool = False, paused: float = 0.0) -> Row:
    """Returns the row of a port."""
    return {
        "place": place,
        "port": 0,
        "to": to,
        "rate_gbps": 100.0,
        "sent_packets": 1,
        "sent_gbps": gbps,
        "marked_packets": None if host else 0,
        "queue_mean_packets": 0.0,
        "queue_max_packets": 3,
        "paused_share": paused,
    }


def cabled(host: str, switch: str, gbps: float = 10.0) -> list[Row]:
    """Returns both ends of the cable of a host."""
    return [port(host, switch, gbps, host=True), port(switch, host, 1.0)]


def leaf_spine(leaves: int, spines: int, hosts: int) -> list[Row]:
    """Returns the ports of a network of two levels."""
    rows = [row for host in range(hosts) for row in cabled(f"node-{host}", f"leaf-{host % leaves}")]
    for leaf in range(leaves):
        for spine in range(spines):
            rows += [port(f"leaf-{leaf}", f"spine-{spine}"), port(f"spine-{spine}", f"leaf-{leaf}")]
    return rows


def flow(start: str, end: str, name: str = "bulk") -> Row:
    return {"flow": 0, "class": name, "from": start, "to": end, "completion_us": None}


def traffic(name: str = "bulk") -> Row:
    counts = ("sent_packets", "marked_by_host", "received_segments", "marked_segments", "fabric_dropped")
    zero = dict.fromkeys((*counts, "socket_dropped", "retransmitted_packets", "timeouts"), 0)
    return {"class": name, "goodput_gbps": 9.0, "goodput_ci95": 0.1, "nic_drop_percent": None, **zero}


def run_of(queues: list[Row], flows: list[Row] | None = None, **summary: Any) -> RunFiles:
    """Returns the files of a run with these ports."""
    names = dict.fromkeys(row["class"] for row in flows or ())
    content = {"engine": "cluster", "queues": queues, "classes": [traffic(name) for name in names], **summary}
    return RunFiles(Path(), content, {}, [], [], flows or [], None, None, None, {})


def network(queues: list[Row], flows: list[Row] | None = None, **summary: Any) -> ClusterNetwork:
    found = network_of(run_of(queues, flows, **summary))
    assert found is not None
    return found


def accelerators(servers: int, each: int) -> list[Row]:
    """Returns the ports of servers with a cable between every two accelerators, and of a rail for each of them."""
    rows = []
    for server in range(servers):
        own = [f"gpu-{server * each + at}" for at in range(each)]
        rows += [port(one, other, host=True) for one in own for other in own if one != other]
        rows += [row for at, host in enumerate(own) for row in cabled(host, f"rail-{at}")]
    return rows


@pytest.mark.parametrize(("servers", "each"), [(2, 4), (4, 8)])
def test_hosts_with_several_cables_are_drawn_beside_their_switches(servers: int, each: int) -> None:
    rows = accelerators(servers, each)
    assert not is_grid(network(rows))
    picture = str(network_section(run_of(rows)))
    assert picture.count('class="host network"') == 1
    assert "gpu-0 to gpu-1: 10.0 of 100 Gbps" in picture


@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 90))
def test_every_place_is_in_one_box_and_boxes_are_few(leaves: int, spines: int, hosts: int) -> None:
    known = network(leaf_spine(leaves, spines, max(hosts, leaves)))
    arrangement = arrange(known)
    names = [name for box in arrangement.boxes for name in box.names]
    assert sorted(names) == sorted([*known.hosts, *known.switches])
    assert sum(map(len, arrangement.links.values())) == len(known.cables)
    for level in (1, 2):
        assert len(arrangement.at(level)) <= SWITCHES_MAX
    assert len(arrangement.at(0)) <= HOSTS_MAX + SWITCHES_MAX
    assert network_map(arrangement, 1.0).count("<svg") == 1


def test_levels_are_distances_from_hosts() -> None:
    known = network(leaf_spine(3, 2, 6))
    assert {known.levels[name] for name in known.hosts} == {0}
    assert {name: known.levels[name] for name in known.switches} == {
        **{f"leaf-{leaf}": 1 for leaf in range(3)},
        **{f"spine-{spine}": 2 for spine in range(2)},
    }
    assert not is_grid(known)


def test_many_leaves_are_ranges() -> None:
    boxes = arrange(network(leaf_spine(40, 2, 80))).at(1)
    assert len(boxes) == RANGES
    assert [name for box in boxes for name in box.names] == [f"leaf-{leaf}" for leaf in range(40)]


def star(hosts: int, **summary: Any) -> ClusterNetwork:
    rows = [row for host in range(hosts) for row in cabled(f"node-{host}", "tor")]
    flows = [flow(f"node-{host}", "node-0") for host in range(1, hosts)]
    return network(rows, flows, **summary)


def host_titles(arrangement: Arrangement) -> list[str]:
    return [box.title for box in arrangement.at(0)]


def test_of_many_hosts_those_with_a_limit_and_the_few_ends_of_a_class_have_a_box_of_their_own() -> None:
    limit = {"class": "bulk", "limit": "cable", "place": "node-7 to tor", "load": 1.0, "why": "it is full"}
    assert host_titles(arrange(star(30, limits=[limit]))) == ["node-0", "28 × node", "node-7"]  # noqa: RUF001
    assert host_titles(arrange(star(5))) == [f"node-{host}" for host in range(5)]


def test_the_limit_of_a_class_has_its_badge_and_the_host_a_frame() -> None:
    queues = [*cabled("a", "tor", 60.0), *cabled("b", "tor")]
    limit = {"class": "bulk", "limit": "receiver cores", "place": "b", "load": 1.0, "why": "a core is busy"}
    section = str(network_section(run_of(queues, [flow("a", "b")], limits=[limit])))
    assert section.count('class="binds stroke-a"') == 1
    assert "limited by receiver cores, b" in section
    free = str(network_section(run_of(queues, [flow("a", "b")], limits=[{**limit, "limit": "clock", "place": ""}])))
    assert 'class="binds' not in free


def test_loads_losses_and_pauses_are_told() -> None:
    queues = [port("a", "tor", 62.5, host=True, paused=0.25), port("tor", "a", 0.0), *cabled("b", "tor", 0.0)]
    drops = [{"place": "tor", "port": 1, "to": "b", "dropped_packets": 1234}]
    section = str(network_section(run_of(queues, [flow("a", "b")], drops=drops)))
    assert "62.5 →" in section
    assert re.search(r"a to tor: 62\.5 of 100 Gbps, queue at most 3 packets, paused 25\.0\W%", section)
    assert ">1,234<" in section
    assert "tor to b: 1.00 of 100 Gbps, queue at most 3 packets, 1,234 packets dropped" in section


def test_switches_that_all_have_hosts_are_a_map() -> None:
    names = [f"switch-{x}-{y}" for x in range(3) for y in range(2)]
    rows = [row for name in names for row in cabled(f"host-of-{name}", name)]
    rows += [row for one, other in pairwise(names) for row in (port(one, other), port(other, one))]
    assert is_grid(network(rows))
    section = str(network_section(run_of(rows)))
    assert section.count('class="router"') == len(names)
    assert 'class="on-heat' in section


def test_dimms_with_processors_hang_on_their_host() -> None:
    rows = [
        {"host": one, "to": other, "sent_bytes": 1000, "dropped": 0}
        for dimm in ("d-0", "d-1")
        for one, other in (("box", dimm), (dimm, "box"))
    ]
    known = network(cabled("box", "tor"), mcn=rows, window_ns=1000.0)
    assert dict(known.levels) == {"d-0": 0, "d-1": 0, "box": 1, "tor": 2}


@pytest.mark.parametrize(
    ("largest", "full"), [(0.0, 1.0), (0.003, 0.004), (0.18, 0.2), (0.3, 0.4), (0.51, 1.0), (1.2, 1.0)]
)
def test_the_scale_fits_the_largest_load(largest: float, full: float) -> None:
    assert heat_scale(largest) == pytest.approx(full)


def test_long_names_are_shortened_in_the_middle() -> None:
    assert fit("tor", 100) == "tor"
    assert fit("aggregation-0-12", 60).startswith("agg")
    assert fit("aggregation-0-12", 60).endswith("-12")


def test_without_cables_there_is_no_picture() -> None:
    assert network_of(run_of([])) is None
    assert network_section(run_of([])) is None
    assert "<svg" in str(network_section(run_of([], [flow("a", "b")])))
