"""Wrong input: one line, exit code 2, and no files left behind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet import _core
from hostnet.explanation.steps import resolve_complete
from tests.support import HANG_S, HOSTNET, QUADRANT, Cli, assert_tells

FILE = "quadrant.toml"

WRONG_OPTIONS = {
    "unknown option": ("--colour",),
    "seed is not a number": ("--seed", "x"),
    "seed is negative": ("--seed", "-1"),
    "seed is too large": ("--seed", str(2**64)),
    "no seeds": ("--seeds", "0"),
    "seeds beyond the last": ("--seed", str(2**64 - 1), "--seeds", "2"),
    "no threads": ("--threads", "0"),
    "series without a unit": ("--series", "10"),
    "series of a bad unit": ("--series", "10 lightyears"),
    "series of nothing": ("--series", "0 us"),
    "series below a picosecond": ("--series", "0.5 ps"),
    "override without a value": ("--set", "memory.channels"),
    "override of nothing": ("--set", "memory.chanels=4"),
    "override out of range": ("--set", "memory.channels=0"),
    "override without unit": ("--set", "run.duration=10"),
    "json and quiet": ("--json", "--quiet"),
    "checkpoint without a time": ("--checkpoint", "x"),
    "time without a checkpoint": ("--checkpoint-at", "1us"),
    "checkpoint in no folder": ("--checkpoint", "nowhere/x", "--checkpoint-at", "1us"),
    "checkpoint is a folder": ("--checkpoint", ".", "--checkpoint-at", "1us"),
    "checkpoint and from": ("--checkpoint", "x", "--checkpoint-at", "1us", "--from", "x"),
    "seeds and from": ("--seeds", "2", "--from", "x"),
    "from a missing file": ("--from", "missing.ckpt"),
    "from something else": ("--from", "quadrant.toml"),
    "out is the current folder": ("--out", "."),
    "out is a file": ("--out", "quadrant.toml"),
    "out is below a file": ("--out", "quadrant.toml/x"),
}

WRONG_FILES = {
    "no toml": "[server\n",
    "unknown key": QUADRANT.replace("cores =", "core ="),
    "unknown section": "[sever]\n",
    "no workload": '[server]\npreset = "cascade-lake-6234"\n',
    "unknown preset": QUADRANT.replace("cascade-lake-6234", "cascade-like"),
    "bare number": QUADRANT.replace('"20 us"', "20"),
    "wrong unit": QUADRANT.replace('"20 us"', '"20 GB"'),
    "too many cores": QUADRANT.replace('"0-1"', '"0-99"'),
    "empty": "",
}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", FILE, "--pcap", "x"), "--pcap: captures are of packets"),
        (("whatif", FILE), f"{FILE}: host: there is no server with a NIC on a network"),
        (("run", FILE, "--from", "nofile"), "--from nofile: No such file or directory"),
        (("run", FILE, "--set", "workload.nix.cores=0-1"), "no workload.nix, which workload.nix.cores=0-1 makes"),
        (
            ("predict", FILE, "--set", "server.preset=skylake-8160", "--set", "server.sockets=2"),
            f"{FILE}: server.sockets",
        ),
        (("calibrate", "zzz", "--data", FILE), "zzz: neither a file nor a preset; `hostnet list presets` names all"),
        (("calibrate", "skylake", "--data", FILE), 'did you mean "skylake-8160"?'),
        (("run", FILE, "--checkpoint", "x", "--checkpoint-at", "10 s"), "--checkpoint-at 10 s: the run ends before"),
    ],
)
def test_an_error_names_the_option_or_the_file_that_was_given(cli: Cli, arguments: Sequence[str], told: str) -> None:
    assert told in cli.fails(*arguments)


@pytest.mark.parametrize(
    ("run", "end_us"),
    [
        ({"duration": "20 us"}, 3020),
        ({"duration": "20 us", "warmup": "5 us"}, 25),
        ({"duration": "20 us", "warmup": "0 ps"}, 20),
        ({"precision": 0.01, "warmup": "5 us"}, 100_005),
    ],
)
def test_a_server_ends_at_the_latest_when_it_says(run: dict[str, Any], end_us: int) -> None:
    workload = {"s": {"kind": "stream", "cores": "0"}}
    plan = resolve_complete({"server": {"preset": "skylake-8160"}, "workload": workload, "run": run}, ".")
    assert plan.latest_end_ps() == end_us * 1_000_000


@pytest.mark.parametrize(("latency", "end_us"), [("1 us", 20_020), ("10 ms", 3_200_020)])
def test_a_cluster_ends_after_80_slices_of_warm_up_at_the_latest(latency: str, end_us: int) -> None:
    """A slice is 250 us, or one round trip over two cables."""
    config = {
        "host": {"a": {"kind": "endpoint"}, "b": {"kind": "endpoint"}},
        "network": {"latency": latency},
        "flow": {"f": {"kind": "bulk", "from": "a", "to": "b"}},
        "run": {"duration": "20 us"},
    }
    assert resolve_complete(config, ".").latest_end_ps() == end_us * 1_000_000


@pytest.mark.parametrize("command", ["run", "whatif"])
@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_is_none_is_told_with_its_range(cli: Cli, command: str, seed: int) -> None:
    told = f"--seed {seed}: must be a whole number between 0 and 2^64 - 1"
    assert cli.fails(command, cli.file, "--seed", str(seed)) == told


@pytest.mark.parametrize("options", WRONG_OPTIONS.values(), ids=WRONG_OPTIONS.keys())
def test_wrong_options(cli: Cli, options: tuple[str, ...]) -> None:
    assert cli.fails("run", cli.file, *options)


@pytest.mark.parametrize("text", WRONG_FILES.values(), ids=WRONG_FILES.keys())
def test_wrong_files(cli: Cli, text: str) -> None:
    cli.file.write_text(text)
    assert cli.fails("run", "quadrant.toml").startswith("quadrant.toml")


def test_the_line_and_the_nearest_name_are_given(cli: Cli) -> None:
    cli.file.write_text(QUADRANT.replace("cores =", "coress ="))
    message = cli.fails("run", "quadrant.toml")
    assert_tells(message, "unknown-key | quadrant.toml:12 | workload.stream")
    assert_tells(message, 'unknown-key | "cores"')


def test_a_file_that_is_not_text(cli: Cli) -> None:
    cli.file.write_bytes(b"\xff\xfe")
    assert_tells(cli.fails("run", cli.file), "malformed-file | UTF-8")


def test_a_missing_file(cli: Cli) -> None:
    assert_tells(cli.fails("run", "missing.toml"), "file-not-found | missing.toml")


def test_a_full_directory_is_not_touched(cli: Cli) -> None:
    (cli.folder / "mine").mkdir()
    (cli.folder / "mine" / "data").touch()
    assert_tells(cli.fails("run", cli.file, "--out", "mine"), "file-access")


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "everything"),
        ("plot", "nowhere"),
        ("frobnicate",),
        ("validate", "nothing"),
        ("run",),
        ("new", "quadrant.toml"),
    ],
    ids=" ".join,
)
def test_other_commands(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli.fails(*arguments)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_stdout() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [HOSTNET, "list", "presets"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG_S, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error[file-access]: No space left on device\n")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_place_that_cannot_be_written(cli: Cli) -> None:
    assert_tells(cli.fails("run", cli.file, "--out", "/proc/run"), "file-not-found | /proc/run: ")


@pytest.mark.parametrize("command", ["run quadrant.toml", "list presets", "schema", "--help"])
def test_a_reader_that_goes_away(cli: Cli, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [HOSTNET, *command.split()],
        cwd=cli.folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_terminal_without_unicode(cli: Cli) -> None:
    done = cli("run", cli.file, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fio_job_file_is_no_configuration_and_the_message_says_how_to_use_it(cli: Cli) -> None:
    (cli.folder / "random.fio").write_text("[global]\nbs=4k\n[a]\nrw=randread\n")
    for command in ("run", "predict"):
        assert_tells(cli.fails(command, "random.fio"), 'wrong-kind | job = "random.fio"')


@pytest.mark.parametrize("command", ["run", "predict", "whatif", "cut", "sweep --over core.count=2"])
def test_the_name_of_a_preset_or_a_folder_is_no_configuration(cli: Cli, command: str) -> None:
    for preset, _, _ in _core.presets():
        said = cli.fails(*command.split(), preset)
        assert_tells(said, f"wrong-kind | {preset} | : is a preset")
        assert_tells(said, f'wrong-kind | {preset} | preset = "')
    (cli.folder / "folder").mkdir()
    assert_tells(cli.fails(*command.split(), "folder"), "wrong-kind | folder")
    assert_tells(cli.fails(*command.split(), "skylake"), "file-not-found")
