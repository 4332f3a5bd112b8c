"""`hostnet cut`: the work of each process, and the load balance between them."""

from __future__ import annotations

import re

import pytest

from tests.support import Cli

RACKS = """
[host.e]
kind = "endpoint"
count = 16
[network]
topology = "leaf-spine"
leaves = 4
spines = 2
latency = "2 us"
[flow.f]
kind = "bulk"
from = "e"
to = "e"
pairs = "permutation"
[run]
warmup = "20 us"
duration = "80 us"
"""


def cut(cli: Cli, *arguments: str, text: str = RACKS) -> str:
    (cli.folder / "racks.toml").write_text(text)
    done = cli("cut", "racks.toml", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_tells_partitions_and_what_to_expect(cli: Cli) -> None:
    said = " ".join(cut(cli, "--ranks", "2", "--threads", "2").split())
    assert "racks: 4 partitions in 2 processes" in said
    found = re.search(r"Expected from the first (\d+) µs: a speed-up of ([\d.]+) .* an efficiency of ([\d.]+) %", said)
    assert found is not None
    assert int(found[1]) <= 100
    assert float(found[2]) == pytest.approx(4 * float(found[3]) / 100, abs=0.01)


def test_slower_meetings_make_it_slower(cli: Cli) -> None:
    def speed(meeting: str) -> float:
        said = " ".join(cut(cli, "--meeting", meeting).split())
        found = re.search(r"a speed-up of ([\d.]+) over one thread of this", said)
        assert found is not None
        return float(found[1])

    assert speed("100 ms") < 0.5 < speed("1 ns") <= 2


def test_nothing_is_expected_where_nothing_crosses(cli: Cli) -> None:
    star = RACKS.replace('topology = "leaf-spine"\nleaves = 4\nspines = 2\n', "")
    said = cut(cli, text=star)
    assert "1 process without a partition:" in said
    assert "Expected" not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ranks", "0"), "--ranks 0: must be between 1 and 4096"),
        (("--threads", "0"), "--threads 0: must be between 1 and"),
        (("--meeting", "fast"), "--meeting"),
    ],
)
def test_wrong_options_are_told(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    (cli.folder / "racks.toml").write_text(RACKS)
    done = cli("cut", "racks.toml", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
