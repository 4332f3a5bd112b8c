"""What notebooks show of results: one element each, whose style reaches nothing else, in the theme of the notebook."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import Config, Fio, FioJob, Run, Server, Stream
from hostnet.explanation import Page, explain_results, page_text
from hostnet.explanation.slo import parse_slo
from hostnet.explanation.tail import asked_of_file, explain_slos
from hostnet.ledger import Ledger, validate
from hostnet.report.notebook.block import DARK, LIGHT, OUTPUT, VARIABLES, stylesheet
from hostnet.report.page import asset
from hostnet.report.plot import plots_of
from hostnet.running.presentation import run_files
from hostnet.units import format_percent
from tests.docs.reference import ROOT
from tests.report.outputs import shown
from tests.support import raises_code

DISK = Fio(jobs=[FioJob(rw="read", bs="64 KiB", iodepth=16, size="1 GiB", ssd=0)])
CONFIG = Config(
    server=Server(preset="cascade-lake-6234"),
    workload={"stream": Stream(cores="0-5", reads=0.0), "disk": DISK},
    run=Run(name="both", duration="30 us", warmup="10 us"),
)
CHIP = {
    "chip": {"preset": "scale-out-64", "columns": 4, "rows": 2},
    "coherence": {"llc": "256 KiB"},
    "run": {"warmup": "1 us", "window": "1 us", "max": 2},
}
SERVICE = ["run.warmup=1 ms", "run.duration=10 ms"]


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    return hostnet.run(CONFIG)


@pytest.fixture(scope="module")
def page(results: hostnet.Results) -> Page:
    return results.explain()


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return validate("netsdm", selection="quick")


@pytest.fixture(scope="module")
def outputs(results: hostnet.Results, page: Page, ledger: Ledger) -> dict[str, Any]:
    """Returns one of each kind of results."""
    return {
        "results": results,
        "prediction": hostnet.predict(CONFIG),
        "explanation": page,
        "sweep": hostnet.sweep(CONFIG, {"iio.write_credits": [46, 92]}, engine="predict"),
        "comparison": hostnet.compare(results, hostnet.predict(CONFIG)),
        "ledger": ledger,
        "memory": hostnet.memory(requests=1000),
        "noc": hostnet.noc(cycles=100, warmup=10),
        "chip": hostnet.chip(CHIP),
    }


def test_every_output_is_one_element_and_asks_for_nothing(outputs: dict[str, Any]) -> None:
    for name, each in outputs.items():
        output = shown(each)
        assert output.roots == 1, name
        assert output.classes[0] == OUTPUT, name
        assert output.links == [], name
        assert len(output.text) > 100, name
        assert len(repr(each).splitlines()) == 1, name
        assert len(repr(each)) < 400, name


def top_level(style: str) -> list[str]:
    """Returns the selectors of a style that are not nested."""
    while re.search(r"\{[^{}]*\}", style):
        style = re.sub(r"\{[^{}]*\}", ";", style)
    return [selector.strip() for selector in style.split(";") if selector.strip()]


def test_a_style_reaches_only_the_output() -> None:
    found = top_level(stylesheet())
    assert len(found) == 3
    assert all(selector.rstrip().endswith(f".{OUTPUT}") for selector in found), found
    assert all(place in found[1] for place in LIGHT)
    assert all(place in found[2] for place in DARK)
    assert "&" in stylesheet()
    assert ":root" not in stylesheet()


def test_both_themes_have_the_same_colours() -> None:
    light, dark = (set(re.findall(r"--[\w-]+", colours)) for colours in VARIABLES.findall(asset("style.css"))[:2])
    assert dark >= {name for name in light if not name.endswith(("sans", "mono"))}
    used = set(re.findall(r"var\((--[\w-]+)\)", stylesheet()))
    assert used <= set(re.findall(r"(--[\w-]+):", stylesheet()))


def test_a_link_leads_to_the_page_once_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = hostnet.run(CONFIG)
    assert (results.directory, shown(results).links) == (None, [])
    page = results.report()
    assert page == Path("runs/both-1/report.html")
    assert shown(results).links == [str(page)]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert results.report() == page, "the page is written once"
    assert results.report("other") == Path("other/report.html")
    assert results.directory == Path("other")
    assert results.save() == Path("runs/both-2")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["both-1", "both-2"]


def test_an_explanation_shows_the_limits_causes_and_what_would_help(page: Page) -> None:
    output = shown(page)
    assert page.steps is not None
    for row in page.explanation["workloads"]:
        assert row["limited"] in output.text
        cause = row["latency"]["cause"]
        assert any(item.startswith(row["workload"]) and cause in item for item in output.items)
    best = page.steps.steps[0]
    gains = {cells[0]: cells[2:] for table in output.tables for cells in table[1:]}
    assert format_percent(best.gains[page.steps.workload], sign="+") in gains[best.what]
    assert page.explanation["regime"]["name"] in repr(page).lower()


def test_an_explanation_is_that_of_the_command(results: hostnet.Results, page: Page) -> None:
    assert str(page) == page_text(explain_results(results).with_steps(try_limits=True))
    brief = results.explain(brief=True)
    assert brief.steps is None
    assert str(page).startswith(str(brief).partition("\n\nnote:")[0])


def test_objectives_are_shown_with_their_causes() -> None:
    service = asked_of_file(ROOT / "examples/power.toml", tuple(SERVICE))
    found = explain_slos(service, [parse_slo("p50 < 1 ns"), parse_slo("p50 < 1 s")], brief=True)
    output = shown(found)
    assert output.text.count(" is not met") == output.text.count(" is met") == 1
    assert "1 of 2 objectives met" in repr(found)
    assert "is not met" in str(found)


def test_the_plots_are_those_of_the_command(results: hostnet.Results, tmp_path: Path) -> None:
    plots = results.plot()
    assert list(plots) == list(plots_of(run_files(results)))
    images = shown(plots).images
    assert len(images) == len(plots)
    assert all(base64.b64decode(image.partition(",")[2]).startswith(b"\x89PNG") for image in images)
    paths = results.plot("domains").save(tmp_path / "plots", ["svg"])
    assert paths == [tmp_path / "plots/domains.svg"]
    assert paths[0].read_text(encoding="utf-8").startswith("<?xml")
    with raises_code('unknown-name | "domain" | did you mean "domains"'):
        results.plot("domain")


def test_a_ledger_shows_its_counts_and_failing_rows(ledger: Ledger, tmp_path: Path) -> None:
    output = shown(ledger)
    scored = [row for row in ledger.rows if row.verdict in ("pass", "fail")]
    assert f"{len(scored) - len(ledger.failing)} of {len(scored)} rows pass" in output.text
    groups, failing = output.tables
    assert [row[0] for row in groups[1:]] == [score.group.title for score in ledger.scores]
    assert [row[0] for row in failing[1:]] == [row.panel for row in ledger.failing]
    assert ledger.failing
    assert list(ledger.to_pandas()["id"]) == ledger.to_polars()["id"].to_list() == [row.id for row in ledger.rows]
    page = ledger.report(tmp_path / "run")
    assert page == tmp_path / "run/report.html"
    assert Path(shown(ledger).links[0]).resolve() == page.resolve()


def test_a_sweep_shows_its_plots_and_rows(tmp_path: Path) -> None:
    found = hostnet.sweep(CONFIG, {"iio.write_credits": [46, 92]}, engine="predict", out=tmp_path / "sweep")
    assert list(found.plot()) == ["disk", "stream"]
    assert {f"{name}.png" for name in found.plot()} == {file.name for file in (tmp_path / "sweep/plots").iterdir()}
    output = shown(found)
    assert len(shown(found.plot()).images) == 2
    assert {"tiles", "card"} <= set(output.classes), "the charts of the page"
    assert [row[0] for row in output.tables[-1]] == ["iio.write_credits", "46", "46", "92", "92"]
    assert [Path(link).resolve() for link in output.links] == [found.report()]


def test_pages_are_written_where_they_are_asked_for(page: Page, tmp_path: Path) -> None:
    comparison = hostnet.compare(CONFIG, hostnet.predict(CONFIG), rerun=False)
    alone = hostnet.sweep(CONFIG, {"iio.write_credits": [46, 92]}, engine="predict")
    written = [
        page.report(tmp_path / "why.html"),
        comparison.report(tmp_path / "both.html"),
        hostnet.noc(cycles=100, warmup=10).report(tmp_path / "noc.html"),
        hostnet.chip(CHIP).report(tmp_path / "chip.html"),
        alone.report(tmp_path / "sweep"),
    ]
    assert [path.name for path in written] == ["why.html", "both.html", "noc.html", "chip.html", "report.html"]
    assert all(path.read_text(encoding="utf-8").startswith("<!doctype html>") for path in written)


def test_the_output_of_a_host_of_several_has_its_picture() -> None:
    cluster = hostnet.run(ROOT / "examples/rdma.toml", overrides=["run.warmup=20 us", "run.duration=20 us"])
    assert "host" in shown(cluster).classes
    assert list(cluster.to_pandas()["class"]) == list(cluster.classes)
    assert next(iter(cluster.plot())) == "goodput"
    assert len(shown(cluster.explain(brief=True)).text) > 100


def test_a_chip_is_explained() -> None:
    found = hostnet.chip(CHIP).explain()
    output = shown(found)
    assert found.conclusion in output.text
    assert [row[0] for row in output.tables[0][1:]] == [trial.what for trial in found.trials]
    assert found.conclusion in repr(found)
