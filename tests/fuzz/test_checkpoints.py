"""Damaged checkpoints are refused. Forged ones may stop a run, exhaust it or never end, but cause no defect."""

from __future__ import annotations

import re
import signal
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_checkpoints import forge
from tests.fuzz.support import ALLOWED, Hostile, examples, mutated
from tests.support import QUADRANT, Cli

if sys.platform == "win32":
    pytest.skip("needs limits of processes", allow_module_level=True)

import resource

MEMORY_MAX = 4 << 30
SECONDS_MAX = 10
"""Maximum time of a run from a forged checkpoint, in seconds."""

ENDED = (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGABRT)
"""Exit status of a run that takes longer."""

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

TEXTS = {"server": QUADRANT, "cluster": CLUSTER}


def state_of(cli: Cli, kind: str) -> bytes:
    (cli.folder / "x.toml").write_text(TEXTS[kind])
    done = cli("run", "x.toml", "--checkpoint-at", "8 us", "--checkpoint", "state", "--quiet")
    assert done.returncode == 0, done
    return (cli.folder / "state").read_bytes()


@pytest.mark.parametrize("kind", TEXTS)
def test_damaged_checkpoints_are_refused(cli: Cli, hostile: Hostile, kind: str) -> None:
    content = state_of(cli, kind)

    @examples(10)
    @given(mutated(content).filter(lambda changed: changed != content))
    def holds(changed: bytes) -> None:
        hostile.empty()
        hostile.write("x.toml", TEXTS[kind])
        hostile.write("state", changed)
        outcome = hostile("run", "x.toml", "--from", "state")
        assert (outcome.code, bool(re.match(r"error\[[a-z-]+\]: state: ", outcome.errors))) == (2, True), outcome

    holds()


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@pytest.mark.parametrize("kind", TEXTS)
def test_forged_checkpoints_are_no_defect(cli: Cli, kind: str) -> None:
    content = state_of(cli, kind)
    body = len(content) - content.index(b"\x00", 16)

    @examples(3)
    @given(st.integers(0, body // 2), st.integers(0, 255))
    def holds(place: int, value: int) -> None:
        (cli.folder / "forged").write_bytes(forge(content, place, value))
        done = cli("run", "x.toml", "--from", "forged", "--quiet", preexec_fn=limited)
        assert done.returncode in (*ALLOWED, *ENDED), done
        assert "defect of hostnet" not in done.stderr, done

    holds()
