"""Limits that are planted in random servers are found, or are not known; hardly ever is another one named."""

from __future__ import annotations

import pytest

from tests.planted import PLANTS, campaign, judge

BY_NAME = {plant.name: plant for plant in PLANTS}

LONG = 460
"""Seeds of the long campaign: three of four plants limit their server."""


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("UPI request", "two sockets, remote"),
        ("UPI data", "two sockets, remote"),
        ("UPI link", "two sockets, drives far"),
        ("RPQ", "two sockets"),
        ("CHA TOR", "two sockets"),
        ("DRAM channel", "caches"),
        ("P2M-Write", "drives and caches"),
    ],
)
def test_what_is_planted_where_nothing_is_predicted_is_found(planted: str, kind: str) -> None:
    verdict = judge(1, kind, BY_NAME[planted])
    assert verdict is not None
    assert (verdict.word, verdict.doubtful) == ("right", True), verdict


@pytest.mark.long
def test_planted_limits_of_every_domain() -> None:
    words = campaign(range(LONG), show=True)
    judged = sum(words.values())
    assert judged >= 300
    assert words["wrong without ?"] == 0
    assert words["not known"] <= 0.1 * judged
