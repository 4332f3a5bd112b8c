"""Pictures of sweeps."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from hostnet.sweeps import plots
from hostnet.sweeps.axis import Axis, axes_of
from hostnet.sweeps.scale import Scale, is_numeric, scale_of
from hostnet.sweeps.series import METRICS

CREDITS = "iio.write_credits=46,92,184"
CORES = "workload.stream.cores=0-0,0-1,0-2"
CHANNELS = "memory.channels=1,2"
RATE = "memory.dram.data_rate=2933 MT/s,3200 MT/s"


def table_of(
    axes: tuple[Axis, ...], path: Path, workloads: tuple[str, ...] = ("stream",), *, more: bool = False
) -> Path:
    """Returns a table in which throughput is 10 x the number of the point, with a gap at point 1.

    With `more`, columns that only some workloads have are filled likewise.
    """
    columns: dict[str, list[Any]] = {axis.path: [] for axis in axes} | {"workload": []}
    columns |= {column: [] for metric in METRICS for column in (metric.column, metric.ci95) if column}
    for point, choice in enumerate(product(*(axis.columns for axis in axes))):
        for workload in workloads:
            for axis, value in zip(axes, choice, strict=True):
                columns[axis.path].append(value)
            columns["workload"].append(workload)
            for metric in METRICS:
                told = point != 1 and (metric.always or more)
                columns[metric.column].append(10.0 * point if told else None)
                if metric.ci95:
                    columns[metric.ci95].append(None if point == 0 else 1.0)
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Returns the figures that are drawn."""
    drawn: list[Figure] = []
    original = Figure.savefig

    def savefig(figure: Figure, *arguments: Any, **more: Any) -> None:
        drawn.append(figure)
        original(figure, *arguments, **more)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return drawn


@pytest.mark.parametrize(
    ("over", "names"),
    [
        ([CREDITS], ["stream"]),
        ([CORES, CREDITS], ["stream"]),
        ([CREDITS, CORES, CHANNELS], ["stream-latency", "stream-throughput"]),
        ([CREDITS, CORES, CHANNELS, RATE], [f"stream-{m}-{n}" for m in ("latency", "throughput") for n in (1, 2)]),
        (["a.b=1", CREDITS, "a.c=x"], ["stream"]),
        (["a.b=1"], ["stream"]),
    ],
)
def test_every_number_of_parameters_is_drawn(tmp_path: Path, over: list[str], names: list[str]) -> None:
    axes = axes_of(over)
    note = plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    assert note is None
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
    assert sorted(drawn) == [f"{name}.png" for name in names]
    assert all(content.startswith(b"\x89PNG") for content in drawn.values())


