"""Memory beside a package and hidden processing units are distributed, left out with a note, or refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.hwloc import TopologyError, draft, read_topology, text_of
from hostnet.hwloc.nodes import Node, assign_memory
from tests.hwloc.machines import GIB, MIB, bare_node, cpuset, drive, machine, package
from tests.support import raises_code


def drafted(folder: Path, text: str, which: int | None = None) -> tuple[dict[str, Any], list[str]]:
    """Returns the server file as nested dicts, and the notes."""
    file = folder / "machine.xml"
    file.write_text(text)
    found = draft(read_topology(file), which)
    return tomllib.loads(text_of(found, "machine.xml", folder / "server.toml")), list(found.notes)


def node(index: int, first: int, count: int, size: int, kind: str = "", inside: str = "") -> str:
    """Returns a NUMA node beside some processing units."""
    subtype = f' subtype="{kind}"' if kind else ""
    near = cpuset(first, count)
    return (
        f'<object type="NUMANode" os_index="{index}" cpuset="{near}" local_memory="{size}"{subtype}>{inside}</object>'
    )


def cores(first: int, count: int) -> str:
    return "".join(f'<object type="Core" cpuset="{cpuset(first + core, 1)}"/>' for core in range(count))


def bare(index: int, first: int, count: int, hidden: bool = False, inside: str = "") -> str:
    """Returns a package without memory; one hidden by a cgroup shows neither cores nor processing units."""
    whole = cpuset(first, count)
    head = f'<object type="Package" os_index="{index}" cpuset="{"0x0" if hidden else whole}" complete_cpuset="{whole}">'
    return f"{head}{inside}{'' if hidden else cores(first, count)}</object>"


INFO = '<info name="{}" value="{}"/>'


@pytest.mark.parametrize("kind", ["HBM", "MCDRAM", "NVM", "CXL-NVM", "GPUMemory", "SPM", "something"])
def test_memory_of_another_kind_is_not_dram_of_the_package(tmp_path: Path, kind: str) -> None:
    text = machine(package(0, "", 4, [32 * GIB], 8 * MIB, node(7, 0, 8, 128 * GIB, kind)), 8)
    tree, notes = drafted(tmp_path, text)
    assert (tree["memory"]["size"], tree["server"]["sockets"]) == ("32 GiB", 1)
    (note,) = (note for note in notes if "NUMA node 7" in note)
    assert f"is 128 GiB of {kind} local to package 0 and is left out" in note
    nowhere = machine(package(0, "", 4, [32 * GIB], 8 * MIB) + bare_node(7, GIB).replace("/>", f' subtype="{kind}"/>'))
    assert drafted(tmp_path, nowhere)[0]["server"]["sockets"] == 1


@pytest.mark.parametrize("told", ['" subtype="CXL-DRAM', ""])
@pytest.mark.parametrize("units", [(0, 8), (0, 64)])
def test_memory_behind_cxl_is_a_socket_whoever_is_near(tmp_path: Path, told: str, units: tuple[int, int]) -> None:
    beside = node(2, *units, 64 * GIB, "CXL-DRAM" if told else "", "" if told else INFO.format("CXLDevice", "mem0"))
    both = "".join(package(index, "", 4, [32 * GIB], 8 * MIB) for index in range(2))
    tree, notes = drafted(tmp_path, machine(both + beside))
    assert (tree["memory"]["size"], tree["server"]["sockets"]) == ("32 GiB", 3)
    assert tree["socket"]["2"] == {"core": {"count": 0}, "memory": {"size": "64 GiB"}, "ssd": {"count": 0}} | {
        "memory": {**tree["socket"]["2"]["memory"], "size": "64 GiB"}
    }
    alone, notes = drafted(tmp_path, machine(both + beside), 0)
    assert alone["server"]["sockets"] == 1
    assert any("NUMA node 2" in note and "left out" in note for note in notes)


def test_a_package_with_stacked_memory_alone_has_that(tmp_path: Path) -> None:
    only = machine(bare(0, 0, 4) + node(0, 0, 4, 64 * GIB, "HBM"))
    tree, notes = drafted(tmp_path, only)
    assert tree["memory"]["size"] == "64 GiB"
    assert "NUMA node 0 is HBM: choose a memory.device of that kind" in notes


def test_nodes_are_divided_among_the_packages_beside_them(tmp_path: Path) -> None:
    four = "".join(bare(index, 2 * index, 2) for index in range(4))
    text = machine(four + node(0, 0, 4, 64 * GIB) + node(1, 4, 4, 32 * GIB))
    tree, notes = drafted(tmp_path, text)
    assert tree["memory"]["size"] == "32 GiB"
    assert [tree["socket"][number]["memory"]["size"] for number in "23"] == ["16 GiB"] * 2
    assert "memory" not in tree["socket"]["1"], "as the first"
    assert any("local to several packages (packages 2, 3)" in note for note in notes)
    assert drafted(tmp_path, text, 3)[0]["memory"]["size"] == "16 GiB"


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 10**12)), max_size=6), st.integers(1, 4))
def test_no_memory_is_lost_or_made(nodes: list[tuple[int, int]], count: int) -> None:
    packages = [3 << 2 * index for index in range(count)]
    found = assign_memory([Node(str(at), "", size, near) for at, (near, size) in enumerate(nodes)], packages)
    outside = sum(size for near, size in nodes if near and not near & sum(packages))
    total = sum(found.sizes) + sum(one.memory for one in found.bare) + outside
    assert 0 <= sum(size for _, size in nodes) - total <= len(nodes) * count, "but for what division leaves"
    assert sum("left out" in note and "(" in note for note in found.notes) == sum(
        bool(near and not near & sum(packages)) for near, _ in nodes
    )


@pytest.mark.parametrize("hidden", [0, 1])
def test_a_package_outside_of_the_cgroup_is_a_socket_without_cores(tmp_path: Path, hidden: int) -> None:
    inside = '<object type="NUMANode" os_index="{0}" cpuset="0x0" local_memory="{1}"/>'
    text = machine("".join(bare(at, 4 * at, 4, at == hidden, inside.format(at, (1 + at) * GIB)) for at in range(2)))
    text = text.replace(inside.format(1 - hidden, (2 - hidden) * GIB), "") + ""
    text = text.replace("</topology>", "").rstrip().removesuffix("</object>")
    text += node(1 - hidden, 4 * (1 - hidden), 4, 16 * GIB) + "</object></topology>"
    tree, notes = drafted(tmp_path, text)
    assert (tree["server"]["sockets"], tree["core"]["count"], tree["memory"]["size"]) == (2, 4, "16 GiB")
    assert tree["socket"]["1"]["core"] == {"count": 0}
    assert tree["socket"]["1"]["memory"]["size"] == f"{1 + hidden} GiB"
    assert any(f"package {hidden} shows 0 of 4 processing units" in note for note in notes)
    with raises_code(f"wrong-count | {hidden} | --package"):
        drafted(tmp_path, text, hidden)
    assert drafted(tmp_path, text, 1 - hidden)[0]["core"]["count"] == 4


def test_part_of_a_package_is_said_to_be_one(tmp_path: Path) -> None:
    whole = machine(bare(0, 0, 4)).replace('os_index="0" cpuset', 'complete_cpuset="0x0000ffff" os_index="0" cpuset', 1)
    assert "12 processing units of the machine are in packages that hwloc does not show" in drafted(tmp_path, whole)[1]
    part = bare(0, 0, 4).replace('complete_cpuset="0x0000000f"', 'complete_cpuset="0x000000ff"')
    assert any("package 0 shows 4 of 8 processing units" in note for note in drafted(tmp_path, machine(part))[1])
    with raises_code("malformed-file", TopologyError):
        drafted(tmp_path, machine(bare(0, 0, 4) + '<object type="Package" cpuset="0xf0"/>'))


def test_cores_in_no_package_are_one_more_or_named(tmp_path: Path) -> None:
    outside = f'<object type="L3Cache" cpuset="0x300" cache_size="8388608" depth="3">{cores(8, 2)}</object>'
    both = "".join(package(0, "", 4, [16 * GIB], 8 * MIB)) + outside + node(5, 8, 2, 48 * GIB)
    tree, notes = drafted(tmp_path, machine(both))
    assert (tree["server"]["sockets"], tree["socket"]["1"]["core"]["count"]) == (2, 2)
    assert tree["socket"]["1"]["memory"]["size"] == "48 GiB"
    assert any("2 cores outside any package: treated as one more package, 1" in note for note in notes)
    many = machine(package(0, "", 2, [16 * GIB], 8 * MIB) + cores(8, 6) + node(5, 8, 6, 48 * GIB))
    tree, notes = drafted(tmp_path, many)
    assert tree["server"]["sockets"] == 1
    assert any("6 cores outside any package are left out" in note for note in notes)
    assert any("NUMA node 5 (48 GiB) is local to cores outside any package" in note for note in notes)


def test_cores_of_several_kinds_are_said_to_be(tmp_path: Path) -> None:
    kinds = "".join(f'<cpukind cpuset="0x3">{INFO.format("CoreType", kind)}</cpukind>' for kind in ("Atom", "Core"))
    text = machine(bare(0, 0, 4)).replace("</topology>", f"{kinds}</topology>")
    assert "cores are of 2 kinds (Atom, Core), but modelled as alike" in drafted(tmp_path, text)[1]


@pytest.mark.parametrize("words", ['type="L3Cache" subtype="MemorySideCache" depth="3"', 'type="MemCache" depth="1"'])
def test_caches_of_memory_are_none_of_cores(tmp_path: Path, words: str) -> None:
    cache = f'<object {words} cpuset="0xff" cache_size="{16 * GIB}" cache_type="0"/>'
    file = tmp_path / "machine.xml"
    file.write_text(machine(package(0, "", 4, [32 * GIB], 8 * MIB, cache)))
    found = read_topology(file)
    assert found.packages[0].l3 == 8 * MIB
    assert any("a memory-side cache of 16 GiB" in note for note in found.notes)


def test_memory_is_told_to_a_mib(tmp_path: Path) -> None:
    for size, told in ((2850 * MIB + 1000, "2850 MiB"), (4 * GIB - 10 * MIB, "4086 MiB"), (4 * GIB, "4 GiB")):
        assert drafted(tmp_path, machine(package(0, "", 2, [size], MIB)))[0]["memory"]["size"] == told


@pytest.mark.parametrize(
    ("model", "speed", "link", "words"),
    [
        (
            "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
            7.876923,
            (3, 8),
            "given that this family has PCIe 3 at most",
        ),
        ("AMD EPYC 7571", 7.876923, (4, 4), "4 x4 is assumed, but it may be 3 x8 or 5 x2: check"),
        ("", 3.938462, (3, 4), "3 x4 is assumed, but it may be 4 x2 or 5 x1: check"),
    ],
)
def test_links_are_said_to_be_guesses(
    tmp_path: Path, model: str, speed: float, link: tuple[int, int], words: str
) -> None:
    family = "6/85" if "Xeon" in model else "23/1"
    text = machine(package(0, model, 2, [GIB], MIB, drive("0000:01:00.0", speed), family))
    tree, _ = drafted(tmp_path, text)
    assert (tree["pcie"]["generation"], tree["pcie"]["lanes"]) == link
    content = text_of(draft(read_topology(tmp_path / "machine.xml")), "machine.xml", tmp_path / "server.toml")
    assert f"hwloc: {speed:.2f} GB/s per drive" in content
    assert words in content
