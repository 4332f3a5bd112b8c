"""Files that the commands write are complete or absent, and an error names the file that cannot be written."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from hostnet.files import write_file
from tests.hwloc.machines import ONE_SOCKET
from tests.support import Cli, read_json

if sys.platform == "win32":
    pytest.skip("needs pipes with names and limits of files", allow_module_level=True)

import resource

CHECKPOINT = ("--checkpoint-at", "10 us", "--checkpoint")
COUNTERS = ("--counters", "perf", "--counters-out")

CLUSTER = """\
[run]
duration = "20 us"
warmup = "0 us"
[host.a]
kind = "endpoint"
[host.b]
kind = "endpoint"
[flow.f]
kind = "bulk"
from = "a"
to = "b"
"""


def limit_files(most: int) -> dict[str, object]:
    """Makes every write beyond a number of bytes of a file fail, as on a full disk."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)), "env": environment}


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "state"
    for content in (b"one", b"two"):
        write_file(file, content)
        assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(OSError, match="nowhere"):
        write_file(tmp_path / "nowhere" / "state", b"x")


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.touch()
    file.chmod(0o600)
    write_file(file, b"secret")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    write_file(link, b"content")
    assert link.is_symlink()
    assert target.read_bytes() == b"content"


@pytest.mark.parametrize("options", [CHECKPOINT, COUNTERS], ids=["checkpoint", "counters"])
def test_a_pipe_with_a_name_is_written_to_and_stays(cli: Cli, options: tuple[str, ...]) -> None:
    pipe = cli.folder / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    cli.run(*options, pipe)
    reader.join(10)
    assert read
    assert len(read[0]) > 100
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "quadrant.toml", *CHECKPOINT, "/dev/full"),
        ("run", "quadrant.toml", *COUNTERS, "/dev/full"),
        ("run", "cluster.toml", "--pcap", "/dev/full", "--pcap-host", "b"),
        ("memory", "--requests", "100", "--commands", "/dev/full"),
        ("filter", "trace", "--l1", "4KiB,4", "--output", "/dev/full"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_full_device_is_named_and_stays(cli: Cli, arguments: tuple[str, ...]) -> None:
    (cli.folder / "cluster.toml").write_text(CLUSTER)
    (cli.folder / "trace").write_text("".join(f" L {64 * line:x},8\n" for line in range(1000)))
    device = Path("/dev/full").stat().st_rdev
    done = cli(*arguments)
    assert (done.returncode, done.stderr) == (2, "error[file-access]: /dev/full: No space left on device\n"), done
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    assert Path("/dev/full").stat().st_rdev == device


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("new", "mine.toml"), "mine.toml"),
        (("import", "machine.xml", "--out", "mine.toml"), "mine.toml"),
        (("run", "quadrant.toml"), "runs/quadrant-1"),
        (("run", "quadrant.toml", "--out", "here"), "here"),
        (("run", "cluster.toml"), "runs/cluster-1"),
        (("predict", "quadrant.toml", "--out", "here"), "here"),
        (("curve", "cascade-lake-6234", "--engine", "predict", "--out", "here"), "here"),
        (("validate", "host_network", "--engine", "predict", "--json", "rows.json"), "rows.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_full_disk_leaves_nothing_and_the_file_is_named(cli: Cli, arguments: tuple[str, ...], named: str) -> None:
    (cli.folder / "cluster.toml").write_text(CLUSTER)
    (cli.folder / "machine.xml").write_text(ONE_SOCKET)
    before = cli.entries()
    done = cli(*arguments, **limit_files(100))
    assert (done.returncode, done.stderr) == (2, f"error[file-access]: {named}: File too large\n"), done
    assert cli.entries() == before


def test_a_plot_is_whole_or_not_there(cli: Cli) -> None:
    path = cli.run("--series", "1us")
    before = cli.entries()
    done = cli("plot", path, **limit_files(1000))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"error[file-access]: {path}/plots/domains.png: File too large"
    assert set(cli.entries()) - set(before) == {path / "plots"}


def test_a_checkpoint_that_cannot_be_written_leaves_the_older_one(cli: Cli) -> None:
    cli.run(*CHECKPOINT, "state")
    older = (cli.folder / "state").read_bytes()
    done = cli("run", cli.file, "--out", "again", *CHECKPOINT, "state", **limit_files(len(older) - 1))
    assert done.returncode == 2
    assert done.stderr in ("error[file-access]: state: File too large\n", "error[file-access]: again: File too large\n")
    assert (cli.folder / "state").read_bytes() == older


def test_a_sweep_on_a_full_disk_names_its_directory_and_can_be_continued(cli: Cli) -> None:
    sweep = ("sweep", "quadrant.toml", "--over", "core.lfb.entries=6,12", "--engine", "predict", "--out", "swept")
    done = cli(*sweep, **limit_files(4000))
    assert done.returncode == 2
    assert done.stderr.startswith("error[file-access]: swept")
    assert done.stderr.endswith(": File too large\n")
    assert cli(*sweep, "--resume").returncode == 0
    assert read_json(cli.folder / "swept" / "sweep.json")["points"] == 2
