"""Options of commands that simulate a part alone: their settings, and parsers of their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.running.ranges import SEED_MAX, SEED_RULE
from hostnet.running.settings import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from hostnet.running.settings import Value

    Plan = TypeVar("Plan")
    Reader = Callable[[Any, str], Value]

COUNT_MAX = 10**12
"""Largest count that is parsed; keys may have lower limits."""

_COUNT = re.compile(r"(\d+(?:\.\d+)?(?:[eE]\+?\d{1,2})?)\s*([kKMGT]?)")
_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Setting:
    """A value of a key, and the option that gave it."""

    key: str
    value: Value
    shown: str
    implied: bool = False
    """True if the value follows from an option that is about another key."""

    @property
    def text(self) -> str:
        """Assignment in the syntax of configurations."""
        return setting(self.key, self.value)


class PartOptions:
    """Options of a command that simulates a part alone."""

    config: Path | None

    def _given(self, key: str, name: str, read: Reader) -> Iterator[Setting]:
        """Yields the setting of an option, if given."""
        value = getattr(self, name)
        if value is not None:
            shown = shorten(str(value)) if name == "trace" else f"{option_name(name)} {shorten(str(value))}"
            yield Setting(key, read(value, shown), shown)

    def _trace_path(self, path: Path, shown: str) -> str:
        """Returns an absolute path if there is a configuration, whose paths are relative to its own folder."""
        return parse_text(str(path if self.config is None else path.absolute()), shown)


def resolve_with_options(
    plan_of: Callable[[list[str], Path | None], Plan],
    settings: list[Setting],
    overrides: tuple[str, ...],
    config: Path | None,
) -> Plan:
    """Resolves settings and assignments, on top of a configuration file if one is given.

    Raises:
        ConfigError: A setting is invalid; the message names the option.
    """
    try:
        return plan_of([*(entry.text for entry in settings), *overrides], config)
    except ConfigError as error:
        raise error.reworded(reword_for_options(str(error), settings, overrides)) from None


def reword_for_options(message: str, settings: list[Setting], overrides: tuple[str, ...]) -> str:
    """Rewrites an error about a setting in terms of the option that the user gave."""
    if any(message.startswith(f"--set {text}: ") for text in overrides):
        return message
    for entry in settings:
        before, found, rest = message.partition(f": {entry.key}: ")
        if found and before.startswith("--set "):
            return f"{entry.shown}: {entry.key}: {rest}"
    return message


def parse_text(value: str, shown: str) -> str:
    """Checks that a text is printable and not empty."""
    if not value.isprintable() or not value:
        raise ConfigError("malformed-value", f"{shown}: is empty or has characters that cannot be printed")
    return value


def parse_count(value: str, shown: str) -> int:
    """Parses a count such as 250000, 250k, 1M or 1e6.

    Raises:
        ConfigError: The text is not such a count.
    """
    match = _COUNT.fullmatch(value.strip())
    number = Decimal(match[1]) * _SCALES[match[2]] if match is not None else None
    if number is None or number > COUNT_MAX or number != int(number):
        raise ConfigError(
            "malformed-value", f"{shown}: must be a whole number up to 10^12, such as 250000, 250k, 1M or 1e6"
        )
    return int(number)


def parse_seed(value: str, shown: str) -> int:
    """Parses a seed.

    Raises:
        ConfigError: The text is not a seed.
    """
    if not re.fullmatch(r"\d{1,20}", value, re.ASCII) or int(value) > SEED_MAX:
        raise ConfigError("out-of-range", f"{shown}: {SEED_RULE}")
    return int(value)


def parse_share(value: str, shown: str) -> float:
    """Parses a fraction such as 0.5, 50 % or 50%.

    Raises:
        ConfigError: The text is not a number.
    """
    stripped = value.strip()
    try:
        number = Decimal(stripped.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ConfigError("malformed-value", f"{shown}: must be a share such as 0.5 or 50 %")
    return float(number / 100 if stripped.endswith("%") else number)


def name_hint(name: str, known: list[str]) -> str:
    """Returns the end of an error message about an unknown name."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(known)}"


def option_name(name: str) -> str:
    """Returns the option of a field."""
    return "--" + name.replace("_", "-")


def shorten(value: str) -> str:
    """Shortens a value of the user for a message."""
    shown = value if value.isprintable() else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
