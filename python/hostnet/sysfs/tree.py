"""What Linux knows of the cores of a machine, read from a tree such as /sys/devices/system/cpu."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

BYTES_MAX = 1 << 16
"""The longest file of such a tree."""

STATES_MAX = 32
"""The most states that are read."""

CORES_MAX = 1024
"""The most cores that are compared with the first."""

FREQUENCIES_MAX = 64
"""The most frequencies of a table."""

KHZ = range(10_000, 10_000_001)
"""Frequencies that can be simulated."""

EXIT_US = range(1_000_001)
RESIDENCY_US = range(10_000_001)
"""Times that can be simulated."""

TUNABLES = {"sampling_rate": range(1, 10_000_001), "up_threshold": range(1, 101), "down_threshold": range(100),
            "freq_step": range(1, 101)}  # fmt: skip
"""What is read of the governor's own folder, with its range; the first in us."""


@dataclass(frozen=True)
class State:
    """A state that an idle core may sleep in."""

    place: str
    """Its folder in the tree."""
    name: str
    exit_us: int
    residency_us: int
    disabled: bool


@dataclass(frozen=True)
class Cores:
    """What the cores of a machine can do, as far as the tree tells; those of the first alone are read."""

    folder: str
    """The folder that the frequencies stand in; "" for none."""
    listed_khz: tuple[int, ...]
    """The frequencies, ascending; () if they are not listed."""
    ends_khz: tuple[int, int] | None
    """The lowest and the highest."""
    limits_khz: tuple[int, int] | None
    """The frequencies that the governor may choose from; None if not known."""
    driver: str
    governor: str
    """"" if it is not told."""
    preference: str
    """The energy performance preference (EPP) of a driver in active mode; "" if not known."""
    tunables: dict[str, int]
    shares: bool | None
    """Whether one core's frequency is that of other cores too; None if it is not told."""
    has_idle: bool
    """Whether there are states of sleep, even if none but polling."""
    states: tuple[State, ...]
    """From the lightest, without polling."""
    idle: str
    """Who chooses among them; "" if it is not told."""
    unlike: str = ""
    """A core whose frequencies or governor differ from those of the first; "" if there is none."""


def read_cores(root: Path) -> Cores:
    """Reads a tree such as /sys/devices/system/cpu, or a copy of it.

    Raises:
        ConfigError: It is something else, or a file has not what Linux writes there.
        OSError: A file cannot be read.
    """
    tree = _Tree(root)
    folder = next((name for name in ("cpu0/cpufreq", "cpufreq/policy0") if (root / name).is_dir()), "")
    has_idle = (root / "cpu0/cpuidle").is_dir()
    if not folder and not has_idle:
        raise ConfigError(
            "wrong-kind", f"{root}: has neither cpu0/cpufreq nor cpu0/cpuidle; name a tree as /sys/devices/system/cpu"
        )
    governor = tree.word(f"{folder}/scaling_governor") if folder else ""
    return Cores(
        folder=folder,
        listed_khz=tree.frequencies(f"{folder}/scaling_available_frequencies") if folder else (),
        ends_khz=tree.ends(folder, "cpuinfo") if folder else None,
        limits_khz=tree.ends(folder, "scaling") if folder else None,
        driver=tree.word(f"{folder}/scaling_driver") if folder else "",
        governor=governor,
        preference=tree.word(f"{folder}/energy_performance_preference") if folder else "",
        tunables=tree.tunables(f"cpufreq/{governor}") if governor else {},
        shares=tree.shares(folder) if folder else None,
        has_idle=has_idle,
        states=tree.states() if has_idle else (),
        unlike=tree.unlike(folder) if folder else "",
        idle=tree.word("cpuidle/current_governor") or tree.word("cpuidle/current_governor_ro"),
    )


