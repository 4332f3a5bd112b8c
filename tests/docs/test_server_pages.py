"""The pages of the commands for one's own server say what the commands have."""

from __future__ import annotations

import re
import subprocess
from dataclasses import fields

import pytest

from hostnet.calibrate.measurement import KERNELS, QUANTITIES, Conditions
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
