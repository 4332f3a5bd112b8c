"""Pages are well-formed and self-contained, and execute no name."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hostnet.report
from hostnet.notes import NAMES_MAX, notes_of
from hostnet.report import write_report

MakeRun = Callable[..., Path]

LOADING = {"src", "href", "srcset", "data", "action", "poster", "xlink:href", "background"}
VOID = {"meta", "br", "hr"}


class Page(HTMLParser):
    """Collects the elements of a page, their attributes and text; raises an error for elements that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(params=["run", "study"])
def report(request: pytest.FixtureRequest, make_run: MakeRun, study_run: Path) -> str:
    file = write_report(make_run() if request.param == "run" else study_run)
    assert file.name == "report.html"
    return file.read_text(encoding="utf-8")


def test_nothing_is_loaded_from_anywhere(report: str) -> None:
    page = Page(report)
    assert not {name for name, _ in page.attributes} & LOADING
    assert not page.names & {"link", "iframe", "img", "object", "embed", "form", "base"}
    styles = "".join(re.findall(r"<style>(.*?)</style>", report, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert any(value is not None and value.startswith("default-src 'none'") for _, value in page.attributes)


def test_only_the_script_of_the_package_may_run(report: str) -> None:
    script = (Path(hostnet.report.__file__).parent / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert re.findall(r"<script>(.*?)</script>", report, re.DOTALL) == [script]
    allowed = [value for _, value in Page(report).attributes if value and "script-src" in value]
    assert [re.findall(r"script-src ([^;]*);", value) for value in allowed] == [[f"'sha256-{digest}'"]]


def test_addresses_occur_in_text_only(report: str) -> None:
    outside_of_text = "".join(f"{value}" for _, value in Page(report).attributes)
    assert "http:" not in outside_of_text
    assert "https:" not in outside_of_text


def test_markup_is_balanced(report: str) -> None:
    assert Page(report).open == []


def test_hostile_names_are_text(report: str, hostile: str) -> None:
    assert report.count("<script") == 1
    assert escape(hostile, quote=True) in report
    assert hostile in Page(report).text
    assert not [name for name, _ in Page(report).attributes if name.startswith("on")]


def test_a_run_shows_all_that_was_measured(make_run: MakeRun) -> None:
    text = Page(write_report(make_run()).read_text(encoding="utf-8")).text
    for expected in (
        "What limits each workload",
        "stream is limited by LFB: 65.3 of 72 credits in use",
        "27.5 ± 0.14",
        "46.1",
        "12.5\u00a0%",
        "core 0",
        "45.8\u00a0%",
        "1,200",
        "no effect in this run: ssd.streams",
        "ioengine=libaio has no effect",
        "Throughput, GB/s",
        'kind = "fio"',
        "1 ms",
    ):
        assert expected in text


def test_notes_are_those_of_the_screen_with_every_name(make_run: MakeRun) -> None:
    keys = [f"ssd.key{number}" for number in range(2 * NAMES_MAX)]
    run = make_run(no_effect=keys, never_met=["pcie.a"], complete=False)
    text = Page(write_report(run).read_text(encoding="utf-8")).text
    summary = json.loads((run / "summary.json").read_text())
    assert f"no effect in this run: {', '.join(keys)}" in text
    said = notes_of(summary)
    assert f"no effect in this run: {', '.join(keys[:NAMES_MAX])} and {NAMES_MAX} more" in said
    assert all(note in text for note in said if "more" not in note)


def test_what_is_absent_is_left_out(make_run: MakeRun) -> None:
    bare = make_run(series=False, limits=[], channels=[], no_effect=[], ignored=[])
    (bare / "manifest.json").unlink()
    (bare / "domains.parquet").unlink()
    (bare / "config.toml").unlink()
    text = Page(write_report(bare).read_text(encoding="utf-8")).text
    for heading in ("What limits", "Memory channels", "Over time", "Notes", "Configuration", "By part"):
        assert heading not in text


def test_a_run_that_is_not_to_be_trusted_says_so(make_run: MakeRun) -> None:
    directory = make_run(complete=False, unvalidated="unvalidated: DDIO not modelled")
    text = Page(write_report(directory).read_text(encoding="utf-8")).text
    assert "stopped before its end" in text
    assert "unvalidated: DDIO not modelled" in text


def test_a_study_shows_published_beside_simulated(study_run: Path) -> None:
    report = write_report(study_run).read_text(encoding="utf-8")
    text = Page(report).text
    for expected in (
        "18 of 20",
        "10.0\u00a0%",
        "The four quadrants",
        "Degradation is throughput alone over throughput together",
        "Theoretical Max 46.9",
        "left out of the score",
        "Figure 7d, published only",
        "Beyond tolerance",
        "C2M traffic, C2M cores 3\npublished 30.00 GB/s\nsimulated 30.30 GB/s",
        "+200.0\u00a0%",
    ):
        assert expected in text
    assert report.count("<svg") > 4


def test_it_can_be_written_again(study_run: Path) -> None:
    first = write_report(study_run).read_bytes()
    assert write_report(study_run).read_bytes() == first


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"not a run directory \(it has no summary\.json\)"):
        write_report(tmp_path)


@pytest.mark.parametrize(("content", "message"), [("{", "is damaged"), ("[]", "it holds no object")])
def test_a_damaged_summary(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path)


def test_a_damaged_table(make_run: MakeRun) -> None:
    directory = make_run()
    (directory / "domains.parquet").write_text("no table")
    with pytest.raises(ValueError, match=r"domains\.parquet: is damaged"):
        write_report(directory)
