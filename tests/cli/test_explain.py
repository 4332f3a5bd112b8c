"""The command `hostnet explain`."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support import HANG_S, Cli, assert_tells


def test_a_configuration_is_run_and_explained(cli: Cli) -> None:
    done = cli("explain", cli.file)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("quadrant on cascade-lake-6234", "stream is limited by", "disk is limited by", "What would help"):
        assert words in done.stdout
    assert not (cli.folder / "runs").exists()


def test_a_run_directory(cli: Cli) -> None:
    place = cli.run()
    done = cli("explain", place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (place / "explanation.txt").read_text()


def test_json(cli: Cli) -> None:
    done = cli("explain", cli.file, "--brief", "--json", "--set", "run.seed=3")
    content = json.loads(done.stdout)
    assert {row["workload"] for row in content["workloads"]} == {"stream", "disk"}
    assert content["steps"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "file-not-found"),
        (["."], "wrong-kind | summary.json"),
        (["quadrant.toml", "--server", "cascade-lake-6234"], "no-effect | --server"),
        (["quadrant.toml", "--cores", "4"], "no-effect | --cores"),
        ([".", "--set", "a=1"], "wrong-kind | --set"),
        (["quadrant.toml", "--confirm", "--brief"], "conflicting-keys | --confirm and | --brief"),
        (["quadrant.toml", "--set", "iio.write_credit=3"], "unknown-key | write_credits"),
        (["counters.csv", "--cores", "0"], "out-of-range | --cores 0 | 1024"),
    ],
)
def test_mistakes(cli: Cli, arguments: list[str], message: str) -> None:
    Path(cli.folder / "counters.csv").write_text("nothing\n")
    assert_tells(cli.fails("explain", *arguments), message)


PAIR = """
host.client.preset = "cascade-lake-hostcc"
host.server.preset = "cascade-lake-hostcc"
network.rate = "10 Gbps"
flow.bulk = { kind = "bulk", from = "client", to = "server" }
run = { warmup = "10 us", duration = "50 us" }
"""


def test_of_several_servers_one_has_to_be_named(cli: Cli) -> None:
    (cli.folder / "pair.toml").write_text(PAIR)
    said = cli.fails("explain", "pair.toml", "--brief", "--set", "run.seed=3")
    command = "hostnet explain pair.toml --set run.seed=3 --host client --brief"
    assert_tells(said, f"missing-key | {command} | --host")
    done = cli(*command.split()[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pair, client on cascade-lake-hostcc\n")
    assert "drives" not in done.stdout
    said = cli.fails("run", "pair.toml", "--trace")
    assert_tells(said, "missing-key | --host client")


def test_the_only_server_that_can_be_explained_needs_no_name(cli: Cli) -> None:
    (cli.folder / "pair.toml").write_text(PAIR)
    done = cli("explain", "pair.toml", "--brief", "--set", "host.client.fidelity=burst")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pair, server on cascade-lake-hostcc\n")


def test_a_run_that_is_stopped_is_explained_as_far_as_it_came(cli: Cli) -> None:
    process = cli.start("explain", cli.file, "--set", "run.duration=1s")
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert "note: stopped before its end" in text
    assert "stream is limited by" in text


def test_who_has_no_traffic_is_left_out(cli: Cli) -> None:
    assert cli("new", "--cluster", "rack-pool").returncode == 0
    borrower, lender = (
        cli("explain", "rack-pool.toml", "--brief", "--host", host).stdout for host in ("worker-0", "lender-0")
    )
    assert "\nreader has no known limit" in borrower
    assert "lends" not in borrower
    assert "\nown may be limited by" in lender
    assert "in memory that this one lends" in lender
    assert "\npool " not in borrower + lender


def test_flows_alone_have_the_work_of_the_kernel_beside_them(cli: Cli) -> None:
    (cli.folder / "pair.toml").write_text(PAIR)
    done = cli("explain", "pair.toml", "--host", "server")
    assert "- no C2M traffic but what serves P2M, such as copies of the kernel\n" in done.stdout
