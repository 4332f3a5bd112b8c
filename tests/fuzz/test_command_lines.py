"""Any command line is executed or refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.cli.app import COMMANDS, load
from tests.fuzz.support import HOSTILE, SHORT, Hostile, examples
from tests.support import QUADRANT

LEFT_OUT = ("demo", "validate")
"""Commands left out, because no option shortens their simulations."""

GROUPS = ("memory", "counters")

NAMES = ["x.toml", "missing", ".", "runs", "sub/new", "new", "/dev/null", "x.toml/below", "cascade-lake-6234"]
VALUES = [
    "core.lfb.entries=6,12",
    "run.seed=1..3",
    "perf",
    "pcm",
    "predict",
    "100,50",
    "4KiB,4",
    "0.5",
    "10 us",
    "redis",
]

WORDS = st.sampled_from([*NAMES, *VALUES, *HOSTILE]).filter(lambda word: "\0" not in word)


def commands_of(name: str) -> dict[str, Any]:
    """Yields a command, or those of a group, by the words that name them."""
    command = load(name)
    inner = getattr(command, "commands", None)
    return {name: command} if inner is None else {f"{name} {word}": one for word, one in inner.items()}


ALL = {words: one for name in COMMANDS if name not in LEFT_OUT for words, one in commands_of(name).items()}


def options_of(command: Any) -> list[tuple[str, bool]]:
    """Returns the options of a command, each with true if it takes a value."""
    return [
        (parameter.opts[0], not parameter.is_flag)
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.opts[0] != "--dask"
    ]


@st.composite
def lines(draw: st.DrawFn, command: Any) -> list[str]:
    """Draws words for a command, most of them options that it has."""
    words = [draw(st.just("x.toml") | WORDS) for _ in range(draw(st.integers(0, 2)))]
    known = options_of(command)
    for _ in range(draw(st.integers(0, 5)) if known else 0):
        option, wants = draw(st.sampled_from(known))
        words += [option, *([draw(WORDS)] if wants else [])]
    return words


@pytest.mark.parametrize("words", ALL)
def test_any_words_are_done_or_refused(hostile: Hostile, words: str) -> None:
    command = ALL[words]
    short = SHORT if any(option == "--set" for option, _ in options_of(command)) else ()

    @examples(8)
    @given(lines(command))
    def holds(line: list[str]) -> None:
        hostile.empty()
        hostile.write("x.toml", QUADRANT)
        hostile(*words.split(), *line, *short)

    holds()
