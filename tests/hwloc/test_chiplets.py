"""Chiplets are drafted from the L3 caches and NUMA nodes of a package, and the nearest preset is of its family."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet.hwloc import Package, draft, read_topology, text_of
from hostnet.hwloc.chiplets import chiplet_values
from hostnet.hwloc.draft import nearest_preset
from hostnet.presets import ServerFile, load_server
from tests.hwloc.machines import GENOA, GIB, MANY_NODES, MIB, ROME, bare_node, machine, package
from tests.support import raises_code


def drafted(folder: Path, text: str, base: str | None = None) -> tuple[dict[str, Any], str, list[str]]:
    """Returns the server file as nested dicts and as text, and the notes. The file is one that can be simulated."""
    file = folder / "machine.xml"
    file.write_text(text)
    found = draft(read_topology(file), base=base)
    content = text_of(found, "machine.xml", folder / "server.toml")
    return tomllib.loads(content), content, list(found.notes)


def processor(model: str, family: str, cores: int = 64, l3_cores: tuple[int, ...] = (64,)) -> Package:
    return Package(0, model, family, cores, GIB, ("0",), MIB, MIB, l3_cores, (), ())


@functools.cache
def milan() -> ServerFile:
    return load_server("epyc-7763")


def test_ccds_are_the_l3_caches_or_pairs_of_them(tmp_path: Path) -> None:
    tree, text, notes = drafted(tmp_path, ROME)
    assert (tree["server"]["preset"], tree["server"]["sockets"]) == ("epyc-7742", 2)
    assert (tree["chiplets"]["ccds"], tree["chiplets"]["nps"]) == (8, 4)
    assert "16 L3 caches of 4 cores, 2 per CCD" in text
    assert "socket" not in tree, "the second is as the first"
    tree, text, _ = drafted(tmp_path, GENOA)
    assert tree["server"]["preset"] == "epyc-9654"
    assert (tree["chiplets"]["ccds"], tree["chiplets"]["nps"]) == (8, 2)
    assert "8 L3 caches of 4 cores" in text
    assert any("chiplets.fclk" in note and "chiplets.entries" in note for note in notes)


def test_slices_follow_the_channels(tmp_path: Path) -> None:
    tree, text, _ = drafted(tmp_path, ROME)
    assert "slices" not in tree["cha"]
    (tmp_path / "server.toml").write_text(text.replace("channels = 8", "channels = 16"))
    assert load_server(str(tmp_path / "server.toml")).effective["cha"]["slices"] == 16


def test_nodes_per_l3_leave_nps_open(tmp_path: Path) -> None:
    tree, _, notes = drafted(tmp_path, MANY_NODES)
    assert (tree["chiplets"]["ccds"], tree["chiplets"]["nps"]) == (12, 1)
    assert any("12 NUMA nodes" in note and "check chiplets.nps" in note for note in notes)


def epyc(caches: list[int], family: str = "25/1", more: str = "") -> str:
    """Returns a machine with an EPYC whose L3 caches have some numbers of cores."""
    cores = sum(caches)
    return machine(package(0, "AMD EPYC", cores, [64 * GIB], 32 * MIB, "", family, caches) + more, 2 * cores)


def test_unequal_ccds_are_those_of_the_preset_or_none(tmp_path: Path) -> None:
    tree, _, notes = drafted(tmp_path, epyc([8] * 5 + [4, 4]))
    assert tree["chiplets"]["ccds"] == 8, "48 cores on 8 CCDs"
    assert any("7 L3 caches of 4, 8 cores" in note and "8 CCDs are assumed" in note for note in notes)
    tree, _, notes = drafted(tmp_path, epyc([8, 8, 5]))
    assert "chiplets" not in tree, "21 cores on 8 CCDs"
    assert tree["core"]["count"] == tree["cha"]["slices"] == 21
    assert any("no chiplets are drafted" in note for note in notes)
    with raises_code("not-a-multiple | --base epyc-7763 | 21 cores"):
        drafted(tmp_path, epyc([8, 8, 5]), "epyc-7763")


def test_a_part_of_a_processor_has_its_part_of_the_ccds(tmp_path: Path) -> None:
    assert drafted(tmp_path, epyc([4], "23/49"))[0]["chiplets"]["ccds"] == 1, "half a CCD of Rome"
    assert drafted(tmp_path, epyc([4, 4], "23/49"))[0]["chiplets"]["ccds"] == 1
    assert drafted(tmp_path, epyc([4, 4], "25/1"))[0]["chiplets"]["ccds"] == 2


def test_memory_alone_is_a_socket_without_ccds(tmp_path: Path) -> None:
    tree, _, _ = drafted(tmp_path, epyc([8] * 8, more=bare_node(1, 64 * GIB)))
    assert tree["socket"]["1"]["core"]["count"] == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 12), max_size=20), min_size=1, max_size=3))
def test_drafted_ccds_share_the_cores_of_every_package(caches: list[list[int]]) -> None:
    packages = [processor("", "25/17", sum(one), tuple(one)) for one in caches]
    notes: list[str] = []
    found = chiplet_values(packages, milan(), notes)
    if found is None:
        assert any(package.cores % 8 for package in packages), "CCDs of the preset"
        assert notes
    else:
        ccds = next(value.value for value in found if value.path == "chiplets.ccds")
        assert 1 <= ccds <= 16
        assert all(package.cores % ccds == 0 for package in packages)


@pytest.mark.parametrize(
    ("model", "family", "preset"),
    [
        ("AMD EPYC 7742 64-Core Processor", "23/49", "epyc-7742"),
        ("AMD EPYC 7282 16-Core Processor", "23/49", "epyc-7742"),
        ("AMD EPYC 7R13 Processor", "", "epyc-7763"),
        ("AMD EPYC 7573X 32-Core Processor", "", "epyc-7763"),
        ("AMD EPYC-Milan Processor", "25/1", "epyc-7763"),
        ("AMD EPYC 9R14", "", "epyc-9654"),
        ("AMD EPYC 9754 128-Core Processor", "", "epyc-9654"),
        ("AMD EPYC 8534P 64-Core Processor", "25/160", "epyc-9654"),
        ("INTEL(R) XEON(R) PLATINUM 8480C", "6/143", "xeon-platinum-8480"),
        ("Intel(R) Xeon(R) Platinum 8460Y+", "6/143", "xeon-platinum-8460y"),
        ("Intel(R) Xeon(R) Processor @ 2.00GHz", "6/143", "xeon-platinum-8480"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "6/207", "xeon-platinum-8480"),
        ("Intel(R) Xeon(R) CPU Max 9462", "6/143", "xeon-max-9480"),
        ("Neoverse-V1", "", "graviton3"),
        ("AWS Graviton3", "", "graviton3"),
        ("", "0x41/0xd4f", "grace"),
        ("NVIDIA Grace A02", "", "grace"),
        ("", "0x41/0xd0c", "graviton3"),
    ],
)
def test_the_nearest_preset_is_of_the_family(model: str, family: str, preset: str) -> None:
    assert nearest_preset(processor(model, family))[0] == preset


def test_a_processor_of_no_family_has_chiplets_if_its_l3_is_divided() -> None:
    assert nearest_preset(processor("AMD EPYC 9575F", "26/2", 64, (8,) * 8))[0] == "epyc-7742"
    for model, family, cores in (("Intel", "6/173", (32, 32)), ("AMD", "26/96", (64,))):
        assert "chiplets" not in load_server(nearest_preset(processor(model, family, 64, cores))[0]).effective


def test_a_preset_of_hbm_says_so(tmp_path: Path) -> None:
    maximum = machine(package(0, "Intel(R) Xeon(R) CPU Max 9480", 56, [64 * GIB], 112 * MIB, family="6/143"), 112)
    assert any("xeon-max-9480 are HBM" in note for note in drafted(tmp_path, maximum)[2])
    assert not any("HBM" in note for note in drafted(tmp_path, maximum, "xeon-platinum-8480")[2])


def test_an_arm_server_keeps_the_slices_of_its_preset(tmp_path: Path) -> None:
    arm = machine(package(0, "", 32, [64 * GIB], 32 * MIB, family="0x41/0xd40"), 64)
    tree, text, _ = drafted(tmp_path, arm)
    assert (tree["server"]["preset"], tree["cha"]["slices"]) == ("graviton3", 32)
    assert "slices = 32                              # assumed as in graviton3, check" in text
