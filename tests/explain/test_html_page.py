"""The page of `hostnet explain`."""

from __future__ import annotations

import pytest

import hostnet
from hostnet.explanation import explain_results, page_text
from hostnet.explanation.html_page import explanation_page
from tests.report.test_pages import Page
from tests.support import Cli, assert_tells


def test_the_page_has_the_charts_and_the_whole_text(cli: Cli) -> None:
    page = explain_results(hostnet.run(cli.file), None).with_steps()
    drawn = explanation_page(page)
    text = Page(drawn).text.replace("\u00a0", " ")
    assert text.count("come from") == 2, "the latency of each workload"
    assert "What more of one limit does" in text
    assert all(line.strip() in text for line in page_text(page).splitlines() if line.strip())


def test_the_command_writes_the_page(cli: Cli) -> None:
    run = cli.run()
    done = cli("explain", run, "--brief", "--html", "why.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "why.html"
    assert "Content-Security-Policy" in (cli.folder / "why.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--html", "none/why.html"], "file-access | --html none/why.html"),
        (["--slo", "p99 < 1 ms", "--html", "why.html"], "conflicting-keys | --html"),
    ],
)
def test_pages_that_cannot_be_written_are_refused_first(cli: Cli, arguments: list[str], message: str) -> None:
    assert_tells(cli.fails("explain", cli.file, *arguments), message)


def test_a_chip_has_no_page(cli: Cli) -> None:
    assert cli("new", "--chip", "chip.toml").returncode == 0
    assert_tells(cli.fails("explain", "chip.toml", "--html", "why.html"), "wrong-kind | --html")
