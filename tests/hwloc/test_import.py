"""Topologies become servers that run, and invalid ones are refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import _core
from hostnet.hwloc import Drive, Topology, TopologyError, draft, read_topology, text_of
from hostnet.hwloc.values import LANES_USUAL, links_of
from hostnet.presets import PCIE_GENERATIONS, load_server
from tests.hwloc.machines import (
    ALL,
    FOUR_SOCKETS,
    GIB,
    LAPTOP,
    MANY_NODES,
    MIB,
    ONE_SOCKET,
    TWO_SOCKETS,
    VERSION_1,
    bare_node,
    cpuset,
    drive,
    machine,
    package,
)
from tests.support import Cli, assert_tells, raises_code


def topology(folder: Path, text: str | bytes) -> Topology:
    file = folder / "machine.xml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_topology(file)


def drafted(folder: Path, text: str, which: int | None = None, base: str | None = None) -> tuple[dict[str, Any], str]:
    """Returns the server file as nested dicts and as text."""
    content = text_of(draft(topology(folder, text), which, base), "machine.xml", folder / "server.toml")
    return tomllib.loads(content), content


@pytest.mark.parametrize("name", ALL)
def test_every_draft_runs_on_all_its_cores(tmp_path: Path, name: str) -> None:
    tree, text = drafted(tmp_path, ALL[name])
    (tmp_path / "server.toml").write_text(text)
    server = load_server(str(tmp_path / "server.toml"))
    sockets = [server.effective, *(server.effective.get("socket") or {}).values()]
    all_alike = (server.effective["server"]["sockets"] - len(sockets)) * server.cores
    cores = sum(socket["core"]["count"] for socket in sockets) + all_alike
    load = {"kind": "stream", "cores": list(range(cores)), "working_set": "1 MiB", "memory": "interleave"}
    plan, _ = server.configuration({"load": load}, {"duration": "2 us", "warmup": "1 us"}, {})
    assert _core.run(plan).complete
    assert json.loads(plan.effective_json())["core"]["count"] == tree["core"]["count"]


@pytest.mark.parametrize("name", ALL)
def test_every_value_says_where_it_comes_from(tmp_path: Path, name: str) -> None:
    tree, text = drafted(tmp_path, ALL[name])
    for line in text.splitlines():
        if " = " in line and not line.startswith(("unvalidated", "# ")):
            assert " # " in line, line
    assert "assumed as in " in text
    assert f"count = {tree['core']['count']} " in text
    assert tree["server"]["unvalidated"]


def test_a_laptop(tmp_path: Path) -> None:
    tree, text = drafted(tmp_path, LAPTOP)
    assert tree["core"]["count"] == 6
    assert tree["memory"]["size"] == "16084 MiB"
    assert (tree["ssd"]["count"], tree["pcie"]["generation"], tree["pcie"]["lanes"]) == (1, 4, 4)
    assert "no preset of this family" in text
    assert "slices = 6 " in text


def test_a_server_that_is_a_preset_is_that_preset(tmp_path: Path) -> None:
    tree, text = drafted(tmp_path, ONE_SOCKET)
    assert tree["server"]["preset"] == "cascade-lake-6234"
    assert "the same processor" in text
    (tmp_path / "server.toml").write_text(text)
    new, preset = load_server(str(tmp_path / "server.toml")).effective, load_server("cascade-lake-6234").effective
    differ = [
        (table, key)
        for table in preset
        for key in preset[table]
        if table != "server" and new[table][key] != preset[table][key]
    ]
    assert sorted(differ) == [("memory", "dram"), ("memory", "size"), ("run", "name")]
    assert new["memory"]["dram"].pop("rows") == 8 * preset["memory"]["dram"].pop("rows")
    assert new["memory"]["dram"] == preset["memory"]["dram"]
    assert new["memory"]["size"] == "192 GiB"


def test_one_package_of_two_can_be_taken(tmp_path: Path) -> None:
    (first, text), (second, _) = (drafted(tmp_path, TWO_SOCKETS, number) for number in range(2))
    assert (first["ssd"]["count"], second["ssd"]["count"]) == (2, 4)
    assert (first["pcie"]["lanes"], second["pcie"]["lanes"]) == (8, 16)
    assert first["core"]["count"] == second["core"]["count"] == 32
    assert first["memory"]["size"] == "256 GiB"
    assert (first["server"]["preset"], first["cha"]["slices"]) == ("ice-lake-8362", 32)
    assert (first["server"]["sockets"], second["server"]["sockets"]) == (1, 1)
    assert "as requested: package 0 of 2 alone" in text
    assert "socket" not in first
    with raises_code("does-not-exist | --package 2"):
        drafted(tmp_path, TWO_SOCKETS, 2)


def test_two_packages_are_two_sockets(tmp_path: Path) -> None:
    tree, text = drafted(tmp_path, TWO_SOCKETS)
    assert tree["server"]["sockets"] == 2
    assert tree["socket"] == {"1": {"ssd": {"count": 4}, "pcie": {"lanes": 16}}}, "and nothing that is as the first"
    assert (tree["core"]["count"], tree["ssd"]["count"]) == (32, 2)
    assert "# Socket 1: package 1, NUMA node 1." in text
    assert tree["upi"]["links"] == 3
    assert "links = 3                                # assumed as in ice-lake-8362, check" in text
    assert "hostnet calibrate cover servers of one socket" in text


def test_each_socket_has_what_hangs_off_it(tmp_path: Path) -> None:
    tree, text = drafted(tmp_path, FOUR_SOCKETS)
    assert (tree["server"]["sockets"], tree["upi"]["links"]) == (5, 1)
    assert tree["socket"]["2"] == {"memory": {"size": "96 GiB", "dram": {"rows": 65536}}, "ssd": {"count": 0}}, (
        "six channels"
    )
    assert tree["socket"]["3"] == {"core": {"count": 20}, "ssd": {"count": 0}}
    assert tree["socket"]["4"]["core"] == {"count": 0}
    assert tree["socket"]["4"]["memory"]["size"] == "128 GiB"
    assert "1" not in tree["socket"], "one drive, as the model needs one at the first"
    assert "sockets = 5                              # hwloc: 4 packages, 1 NUMA node without cores" in text
    before, _, after = text.partition("# Network card 0000:d9:00.0 (ens1f0) hangs off this socket.")
    assert before.rstrip().endswith("# Socket 1: package 1, NUMA node 1; as the first.")
    assert "# Socket 2: package 2, NUMA node 2." in after
    for note in (
        "network card 0000:01:00.0: hwloc does not say at which package",
        "network card 0000:d9:00.0 hangs off socket 1;",
        "NUMA node 4 has no cores: it is socket 4,",
        "each two of the 4 packages",
    ):
        assert f"# {note}" in text
    (tmp_path / "server.toml").write_text(text)
    effective = load_server(str(tmp_path / "server.toml")).effective
    assert effective["socket"]["4"]["memory"]["size"] == "128 GiB"
    assert effective["socket"]["2"]["core"]["count"] == 24


def test_what_a_preset_says_of_its_second_socket_does_not_stay(tmp_path: Path) -> None:
    tree, _ = drafted(tmp_path, TWO_SOCKETS, base="skylake-8160")
    assert tree["socket"]["1"]["ssd"]["count"] == 4
    (tmp_path / "server.toml").write_text(drafted(tmp_path, ONE_SOCKET, base="skylake-8160")[1])
    assert load_server(str(tmp_path / "server.toml")).effective["server"]["sockets"] == 1


def test_a_package_beside_memory_alone_has_two_sockets(tmp_path: Path) -> None:
    text = machine(package(0, "", 4, [16 * GIB], 8 * MIB) + bare_node(1, 64 * GIB) + bare_node(2, 0), 8)
    tree, said = drafted(tmp_path, text)
    assert tree["server"]["sockets"] == 2
    assert tree["socket"]["1"]["core"]["count"] == 0
    assert "NUMA node 2 has neither cores nor memory and is left out" in said
    assert drafted(tmp_path, text, 0)[0]["server"]["sockets"] == 1


def test_drives_of_nobody_go_to_the_first_socket(tmp_path: Path) -> None:
    loose = TWO_SOCKETS.replace("</topology>", "").rstrip().removesuffix("</object>")
    tree, text = drafted(tmp_path, loose + drive("0002:01:00.0", 7.876923) + "</object></topology>")
    assert tree["ssd"]["count"] == 3
    assert "drive 0002:01:00.0: hwloc does not say at which package it is; assumed at the first socket" in text


def test_other_processors_are_said_to_be(tmp_path: Path) -> None:
    mixed = "".join(package(number, f"processor {number}", 4, [8 * GIB], 8 * MIB) for number in range(2))
    assert "socket 1 is another processor" in drafted(tmp_path, machine(mixed))[1]


def test_more_drives_than_a_server_has_are_left_out(tmp_path: Path) -> None:
    drives = "".join(drive(f"0000:{bus:02x}:00.0", 3.938462) for bus in range(40))
    many = "".join(package(number, "", 4, [8 * GIB], 8 * MIB, drives) for number in range(2))
    tree, text = drafted(tmp_path, machine(many))
    assert (tree["ssd"]["count"], tree["socket"]["1"]["ssd"]["count"]) == (40, 24)
    assert "socket 1: of 40 drives 24 are taken; a server has at most 64" in text


@pytest.mark.parametrize(("packages", "bare"), [(9, 0), (5, 4), (8, 1)])
def test_more_sockets_than_a_server_has_are_refused(tmp_path: Path, packages: int, bare: int) -> None:
    parts = [package(number, "", 2, [GIB], MIB) for number in range(packages)]
    parts += [bare_node(packages + number, GIB) for number in range(bare)]
    with raises_code(f"too-many | {packages} | {bare}"):
        drafted(tmp_path, machine("".join(parts), 1024))
    assert drafted(tmp_path, machine("".join(parts), 1024), packages - 1)[0]["core"]["count"] == 2


def test_numa_nodes_of_a_package_are_added_up(tmp_path: Path) -> None:
    tree, text = drafted(tmp_path, MANY_NODES)
    assert tree["memory"]["size"] == "384 GiB"
    assert tree["core"]["count"] == 96
    assert "384.00 GiB in 12 NUMA nodes" in text


@pytest.mark.parametrize(
    ("model", "family", "cores", "l3", "slices", "source"),
    [
        ("Intel(R) Xeon(R) Platinum 8480+", "6/143", 56, 105 * MIB, 56, "in slices of 1.875 MiB"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "6/207", 64, 320 * MIB, 64, "in slices of 5 MiB"),
        ("Intel(R) Xeon(R) Gold 6250 CPU @ 3.90GHz", "6/85", 8, 26 * 1408 * 1024, 26, "in slices of 1.375 MiB"),
        ("Intel(R) Xeon(R) Gold 6542Y", "6/207", 24, 60 * MIB, 24, "assumed"),
        ("Intel(R) Xeon(R) Processor", "6/207", 2, 260 * MIB, 2, "assumed"),
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", "6/106", 2, 54 * MIB, 2, "assumed"),
        ("Intel(R) Xeon(R) Gold 6234", "6/85", 8, 25 * MIB, 8, "assumed"),
        ("AMD Ryzen 7 1700", "23/1", 8, 16 * MIB, 8, "assumed"),
        ("", "6/85", 4, 0, 4, "assumed"),
    ],
)
def test_slices_are_those_of_the_family_or_assumed(
    tmp_path: Path, model: str, family: str, cores: int, l3: int, slices: int, source: str
) -> None:
    tree, text = drafted(tmp_path, machine(package(0, model, cores, [8 * GIB], l3, family=family)))
    assert tree["cha"]["slices"] == slices
    (line,) = (line for line in text.splitlines() if line.startswith("slices = "))
    assert source in line
    assert ("a virtual machine" in text) == (cores == 2)
    assert ("slices of another size" in text) == (cores == 24)


def test_what_a_small_machine_does_not_show_is_not_made_up(tmp_path: Path) -> None:
    small = machine(package(0, "", 1, [512 * MIB], 1000), 2).replace(f'cache_size="{MIB}"', 'cache_size="0"')
    tree, text = drafted(tmp_path, small)
    assert tree["memory"]["size"] == "512 MiB"
    assert "# hwloc: no L2, L3 of 1000 B in all, which is no whole number of lines: not to be relied on." in text
    tiny = drafted(tmp_path, machine(package(0, "", 1, [1000], MIB), 2))[1]
    assert 'size = "all"' in tiny
    assert "hwloc reports 1000 B" in tiny


def test_hwloc_1(tmp_path: Path) -> None:
    found = topology(tmp_path, VERSION_1)
    assert [one.cores for one in found.packages] == [4, 4]
    assert [one.memory for one in found.packages] == [24 * GIB] * 2
    assert [len(one.drives) for one in found.packages] == [0, 1]
    assert (found.packages[0].l2, found.packages[0].l3) == (256 * 1024, 10 << 20)
    assert drafted(tmp_path, VERSION_1, 1)[0]["pcie"]["generation"] == 3


def test_the_base_can_be_chosen(tmp_path: Path) -> None:
    tree, _ = drafted(tmp_path, LAPTOP, base="ice-lake-8362")
    assert (tree["server"]["preset"], tree["memory"]["channels"]) == ("ice-lake-8362", 4)
    with raises_code('unknown-name | "ice-lake-8362"'):
        drafted(tmp_path, LAPTOP, base="ice-lake-836")


def test_names_cannot_break_the_file(tmp_path: Path) -> None:
    for name in ("&quot;]&#10;[core]&#10;count=1", "&#9;&#10;&#13;", "\\", "héllo # x", ""):
        tree, _ = drafted(tmp_path, machine(package(0, name, 2, [4 * GIB], 4 << 20), 4))
        assert tree["core"]["count"] == 2


def test_links_are_as_fast_as_in_the_simulation(tmp_path: Path) -> None:
    server = tmp_path / "server.toml"
    server.write_text('server.preset = "cascade-lake-6234"\npcie.generation = 6\npcie.lanes = 16\n')
    assert load_server(str(server)).pcie_peak_gb_per_s == pytest.approx(64 * 16 / 8 * 242 / 256)


@pytest.mark.parametrize("generation", PCIE_GENERATIONS)
@pytest.mark.parametrize("lanes", LANES_USUAL)
def test_links_are_told_by_their_speed(generation: int, lanes: int) -> None:
    speed = _core.link_bytes_per_s(generation, lanes) / 10**9
    found = links_of(Drive("0000:01:00.0", speed, ""))
    assert (generation, lanes) in found
    for link in found:
        assert _core.link_bytes_per_s(*link) / 10**9 == pytest.approx(speed, rel=0.04)
    assert lanes != 4 or found[0] == (generation, 4)
    assert links_of(Drive("0000:01:00.0", 0.0, "")) == []


@given(first=st.integers(0, 200), count=st.integers(1, 200))
def test_sets_of_cores_are_read_as_written(first: int, count: int) -> None:
    from xml.etree.ElementTree import Element

    from hostnet.hwloc.reader import Reader

    reader = Reader("x", Element("topology"))
    assert reader.units(Element("object", cpuset=cpuset(first, count))) == ((1 << count) - 1) << first


BOMB = """<?xml version="1.0"?>
<!DOCTYPE topology [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<topology><object type="Machine" name="&b;"/></topology>"""

OUTSIDE = """<?xml version="1.0"?>
<!DOCTYPE topology [<!ENTITY x SYSTEM "file:///etc/hostname">]>
<topology><object type="Machine">&x;</object></topology>"""

WRONG: list[tuple[str | bytes, str]] = [
    ("", "is empty"),
    (" \n", "is empty"),
    ("hello", "invalid XML"),
    (b"\xff\xfe\x00\x01", "invalid XML"),
    (b'<?xml version="1.0" encoding="x-none"?><topology/>', "not"),
    ("[server]\n", "invalid XML"),
    ("<html><body/></html>", "it starts with <html>; write one with lstopo"),
    (LAPTOP[:900], "invalid XML"),
    (LAPTOP[: LAPTOP.index("</topology>")], "is it truncated?"),
    (BOMB, "defines XML entities"),
    (OUTSIDE, "defines XML entities"),
    (machine(""), "has no package"),
    (machine('<object type="Package" cpuset="0x1"/>'), "package 0 has no cores"),
    (LAPTOP.replace(f'local_memory="{16 * GIB - (300 << 20)}"', 'local_memory="much"'), 'local_memory "much"'),
    (LAPTOP.replace(f'local_memory="{16 * GIB - (300 << 20)}"', 'local_memory="-1"'), 'local_memory "-1"'),
    (LAPTOP.replace('cache_size="1048576"', 'cache_size="1e6"'), 'cache_size "1e6" is not a number of bytes'),
    (LAPTOP.replace('"7.876923"', '"nan"'), 'pci_link_speed "nan" is not a speed'),
    (LAPTOP.replace('"7.876923"', '"fast"'), 'pci_link_speed "fast" is not a speed'),
    (LAPTOP.replace('cpuset="0x00000fff"', 'cpuset="all"'), 'cpuset "all" is not a set of cores'),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_no_topology_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(TopologyError) as error:
        draft(topology(tmp_path, text))
    assert message in str(error.value)
    assert "machine.xml" in str(error.value)


@given(st.integers(0, len(TWO_SOCKETS)))
def test_no_cut_is_a_topology(length: int) -> None:
    import tempfile

    if length < len(TWO_SOCKETS.rstrip()):
        with tempfile.TemporaryDirectory() as folder, pytest.raises(TopologyError):
            topology(Path(folder), TWO_SOCKETS[:length])


def test_deep_nesting_is_no_matter(tmp_path: Path) -> None:
    deep = machine('<object type="Group">' * 50_000 + "</object>" * 50_000)
    with raises_code("malformed-file | has no package", TopologyError):
        topology(tmp_path, deep)


def test_the_command_drafts_and_does_not_overwrite(cli: Cli) -> None:
    (cli.folder / "machine.xml").write_text(TWO_SOCKETS)
    done = cli("import", "machine.xml", "--package", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "server.toml"
    run = ("run", "server.toml", "-q", "--set", 'workload.x={kind="stream",cores="0-3"}', "--set", "run.duration=5 us")
    assert cli(*run).returncode == 0
    assert_tells(cli.fails("import", "machine.xml"), "file-access | server.toml")
    assert_tells(
        cli.fails("import", "machine.xml", "--package", "7", "--out", "new.toml"), "does-not-exist | --package 7"
    )
    assert_tells(cli.fails("import", "no.xml", "--out", "new.toml"), "file-not-found | no.xml")
    (cli.folder / "bad.xml").write_text(BOMB)
    assert_tells(cli.fails("import", "bad.xml", "--out", "new.toml"), "malformed-file | defines XML entities")