def test_lines_have_the_values_of_the_table(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of([CREDITS, CORES])
    plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    throughput, latency = figures[0].axes
    assert [throughput.get_ylabel(), latency.get_ylabel()] == [metric.label for metric in METRICS[:2]]
    lines = throughput.get_lines()
    assert len(throughput.containers) == 3, "whiskers"
    assert [np.asarray(line.get_ydata()).tolist() for line in lines] == [[0, 30, 60], [40, 70], [20, 50, 80]]
    assert [np.asarray(line.get_xdata()).tolist() for line in lines] == [[46, 92, 184], [92, 184], [46, 92, 184]]
    assert [text.get_text() for text in figures[0].legends[0].get_texts()] == ["0-0", "0-1", "0-2"]
    assert [label.get_text() for label in throughput.get_xticklabels()] == ["46", "92", "184"]


def test_operations_and_leaks_are_drawn_where_there_are_any(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of([CREDITS])
    plots.draw_sweep(table_of(axes, tmp_path / "t.parquet", more=True), axes, tmp_path / "plots")
    assert [panel.get_ylabel() for panel in figures[0].axes] == [metric.label for metric in METRICS]
    assert [len(panel.containers) for panel in figures[0].axes] == [1, 1, 1, 0], "leaks have no whiskers"


def test_a_third_parameter_has_a_panel_per_value(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of([CREDITS, CORES, CHANNELS])
    plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    titles = [panel.get_title(loc="left") for panel in figures[0].axes]
    assert titles == ["channels = 1", "channels = 2"]
    limits = {panel.get_ylim() for panel in figures[0].axes}
    assert len(limits) == 1, "panels can be compared"


def test_several_seeds_become_their_mean(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"a.b": [1, 1, 2, 2], "workload": ["w"] * 4}
    columns |= {column: [1.0, 3.0, None, 5.0] for m in METRICS for column in (m.column, m.ci95) if column}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    (sweep,) = plots.read_sweeps(tmp_path / "t.parquet", axes_of(["a.b=1,2"]))
    mean, ci95 = sweep.dot((0,), METRICS[0])
    assert mean == 2
    assert ci95 == pytest.approx(12.706, abs=0.001)
    assert sweep.dot((1,), METRICS[0]) == (5, None)


def test_too_many_combinations_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "FILES_MAX", 1)
    axes = axes_of([CREDITS, CORES, CHANNELS, RATE])
    note = plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    assert note == "the plots show a part of the combinations only; the tables have all"
    assert len(list((tmp_path / "plots").iterdir())) == 2


def test_of_many_lines_some_are_drawn(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of([CREDITS, "core.lfb.entries=1..200"])
    note = plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    assert note is not None
    assert len(figures[0].axes[0].get_lines()) == 64
    named = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert (len(named), named[0], named[-1]) == (16, "1", "200")


def test_workloads_with_odd_names_have_files_of_their_own(tmp_path: Path) -> None:
    axes = axes_of([CREDITS])
    table = table_of(axes, tmp_path / "t.parquet", ("a/b", "a b", "A-B", "..", "$x$"))
    plots.draw_sweep(table, axes, tmp_path / "plots")
    names = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert names == ["A-B-3.png", "a-b-2.png", "a-b.png", "workload.png", "x.png"]


@pytest.mark.parametrize("over", [["a.b=x,y"], ["a.b=x,y,z", "a.c=u,v"], ["a.b=true,false", "a.c=x,y", "a.d=u,v"]])
def test_no_line_leads_from_a_name_to_another(tmp_path: Path, figures: list[Figure], over: list[str]) -> None:
    axes = axes_of(over)
    plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    panels = [panel for figure in figures for panel in figure.axes]
    assert panels
    assert all(line.get_linestyle() == "None" for panel in panels for line in panel.get_lines())
    assert all(panel.patches for panel in panels), "bars"


def test_a_quantity_is_the_x_axis_wherever_it_stands(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of(["a.b=x,y", CREDITS])
    plots.draw_sweep(table_of(axes, tmp_path / "t.parquet"), axes, tmp_path / "plots")
    lines = figures[0].axes[0].get_lines()
    assert [np.asarray(line.get_xdata()).tolist() for line in lines] == [[46, 184], [46, 92, 184]]
    assert [np.asarray(line.get_ydata()).tolist() for line in lines] == [[0, 20], [30, 40, 50]]


def test_what_never_happens_has_no_panel(tmp_path: Path, figures: list[Figure]) -> None:
    axes = axes_of([CREDITS])
    table = pq.read_table(table_of(axes, tmp_path / "t.parquet"))
    leaks = table.column_names.index("ddio_leak_ratio")
    pq.write_table(table.set_column(leaks, "ddio_leak_ratio", pa.array([0.0] * 3)), tmp_path / "t.parquet")
    plots.draw_sweep(tmp_path / "t.parquet", axes, tmp_path / "plots")
    assert len(figures[0].axes) == 2


def scale(over: str) -> Scale:
    return scale_of(axes_of([over])[0])


def test_numbers_lie_where_they_are() -> None:
    assert scale("a.b=4,1,2").places == [1, 2, 4]
    assert scale("a.b=4,1,2").order == [1, 2, 0]
    assert scale("a.b=1,2,4").base == 0
    assert scale("a.b=1,2,4,8,16").base == 2
    assert scale("a.b=1..20").base == 0, "even steps"
    assert scale("a.b=0,8,64").base == 0, "zero has no logarithm"
    assert len(scale("a.b=1..100").ticks) <= 9


def test_values_with_one_unit_are_numbers() -> None:
    assert scale("a.b=10 us,20us").title == "a.b, us"
    assert scale("a.b=10 us,20us").places == [10, 20]
    mixed = scale("a.b=10 us,20 ns,1 ms")
    assert (mixed.title, mixed.labels, mixed.order) == ("a.b", ["20 ns", "10 us", "1 ms"], [1, 0, 2])
    assert mixed.places == [2e4, 1e7, 1e9]
    assert scale("a.b=64 B,1 KiB,8 KiB").places == [64, 1024, 8192]
    assert scale("a.b=100 Mbps,1 GB/s").places == [12.5e6, 1e9]
    assert scale("a.b=1 us,2 B").places == [0, 1], "no common unit"


def test_texts_lie_side_by_side() -> None:
    assert scale("a.b=y,x,z").places == [0, 1, 2]
    assert scale("a.b=y,x,z").labels == ["y", "x", "z"]
    assert scale("a.b=true,false").labels == ["true", "false"]
    long = scale(f"a.b={'x' * 50},y")
    assert len(long.labels[0]) == 24
    assert not scale("a.b=0-0,0-1").slanted
    assert scale("a.b=cascade-lake-6234,ice-lake-8362,x").slanted


@pytest.mark.parametrize(
    ("over", "places"),
    [
        ("workload.stream.cores=0-0,0-1,0-3", [1, 2, 4]),
        ('workload.stream.cores="0,2","0,2,4"', [2, 3]),
        ("workload.stream.cores=0-3,0-1", [2, 4]),
        ("workload.stream.cores=0-1,2-5", None),
        ("workload.stream.cores=0-1,2-3", None),
        ("a.b=0-0,0-1", None),
        ("a.cores=0-999999999,0-1", None),
    ],
)
def test_growing_lists_of_cores_are_numbers_of_cores(over: str, places: list[int] | None) -> None:
    (axis,) = axes_of([over])
    assert is_numeric(axis) == (places is not None)
    assert scale_of(axis).places == (places or [0, 1])
