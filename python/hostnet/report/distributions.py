"""Charts of distributions: the cumulative distribution of times, and their tail by percentile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.report.charts import ChartAxis, legend, line_chart
from hostnet.report.html import Html, element
from hostnet.report.scales import log_x_frame, nines_frame, tight_frame
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

POINTS_MAX = 250
"""Maximum number of points of a line."""

DRAWN_MAX = 2 * len(KINDS)
"""Maximum number of distributions with a line each."""

NARROW = 4.0
"""Ratio of the largest to the smallest time from which the axis is logarithmic."""

TAIL_MIN = 100
"""Smallest number of values with a tail worth a chart."""


@dataclass(frozen=True)
class Distribution:
    """A distribution of times: values in ascending order, each with the share of all that is no larger."""

    name: str
    points: tuple[tuple[float, float], ...]
    count: int
    """Number of all values."""
    exact: bool = True
    """False if only some percentiles are known."""

    @property
    def largest(self) -> float:
        """Largest value."""
        return self.points[-1][0]


def of_values(name: str, values: Sequence[float]) -> Distribution | None:
    """Returns the distribution of some values; None without any positive one."""
    known = sorted(value for value in values if value > 0)
    if not known:
        return None
    step = -(-len(known) // POINTS_MAX)
    places = [*range(0, len(known) - 1, step), len(known) - 1]
    points = tuple((known[place], (place + 1) / len(known)) for place in places)
    return Distribution(name, points, len(known))


def of_buckets(name: str, buckets: Sequence[tuple[float, int]]) -> Distribution | None:
    """Returns the distribution of a histogram with ascending values; None without any value."""
    total = sum(count for _, count in buckets)
    if not total:
        return None
    seen, points = 0, []
    for value, count in buckets:
        seen += count
        points.append((value, seen / total))
    return Distribution(name, tuple(points), total)


def of_percentiles(name: str, known: Mapping[float, float], count: int) -> Distribution | None:
    """Returns what is known of a distribution from some percentiles, by share."""
    points = tuple((value, share) for share, value in sorted(known.items()) if value > 0)
    return Distribution(name, points, count, exact=False) if points else None


def distribution_cards(title: str, what: str, every: Sequence[Distribution], *, unit: str = "µs") -> list[Html]:
    """Creates the charts of some distributions, a few in each: the whole, and beside it the tail, if there is one."""
    slowest = sorted(every, key=lambda one: -one.largest)[:DRAWN_MAX]
    drawn = [one for one in every if one in slowest]
    cards = []
    for start in range(0, len(drawn), len(KINDS)):
        some = drawn[start : start + len(KINDS)]
        left = f", the {len(drawn)} slowest of {len(every)}" if len(every) > len(drawn) else ""
        cards.append(_card(f"{title}: share of {what} that are no slower, %{left}", some, cdf_chart(title, some, unit)))
        if max(one.count for one in some) >= TAIL_MIN:
            cards.append(_card(f"{title} by percentile, {unit}{left}", some, tail_chart(title, some, unit)))
    return cards


def _card(heading: str, some: Sequence[Distribution], chart: Html) -> Html:
    """Creates a card with a legend."""
    shown = legend([ChartSeries(one.name, kind, (SeriesPoint(0, 0),)) for one, kind in zip(some, KINDS, strict=False)])
    return element("div", element("h3", heading), shown, chart, class_="card wide")


def cdf_chart(title: str, some: Sequence[Distribution], unit: str) -> Html:
    """Draws cumulative distributions over an axis of time, which is logarithmic unless the times are much alike."""
    values = [value for one in some for value, _ in one.points]
    linear = max(values) < NARROW * min(values)
    frame = tight_frame(values, [0.0, 100.0]) if linear else log_x_frame(values, [0.0, 100.0])
    series = [
        ChartSeries(one.name, kind, tuple(SeriesPoint(value, 100 * share) for value, share in stepped(one)))
        for one, kind in zip(some, KINDS, strict=False)
    ]
    return line_chart(
        f"{title}, cumulative", ChartAxis(unit if linear else f"{unit}, logarithmic", "%"), series, frame=frame
    )


def stepped(one: Distribution) -> list[tuple[float, float]]:
    """Returns the corners of a cumulative distribution; straight lines between percentiles if only these are known."""
    if not one.exact:
        return list(one.points)
    corners: list[tuple[float, float]] = []
    below = 0.0
    for value, share in one.points:
        corners += [(value, below), (value, share)]
        below = share
    return corners


def tail_chart(title: str, some: Sequence[Distribution], unit: str) -> Html:
    """Draws times by percentile, as far as a value lies beyond each."""
    series, highest, values = [], 0.5, [0.0]
    for one, kind in zip(some, KINDS, strict=False):
        known = [(share, value) for value, share in one.points if share <= 1 - 1 / one.count + 1e-12]
        known = [(0.0, one.points[0][0]), *known] if one.exact else known
        series.append(ChartSeries(one.name, kind, tuple(SeriesPoint(share, value) for share, value in known)))
        highest = max([highest, *(share for share, _ in known)])
        values += [value for _, value in known]
    return line_chart(
        f"{title} by percentile", ChartAxis("percentile", unit), series, frame=nines_frame(highest, values)
    )
