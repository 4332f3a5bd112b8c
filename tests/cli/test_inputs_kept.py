"""No option of a command replaces the input of the command, and a closed output is no defect."""

from __future__ import annotations

import subprocess

import pytest

from tests.support import HOSTNET, QUADRANT, Cli, assert_tells

LINES = (
    ("explain", "{}", "--html", "{}"),
    ("compare", "{}", "{}", "--html", "{}"),
    ("run", "{}", "--counters", "perf", "--counters-out", "{}"),
    ("run", "{}", "--checkpoint-at", "1us", "--checkpoint", "{}"),
    ("run", "{}", "--pcap", "{}"),
)


@pytest.mark.parametrize("line", LINES, ids=lambda line: "-".join(line[::2]).replace("{}", "x"))
def test_an_output_that_is_the_input_is_refused(cli: Cli, line: tuple[str, ...]) -> None:
    error = cli.fails(*(word.format(cli.file) for word in line))
    assert_tells(error, f"file-access | {line[-2]}")
    assert cli.file.read_text() == QUADRANT


def test_a_page_may_be_written_again(cli: Cli) -> None:
    for _ in range(2):
        assert cli("explain", cli.file, "--html", "x.html").returncode == 0
    assert (cli.folder / "x.html").read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize("words", ["--version", "list presets", "explain-term IIO"])
def test_a_command_without_an_output_ends_as_usual(words: str) -> None:
    assert subprocess.run(f'"{HOSTNET}" {words} >&- 2>&-', shell=True, check=False).returncode == 0


@pytest.mark.parametrize("command", ["paper", "validate"])
@pytest.mark.parametrize("threads", ["-1", "0", "1025"])
def test_a_number_of_threads_that_is_none_is_refused(cli: Cli, command: str, threads: str) -> None:
    assert_tells(cli.fails(command, "hostcc", "--threads", threads), f"out-of-range | --threads {threads}")
