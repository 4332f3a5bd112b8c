"""Values of the table as text and as numbers, and the assumed profile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.presets import PROBE

if TYPE_CHECKING:
    from hostnet.sysfs.tree import CoreProperties


@dataclass(frozen=True)
class Profile:
    """Assumed power profile of a machine."""

    name: str
    power: dict[str, Any]

    @property
    def volts(self) -> tuple[Fraction, Fraction]:
        """Lowest and highest voltage, in V."""
        ends = (self.power["pstates"][end] for end in ("from", "to"))
        low, high = (volts_of(text.partition("@")[2]) for text in ends)
        return low, high


def profile() -> Profile:
    """Returns the default profile of servers."""
    plan = _core.resolve('server.preset = "cascade-lake-6234"\npower = {}', overrides=[PROBE])
    power = json.loads(plan.effective_json())["power"]
    return Profile(power["profile"], power)


def volts_of(text: str) -> Fraction:
    """Parses a voltage in the format of the simulator; returns V."""
    number, unit = text.split()
    return Fraction(number) * {"uV": Fraction(1, 10**6), "mV": Fraction(1, 1000), "V": Fraction(1)}[unit]


def toml(value: Any) -> str:
    """Formats a value as TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


def _decimal(value: int, places: int) -> str:
    """Formats `value` times 10^-places."""
    whole, rest = divmod(value, 10**places)
    return f"{whole}.{rest:0{places}}".rstrip("0").rstrip(".")


def ghz(khz: int) -> str:
    """Formats a frequency for a configuration."""
    return f"{_decimal(khz, 6)} GHz"


def volts_at(khz: int, ends: tuple[int, int], known: Profile) -> str:
    """Returns the assumed voltage at a frequency, interpolated linearly between the lowest and the highest."""
    (first, last), (low, high) = ends, known.volts
    share = Fraction(khz - first, last - first) if last > first else Fraction(1)
    share = min(max(share, Fraction(0)), Fraction(1))
    return f"{_decimal(round((low + share * (high - low)) * 10**4), 4)} V"


def frequency_range(cores: CoreProperties) -> tuple[int, int] | None:
    """Returns the lowest and highest frequency of the table, in kHz."""
    return (cores.listed_khz[0], cores.listed_khz[-1]) if cores.listed_khz else cores.ends_khz
