"""Every code of the error table is raised, and no other code."""

from __future__ import annotations

import ast
import pickle
import re
import sys
from collections.abc import Iterator

import pytest

import hostnet
from hostnet import _core
from hostnet.cli.checkpoint import MAGIC
from hostnet.cli.main import classify_error
from hostnet.sweeps.job import ClusterError
from tests.docs.reference import ROOT
from tests.support import QUADRANT, Cli, complaint_of

CODES = [code for code, _, _ in _core.error_table()]

FILE = "quadrant.toml"

ENDS = '[host.a]\nkind = "endpoint"\n[host.b]\nkind = "endpoint"\n'
FLOW = '[flow.f]\nkind = "bulk"\nfrom = "a"\nto = "b"\n'
CABLED = "".join(f'[cable.{at}]\nends = ["{at}", "{to}"]\n' for at, to in (("a", "one"), ("b", "two")))

FILES = {
    "broken.toml": "[server\n",
    "above.toml": 'preset = "cascade-lake-6234"\n',
    "empty.toml": '[server]\npreset = "cascade-lake-6234"\n',
    "ends.toml": ENDS + FLOW,
    "apart.toml": ENDS + FLOW + "[switch.one]\n[switch.two]\n" + CABLED,
    "server.toml": '[host.s]\npreset = "cascade-lake-hostcc"\n' + ENDS + FLOW,
    "pool.toml": '[host.s]\npreset = "cascade-lake-hostcc"\npool = {}\n'
    '[host.t]\npreset = "cascade-lake-hostcc"\npool.page = "8 KiB"\n' + ENDS + FLOW,
    "waits.toml": ENDS + '[job.j]\nkind = "program"\nhosts = ["a", "b"]\n'
    'steps = [{ rank = 0, from = 1, receive = "1 B" }]\n[run]\nuntil = "jobs"\n',
    "bad.lackey": "what\n",
    "fast.csv": "cores,GB/s\n4,31000\n",
}


def run(*settings: str, file: str = FILE) -> tuple[str, ...]:
    """Returns the command line of a run with some settings."""
    return ("run", file, *(word for setting in settings for word in ("--set", setting)))


WRONG: dict[str, tuple[str, ...]] = {
    "syntax": run(file="broken.toml"),
    "unknown-key": run("memory.chanels=4"),
    "misplaced-key": run(file="above.toml"),
    "missing-key": run(file="empty.toml"),
    "requires-key": (*run(), "--trace-window", "1 us"),
    "no-effect": run("run.duration_max=1 ms"),
    "conflicting-keys": (*run(), "--json", "--quiet"),
    "wrong-type": run("memory.channels=true"),
    "bad-unit": run("run.duration='10'"),
    "malformed-value": run("workload.stream.cores=x"),
    "unknown-name": run("server.preset=cascade-like"),
    "does-not-exist": run("workload.stream.cores=0-99"),
    "out-of-range": run("memory.channels=0"),
    "not-a-multiple": run("memory.dram.rows=1000"),
    "wrong-count": run("ssd.sockets=[0, 0]"),
    "duplicate": run("workload.stream.cores='0,0'"),
    "wrong-order": run("memory.controller.write_low=4095"),
    "must-agree": run(file="pool.toml"),
    "bad-distribution": run('flow.f.sizes=[{bytes="2 B",share=0.5},{bytes="1 B",share=1}]', file="ends.toml"),
    "bad-address-map": run("memory.map=bg2 co6 ba2 ra1 ro16"),
    "too-many": ("sweep", FILE, "--over", "run.seed=1..100000000"),
    "too-large": run("run.memory=1 MiB"),
    "out-of-memory-space": run("memory.size=64 GiB"),
    "does-not-fit": run("workload.stream.pattern=strided", "workload.stream.stride=2 GiB"),
    "core-taken": run(
        "workload.disk.cores='7'",
        "workload.more={kind='fio',cores='7',jobs=[{rw='read',bs='4 KiB',iodepth=1,size='1 MiB',ssd=1}]}",
    ),
    "too-many-cores": run("workload.stream.cores='0-7'"),
    "too-few-slots": run("ssd.count=17"),
    "unreachable": run(file="apart.toml"),
    "bad-cabling": run("switch.tro.buffer=1 MB", file="ends.toml"),
    "sends-in-circle": run("flow.f.to=a", file="ends.toml"),
    "deadlock": run(file="waits.toml"),
    "wrong-host-kind": run("flow.f.sendfile=local", file="ends.toml"),
    "needs-line-fidelity": run("host.s.fidelity=burst", "host.s.energy={}", file="server.toml"),
    "not-supported": ("predict", FILE, "--set", "cache.enabled=true"),
    "nothing-to-do": run("run.until=jobs"),
    "wrong-kind": (*run(), "--pcap", "x.pcap"),
    "malformed-file": ("filter", "bad.lackey", "--l1", "64B,1"),
    "file-not-found": run(file="none.toml"),
    "file-access": (*run(), "--out", "."),
    "implausible-data": ("calibrate", "cascade-lake-6234", "--data", "fast.csv", "--fit", "cha.from_mc"),
    "bad-checkpoint": (*run(), "--from", FILE),
    "other-version": (*run(), "--from", "other.ckpt"),
    "other-configuration": (*run("run.seed=8"), "--from", "right.ckpt"),
    "usage": (*run(), "--colour"),
}
"""Command line that fails with each code, given the files above."""

