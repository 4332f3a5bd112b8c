"""What the generator writes is as it would write it."""

from __future__ import annotations

from scripts.generate.__main__ import ROOT, stale


def test_nothing_is_stale() -> None:
    names = [str(file.relative_to(ROOT)) for file in stale(ROOT)]
    assert names == [], "python -m scripts.generate writes them anew"
