"""Frequencies and sleep of cores: the table for people, and the pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from hostnet.cluster_view import core_view
from hostnet.power_view import core_states, power_view
from hostnet.report.load import RunFiles
from hostnet.report.plot import plots_of
from hostnet.report.power_plot import CORES_MAX, colours_of, draw_frequencies, draw_states

STATES = {"C0": 0.2, "poll": 0.1, "wake": 0.05, "halt": 0.0, "C1": 0.05, "C6": 0.6}


def states(host: str, core: int, shares: dict[str, float] = STATES) -> list[dict[str, Any]]:
    """Returns the rows of a core."""
    return [{"host": host, "core": core, "state": state, "share": share} for state, share in shares.items()]


def summary(hosts: int = 1, core_count: int = 2) -> dict[str, Any]:
    """Returns the summary of a cluster whose servers change their frequency twice."""
    names = [f"s-{number}" for number in range(hosts)]
    every = [(name, core) for name in names for core in range(core_count)]
    return {
        "engine": "cluster",
        "window_ns": 2e6,
        "power": [{"host": name, "core": core, "power_w": 2.0 + core, "ghz_mean": 1.0 + core} for name, core in every],
        "power_states": [row for name, core in every for row in states(name, core)],
        "frequencies": [
            {"host": name, "domain": 0, "at_us": at, "ghz": ghz}
            for name in names
            for at, ghz in ((0.0, 0.8), (500.0, 3.1), (1500.0, 1.2))
        ],
    }


def run_of(content: dict[str, Any]) -> RunFiles:
    """Writes the files of such a run."""
    return RunFiles(Path(), content, {}, [], [], [], None, None, None, {})


def test_the_table_adds_watts_and_takes_the_mean_of_the_rest() -> None:
    services = [{"host": "s-0", "energy_uj_per_request": 7.5}, {"host": "other"}]
    view = power_view({**summary(), "services": services}).without_empty()
    row = dict(zip((column.heading for column in view.columns), view.cells()[0], strict=True))
    assert row == {
        "cores of": "s-0",
        "W": 5.0,
        "GHz": 1.5,
        "C0 %": pytest.approx(20),
        "poll %": pytest.approx(10),
        "C1 %": pytest.approx(5),
        "C6 %": pytest.approx(60),
        "wake %": pytest.approx(5),
        "µJ per request": 7.5,
    }


def test_without_power_there_is_no_table() -> None:
    assert not power_view({}).rows


def test_work_for_requests_is_work_of_the_cores() -> None:
    kinds = ("softirq", "call", "copy", "stalled", "send")
    row = {"host": "s", **{f"core_{kind}_share": 0.1 for kind in kinds}}
    assert core_view([{**row, "core_serve_share": 0.3}]).cells()[0][-2:] == [pytest.approx(30), pytest.approx(80)]
    assert "requests %" not in [column.heading for column in core_view([row]).without_empty().columns]


def test_pictures_are_of_runs_with_power() -> None:
    content = {**summary(), "classes": []}
    assert {"frequencies", "power_states"} <= set(plots_of(run_of(content)))
    assert not {"frequencies", "power_states"} & set(plots_of(run_of({"engine": "cluster", "classes": []})))


def test_a_frequency_holds_until_the_next_one() -> None:
    (first, second) = draw_frequencies(run_of(summary(hosts=2))).axes
    for axes in (first, second):
        (line,) = axes.get_lines()
        assert line.get_drawstyle() == "steps-post"
        assert np.asarray(line.get_xydata()).tolist() == [[0, 0.8], [0.5, 3.1], [1.5, 1.2], [2, 1.2]]
    assert (first.get_title(loc="left"), first.get_xlim()) == ("s-0", (0, 2))


def test_the_states_of_a_core_are_a_whole_bar() -> None:
    figure = draw_states(run_of(summary()))
    (axes,) = figure.axes
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert sum(bar.get_width() for bar in bars) == pytest.approx(2 * 100)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["C0", "poll", "C1", "C6", "wake"], "what there is"


def test_of_very_many_cores_some_are_drawn() -> None:
    (axes,) = draw_states(run_of(summary(core_count=CORES_MAX + 8))).axes
    assert len(axes.get_yticks()) == CORES_MAX
    assert axes.get_title(loc="left") == "s-0, 8 more cores are not drawn"


def test_each_state_has_a_colour_of_its_own() -> None:
    colours = colours_of(core_states(states("s", 0)))
    assert len({to_hex(colour) for colour in colours.values()}) == len(STATES)
