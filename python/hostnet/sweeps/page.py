"""Page of a sweep: which parameter matters, small multiples of every metric, what limits each point, and the points."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from math import prod
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hostnet.files import read_table, write_file
from hostnet.report.html import Html, element, section, warning
from hostnet.report.numbers import number
from hostnet.report.page import page
from hostnet.report.reproduce import block
from hostnet.sweeps.effects import without_idle
from hostnet.sweeps.gaps import gap_notes
from hostnet.sweeps.page_charts import charts_of, hides_some
from hostnet.sweeps.page_effects import effect_tiles
from hostnet.sweeps.page_limits import limits_section
from hostnet.sweeps.page_policies import policy_columns, policy_sections
from hostnet.sweeps.page_table import links_of, points_section, shown_columns
from hostnet.sweeps.series import columns_of, ordered_axes, sweeps_of
from hostnet.terminal.layout import short_paths
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.page_charts import Link
    from hostnet.sweeps.series import Metric, Sweep

    Row = dict[str, Any]

PAGE = "report.html"
"""Name of the page in the directory of a sweep."""

STILL = 0.01
"""Largest difference between the values of a metric, as a share of the largest, that is not drawn."""

CARDS_MAX = 120
"""Maximum number of charts on a page."""

HIDDEN = "The charts show a part of the combinations; the tables have all."


@dataclass(frozen=True)
class SweepPage:
    """What the page of a sweep shows."""

    manifest: Row
    axes: tuple[Axis, ...]
    table: pa.Table
    """Rows of sweep.parquet, or those of the points that are done."""
    failure: str | None = None
    """Error that ended the sweep before all points were done."""
    config: str = "config.toml"
    """Name of the file of the configuration, as it was given, beside the page."""

    @property
    def done(self) -> int:
        """Number of points that are done."""
        return len(set(self.table["point"].to_pylist()))


def read_page_table(file: Path, axes: Sequence[Axis]) -> pa.Table:
    """Reads the columns of sweep.parquet that the page needs; a sweep of many points has too many to read all.

    Raises:
        ConfigError: The file is damaged.
        OSError: The file cannot be read.
    """
    import pyarrow.parquet as pq

    names = pq.read_schema(file).names
    needed = shown_columns(names) | set(columns_of(names, axes)) | set(policy_columns(names, axes))
    return read_table(file, [name for name in names if name in needed])


def write_sweep_page(directory: Path, content: SweepPage) -> Path:
    """Writes the page into the directory of a sweep and returns its path.

    Raises:
        OSError: The page cannot be written.
    """
    file = directory / PAGE
    write_file(file, sweep_page(content).encode())
    return file


def sweep_page(content: SweepPage) -> str:
    """Returns the page."""
    return page(
        f"{content.manifest['name']}, sweep \u2013 hostnet",
        header(content),
        *chart_sections(content),
        points_section(content),
        notes_section([*gap_notes(content.table, [axis.path for axis in content.axes]), *content.manifest["notes"]]),
        reproduce_section(content),
        element(
            "footer", f"hostnet {content.manifest['hostnet']}, configurations {content.manifest['configurations']}"
        ),
    )


def chart_sections(content: SweepPage) -> list[Html | None]:
    """Creates the sections that show which parameter matters, the metrics, and what limits each point."""
    drawn, idle = without_idle(
        [each.in_readable_units() for each in sweeps_of(content.table, ordered_axes(content.axes))]
    )
    link = links_of(content, drawn[0].axes if drawn else ())
    return [
        effect_tiles(drawn, idle),
        *metric_sections(drawn, link),
        *policy_sections(content.table, content.axes),
        limits_section(content.table, drawn),
    ]


def header(content: SweepPage) -> Html:
    """Creates the title, what was swept, and warnings."""
    manifest = content.manifest
    seeds = manifest["seeds"]
    predicted = manifest["engine"] == "predict"
    names = short_paths([axis.path for axis in content.axes])
    swept = [f"{len(axis.values)} values of {name}" for axis, name in zip(content.axes, names, strict=True)]
    every = f", each with {len(seeds)} seeds" if seeds else ""
    done = "" if content.failure is None else f"{content.done} of "
    lead = (
        f"{done}{manifest['points']} points {'predicted' if predicted else 'simulated'}: {' by '.join(swept)}{every}."
    )
    return element(
        "header",
        element("p", "Sweep", class_="eyebrow"),
        element("h1", manifest["name"]),
        element("p", lead, class_="lead"),
        None if content.failure is None else failure_text(content, content.failure),
    )


def failure_text(content: SweepPage, failure: str) -> Html:
    """Says how many points are missing, and why."""
    missing = content.manifest["points"] - content.done
    return warning(f"{missing} points are missing from everything below. The sweep ended with: {failure}")


def metric_sections(sweeps: Sequence[Sweep], link: Link) -> list[Html]:
    """Creates a section for each workload with the charts of the metrics that differ, and one of what does not."""
    found, still = [], []
    room = CARDS_MAX
    for sweep in sweeps:
        moving = [metric for metric in sweep.metrics if differs(sweep, metric)]
        charts = charts_of(sweep, moving, link, max(room, 0))
        room -= len(moving) * prod(len(axis.values) for axis in sweep.axes[2:])
        still += still_texts(sweep)
        if charts is not None:
            found.append(section(sweep.workload, charts, note=HIDDEN if hides_some(sweep) or room < 0 else None))
    if still:
        note = f"Results that differ by less than {format_percent(STILL)} between the points."
        found.append(
            section("Unchanged", element("ul", *(element("li", text) for text in still), class_="notes"), note=note)
        )
    return found


def differs(sweep: Sweep, metric: Metric) -> bool:
    """Returns True if the values of a metric differ by more than `STILL`."""
    values = sweep.values(metric)
    return bool(values) and max(values) - min(values) > STILL * max(map(abs, values))


def still_texts(sweep: Sweep) -> list[str]:
    """Names the metrics that hardly differ between the points."""
    return [
        f"{sweep.workload}: {metric.what} {number(fmean(sweep.values(metric)))} {metric.unit}".rstrip()
        for metric in sweep.metrics
        if sweep.values(metric) and not differs(sweep, metric)
    ]


def notes_section(notes: Sequence[str]) -> Html | None:
    """Creates the list of notes; None without any."""
    if not notes:
        return None
    return section("Notes", element("ul", *(element("li", note) for note in notes), class_="notes"))


def reproduce_section(content: SweepPage) -> Html | None:
    """Creates the commands that repeat the sweep, and one of its points; None unless it is complete."""
    manifest = content.manifest
    if content.failure is not None:
        return None
    every = [word for setting in manifest["set"] for word in ("--set", setting)]
    over = [word for axis in manifest["over"] for word in ("--over", f"{axis['path']}={','.join(axis['values'])}")]
    more = ["--seeds", str(len(manifest["seeds"]))] if manifest["seeds"] else []
    engine = manifest["engine"]
    more += ["--engine", engine] if engine != "run" else []
    first = [word for axis in content.axes for word in ("--set", axis.setting(0))]
    single = shlex.join(["hostnet", engine, content.config, *every, *first])
    return section(
        "Reproduce",
        block(shlex.join(["hostnet", "sweep", content.config, *over, *every, *more])),
        element("p", "The first point alone; for another one, set its values:", class_="sub"),
        block(single),
        note=f"{content.config} in the folder of this page is the configuration as it was given.",
    )
