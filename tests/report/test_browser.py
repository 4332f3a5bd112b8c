"""Pages in a browser: they fit wide and narrow screens and paper, load nothing, and their script works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.report import write_report
from hostnet.report.noc_curves import NocRun
from hostnet.report.noc_page import noc_page
from tests.report.browser import NAMES, WIDTHS, Browser, Seen, find_browser

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason=f"no browser to look at pages with: none of {', '.join(NAMES)} is on PATH"
)

RUN = '[run]\nname = "{name}"\nwarmup = "20 us"\nduration = "10 us"\n'
CASCADE_LAKE = '[server]\npreset = "cascade-lake-6234"\n'
ICE_LAKE = '[server]\npreset = "ice-lake-8362"\n'
STREAM = '[workload.stream]\nkind = "stream"\ncores = "{cores}"\nreads = 0.5\n'
DISK = """
[workload.a-disk-with-a-rather-long-name]
kind = "fio"
jobs = [{{ rw = "randrw", bs = "64 KiB", iodepth = 64, size = "1 GiB", ssd = {ssd} }}]
"""
DDR5 = '[core]\ncount = 64\n[memory]\nchannels = 8\ndevice = "DDR5_4800"\n'
HUGE = """
[core]
count = 1024
[cha]
slices = 256
[memory]
channels = 32
device = "HBM2E"
[ssd]
count = 64
[pcie]
lanes = 256
nonposted_lines = 65536
posted_lines = 65536
"""

MANY = '[server]\npreset = "cascade-lake-6234"\nsockets = {count}\n'
BARE = "[socket.{last}]\ncore.count = 0\nssd.count = 0\n"
SPREAD = (
    '[workload.spread]\nkind = "stream"\ncores = "0-19"\nmemory = "interleave"\nworking_set = "16 MiB"\nreads = 0.5\n'
)

SERVERS = {
    "one-core": CASCADE_LAKE + "[memory]\nchannels = 1\n" + STREAM.format(cores="0"),
    "storage-only": CASCADE_LAKE + DISK.format(ssd=1),
    "many-cores": ICE_LAKE + DDR5 + STREAM.format(cores="0-49") + DISK.format(ssd=0),
    "two-sockets": MANY.format(count=2) + STREAM.format(cores="8-11") + 'memory = "node:0"\n' + DISK.format(ssd=4),
    "three-sockets": MANY.format(count=3) + SPREAD + DISK.format(ssd=9),
    "four-sockets": MANY.format(count=4)
    + BARE.format(last=3)
    + "[cache]\nenabled = true\n"
    + SPREAD
    + DISK.format(ssd=9),
    "eight-sockets": MANY.format(count=8) + BARE.format(last=7) + SPREAD + DISK.format(ssd=9),
    "everything": ICE_LAKE + HUGE + STREAM.format(cores="0-9,1000-1019") + DISK.format(ssd=63),
}


def report_of(server: str, folder: Path) -> Path:
    """Returns the page of a run of this server."""
    config = folder / "config.toml"
    config.write_text(SERVERS[server] + RUN.format(name=server))
    return hostnet.run(config, series="1 us").save(folder / "run") / "report.html"


def assert_sound(seen: Seen) -> None:
    """Asserts that nothing is too wide, overlaps, is too small to read, or caused an error."""
    assert seen.console == []
    assert [frame["width"] for frame in seen.frames] == list(WIDTHS)
    for frame in seen.frames:
        assert frame["needed"] == frame["width"], "the page scrolls sideways"
        assert (frame["collisions"], frame["clipped"], frame["tiny"]) == ([], [], [])


@pytest.mark.parametrize("server", SERVERS)
def test_any_server_is_drawn_soundly(server: str, browser: Browser, tmp_path: Path) -> None:
    page = report_of(server, tmp_path).read_text(encoding="utf-8").replace("<details", "<details open")
    seen = browser.look(page)
    assert_sound(seen)
    assert seen.frames[0]["cut"] == [], "on a wide screen no table needs to be scrolled"


def test_pages_with_hostile_names_are_sound(browser: Browser, make_run: Callable[..., Path]) -> None:
    regime = {"name": "red", "evidence": ["x" * 200]}
    assert_sound(browser.look(write_report(make_run(regime=regime)).read_text(encoding="utf-8")))


def test_a_study_is_sound(browser: Browser, study_run: Path) -> None:
    assert_sound(browser.look(write_report(study_run).read_text(encoding="utf-8")))


@pytest.mark.parametrize("arguments", [{"size": "8x8"}, {"topology": "ring", "size": "17"}, {"size": "12x10"}])
def test_a_network_on_a_chip_is_sound(browser: Browser, arguments: dict[str, Any]) -> None:
    runs = [
        NocRun(f"rate {rate}", curve, hostnet.noc(rate=rate, cycles=300, warmup=100, **arguments).summary)
        for rate in (0.02, 0.1, 0.9)
        for curve in ("one", "another")
    ]
    for shown in (runs[:1], runs[-1:], runs):
        assert_sound(browser.look(noc_page(shown)))


def test_the_look_finds_what_is_wrong(browser: Browser) -> None:
    text = '<text x="0" y="20" style="font-size:{size}px">{words}</text>'
    texts = "".join(
        text.format(size=size, words=words) for size, words in ((20, "o"), (5, "two"), (20, "too long to fit"))
    )
    page = (
        "<!doctype html><meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"><img src='http://127.0.0.1:9/x.png'><p style='width:1500px'>wide</p>"
        f"<svg role='img' viewBox='0 0 30 30' width='30' height='30'>{texts}</svg>"
    )
    seen = browser.look(page)
    assert any("Content Security Policy" in line for line in seen.console)
    for frame in seen.frames:
        assert frame["needed"] > frame["width"]
        assert ["o", "two"] in frame["collisions"]
        assert frame["clipped"] == ["too long to fit"]
        assert frame["tiny"] == ["two"]


def test_tables_are_copied_with_exact_values(browser: Browser, make_run: Callable[..., Path]) -> None:
    page = write_report(make_run()).read_text(encoding="utf-8")
    script = """(frame) => {
      const tables = Array.from(frame.contentDocument.querySelectorAll("table"), frame.contentWindow.tableText);
      return { tables, buttons: frame.contentDocument.querySelectorAll(".table > .copy").length };
    }"""
    found: dict[str, Any] = browser.look(page, script, (1280,)).frames[0]
    assert found["buttons"] == len(found["tables"]) > 3
    rows = [line.split("\t") for line in found["tables"][0].splitlines()]
    assert all(len(row) == len(rows[0]) for row in rows)
    stream = dict(zip(rows[0], rows[1], strict=True))
    assert stream["workload"] == "stream"
    assert (stream["throughput_gb_per_s"], stream["throughput_ci95"]) == ("27.5", "0.14")
    assert stream["latency_mean_ns"] == "302.9"
    assert "latency_p99_ns" not in stream, "no workload has one"


def test_copying_works_where_pages_may_not_use_the_clipboard(browser: Browser, make_run: Callable[..., Path]) -> None:
    page = write_report(make_run()).read_text(encoding="utf-8")
    script = """(frame) => {
      const page = frame.contentDocument;
      let copied = null;
      frame.contentWindow.document.execCommand = () => {
        const event = new frame.contentWindow.Event("copy");
        event.clipboardData = { setData: (kind, text) => { copied = [kind, text]; } };
        page.dispatchEvent(event);
        return true;
      };
      return frame.contentWindow.copyByEvent("a\\tb") ? copied : null;
    }"""
    assert browser.look(page, script, (1280,)).frames == [["text/plain", "a\tb"]]


def test_charts_over_time_say_their_values(browser: Browser, make_run: Callable[..., Path]) -> None:
    page = write_report(make_run()).read_text(encoding="utf-8")
    script = """(frame) => {
      const svg = frame.contentDocument.querySelector("svg[data-x]");
      const box = svg.getBoundingClientRect();
      const said = () => Array.from(svg.closest(".card").querySelectorAll(".legend b"), (output) => output.textContent);
      const point = (kind) => svg.dispatchEvent(new frame.contentWindow.PointerEvent(kind, { clientX: box.right }));
      point("pointermove");
      const at_the_end = said();
      point("pointerleave");
      return [at_the_end, said()];
    }"""
    at_the_end, after = browser.look(page, script, (1280,)).frames[0]
    assert at_the_end == ["29", "29", "29", "29", "at 19 µs"]
    assert set(after) == {""}


def test_pages_can_be_printed(browser: Browser, tmp_path: Path) -> None:
    paper = browser.print_to_pdf(report_of("many-cores", tmp_path))
    assert paper.startswith(b"%PDF-")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 8