ELSEWHERE = {"cluster-failed", "defect", "missing-package", "stuck"}
"""Codes that no input alone triggers; separate tests below cover them."""


def test_every_code_has_an_input() -> None:
    assert {*WRONG, *ELSEWHERE} == set(CODES)
    assert len(set(CODES)) == len(CODES)


@pytest.mark.parametrize("code", WRONG)
def test_an_input_that_breaks_a_rule_has_its_code(cli: Cli, code: str) -> None:
    for name, text in FILES.items():
        (cli.folder / name).write_text(text, "utf-8")
    if code in ("other-version", "other-configuration"):
        assert cli(*run(), "--checkpoint", "right.ckpt", "--checkpoint-at", "1us", "--quiet").returncode == 0
        content = (cli.folder / "right.ckpt").read_bytes()
        (cli.folder / "other.ckpt").write_bytes(MAGIC + b"\x7f" + content[len(MAGIC) + 1 :])
    done = cli(*WRONG[code])
    assert (complaint_of(done.stderr).code, done.returncode) == (code, 2), done


def test_a_run_that_is_stuck_has_its_exit_code() -> None:
    # crates/sim/tests builds a machine that is stuck, and checks its code.
    found = classify_error(hostnet.SimulationError("stuck", "nothing has moved"))
    assert (found.exit_code, found.line) == (1, "error[stuck]: nothing has moved")


def test_a_defect_is_none_of_the_users() -> None:
    found = classify_error(KeyError("x"))
    assert (found.exit_code, found.code) == (70, "defect")


def test_a_package_that_is_missing_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(hostnet.ConfigError) as found:
        hostnet.sweep(cli.folder / FILE, {"iio.write_credits": [1, 2]}, dask="tcp://127.0.0.1:1")
    assert found.value.code == "missing-package"


def test_a_cluster_that_does_not_answer_has_its_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("hostnet.sweeps.remote.TIMEOUT_S", 0.1)
    with pytest.raises(ClusterError) as found:
        hostnet.sweep(cli.folder / FILE, {"iio.write_credits": [1, 2]}, dask="tcp://127.0.0.1:1")
    assert classify_error(found.value).code == found.value.code == "cluster-failed"


def test_errors_have_their_place_and_keep_it(cli: Cli) -> None:
    with pytest.raises(hostnet.ConfigError) as found:
        hostnet.run(cli.file, overrides=["memory.chanels=4"])
    error = found.value
    place = ("unknown-key", "--set memory.chanels=4", None, "memory.chanels")
    assert (error.code, error.file, error.line, error.path) == place
    (cli.folder / FILE).write_text(QUADRANT.replace("cores =", "core ="))
    with pytest.raises(hostnet.ConfigError) as found:
        hostnet.run(cli.file)
    assert isinstance(found.value, ValueError)
    assert (found.value.file, found.value.line, found.value.path) == (str(cli.file), 12, "workload.stream.core")
    for other in (pickle.loads(pickle.dumps(error)), error.reworded(str(error))):
        assert (type(other), str(other), other.__dict__) == (type(error), str(error), error.__dict__)


KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")
PASS_ON = {"error_at", "fail", "_error", "error_line", "Verdict", "__init__"}
"""Functions and classes that take a code among other texts."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Parses the modules of hostnet."""
    for file in sorted((ROOT / "python/hostnet").rglob("*.py")):
        yield str(file.relative_to(ROOT)), ast.parse(file.read_text("utf-8"))


def errors_with_codes() -> set[str]:
    """Returns the names of all exceptions whose first argument is a code."""
    found = {"CodedError"}
    classes = [node for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _ in range(3):
        found |= {one.name for one in classes if found & {ast.unparse(base).split(".")[-1] for base in one.bases}}
    own = {one.name for one in classes for inner in one.body if getattr(inner, "name", "") == "__init__"}
    return found - own


def test_whatever_python_raises_has_a_code_of_the_table() -> None:
    exceptions, wrong, raised = errors_with_codes(), [], 0
    assert {"ConfigError", "DataError", "LedgerError", "ClusterError", "TopologyError"} <= exceptions
    for name, tree in trees():
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            called = ast.unparse(call.func).split(".")[-1]
            texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if called in exceptions:
                raised += 1
                first = ast.unparse(call.args[0])
                if (texts[0] if texts and repr(texts[0]) == first else first) not in (*CODES, "code"):
                    wrong.append((name, call.lineno, first))
            elif called in PASS_ON:
                wrong += [(name, call.lineno, text) for text in texts if KEBAB.fullmatch(text) and text not in CODES]
    assert wrong == []
    assert raised > 250
