"""Section on the page of a sweep over power policies: latencies over the power of the cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.cluster_view import TAIL
from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Html, element, section
from hostnet.report.numbers import number
from hostnet.report.point_charts import PointAxes, Range, mark_swatch, point_legend, ranges_chart
from hostnet.report.series import MANY_KINDS
from hostnet.report.svg import nice_range, tick_labels
from hostnet.sweeps.policies import TALL, columns_for_policies, has_policies, policies_of
from hostnet.units import readable_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.policies import Policy

NOTE = (
    "Percentiles of the latency of requests from P50 up, over the power of the cores of all servers. The mark is the "
    "highest percentile that there are enough requests for. Below and to the left is better."
)


def policy_columns(columns: Sequence[str], axes: Sequence[Axis]) -> list[str]:
    """Returns the columns of a table that the section needs."""
    return columns_for_policies(axes) if has_policies(columns) else []


def policy_sections(table: pa.Table, axes: Sequence[Axis]) -> Iterator[Html]:
    """Yields a section for each class with the latencies of several policies."""
    if not has_policies(table.column_names):
        return
    for name, panels in policies_of(table, axes):
        shown = {title: policies[: len(MANY_KINDS)] for title, policies in panels.items()}
        kinds = dict(
            zip(dict.fromkeys(each.name for policies in shown.values() for each in policies), MANY_KINDS, strict=False)
        )
        cards = [policy_card(title, policies, kinds) for title, policies in shown.items()]
        title = f"{name}: latency against power"
        yield section(
            title, point_legend("", list(kinds), mark_swatch), element("div", *cards, class_="pair"), note=NOTE
        )


def policy_card(title: str, policies: Sequence[Policy], kinds: dict[str, str]) -> Html:
    """Creates the chart of the policies at some values of the other parameters."""
    every = [value for policy in policies for value in policy.latencies.values()]
    unit, factor = readable_unit("µs", max(every))
    ranges = [policy_range(policy, kinds.get(policy.name, "n"), unit, factor) for policy in policies]
    watts = [policy.watts for policy in policies]
    low, high, ticks = nice_range(watts)
    axes = PointAxes(
        x_label="power of cores, W",
        x=(low, high),
        ticks=tuple(zip(ticks, tick_labels(ticks), strict=True)),
        unit=unit,
        y_logarithmic=max(every) > TALL * min(every) > 0,
    )
    caption = element("figcaption", element("b", f"Latency of requests, {unit}"))
    where = element("p", title, class_="sub") if title else None
    drawn = ranges_chart(f"Latency of requests over power {title}".rstrip(), axes, ranges, width=WIDTH_OF_WIDE)
    return element("div", where, element("figure", caption, drawn), class_="card")


def policy_range(policy: Policy, kind: str, unit: str, factor: float) -> Range:
    """Returns the range of the percentiles of a policy."""
    values = {TAIL[key][0]: value * factor for key, value in policy.latencies.items()}
    named = [f"{name} {number(value)} {unit}" for name, value in values.items()]
    text = "\n".join([policy.name, f"{number(policy.watts)} W", *named])
    return Range(kind, policy.watts, min(values.values()), max(values.values()), text)
