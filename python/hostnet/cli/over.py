"""`--over` of the commands that simulate a part alone: combinations of values, and what a wrong one is told."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.cli.options import cut
from hostnet.sweeps.grid import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hostnet.cli.options import Setting
    from hostnet.sweeps.axis import Axis

    Choice = tuple[int, ...]


def check_set_once(settings: Iterable[Setting], overrides: Sequence[str], axes: Sequence[Axis]) -> None:
    """Refuses values of what an option or an assignment sets too, but for those that an option only implies."""
    given = {entry.key: entry.shown for entry in settings if not entry.implied}
    given |= {path_of(assignment): f"--set {cut(assignment)}" for assignment in overrides}
    for axis in axes:
        if axis.path in given:
            raise ConfigError(
                "conflicting-keys", f"{given[axis.path]}: is swept with --over {axis.path}; leave one of them out"
            )


def choices(axes: Sequence[Axis]) -> Iterator[Choice]:
    """Which value of each axis a combination has: the first axis varies slowest."""
    return product(*(range(len(axis.values)) for axis in axes))


def settings_of(axes: Sequence[Axis], choice: Choice) -> tuple[str, ...]:
    """The assignments of a combination."""
    return tuple(axis.setting(index) for axis, index in zip(axes, choice, strict=True))


def blame(settings: tuple[str, ...], message: str) -> str:
    """An error in the words of `--over`: the assignments of a combination were not written with --set."""
    for setting in settings:
        head = f"--set {setting}:"
        if message.startswith(head):
            where = f" (in {', '.join(map(cut, settings))})" if len(settings) > 1 else ""
            return f"--over {setting}:{message.removeprefix(head)}{where}"
    return message
