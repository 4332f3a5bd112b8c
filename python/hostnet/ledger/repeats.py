"""Repeats runs of a cluster with other threads or processes, and compares the results."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hostnet.ledger.errors import LedgerError
from hostnet.running.simulate import run_plan

if TYPE_CHECKING:
    from hostnet.running.results import Results


def repeated(results: Results, way: str) -> dict[str, Any]:
    """Repeats a run in another way ("2 threads", "2 processes").

    Returns:
        A dict of the way, and whether the results are the same; for processes also the rate of exchanges. Only the way
            if it
        is not available: processes require the extra `mpi`.
    """
    count, _, kind = way.partition(" ")
    if kind == "threads":
        again = run_plan(results.plan, results.source, threads=int(count))
        same = again.result_hash == results.result_hash and again.rows("epochs") == results.rows("epochs")
        return {"way": way, "same": same}
    if kind != "processes":
        raise LedgerError("malformed-file", f'again: {way!r} is no way to run; "2 threads" and "2 processes" are')
    if importlib.util.find_spec("mpi4py") is None:
        return {"way": way}
    with TemporaryDirectory(prefix="hostnet-") as folder:
        return {"way": way, **_in_processes(results, int(count), Path(folder))}


def _in_processes(results: Results, ranks: int, folder: Path) -> dict[str, Any]:
    """Repeats a run in several processes."""
    (folder / "cluster.json").write_text(results.source.text, encoding="utf-8")
    command = [sys.executable, "-c", "from hostnet.cli import main; main()", "run", str(folder / "cluster.json")]
    arguments = ["--processes", str(ranks), "--out", str(folder / "out"), "-q"]
    done = subprocess.run(
        [*command, *arguments], cwd=results.source.base_dir, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LedgerError(
            "cluster-failed", f"the run of {results.plan.name} in {ranks} processes failed: {done.stderr.strip()}"
        )
    manifest = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    return {
        "same": manifest["result_hash"] == results.result_hash,
        "meetings_per_ms": manifest["shares"]["meetings"] / manifest["simulated_ns"] * 1e6,
        "wall_time_s": manifest["wall_time_s"],
    }