class _Tree:
    """Reads single files of a tree."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def text(self, name: str) -> str:
        """The text of a file without what stands around it; "" if there is none."""
        file = self.root / name
        if not file.exists():
            return ""
        if not file.is_file():
            raise ConfigError("file-not-found", f"{file}: is no file")
        return read_text(file, BYTES_MAX).strip()

    def fail(self, name: str, text: str, wanted: str) -> ConfigError:
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        return ConfigError("malformed-file", f"{self.root / name}: {shown!r} is not {wanted}")

    def word(self, name: str) -> str:
        text = self.text(name)
        if text and not re.fullmatch(r"[\w.-]{1,40}", text, re.ASCII):
            raise self.fail(name, text, "a name")
        return text

    def number(self, name: str, text: str, allowed: range, unit: str) -> int:
        """A number of a file; `text` is what stands there."""
        if not re.fullmatch(r"\d{1,20}", text, re.ASCII) or int(text) not in allowed:
            raise self.fail(name, text, f"{unit} from {allowed[0]} to {allowed[-1]}")
        return int(text)

    def needed(self, name: str, allowed: range, unit: str) -> int:
        if not (self.root / name).exists():
            raise ConfigError("file-not-found", f"{self.root / name}: is missing")
        return self.number(name, self.text(name), allowed, unit)

    def frequencies(self, name: str) -> tuple[int, ...]:
        found = sorted({self.number(name, word, KHZ, "a frequency in kHz") for word in self.text(name).split()})
        if len(found) > FREQUENCIES_MAX:
            raise ConfigError(
                "too-many", f"{self.root / name}: has {len(found)} frequencies; at most {FREQUENCIES_MAX} are taken"
            )
        return tuple(found)

    def ends(self, folder: str, of: str) -> tuple[int, int] | None:
        names = [f"{folder}/{of}_{end}_freq" for end in ("min", "max")]
        if not any((self.root / name).exists() for name in names):
            return None
        low, high = (self.needed(name, KHZ, "a frequency in kHz") for name in names)
        if low > high:
            raise ConfigError(
                "wrong-order", f"{self.root / names[0]}: {low} kHz are more than {high} kHz in {names[1]}"
            )
        return low, high

    def unlike(self, folder: str) -> str:
        """Returns the first folder whose frequencies or governor differ from those of the first core."""
        first, _, rest = folder.partition("0")
        others = (path.relative_to(self.root).as_posix() for path in self.root.glob(f"{first}[0-9]*{rest}"))
        names = ("scaling_governor", "cpuinfo_min_freq", "cpuinfo_max_freq", "scaling_max_freq")
        ours = [self.text(f"{folder}/{name}") for name in names]
        for other in sorted(others, key=lambda name: (len(name), name))[:CORES_MAX]:
            if [self.text(f"{other}/{name}") for name in names] != ours:
                return other
        return ""

    def tunables(self, folder: str) -> dict[str, int]:
        present = {key: allowed for key, allowed in TUNABLES.items() if (self.root / folder / key).exists()}
        return {key: self.needed(f"{folder}/{key}", allowed, "a number") for key, allowed in present.items()}

    def shares(self, folder: str) -> bool | None:
        """Whether the frequency of the first core is that of others: of more than the threads of one core."""
        ours = self.cpus(f"{folder}/freqdomain_cpus") or self.cpus(f"{folder}/related_cpus")
        return bool(ours - (self.cpus("cpu0/topology/thread_siblings_list") or {0})) if ours else None

    def cpus(self, name: str) -> set[int]:
        """Numbers such as "0-3,8" or "0 1 2 3"."""
        found: set[int] = set()
        for part in re.split(r"[\s,]+", self.text(name)) if self.text(name) else ():
            first, _, last = part.partition("-")
            ends = [self.number(name, end, range(65_536), "a list of processors") for end in (first, last or first)]
            found.update(range(ends[0], ends[1] + 1))
        return found

    def states(self) -> tuple[State, ...]:
        found = []
        for number in range(STATES_MAX):
            place = f"cpu0/cpuidle/state{number}"
            if not (self.root / place).is_dir():
                break
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.text(f"{place}/name")).strip("-")[:40]
            if name.upper() in ("POLL", "CPUIDLE-CORE-POLL-IDLE"):
                continue
            found.append(
                State(
                    place=place,
                    name=name or f"state{number}",
                    exit_us=self.needed(f"{place}/latency", EXIT_US, "a time in us"),
                    residency_us=self.needed(f"{place}/residency", RESIDENCY_US, "a time in us"),
                    disabled=self.text(f"{place}/disable") not in ("", "0"),
                )
            )
        return tuple(found)
