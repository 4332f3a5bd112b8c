"""The examples of the page about faults do what it says."""

from __future__ import annotations

import json
import re

from tests.docs.reference import ROOT
from tests.support import Cli

EXAMPLES = re.findall(r"^```toml\n(.*?)^```", (ROOT / "docs/faults.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_each_fault_is_named_as_what_limits_its_class(cli: Cli) -> None:
    (cli.folder / "faults.toml").write_text(EXAMPLES[0], "utf-8")
    done = cli("run", "faults.toml", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    limits = {row["class"]: row["limit"] for row in summary["limits"]}
    assert limits["flaps"] == "cable down"
    assert limits["deaf"] == "deaf receiver"
    classes = {row["class"]: row for row in summary["classes"]}
    assert classes["flaps"]["fabric_dropped"] > 0
    assert classes["damaged"]["fabric_dropped"] > 0
    assert classes["deaf"]["fabric_dropped"] == 0


def test_a_deadlock_ends_the_run_with_the_ports_of_its_cycle(cli: Cli) -> None:
    (cli.folder / "ring.toml").write_text(EXAMPLES[1], "utf-8")
    done = cli("run", "ring.toml")
    assert done.returncode == 1
    assert done.stderr.startswith("error[deadlock]: deadlock at ")
    assert all(f"s{index} port " in done.stderr for index in range(3))
    assert not (cli.folder / "runs").exists()
