"""Times in the notations that people use."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import ConfigError
from hostnet.units import (
    PS_PER_UNIT,
    READABLE,
    format_count,
    format_time,
    format_wall,
    parse_time_ps,
    readable_unit,
    share_text,
)


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [("10us", 10**7), ("10 us", 10**7), (" 1.5 ns ", 1500), ("1e3 ps", 1000), ("2 µs", 2 * 10**6), ("1s", 10**12)],
)
def test_times_are_read(text: str, time_ps: int) -> None:
    assert parse_time_ps(text, "x") == time_ps


@pytest.mark.parametrize(
    "text", ["", "10", "us", "-1 us", "1 US", "1 us us", "0 ns", "0.1 ps", "1e999 s", "1e7 s", "nan s"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^x: "):
        parse_time_ps(text, "x")


@given(st.integers(1, 10**6), st.sampled_from(sorted(PS_PER_UNIT)))
def test_whole_numbers_are_exact(number: int, unit: str) -> None:
    assert parse_time_ps(f"{number} {unit}", "x") == number * PS_PER_UNIT[unit]


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert parse_time_ps(text, "x") > 0
    except ConfigError:
        return


def test_numbers_are_written_short() -> None:
    assert format_time(12_500_000) == "12.5 µs"
    assert format_time(70) == "70 ps"
    assert format_count(12_345_678, "events") == "12.3 M events"
    assert format_count(7, "events") == "7 events"
    assert [format_wall(seconds) for seconds in (5, 200, 7300)] == ["5 s", "3 min 20 s", "2 h 1 min"]


@pytest.mark.parametrize(("share", "said"), [(0.0, "0 %"), (0.005, "below 1 %"), (0.006, "1 %"), (0.28, "28 %")])
def test_a_small_share_is_not_called_none(share: float, said: str) -> None:
    assert share_text(share) == said


@settings(deadline=None)
@given(st.floats(1e-2, 1e6), st.sampled_from(["GB/s", "Gbps", "ns", "µs", "W", "nJ", "pJ/B"]))
def test_a_readable_unit_gives_one_to_four_digits(largest: float, unit: str) -> None:
    shown, factor = readable_unit(unit, largest)
    assert (READABLE[0] if shown == unit else 1) <= largest * factor * 1.0001
    assert largest * factor < READABLE[1]
    assert (shown == unit) == (factor == 1)


@pytest.mark.parametrize(
    ("unit", "largest", "expected"),
    [
        ("µs", 101_469.0, ("ms", 1e-3)),
        ("GB/s", 0.012, ("MB/s", 1e3)),
        ("Gbps", 80.0, ("Gbps", 1.0)),
        ("ns", 2e12, ("s", 1e-9)),
        ("per s", 1.5e6, ("millions per s", 1e-6)),
        ("per s", 0.01, ("per s", 1.0)),
        ("cycles", 1e9, ("cycles", 1.0)),
        ("ns", 0.0, ("ns", 1.0)),
    ],
)
def test_units_follow_the_largest_value(unit: str, largest: float, expected: tuple[str, float]) -> None:
    shown, factor = readable_unit(unit, largest)
    assert shown == expected[0]
    assert factor == pytest.approx(expected[1])
