"""Shared by tests of several processes: a cluster in a folder, and the processes that run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent

CLUSTER = """
[host.e]
kind = "endpoint"
count = 14
[host.s]
preset = "cascade-lake-hostcc"
at = "leaf-1"
[host.s.workload.mapp]
kind = "remote"
sockets = "0"
reads = 0.5
[network]
topology = "leaf-spine"
leaves = 4
spines = 2
mtu = "4096 B"
switch.ecn = "20 packets"
[flow.up]
kind = "bulk"
from = "e"
to = "s"
transport = "dctcp"
[flow.between]
kind = "bulk"
from = "e"
to = "e"
pairs = "permutation"
[run]
warmup = "30 us"
duration = "150 us"
"""


class Folder:
    """A folder with the cluster, in which commands run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "cluster.toml").write_text(CLUSTER)

    def command(self, ranks: int, *arguments: str) -> list[str]:
        """Returns the command line of `hostnet ARGUMENTS` in a number of processes."""
        launcher = [] if ranks == 1 else [str(BIN / "mpirun"), "-n", str(ranks)]
        return [*launcher, str(BIN / "hostnet"), *arguments]

    def run(self, ranks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command until it ends."""
        command = self.command(ranks, *arguments)
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=False, timeout=300)

    def found(self, ranks: int, out: str, *arguments: str, file: str = "cluster.toml") -> dict[str, bytes]:
        """Returns the results of a run: the content of every file of its folder except the manifest."""
        done = self.run(ranks, "run", file, "--out", out, "-q", *arguments)
        assert done.returncode == 0, done.stderr
        names = [path for path in (self.path / out).rglob("*") if path.is_file() and path.name != "manifest.json"]
        return {str(path.relative_to(self.path / out)): path.read_bytes() for path in names}


def processes_of(folder: Path) -> list[int]:
    """Returns the processes of hostnet whose working directory is a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            mine = entry.name.isdigit() and (entry / "cwd").resolve() == folder.resolve()
            if mine and b"hostnet" in (entry / "cmdline").read_bytes().partition(b"\0run\0")[0].rpartition(b"\0")[2]:
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(found)
