"""Numbers for people: a value rounded to zero has no sign."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hostnet.cli import show
from hostnet.explanation.tail import Removed
from hostnet.explanation.tail_text import effect_text
from hostnet.explanation.text import PARTS, gain_text, latency_lines, limit_text
from hostnet.report import numbers
from hostnet.report.explanation import gain_of, gains_figure, latency_figure
from hostnet.units import format_percent, format_rate, format_time

SIGNED_ZERO = re.compile(r"[-+]0(?:\.0*)?(?![\d.])")
FORMATTERS: dict[str, Callable[[float], str]] = {
    "screen number": show.number,
    "screen percent": show.percent,
    "screen change": show.change_text,
    "interval": lambda value: show.with_interval(value, 1.0),
    "time": format_time,
    "number": numbers.number,
    "percent": numbers.percent,
    "time from ns": numbers.time_from_ns,
    "difference": lambda value: numbers.absolute_text(value, "ns", "+"),
    "error": lambda value: numbers.row_error_text(value, {"kind": "relative"}, "+"),
    "part of a latency": lambda value: "\n".join(latency_lines({"kind": "cores", "pools": []}, latency(value), {})),
    "share": lambda value: format_percent(value, 0, "+"),
    "gain": gain_text,
    "bar of a gain": lambda value: str(list(gains_figure([{"limit": "LFB", "gain": value}]))),
    "cell of a gain": lambda value: gain_of({"confirmed": None, "gains": {"a": value}}, "a"),
    "what is without a cause": lambda value: effect_text(Removed("queueing", "", 10.0, value, 0.0, helps=False)),
    "rate": lambda value: format_rate(value, "Gbps"),
    "bar of a latency": lambda value: str(list(latency_figure(latency(value), {"unexplained_ns": "rest"}))),
}


def latency(rest: float) -> dict[str, object]:
    """Returns a latency with an unexplained part."""
    known = {key: 0.0 for key, _ in PARTS}
    return {"mean_ns": 9.0, "unloaded_ns": 9.0, "domain": "LFB", **known, "cause": None, "unexplained_ns": rest}


@pytest.mark.parametrize("name", FORMATTERS)
def test_a_rounded_zero_has_no_sign(name: str) -> None:
    @given(st.one_of(st.floats(-1e-2, 1e-2), st.floats(-1.0, 1.0)))
    @example(-0.0)
    @example(-0.4)
    @example(0.0)
    def check(value: float) -> None:
        assert not SIGNED_ZERO.search(FORMATTERS[name](value))

    check()


@given(asked=st.floats(1e-3, 0.9), share=st.floats(0.5, 1.2))
def test_a_small_load_is_told_with_digits_and_covers_what_it_moves(asked: float, share: float) -> None:
    row = {"kind": "fio", "domain": "P2M", "pools": [], "gb_per_s": asked, "bound_gb_per_s": None}
    more = {"limited": "is limited", "offered_gb_per_s": asked, "app_gb_per_s": asked * share}
    text = limit_text({**row, **more, "binding": ["offered load"]})
    sizes = {"G": 1.0, "M": 1e-3, "k": 1e-6}
    moved, offered = (float(told) * sizes[unit] for told, unit in re.findall(r"([\d.]+) ([GMk])B/s", text))
    assert moved == pytest.approx(asked * share, rel=0.0051, abs=0.0501 if moved >= 1 else 0.0)
    assert moved <= offered
    assert offered > 0
