"""Pictures of sweeps over frequencies and sleep."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hostnet
from hostnet.cli.show_sweep import sweep_table
from hostnet.sweeps.axis import Axis, axes_of
from hostnet.sweeps.policies import LABEL_DISTANCE, SHOWN, draw_policies, name_of, spread
from tests.docs.reference import ROOT

GOVERNOR = "host.s.power.governor=performance,ondemand"
IDLE = "host.s.power.idle=poll,menu"
RATE = "flow.f.service.rate=100,200,300"


def table_of(axes: tuple[Axis, ...], path: Path, *, count: int = 5000, watts: bool = True) -> Path:
    """Returns a sweep of one class whose watts are 10 x the point and whose percentiles grow, higher ones faster."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("class", *(axis.path for axis in axes), "cores_w", "count", *SHOWN)
    }
    for point, choice in enumerate(product(*(axis.columns for axis in axes))):
        of_point = {"class": "load", "cores_w": 10.0 * point if watts else None, "count": count}
        of_point |= {axis.path: value for axis, value in zip(axes, choice, strict=True)}
        of_point |= {key: 100.0 * (place + 1) + point for place, key in enumerate(SHOWN)}
        for name, value in of_point.items():
            columns[name].append(value)
    pq.write_table(pa.table({**columns, "cores_w": pa.array(columns["cores_w"], pa.float64())}), path)
    return path


def test_a_policy_is_a_point_of_each_percentile(tmp_path: Path) -> None:
    axes = axes_of([GOVERNOR, IDLE])
    ((name, figure),) = draw_policies(table_of(axes, tmp_path / "t.parquet"), axes)
    (panel,) = figure.axes
    lines = {line.get_label(): line for line in panel.get_lines()}
    assert name == "load"
    assert [label for label in lines if str(label).startswith("P")] == ["P50", "P90", "P99", "P99.9"]
    assert np.asarray(lines["P99"].get_xydata()).tolist() == [[10 * point, 300 + point] for point in range(4)]
    named = [text.get_text() for text in panel.texts]
    assert named == ["performance, poll", "performance, menu", "ondemand, poll", "ondemand, menu"]
    assert panel.get_xlabel() == "power of cores, W"


def test_what_is_no_policy_is_a_panel_each(tmp_path: Path) -> None:
    axes = axes_of([RATE, GOVERNOR])
    ((_, figure),) = draw_policies(table_of(axes, tmp_path / "t.parquet"), axes)
    assert [panel.get_xlabel() for panel in figure.axes] == [
        f"power of cores, W (rate = {rate})" for rate in (100, 200, 300)
    ]


def test_a_percentile_without_a_request_beyond_it_is_not_drawn(tmp_path: Path) -> None:
    axes = axes_of([GOVERNOR])
    ((_, figure),) = draw_policies(table_of(axes, tmp_path / "t.parquet", count=500), axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["P99", "P90", "P50"]


@pytest.mark.parametrize("watts", [True, False])
def test_without_watts_or_with_one_policy_there_is_no_picture(tmp_path: Path, watts: bool) -> None:
    axes = axes_of([GOVERNOR if not watts else RATE, IDLE if not watts else "host.s.power.governor=ondemand"])
    assert not list(draw_policies(table_of(axes, tmp_path / "t.parquet", watts=watts), axes))


def test_a_table_is_called_by_what_it_sets() -> None:
    assert name_of('{governor = "ondemand", idle="menu"}') == "ondemand, menu"
    assert name_of("ondemand") == "ondemand"


def test_names_keep_apart_and_on_the_axis() -> None:
    places = spread([0.1, 0.11, 0.5, 0.97, 0.98, 0.99])
    assert all(after - before >= LABEL_DISTANCE - 1e-9 for before, after in pairwise(places))
    assert places[0] == 0.1
    assert places[-1] <= 1.0


def test_a_sweep_over_governors_tells_watts_and_draws_them(tmp_path: Path) -> None:
    over = {"host.server.power.governor": ["performance", "powersave"]}
    short = ["run.warmup=1 ms", "run.duration=4 ms", "flow.load.service.rate=2000", "flow.load.service.burst=1"]
    results = hostnet.sweep(ROOT / "examples/power.toml", over, overrides=short, jobs=1, out=tmp_path / "here")
    fast, slow = results.table["cores_w"].to_pylist()
    assert fast > 1.5 * slow > 0
    names = sorted(path.name for path in (tmp_path / "here/plots").iterdir())
    assert names == ["load-policies.png", "load.png"]
    table = sweep_table({"over": [{"path": path} for path in over], "seeds": None}, results.table.to_pylist())
    assert "cores W" in [column.header for column in table.columns]
