"""Section on rates, credits and latencies over time."""

from __future__ import annotations

from hostnet.report.cache_series import QUANTITIES
from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element, section
from hostnet.report.load import RunFiles
from hostnet.report.numbers import time_from_ns
from hostnet.report.series import ChartSeries, series_of_run, steps_per_point, thinned


def series_section(run: RunFiles) -> Html | None:
    """Creates the charts of every quantity; None without a time series."""
    quantities = dict.fromkeys(row["quantity"] for row in run.series if row["quantity"] not in QUANTITIES)
    cards = [card for quantity in quantities for card in series_cards(run, quantity)]
    return section("Over time", element("div", *cards, class_="pair"), note=note(run)) if cards else None


def series_cards(run: RunFiles, quantity: str) -> list[Html]:
    """Creates the charts of a quantity, a few subjects in each."""
    title, unit, groups = series_of_run(run.series, quantity)
    axis = ChartAxis("time, µs", unit, whole_x=False, x_floor=0.0)
    cards = []
    for name, plotted in groups:
        heading = f"{title}{f' {name}' if name else ''}{f', {unit}' if unit else ''}"
        drawn = [thinned(one) for one in plotted]
        cards.append(
            element(
                "div",
                element("h3", heading),
                legend(drawn),
                line_chart(f"{heading}, over time: {names(drawn)}", axis, drawn, wide=True),
                class_="card wide",
            )
        )
    return cards


def names(plotted: list[ChartSeries]) -> str:
    """Lists the series of a chart."""
    return ", ".join(one.name for one in plotted)


def step_ns(run: RunFiles) -> float | None:
    """Returns the step of the time series, in ns; None without one."""
    times = sorted({row["time_ns"] if "time_ns" in row else 1000 * row["time_us"] for row in run.series})
    return times[1] - times[0] if len(times) > 1 else min(times, default=None)


def note(run: RunFiles) -> str:
    """Explains the charts."""
    step, end = step_ns(run), max(row["time_ns"] for row in run.series)
    words = f"Each value is the mean of a step of {time_from_ns(step)}; time begins with the measuring window"
    per_point = steps_per_point(round(end / step) if step else 1)
    return words + (f"; a point is the mean of {per_point} steps." if per_point > 1 else ".")
