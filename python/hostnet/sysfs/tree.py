"""Reads the properties of the cores of a machine from a tree such as /sys/devices/system/cpu."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

BYTES_MAX = 1 << 16
"""Largest file of such a tree, in bytes."""

STATES_MAX = 32
"""Maximum number of states that are read."""

CORES_MAX = 1024
"""Maximum number of cores that are compared with the first."""

FREQUENCIES_MAX = 64
"""Maximum number of frequencies of a table."""

KHZ = range(10_000, 10_000_001)
"""Frequencies that can be simulated, in kHz."""

EXIT_US = range(1_000_001)
RESIDENCY_US = range(10_000_001)
"""Target residencies that can be simulated, in us."""

TUNABLES = {"sampling_rate": range(1, 10_000_001), "up_threshold": range(1, 101), "down_threshold": range(100),
            "freq_step": range(1, 101)}  # fmt: skip
"""Files in the folder of the governor that are read, with their ranges; the first is in us."""


@dataclass(frozen=True)
class IdleState:
    """Idle state of a core."""

    place: str
    """Folder of the state in the tree."""
    name: str
    exit_us: int
    residency_us: int
    disabled: bool


@dataclass(frozen=True)
class CoreProperties:
    """Properties of the cores of a machine, read from the first one."""

    folder: str
    """Folder of the frequencies; "" if there is none."""
    listed_khz: tuple[int, ...]
    """Frequencies in kHz, ascending; empty if they are not listed."""
    ends_khz: tuple[int, int] | None
    """Lowest and highest frequency, in kHz."""
    limits_khz: tuple[int, int] | None
    """Lowest and highest frequency that the governor may choose, in kHz; None if unknown."""
    driver: str
    governor: str
    """Frequency governor; "" if unknown."""
    preference: str
    """Energy performance preference (EPP) of a driver in active mode; "" if unknown."""
    tunables: dict[str, int]
    shares: bool | None
    """True if several cores share one frequency; None if unknown."""
    has_idle: bool
    """True if the tree has idle states, even if only polling."""
    states: tuple[IdleState, ...]
    """Idle states from the lightest, without polling."""
    idle: str
    """Idle governor; "" if unknown."""
    unlike: str = ""
    """A core whose frequencies or governor differ from those of the first; "" if there is none."""


def read_cores(root: Path) -> CoreProperties:
    """Reads a tree such as /sys/devices/system/cpu, or a copy of it.

    Raises:
        ConfigError: The folder is no such tree, or a file has an unexpected content.
        OSError: A file cannot be read.
    """
    tree = _CpuTree(root)
    folder = next((name for name in ("cpu0/cpufreq", "cpufreq/policy0") if (root / name).is_dir()), "")
    has_idle = (root / "cpu0/cpuidle").is_dir()
    if not folder and not has_idle:
        raise ConfigError(
            "wrong-kind", f"{root}: has neither cpu0/cpufreq nor cpu0/cpuidle; name a tree as /sys/devices/system/cpu"
        )
    governor = tree.word(f"{folder}/scaling_governor") if folder else ""
    return CoreProperties(
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


class _CpuTree:
    """Reads single files of a tree."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def text(self, name: str) -> str:
        """Reads a file and strips white space; "" if there is none."""
        file = self.root / name
        if not file.exists():
            return ""
        if not file.is_file():
            raise ConfigError("file-not-found", f"{file}: is no file")
        return read_text(file, BYTES_MAX).strip()

    def fail(self, name: str, text: str, wanted: str) -> ConfigError:
        """Creates the error for an unexpected content."""
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        return ConfigError("malformed-file", f"{self.root / name}: {shown!r} is not {wanted}")

    def word(self, name: str) -> str:
        """Reads a name; "" if there is no file."""
        text = self.text(name)
        if text and not re.fullmatch(r"[\w.-]{1,40}", text, re.ASCII):
            raise self.fail(name, text, "a name")
        return text

    def number(self, name: str, text: str, allowed: range, unit: str) -> int:
        """Parses a number in `text`, the content of the file `name`."""
        if not re.fullmatch(r"\d{1,20}", text, re.ASCII) or int(text) not in allowed:
            raise self.fail(name, text, f"{unit} from {allowed[0]} to {allowed[-1]}")
        return int(text)

    def needed(self, name: str, allowed: range, unit: str) -> int:
        """Reads a number from a file that must exist."""
        if not (self.root / name).exists():
            raise ConfigError("file-not-found", f"{self.root / name}: is missing")
        return self.number(name, self.text(name), allowed, unit)

    def frequencies(self, name: str) -> tuple[int, ...]:
        """Reads a list of frequencies and sorts them."""
        found = sorted({self.number(name, word, KHZ, "a frequency in kHz") for word in self.text(name).split()})
        if len(found) > FREQUENCIES_MAX:
            raise ConfigError(
                "too-many", f"{self.root / name}: has {len(found)} frequencies; at most {FREQUENCIES_MAX} are taken"
            )
        return tuple(found)

    def ends(self, folder: str, of: str) -> tuple[int, int] | None:
        """Reads the lowest and highest frequency; None if neither file exists."""
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
        """Reads the parameters of a governor."""
        present = {key: allowed for key, allowed in TUNABLES.items() if (self.root / folder / key).exists()}
        return {key: self.needed(f"{folder}/{key}", allowed, "a number") for key, allowed in present.items()}

    def shares(self, folder: str) -> bool | None:
        """Returns True if more than the threads of one core share the frequency of the first core."""
        ours = self.cpus(f"{folder}/freqdomain_cpus") or self.cpus(f"{folder}/related_cpus")
        return bool(ours - (self.cpus("cpu0/topology/thread_siblings_list") or {0})) if ours else None

    def cpus(self, name: str) -> set[int]:
        """Reads a list of processors such as "0-3,8" or "0 1 2 3"."""
        found: set[int] = set()
        for part in re.split(r"[\s,]+", self.text(name)) if self.text(name) else ():
            first, _, last = part.partition("-")
            ends = [self.number(name, end, range(65_536), "a list of processors") for end in (first, last or first)]
            found.update(range(ends[0], ends[1] + 1))
        return found

    def states(self) -> tuple[IdleState, ...]:
        """Reads the idle states of the first core."""
        found = []
        for number in range(STATES_MAX):
            place = f"cpu0/cpuidle/state{number}"
            if not (self.root / place).is_dir():
                break
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.text(f"{place}/name")).strip("-")[:40]
            if name.upper() in ("POLL", "CPUIDLE-CORE-POLL-IDLE"):
                continue
            found.append(
                IdleState(
                    place=place,
                    name=name or f"state{number}",
                    exit_us=self.needed(f"{place}/latency", EXIT_US, "a time in us"),
                    residency_us=self.needed(f"{place}/residency", RESIDENCY_US, "a time in us"),
                    disabled=self.text(f"{place}/disable") not in ("", "0"),
                )
            )
        return tuple(found)
