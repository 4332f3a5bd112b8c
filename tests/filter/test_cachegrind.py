"""The cache filter against cachegrind: the same accesses through the same caches."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hostnet.filtering import CacheLevel, filter_trace

FOLDER = Path(__file__).parent / "references"
REFERENCES: list[dict[str, Any]] = tomllib.loads((FOLDER / "cachegrind.toml").read_text())["reference"]
TOLERANCE = 0.02


def level(name: str, shape: str) -> CacheLevel:
    size, ways, line = map(int, shape.split(","))
    assert line == 64
    return CacheLevel(name, size, ways)


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda row: f"{row['program']} {row['d1']}")
def test_misses_are_those_of_cachegrind(reference: dict[str, Any]) -> None:
    levels = [level("D1", reference["d1"]), level("LL", reference["ll"])]
    d1, ll = filter_trace(FOLDER / f"{reference['program']}.lackey.xz", levels).summary["levels"]
    assert d1["accesses"] == reference["accesses"]
    assert ll["accesses"] == d1["misses"] == pytest.approx(reference["d1_misses"], rel=TOLERANCE)
    assert ll["misses"] == pytest.approx(reference["ll_misses"], rel=TOLERANCE)


def test_there_are_three_programs_with_misses_in_both_caches() -> None:
    assert {row["program"] for row in REFERENCES} == {"matrix", "hash", "sort"}
    assert all(row["accesses"] > row["d1_misses"] > row["ll_misses"] > 500 for row in REFERENCES)
