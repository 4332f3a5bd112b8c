"""The page of `hostnet compare`: both runs side by side, changes to both sides, and events."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hostnet
from hostnet.comparison import Comparison, ResultDifference
from hostnet.comparison.page import comparison_page
from hostnet.comparison.page_changes import change_of, ratio_of
from hostnet.comparison.words import both_values, column_words
from hostnet.report.changes import Change, change_rows, change_span, ratio_ticks
from tests.docs.reference import ROOT
from tests.report.test_pages import Page
from tests.support import QUADRANT, Cli, assert_tells

SHORT = ["run.warmup=2 us", "run.duration=5 us"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare") / "quadrant.toml"
    path.write_text(QUADRANT)
    return path


@pytest.fixture(scope="module")
def found(file: Path) -> Comparison:
    """Returns a comparison of two runs of a server, the second one with fewer LFB entries."""
    a, b = (hostnet.run(file, overrides=["run.duration=20 us", *more]) for more in ([], ["core.lfb.entries=4"]))
    return hostnet.compare(a, b)


def server_config(sockets: int) -> dict[str, Any]:
    """Returns the configuration of a server with so many sockets, in a short run."""
    spread = {"kind": "stream", "cores": "0-3", "memory": "interleave", "working_set": "16 MiB", "reads": 0.5}
    return {
        "server": {"preset": "cascade-lake-6234", "sockets": sockets},
        "run": {"warmup": "2 us", "duration": "5 us"},
        "workload": {"a-workload-with-a-rather-long-name": spread if sockets > 1 else {"kind": "stream", "cores": "0"}},
    }


def server_comparison(sockets: int) -> Comparison:
    """Returns a comparison of two seeds of a server with so many sockets."""
    return hostnet.compare(*(hostnet.run(server_config(sockets), seed=seed) for seed in (1, 2)))


def cluster_comparison(name: str) -> Comparison:
    """Returns a comparison of two seeds of an example."""
    source = ROOT / f"examples/{name}.toml"
    short = ["run.warmup=100 us", "run.duration=200 us"]
    return hostnet.compare(*(hostnet.run(source, overrides=short, seed=seed) for seed in (1, 2)), rerun=False)


def difference(a: Any, b: Any, column: str = "latency_mean_ns", **more: Any) -> ResultDifference:
    change = (b - a) / abs(a) if isinstance(a, float) and isinstance(b, float) and a else None
    values = {"ci95_a": None, "ci95_b": None, "change": change, "beyond": None, **more}
    return ResultDifference("workloads", "stream", column, a, b, **values)


def test_two_servers_are_drawn_beside_each_other(found: Comparison) -> None:
    page = comparison_page(found)
    assert page.count('class="card socket"') == 2
    assert "core.lfb.entries 12 \u2192 4" in page
    assert "Throughput, GB/s" in page
    assert "is limited by" in page
    text = Page(page).text
    assert "The first event that differs" in text
    assert "events are the same; then the runs diverge" in text


def test_equal_runs_are_said_to_be_the_same(file: Path) -> None:
    run = hostnet.run(file, overrides=SHORT)
    page = comparison_page(hostnet.compare(run, run))
    assert "The same run" in page
    assert "What changed" not in page
    assert "Configuration" not in Page(page).text


def test_clusters_have_headlines_and_no_host() -> None:
    page = comparison_page(cluster_comparison("dctcp"))
    assert "Goodput, Gbps" in page
    assert "The hosts" not in page
    assert "The first event that differs" not in page, "it was not looked for"
    Page(page)


@settings(deadline=None)
@given(a=st.floats(1e-3, 1e6), ratio=st.floats(0.01, 100), half=st.floats(0, 1))
def test_a_bar_leads_to_the_side_of_its_change(a: float, ratio: float, half: float) -> None:
    own = difference(a, a * ratio, ci95_a=half * a, ci95_b=0.0)
    if ratio_of(own) is None:
        assert abs(ratio - 1) < 1.001e-3
        return
    change = change_of(own)
    assert change.low <= change.ratio <= change.high
    assert change.high - change.ratio == pytest.approx(half * ratio, rel=1e-6)
    drawn = change_rows("title", [change], change_span([change]))
    x, width = (float(value) for value in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)[0])
    zero = 225.0
    start, end = (zero, x + width) if ratio >= 1 else (x, zero)
    assert end - start == pytest.approx(width, abs=0.03)
    assert ("fill-a" in drawn) == (ratio >= 1)


@pytest.mark.parametrize(("a", "b"), [(None, 1.0), (0.0, 1.0), (1.0, 0.0), ("LFB", "WPQ"), (1.0, 1.0001), (-1.0, -2.0)])
def test_what_has_no_ratio_is_not_drawn(a: Any, b: Any) -> None:
    assert ratio_of(difference(a, b)) is None


@settings(deadline=None)
@given(st.floats(1, 1e8))
def test_ticks_are_on_both_sides_and_within_the_axis(ratio: float) -> None:
    span = change_span([Change("", "", ratio, ratio, ratio, "", certain=True)])
    ticks = ratio_ticks(span)
    assert all(abs(place) <= span for place, _ in ticks)
    assert (0.0, "0") in ticks or (0.0, "\u00d7 1") in ticks
    assert min(place for place, _ in ticks) < 0 < max(place for place, _ in ticks)
    assert math.log(ratio) <= span


def test_noise_is_marked() -> None:
    noisy = change_of(difference(100.0, 110.0, ci95_a=8.0, ci95_b=8.0, beyond=False))
    assert (noisy.label, noisy.certain) == ("~+10.0 %", False)
    assert "doubtful" in change_rows("title", [noisy], 1.0)
    assert change_of(difference(100.0, 300.0, beyond=True)).label == "\u00d7 3"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("throughput_gb_per_s", ("throughput", "GB/s")),
        ("latency_mean_ns", ("mean latency", "ns")),
        ("p99_us", ("P99", "µs")),
        ("gb_per_s", ("rate", "GB/s")),
        ("full_share", ("full", "%")),
        ("goodput_gbps", ("goodput", "Gbps")),
        ("row_miss_ratio", ("row miss ratio", "")),
    ],
)
def test_columns_are_said_in_words(column: str, words: tuple[str, str]) -> None:
    assert column_words(column) == words


def test_values_have_the_digits_that_tell_them_apart() -> None:
    assert both_values(difference(12.1312, 12.1098)) == "12.13 \u2192 12.11 ns"
    assert both_values(difference(0.061, 0.0405, "full_share")) == "6.10 \u2192 4.05 %"
    assert both_values(difference(170_227.0, 2e5)) == "170 \u2192 200 µs", "a unit that people read"
    assert both_values(difference(None, "x", "limited_by")) == "\u2013 \u2192 x"


def test_the_command_writes_the_page(cli: Cli) -> None:
    first, second = cli.run(), cli.run("--seed", "8")
    done = cli("compare", first, second, "--no-rerun", "--html", "both.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "both.html"
    assert "run.seed 7 \u2192 8" in (cli.folder / "both.html").read_text(encoding="utf-8")
    assert_tells(cli.fails("compare", first, second, "--html", "none/both.html"), "file-access | --html none/both.html")
