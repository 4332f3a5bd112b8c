"""Any configuration is run or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import _core
from tests.api.test_swarm import LEAVES
from tests.fuzz.support import SHORT, Hostile, examples, mutated_lines
from tests.support import QUADRANT

TEXTS = {
    "quadrant": QUADRANT,
    "template": _core.template(),
    "app": _core.app_template("redis", alone=False),
    **{name: _core.cluster_template(name) for name in _core.cluster_templates()},
}
"""Texts that are mutated."""

OPTIONS = ((), ("--series", "1us"), ("--json",), ("--csv", "--quiet"), ("--counters", "perf"), ("--trace",))


@pytest.mark.parametrize("name", TEXTS)
def test_changed_configurations_are_run_or_refused(hostile: Hostile, name: str) -> None:
    @examples(4)
    @given(mutated_lines(TEXTS[name]), st.sampled_from(OPTIONS))
    def holds(text: str, options: tuple[str, ...]) -> None:
        hostile.empty()
        hostile.write("x.toml", text)
        hostile("run", "x.toml", *SHORT, *options)

    holds()


@pytest.mark.parametrize(
    "command", [("explain",), ("curve", "--engine", "predict"), ("predict",), ("filter", "t", "--preset")], ids=" ".join
)
def test_every_command_takes_or_refuses_changed_servers(hostile: Hostile, command: tuple[str, ...]) -> None:
    @examples(3)
    @given(mutated_lines(QUADRANT.replace('"20 us"', '"3 us"').replace('"5 us"', '"1 us"')))
    def holds(text: str) -> None:
        hostile.empty()
        hostile.write("x.toml", text)
        hostile.write("t", " L 0,8\n S 40,8\n")
        hostile(*command, "x.toml") if command[0] == "filter" else hostile(command[0], "x.toml", *command[1:])

    holds()


OVERRIDE = st.sampled_from(sorted(LEAVES)).flatmap(
    lambda path: st.sampled_from([f"{path}={value}" for value in LEAVES[path]])
)


@pytest.mark.parametrize("command", ["run", "predict"])
def test_legal_extremes_are_run_or_refused(hostile: Hostile, command: str) -> None:
    @examples(5)
    @given(st.lists(OVERRIDE, max_size=4))
    def holds(overrides: list[str]) -> None:
        hostile.empty()
        hostile.write("x.toml", QUADRANT)
        hostile(command, "x.toml", *SHORT, *(word for override in overrides for word in ("--set", override)))

    holds()
