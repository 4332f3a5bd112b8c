"""Head of a run's page: configuration, results, and warnings."""

from __future__ import annotations

from hostnet.drift import drift_notes
from hostnet.limit_names import NOT_KNOWN
from hostnet.notes import STOPPED
from hostnet.pools import with_directions
from hostnet.report.descriptions import ENGINES, engine_of, run_text, text_or_none
from hostnet.report.html import Html, element, fact_list, section
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import number, percent, time_from_ns, with_ci95

REGIMES = ("blue", "red", "cores", "uncontended")
"""Regimes of contention that have a colour."""


def header(run: RunFiles, name: str) -> Html:
    """Creates the title, a description of the run, and warnings."""
    summary, manifest = run.summary, run.manifest
    unvalidated = summary.get("unvalidated")
    return element(
        "header",
        element("p", "Host network run", class_="eyebrow"),
        element("h1", name),
        element("p", run_text(run), class_="lead"),
        None if summary.get("complete", True) else warning(STOPPED),
        warning(str(unvalidated)) if unvalidated else None,
        *(warning(note) for note in drift_notes(summary)),
        fact_list(
            (
                ("Measured", time_or_none(summary.get("window_ns"))),
                ("Warm-up", time_or_none(summary.get("warm_up_ns"))),
                ("Engine", engine_text(run)),
                ("Seed", text_or_none(summary.get("seed"))),
                ("Version", f"hostnet {manifest['version']}" if manifest.get("version") else None),
                ("Lines of 64 B", number(summary["lines"]) if summary.get("lines") else None),
                ("Events", number(summary["events"]) if summary.get("events") else None),
                ("Wall time", wall_time(manifest)),
                ("Started", text_or_none(started(manifest))),
            )
        ),
    )


def warning(message: str) -> Html:
    """Creates a prominent warning."""
    return element("p", element("b", "Mind: "), message, class_="warning", role="note")


def time_or_none(value_ns: object) -> str | None:
    """Formats a time given in ns; None without one."""
    return time_from_ns(value_ns) if isinstance(value_ns, int | float) and value_ns > 0 else None


def engine_text(run: RunFiles) -> str:
    """Returns the name and the meaning of the engine."""
    engine = engine_of(run)
    meaning = ENGINES.get(engine, ("", ""))[1]
    return f"{engine} ({meaning})" if meaning else engine


def wall_time(manifest: Row) -> str | None:
    """Formats wall-clock time and speed of the run, if the manifest has them."""
    seconds, speed = manifest.get("wall_time_s"), manifest.get("events_per_s")
    if seconds is None:
        return None
    return f"{seconds:.3g} s" + (f", {speed / 1e6:.3g} M events/s" if speed else "")


def started(manifest: Row) -> str:
    """Formats the start of the run."""
    return str(manifest.get("started", "")).replace("T", " ").replace("+00:00", " UTC")


def result_section(run: RunFiles) -> Html:
    """Creates the tiles of throughput and limit of each workload, of DRAM, and of the regime."""
    workloads, limits = (
        run.summary.get("workloads", []),
        [with_directions(str(text)) for text in run.summary.get("limits", [])],
    )
    paired = limits if len(limits) == len(workloads) else [None] * len(workloads)
    tiles = [workload_tile(row, text) for row, text in zip(workloads, paired, strict=True)]
    tiles += [tile for tile in (memory_tile(run), regime_tile(run)) if tile is not None]
    loose = limits if len(limits) != len(workloads) else []
    return section(
        "What limits each workload" if limits else "Throughput",
        element("div", *tiles, class_="tiles"),
        element("ul", *(element("li", text) for text in loose), class_="limits") if loose else None,
    )


def workload_tile(row: Row, limit: str | None) -> Html:
    """Creates the tile of a workload."""
    return element(
        "div",
        element("h3", str(row["workload"])),
        element("p", *rates(row), class_="big"),
        limited_by(str(row["limited_by"])) if row.get("limited_by") else None,
        element("p", limit, class_="sub") if limit else None,
        class_="card tile",
    )


def limited_by(limit: str) -> Html:
    """Formats the limit of a workload, which may be unknown."""
    if limit.startswith(NOT_KNOWN):
        return element("p", "limit ", element("b", NOT_KNOWN))
    return element("p", "limited by ", element("b", limit))


def rates(row: Row) -> list[Html]:
    """Formats the throughput of a workload; for an application, its operations and execution time."""
    operations, seconds = row.get("operations_per_s"), row.get("execution_time_s")
    if operations is None:
        return [big_number(row["throughput_gb_per_s"], row.get("throughput_ci95"), "GB/s")]
    texts = [big_number(operations, row.get("operations_ci95"), "operations/s")]
    if seconds is not None:
        texts = [big_number(seconds, None, "s to its end")]
    return [*texts, element("span", f", {number(row['throughput_gb_per_s'])} GB/s")]


def big_number(value: object, ci95: object, unit: str) -> Html:
    """Formats a number prominently."""
    head, _, half = with_ci95(value, ci95).partition(" ± ")
    return element("span", element("b", head), f" ± {half}" if half else None, f" {unit}")


def memory_tile(run: RunFiles) -> Html | None:
    """Creates the tile of the DRAM traffic and the busy share of its buses."""
    row = next((row for row in run.summary.get("channels", []) if row["channel"] < 0), None)
    if row is None or row.get("read_gb_per_s") is None or row.get("write_gb_per_s") is None:
        return None
    total = row["read_gb_per_s"] + row["write_gb_per_s"]
    split = f"{number(row['read_gb_per_s'])} GB/s read, {number(row['write_gb_per_s'])} GB/s written"
    busiest = busiest_channels(run, row)
    busy = busiest.get("bus_busy_share")
    where = f" on socket {busiest['socket']}" if "socket" in busiest else None
    return element(
        "div",
        element("h3", "DRAM"),
        element("p", big_number(total, None, "GB/s"), class_="big"),
        element("p", "data bus busy ", element("b", percent(busy)), " of the time", where)
        if busy is not None
        else None,
        element("p", split, class_="sub"),
        class_="card tile",
    )


def busiest_channels(run: RunFiles, total: Row) -> Row:
    """Returns the channels of the socket with the busiest data buses; `total` if there is only one socket."""
    sockets: list[Row] = run.summary.get("channels_of_sockets") or [total]
    return max(sockets, key=lambda row: float(row.get("bus_busy_share") or 0.0))


def regime_tile(run: RunFiles) -> Html | None:
    """Creates the tile of the regime with its evidence, preferably from the explanation, which has more."""
    regime = run.why.get("regime") or run.summary.get("regime")
    if not isinstance(regime, dict) or not regime.get("name"):
        return None
    name = str(regime["name"])
    evidence = regime.get("evidence") or []
    return element(
        "div",
        element("h3", "Regime"),
        element("p", element("span", element("b", name)), class_="big"),
        element("p", text) if (text := regime_text(regime)) else None,
        element("ul", *(element("li", str(text)) for text in evidence), class_="evidence") if evidence else None,
        class_=f"card tile regime{f' regime-{name}' if name in REGIMES else ''}",
    )


def regime_text(regime: Row) -> str | None:
    """Describes the regime; None if it cannot be read."""
    from hostnet.regimes import regime_headline

    try:
        return regime_headline(regime) if "slowed" in regime else None
    except (KeyError, TypeError, ValueError, IndexError):
        return None
