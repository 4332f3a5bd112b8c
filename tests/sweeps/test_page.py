"""The page of a sweep: lines only along quantities, every point linked to its row, and what is missing said."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet.report.html import warning
from hostnet.sweeps.axis import Axis, axes_of
from hostnet.sweeps.effects import effects_of, without_idle
from hostnet.sweeps.gaps import gap_notes
from hostnet.sweeps.page import SweepPage, sweep_page, write_sweep_page
from hostnet.sweeps.scale import is_numeric
from hostnet.sweeps.series import METRICS, METRICS_OF_HOSTS, ordered_axes, sweeps_of
from tests.report.test_pages import Page

NAMES = st.lists(st.sampled_from(["ring", "tree", "in-network", "true", "a rather long name of a policy"]), unique=True)
NUMBERS = st.lists(st.integers(1, 10**6), unique=True)
TIMES = st.lists(st.integers(1, 999), unique=True)


def axes_from(*values: list[Any]) -> tuple[Axis, ...]:
    """Returns axes with these values."""
    return axes_of({f"host.h{number}.key{number}": list(own) for number, own in enumerate(values)})


def content_of(axes: tuple[Axis, ...], *, points: int | None = None, **columns: Any) -> SweepPage:
    """Returns the page of a sweep of two workloads, whose throughput grows with the point; one of them hardly moves.

    `columns` replace the values of a column by those that a function of the point and the workload returns.
    """
    rows = []
    for point, choice in enumerate(product(*(axis.columns for axis in axes))):
        for place, workload in enumerate(("stream", "<b>disk</b>")):
            row: dict[str, Any] = {"point": point, "seed": 1, "config_hash": f"{point:064x}", "workload": workload}
            row |= {axis.path: value for axis, value in zip(axes, choice, strict=True)}
            row |= {metric.column: None for metric in METRICS} | {
                metric.ci95: None for metric in METRICS if metric.ci95
            }
            row |= {"throughput_gb_per_s": 3.0 if place else 10.0 + point, "throughput_ci95": 0.5, "limited_by": "LFB"}
            row |= {name: value(point, workload) for name, value in columns.items()}
            rows.append(row)
    manifest = {
        "name": "page",
        "hostnet": "0.1.0",
        "engine": "run",
        "over": [{"path": axis.path, "values": [value.text for value in axis.values]} for axis in axes],
        "set": [],
        "seeds": [],
        "points": len(rows) // 2,
        "configurations": "ab" * 32,
        "notes": [],
    }
    shown = rows if points is None else rows[: 2 * points]
    return SweepPage(manifest, axes, pa.Table.from_pylist(shown), None if points is None else "point 3 got stuck")


@settings(deadline=None, max_examples=30)
@given(st.lists(st.one_of(NAMES, NUMBERS, TIMES.map(lambda own: [f"{one} us" for one in own])), min_size=1, max_size=3))
def test_lines_lead_along_quantities_only(values: list[list[Any]]) -> None:
    axes = axes_from(*([*own[:4]] or [1] for own in values))
    page = sweep_page(content_of(axes))
    along = any(is_numeric(axis) for axis in axes if len(axis.values) > 1)
    assert ("<polyline" in page) == along
    Page(page)


@settings(deadline=None, max_examples=30)
@given(NAMES.filter(bool), NUMBERS.filter(bool))
def test_every_point_links_to_its_row(names: list[str], numbers: list[int]) -> None:
    page = sweep_page(content_of(axes_from(names[:3], numbers[:4])))
    rows = set(re.findall(r'<span id="([^"]+)"', page))
    links = re.findall(r'<a href="#([^"]+)"', page)
    points = len(names[:3]) * len(numbers[:4])
    assert len(rows) == 2 * points
    assert set(links) <= rows
    assert len(links) == (points if points > 1 else 0), "the other workload does not differ"


def test_names_are_shortened_to_the_part_that_differs() -> None:
    axes = axes_of(["host.a.power.idle=poll,menu", "host.b.power.idle=poll,menu", "host.a.power.governor=x,y"])
    page = Page(sweep_page(content_of(axes))).text
    assert "2 values of a.power.idle by 2 values of b.power.idle by 2 values of governor" in page


def test_the_parameter_that_matters_comes_first() -> None:
    axes = axes_from(["x", "y"], [1, 2, 3], ["u", "v"])
    content = content_of(axes, throughput_gb_per_s=lambda point, _: 1.0 + (point // 2 % 3) ** 2 + (point >= 6) * 0.5)
    page = sweep_page(content)
    assert re.findall(r'<span title="host\.h\d\.(key\d)">', page) == ["key1", "key0", "key2"]
    assert page.count("matters most") == 1
    assert "changes no result" in page


def test_a_parameter_without_influence_is_not_drawn() -> None:
    axes = axes_from([1, 2], ["x", "y"])
    content = content_of(axes, throughput_gb_per_s=lambda point, _: 1.0 + point // 2)
    (stream, disk), idle = without_idle(sweeps_of(content.table, ordered_axes(axes)))
    assert idle == [axes[1]]
    assert stream.axes == disk.axes == axes[:1]
    assert sweep_page(content).count("<polyline") == 2


def test_an_effect_is_the_largest_at_fixed_values_of_the_others() -> None:
    axes = axes_from([1, 2], [1, 2])
    values = [1.0, 2.0, 8.0, 4.0]
    content = content_of(axes, throughput_gb_per_s=lambda point, _: values[point], throughput_ci95=lambda *_: 0.1)
    effects = {effect.axis.path: effect for effect in effects_of(sweeps_of(content.table, axes)[:1])}
    first, second = (effects[axis.path] for axis in axes)
    assert (first.low, first.high, first.ratio, first.rises) == (1, 8, 8, True)
    assert (second.ratio, second.beyond) == (2, True)
    noisy = content_of(axes, throughput_gb_per_s=lambda point, _: values[point], throughput_ci95=lambda *_: 5.0)
    assert not any(effect.beyond for effect in effects_of(sweeps_of(noisy.table, axes)))


def test_charts_of_a_metric_have_the_same_axis() -> None:
    axes = axes_from([1, 2], ["u"], ["x", "y"], ["v", "w"])
    wide = content_of(
        axes, throughput_gb_per_s=lambda point, _: 10.0 + point, throughput_ci95=lambda point, _: 5.0 * point
    )
    page = sweep_page(wide)
    panels = re.findall(r'<svg viewBox="0 0 \d+ \d+" role="img".*?</svg>', page, re.DOTALL)
    assert len(panels) == 4, "two charts of each workload"
    labels = [re.findall(r'<text x="38" [^>]*>([^<]+)<', panel) for panel in panels]
    assert labels[0] == labels[1]
    assert labels[0]


def test_metrics_without_values_and_without_events_have_no_chart() -> None:
    axes = axes_from([1, 2, 3])
    plain = sweep_page(content_of(axes))
    assert "leaked lines" not in plain
    assert "leaked lines" not in sweep_page(content_of(axes, ddio_leak_ratio=lambda *_: 0.0))
    assert "leaked lines" in sweep_page(content_of(axes, ddio_leak_ratio=lambda point, _: 0.1 * point)).lower()
    assert "&lt;b&gt;disk&lt;/b&gt;: throughput 3.00 GB/s" in plain, "what does not differ is a sentence"


def test_a_sweep_with_failed_points_says_so() -> None:
    axes = axes_from([1, 2, 3, 4], ["x", "y"])
    page = sweep_page(content_of(axes, points=3))
    assert str(warning("5 points are missing from everything below. The sweep ended with: point 3 got stuck")) in page
    assert "3 of 8 points simulated" in page
    assert "Reproduce" not in page
    assert "missing" not in sweep_page(content_of(axes))


def test_limits_that_change_are_a_table() -> None:
    axes = axes_from([1, 2], ["x", "y"])
    page = sweep_page(content_of(axes, limited_by=lambda point, name: "LFB" if point < 2 or "b" in name else "WPQ"))
    assert page.count('class="limit edge-') == 4
    assert "is limited by LFB at every point" in Page(page).text


def test_many_points_are_thinned_and_the_page_says_so() -> None:
    page = sweep_page(content_of(axes_from(list(range(1, 2001)))))
    assert len(page) < 600_000
    assert "3,600 more rows are in sweep.parquet" in page
    assert "The charts show a part of the combinations" in page


def test_requests_that_percentiles_lack_are_told() -> None:
    axes = axes_of(["a.rule=none,hostcc,dctcp"])
    columns: dict[str, list[Any]] = {"point": [0, 1, 2], "class": ["rpc"] * 3, "a.rule": ["none", "hostcc", "dctcp"]}
    columns |= {metric.column: [1.0, 2.0, 3.0] for metric in METRICS_OF_HOSTS} | {"goodput_ci95": [0.1] * 3}
    table = pa.table({**columns, "count": [0, 96, 100]})
    (sweep,) = sweeps_of(table, axes)
    p99 = METRICS_OF_HOSTS[1]
    assert [sweep.dot((index,), p99)[0] for index in range(3)] == [None, None, 3.0]
    silent, few = gap_notes(table, ["a.rule"])
    assert "rpc: no request was answered at rule=none" in silent
    assert "rpc: too few requests for P99 at rule=hostcc (96 of 100)" in few


@pytest.mark.parametrize("engine", ["run", "predict"])
def test_the_commands_repeat_the_sweep(tmp_path: Path, engine: str) -> None:
    content = content_of(axes_from(["a b", "c"], [1, 2]))
    content.manifest.update(engine=engine, set=["run.seed=2"], seeds=[2, 3])
    page = Page(write_sweep_page(tmp_path, content).read_text(encoding="utf-8")).text
    over = '--over \'host.h0.key0="a b","c"\' --over host.h1.key1=1,2 --set run.seed=2 --seeds 2'
    assert f"hostnet sweep config.toml {over}" in page
    assert f"hostnet {engine} config.toml --set run.seed=2 --set 'host.h0.key0=\"a b\"' --set host.h1.key1=1" in page
    assert json.dumps(content.manifest), "the manifest is not changed"
