"""Every option of every command with invalid values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hostnet.cli.app import COMMANDS
from tests.docs.reference import ROOT
from tests.fuzz.support import Hostile
from tests.fuzz.test_command_lines import commands_of
from tests.hwloc.machines import GIB, MIB, machine, package
from tests.support import QUADRANT, Complaint, assert_tells, complaint_of

NEEDS = {
    "--trace-window": ["--trace"],
    "--host": ["--trace"],
    "--checkpoint-at": ["--checkpoint", "new"],
    "--counters-interval": ["--counters", "perf"],
    "--counters-out": ["--counters", "perf"],
    "--interval-ms": ["--command"],
}
"""Arguments that an option needs to apply."""

OF_COMMAND = {
    ("explain", "--host"): [],
    ("explain", "--server"): [],
    ("whatif", "--host"): [],
    ("calibrate", "--data"): [],
    ("new", "--preset"): ["--chip"],
    ("memory run", "--format"): ["x.toml"],
    ("sweep", "--set"): ["--over", "core.lfb.entries=4,8"],
    **{("filter", name): ["--l1", "32KiB,8"] for name in ("--replacement", "--format", "--output", "--output-format")},
}
"""Arguments as in `NEEDS`, for one command."""

ABOUT = {
    "validate": ["netsdm"],
    "new": ["new.toml"],
    "counters events": ["cascade-lake"],
    "whatif": ["cluster.toml"],
    "chakra": ["job.toml"],
    "import": ["machine.xml"],
}
"""Arguments of each command; `x.toml` for others that take one."""

OTHERS = {
    "cluster.toml": (ROOT / "examples/allreduce-one-of-many.toml").read_text(encoding="utf-8"),
    "job.toml": (ROOT / "examples/allreduce.toml").read_text(encoding="utf-8"),
    "machine.xml": machine(package(0, "Intel(R) Xeon(R) Gold 6234 CPU @ 3.30GHz", 8, [GIB], 24 * MIB)),
}

PATHS = {"DIR", "FILE", "PATH", "DIR/NAME"}
"""Metavars of options that name a path: one below a file is invalid."""

ALL = {
    (words, parameter.opts[0]): (command, parameter)
    for name in COMMANDS
    for words, command in commands_of(name).items()
    for parameter in command.params
    if parameter.param_type_name == "option" and not parameter.is_flag and parameter.opts[0] != "--dask"
}
KINDS = {"int": int, "float": float}
NUMBERS = [key for key, (_, parameter) in ALL.items() if parameter.type.name in KINDS]


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    """Returns a folder for invalid words."""
    return Hostile(tmp_path)


def line(words: str, option: str, value: str) -> list[str]:
    """Returns a valid command line except for the value of one option."""
    command, _ = ALL[words, option]
    wanted = any(parameter.param_type_name == "argument" and parameter.required for parameter in command.params)
    about = ABOUT.get(words, ["x.toml"] if wanted else [])
    if words == "compare":
        about *= 2
    needs = OF_COMMAND.get((words, option), NEEDS.get(option, []))
    required = [
        word
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.required and parameter.opts[0] != option
        for word in (parameter.opts[0], "x.toml")
    ]
    return [*words.split(), *about, *needs, *required, option, value]


def refused(hostile: Hostile, arguments: list[str]) -> Complaint:
    """Returns the error of the command, which must refuse the line."""
    hostile.empty()
    for name, text in {"x.toml": QUADRANT, **OTHERS}.items():
        hostile.write(name, text)
    outcome = hostile(*arguments)
    assert (outcome.code, outcome.output) == (2, ""), outcome
    assert not any(word in outcome.errors for word in ("pydantic", "Input should", "Invalid value", "unable to parse"))
    return complaint_of(outcome.errors)


@pytest.mark.parametrize(("words", "option"), ALL, ids=lambda text: text)
def test_a_wrong_value_is_refused(hostile: Hostile, words: str, option: str) -> None:
    value = "x.toml/below" if ALL[words, option][1].metavar in PATHS else "§x"
    said = refused(hostile, line(words, option, value))
    assert option.removeprefix("--") in said or value in said, said


@pytest.mark.parametrize(("words", "option"), NUMBERS, ids=lambda text: text)
def test_what_is_no_number_is_told_with_the_option_and_what_it_wants(hostile: Hostile, words: str, option: str) -> None:
    kind = KINDS[ALL[words, option][1].type.name]

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.text("abc,:+*° ", min_size=1, max_size=8).filter(str.strip))
    @example("" if kind is int else "one")
    @example("1.5" if kind is int else "1,5")
    def holds(value: str) -> None:
        rule = "must be a whole number" if kind is int else "must be a number"
        assert_tells(refused(hostile, line(words, option, value)), f"usage | {option} | {value or repr('')} | {rule}")

    holds()
