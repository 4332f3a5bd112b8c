"""The pages about a server of one's own match the commands."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import fields

import pytest

from hostnet.calibration.measurement import KERNELS, QUANTITIES, Conditions
from tests.docs.reference import ROOT
from tests.support import HOSTNET


@pytest.mark.parametrize("command", ["curve", "calibrate", "import"])
def test_every_option_is_documented(command: str) -> None:
    text = (ROOT / f"docs/{command}.md").read_text(encoding="utf-8")
    shown = subprocess.run([HOSTNET, command, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(--[a-z][\w-]+)", shown)) - {"--help", "--of"}  # the last is an option of lstopo
    assert options
    assert sorted(option for option in options if f"`{option}" not in text) == []


def test_every_quantity_and_condition_is_documented() -> None:
    text = (ROOT / "docs/calibrate.md").read_text(encoding="utf-8")
    words = {*QUANTITIES, *KERNELS, *(field.name for field in fields(Conditions))} - {"gap_ns", "fill"} | {"gap"}
    assert sorted(word for word in words if f"`{word}`" not in text) == []


LINKS = [
    (file.stem, what, int(generation), int(lanes))
    for file in sorted(ROOT.glob("specs/servers/*.toml"))
    for what, generation, lanes in re.findall(
        r"([^,]*) on PCIe (\d)\.0 x(\d+)", tomllib.loads(file.read_text(encoding="utf-8"))["server"]["description"]
    )
]


@pytest.mark.parametrize(("name", "what", "generation", "lanes"), LINKS)
def test_a_preset_is_described_with_the_lanes_that_it_has(name: str, what: str, generation: int, lanes: int) -> None:
    server = tomllib.loads((ROOT / f"specs/servers/{name}.toml").read_text(encoding="utf-8"))
    link = server["nic"]["pcie"] if "Gbps" in what else server["pcie"]
    assert (link.get("generation", server["pcie"]["generation"]), link["lanes"]) == (generation, lanes)


def test_links_of_nics_and_of_drives_are_described() -> None:
    assert {"Gbps" in what for _, what, _, _ in LINKS} == {True, False}
