"""Numbers for people: a value rounded to zero has no sign."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hostnet import _core
from hostnet.cli import show
from hostnet.explanation.tail import Removed
from hostnet.explanation.tail_text import effect_text
from hostnet.explanation.text import PARTS
from hostnet.report import numbers
from hostnet.report.server import draw_explanation
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
    "part of a latency": lambda value: told(latency=latency(value)),
    "share": lambda value: format_percent(value, 0, "+"),
    "bar of a gain": lambda value: drawn(limits={"gains": [{"limit": "LFB", "gain": value}]}),
    "what is without a cause": lambda value: effect_text(Removed("queueing", "", 10.0, value, 0.0, helps=False)),
    "rate": lambda value: format_rate(value, "Gbps"),
    "bar of a latency": lambda value: drawn(latency=latency(value)),
}


def latency(rest: float) -> dict[str, object]:
    """Returns a latency with an unexplained part."""
    known = {key: 0.0 for key, _ in PARTS}
    return {"mean_ns": 9.0, "unloaded_ns": 9.0, "domain": "LFB", **known, "cause": None, "unexplained_ns": rest}


def drawn(**facts: object) -> str:
    """Returns the drawing of an explanation of one workload."""
    row = {"workload": "w", "limited": "is limited", "doubtful": False, **facts}
    return draw_explanation({"workloads": [row], "parts": dict(PARTS)}) or ""


def told(**facts: object) -> str:
    """Returns the text of an explanation of one workload."""
    row = {"workload": "w", "limited": "is limited", "binding": [], "pools": [], **facts}
    return _core.explanation_text(json.dumps({"name": "a", "server": "b", "workloads": [row]}), "{}")


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
    load = {"gb_per_s": asked, "offered_gb_per_s": asked, "app_gb_per_s": asked * share}
    text = told(kind="fio", binding=["offered load"], **load)
    sizes = {"G": 1.0, "M": 1e-3, "k": 1e-6}
    moved, offered = (float(told) * sizes[unit] for told, unit in re.findall(r"([\d.]+) ([GMk])B/s", text))
    assert moved == pytest.approx(asked * share, rel=0.0051, abs=0.0501 if moved >= 1 else 0.0)
    assert moved <= offered
    assert offered > 0
