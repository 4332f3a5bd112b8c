"""Pages define what they name: every heading, and the first occurrence of a term in every section."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hostnet
from hostnet import _core
from hostnet.comparison.page import write_comparison
from hostnet.report import write_report
from hostnet.report.chip_page import chip_page
from hostnet.report.html import Html, element, section, table
from hostnet.report.noc_curves import NocRun
from hostnet.report.noc_page import noc_page
from hostnet.report.page import page, with_definitions
from tests.docs.reference import ROOT
from tests.support import with_small_llc

EXAMPLES = [file for file in sorted(ROOT.glob("examples/*.toml")) if file.name not in ("noc.toml", "chip.toml")]
QUICK = ("die.toml", "hostcc.toml", "power.toml", "quadrant3.toml", "allreduce.toml", "dimm.toml")

HEADING = re.compile(r"<th(?: [^>]*)?>(.*?)</th>", re.DOTALL)
DEFINED = re.compile(r'<dfn tabindex="0" aria-description="[^"]+">')


def undefined(text: str) -> list[str]:
    """Returns the headings of a page that have no definition."""
    headings = HEADING.findall(text)
    assert headings
    return [heading for heading in headings if heading and not DEFINED.match(heading)]


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[] if file.name in QUICK else [pytest.mark.long]) for file in EXAMPLES],
    ids=lambda file: file.stem,
)
def test_every_heading_of_the_page_of_an_example_is_defined(file: Path, tmp_path: Path) -> None:
    overrides = ["run.warmup=2 us", "run.duration=5 us", *with_small_llc(file)]
    run = hostnet.run(file, overrides=overrides, series="1 us").save(tmp_path / "run")
    assert undefined((run / "report.html").read_text(encoding="utf-8")) == []


def test_every_heading_of_a_study_is_defined(study_run: Path) -> None:
    assert undefined(write_report(study_run).read_text(encoding="utf-8")) == []


def test_every_heading_of_chips_and_networks_is_defined() -> None:
    rack = {"kind": "torus", "size": [2]}
    chip = {"preset": "scale-out-64"}
    summary = hostnet.chip({"chip": chip, "run": {"warmup": "1 us", "window": "1 us", "max": 2}, "rack": rack}).summary
    assert undefined(chip_page(summary)) == []
    runs = [NocRun(name, name, hostnet.noc(cycles=100, warmup=0).to_dict()) for name in ("a", "b")]
    assert undefined(noc_page(runs)) + undefined(noc_page(runs[:1])) == []


def test_every_heading_of_pages_of_several_runs_is_defined(tmp_path: Path) -> None:
    quadrant = ROOT / "examples/quadrant3.toml"
    swept = {"iio.write_credits": [46, 92], "core.lfb.entries": [10, 12]}
    hostnet.sweep(quadrant, swept, engine="predict", out=tmp_path / "sweep")
    hostnet.curve("cascade-lake-6234", points=2, engine="predict", out=tmp_path / "curve")
    (tmp_path / "ping.toml").write_text(_core.cluster_template("ping"), encoding="utf-8")
    short = ["run.warmup=2 us", "run.duration=20 us"]
    hostnet.whatif(tmp_path / "ping.toml", attach="pcie,dimm", overrides=short, out=tmp_path / "whatif")
    runs = [hostnet.run(quadrant, overrides=[*short, f"core.lfb.entries={entries}"]) for entries in (10, 12)]
    write_comparison(tmp_path / "compare.html", hostnet.compare(*runs))
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) == 6
    assert {file.parent.name: undefined(file.read_text(encoding="utf-8")) for file in pages} == {
        file.parent.name: [] for file in pages
    }


def terms_in(markup: Html) -> list[str]:
    """Returns the marked terms."""
    return re.findall(r"<dfn[^>]*>([^<]*)</dfn>", with_definitions(markup))


def test_a_term_is_defined_once_in_every_section() -> None:
    text = "The LFB is full, and so is the CHA TOR of the LFB"
    assert terms_in(section("a", element("p", text), element("p", text))) == ["LFB", "CHA TOR"]
    assert terms_in(element("main", section("a", text), section("b", text))) == ["LFB", "CHA TOR"] * 2
    assert terms_in(element("p", "CHA->DRAM read of a DRAM channel")) == ["CHA-&gt;DRAM read", "DRAM channel"]


@pytest.mark.parametrize("text", ["LFBs", "xLFB", "memory.LFB", "C2M-Reads", "7.5 GB read", "line of a stream"])
def test_parts_of_names_units_and_common_words_are_no_terms(text: str) -> None:
    assert terms_in(element("p", text)) == []


@pytest.mark.parametrize("name", ["pre", "code", "svg", "summary", "button", "h1", "h2"])
def test_quoted_text_and_drawings_stay_as_they_are(name: str) -> None:
    markup = element("section", element(name, "LFB"))
    assert with_definitions(markup) == markup


@pytest.mark.parametrize(("name", "terms"), [("b", ["red"]), ("dt", ["red"]), ("td", []), ("p", [])])
def test_words_are_defined_where_they_stand_alone(name: str, terms: list[str]) -> None:
    assert terms_in(element(name, "red")) == terms


class Text(HTMLParser):
    """Collects the text of a page."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(markup)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_definitions_do_not_change_the_text(make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    shown = Text(write_report(run).read_text(encoding="utf-8")).text
    monkeypatch.setattr("hostnet.report.page.with_definitions", lambda markup: markup)
    assert Text(write_report(run).read_text(encoding="utf-8")).text == shown


def test_an_unknown_heading_stays_plain() -> None:
    assert undefined(page("a", table(["Unheard of", "GB/s"], [["b", "1"]]))) == ["Unheard of"]
