"""`--over` of commands that simulate a part alone: combinations of values, and errors about them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.cli.options import shorten
from hostnet.sweeps.grid import key_of_assignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hostnet.cli.options import Setting
    from hostnet.sweeps.axis import Axis

    Choice = tuple[int, ...]


def check_set_once(settings: Iterable[Setting], overrides: Sequence[str], axes: Sequence[Axis]) -> None:
    """Rejects axes over keys that an option or an assignment sets, unless the option only implies them."""
    given = {entry.key: entry.shown for entry in settings if not entry.implied}
    given |= {key_of_assignment(assignment): f"--set {shorten(assignment)}" for assignment in overrides}
    for axis in axes:
        if axis.path in given:
            raise ConfigError(
                "conflicting-keys", f"{given[axis.path]}: is swept with --over {axis.path}; leave one of them out"
            )


def combinations(axes: Sequence[Axis]) -> Iterator[Choice]:
    """Yields the value index on each axis, for every combination; the first axis varies slowest."""
    return product(*(range(len(axis.values)) for axis in axes))


def combination_settings(axes: Sequence[Axis], choice: Choice) -> tuple[str, ...]:
    """Returns the assignments of a combination."""
    return tuple(axis.setting(index) for axis, index in zip(axes, choice, strict=True))


def reword_for_over(settings: tuple[str, ...], message: str) -> str:
    """Rewrites an error about an assignment of a combination in terms of `--over`."""
    for setting in settings:
        head = f"--set {setting}:"
        if message.startswith(head):
            where = f" (in {', '.join(map(shorten, settings))})" if len(settings) > 1 else ""
            return f"--over {setting}:{message.removeprefix(head)}{where}"
    return message
