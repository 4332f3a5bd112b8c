# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Frequencies, voltages and sleep of the cores, and notifications of a NIC to the power management."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class PStateRange(Description):
    """A range: frequencies at equal distances, and voltages at equal distances."""

    count: int | None = None
    """Number of P-states in the range. Range: 2 to 64."""
    from_: str | None = None
    """Slowest P-state of the range (frequency at voltage), such as "0.8 GHz @ 0.65 V". Its key in files is `from`."""
    to: str | None = None
    """Fastest P-state of the range (frequency at voltage)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PState(Description):
    """P-state with its power."""

    at: str
    """Frequency at voltage, such as "0.8 GHz @ 0.65 V"."""
    static: str | None = None
    """Static power of a core in this P-state (power); that of `power.static` when absent. Range: at most "1 kW"."""
    dynamic: str | None = None
    """Power of an active core in this P-state beyond its static power (power); that of `power.dynamic` when absent.

    Range: at most "1 kW".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class StaticPower(Description):
    """Static power of a core, independent of its activity."""

    low: str | None = None
    """Static power of a core at the lower of two voltages (power at voltage), such as "1.92 W @ 0.65 V"; at other
    voltages it follows the power law through both.
    """
    high: str | None = None
    """Static power of a core at the higher voltage (power at voltage)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DynamicPower(Description):
    """Power of an active core beyond its static power."""

    power: str | None = None
    """Power of an active core beyond its static power (power). Range: at most "1 kW"."""
    at: str | None = None
    """P-state with that power (frequency at voltage); in others the power is proportional to the frequency and to the
    square of the voltage.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class CState(Description):
    """Sleep state of an idle core (C-state)."""

    exit: str | None = None
    """Exit latency: time from the end of sleep until the core works again (time). Range: at most "1 s"."""
    residency: str | None = None
    """Target residency: shortest sleep that is worth entering the state (time), not less than `exit`.

    Range: at most "10 s".
    """
    power: str | None = None
    """Power of a sleeping core (power), or "static": its static power at the current voltage; "static" when absent.

    Range: at most "1 kW".
    """
    disable: bool | None = None
    """True if the state is not used; false when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Governor(Description):
    """Frequency governor (cpufreq)."""

    kind: str | None = None
    """Governor: "performance" sets the highest frequency, "powersave" the lowest, "userspace" that of `frequency`;
    "ondemand" sets the highest above a load and a lower one below it; "conservative" moves up and down in steps;
    "schedutil" follows the utilisation that the scheduler tracks; "user" is supplied by the user.
    """
    variant: str | None = None
    """For "ondemand": rule below the threshold: "2.6.38", the lowest frequency at which the load would be 3 points
    below the threshold, or "3.9", a frequency in proportion to the load; "2.6.38" when absent.
    """
    period: str | None = None
    """Sampling period (time); "10 ms" when absent. Not for "performance", "powersave" and "userspace".

    Range: "1 us" to "4 s".
    """
    cost: str | None = None
    """Time that a sample takes on a core at `core.frequency` (time), assumed; "10 us" when absent. For governors with a
    period.

    Range: at most "100 ms".
    """
    up_threshold: int | None = None
    """For "ondemand" and "conservative": load above which the frequency is raised, in percent; 95 and 80 when absent.

    Range: 1 to 100.
    """
    io_busy: bool | None = None
    """For "ondemand": true if a core that idles while storage IO is outstanding counts as busy (io_is_busy), as on
    Intel processors; true when absent.
    """
    down_threshold: int | None = None
    """For "conservative": load below which the frequency is lowered, in percent, less than `up_threshold`; 20 when
    absent.

    Range: 0 to 99.
    """
    step: int | None = None
    """For "conservative": step, in percent of the highest frequency; 5 when absent. Range: 1 to 100."""
    frequency: str | None = None
    """For "userspace": frequency, one of those of `power.pstates`. Range: "10 MHz" to "10 GHz"."""
    name: str | None = None
    """For "user": name of the governor; "user" when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Power(Description):
    """Frequencies, voltages and sleep states of the cores; without it they have one frequency and do not sleep.

    Absent values come from the profile.
    """

    profile: str | None = None
    """Profile that provides absent values, by name: "i7-3770". Default: "i7-3770"."""
    pstates: PStateRange | Sequence[str | PState] | None = None
    """Frequencies of the cores, each with its voltage (P-states): a range, or a list of 1 to 64 from the slowest, each
    as text such as "0.8 GHz @ 0.65 V" or as a table.
    """
    static: StaticPower | None = None
    """Static power of a core, independent of its activity."""
    dynamic: DynamicPower | None = None
    """Power of an active core beyond its static power."""
    domain: str | None = None
    """Frequency domain: "chip", all cores of a socket; "core", each core."""
    slew: str | None = None
    """Rate at which the voltage changes (slew rate), before a frequency rises and after it fell. More than zero if the
    voltages of `pstates` differ.

    Range: at most "1 V/us".
    """
    relock: str | None = None
    """Time that cores halt while their frequency changes (time). Range: at most "1 ms"."""
    cstate: Mapping[str, CState] = field(default_factory=dict)
    """Sleep states of idle cores (C-states), by name."""
    governor: str | Governor | None = None
    """Frequency governor, by name or as a table: "performance", "powersave", "userspace", "ondemand", "conservative",
    "schedutil" or "user".
    """
    idle: str | None = None
    """Idle governor: "menu", by the next timer and past sleeps; "menu-2.6.38", that of Linux 2.6.38; "teo", by past
    timer events; "ladder", step by step; "poll", none, so that idle cores poll.
    """
    qos: str | None = None
    """Longest exit latency allowed (time): deeper states are not used (PM QoS), and if all states are deeper, idle
    cores poll; any when absent.

    Range: at most "1 s".
    """
    poll: float | None = None
    """Power of a polling core beyond its static power, as a share of that of an active core (0 to 1)."""
    tick: str | None = None
    """Period of the scheduler tick of a core (time); none when absent. Range: "100 us" to "1 s"."""
    tick_cost: str | None = None
    """With `power.tick`: work of a tick at `core.frequency` (time); "1 us" when absent. Range: at most "1 ms"."""
    tickless: bool | None = None
    """With `power.tick`: true if an idle core has no ticks (CONFIG_NO_HZ), otherwise ticks wake it; true when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Ncap(Description):
    """Notifications of the power management about packets (NCAP); none when absent. Needs `power`."""

    mode: str | None = None
    """Place of the implementation: "hardware", the NIC; "software", its driver; "off", none. Default: "hardware"."""
    rht: str | None = None
    """Requests per second above which a burst has started (rate), or "inf": never.

    Range: at most "1 G/s". Default: "35 k/s".
    """
    rlt: str | None = None
    """Requests per second below which a burst may be over (rate), at most `rht`.

    Range: at most "1 G/s". Default: "5 k/s".
    """
    tlt: str | None = None
    """Transmit rate below which a burst may be over (bandwidth); "5 Mbps" when absent. Range: at most "1 TB/s"."""
    cit: str | None = None
    """Time without an interrupt after which a request interrupts at once (time), or "inf": never.

    Range: at most "1000 s". Default: "500 us".
    """
    fcons: int | None = None
    """Steps from the highest frequency to the lowest. Range: 1 to 64. Default: 5."""
    low: str | None = None
    """Time that requests and transmissions must stay below `rlt` and `tlt` before each step down (time).

    Range: "1 us" to "10 s". Default: "1 ms".
    """
    templates: Sequence[str] | None = None
    """First two bytes of the requests that are counted, each template as two characters; 1 to 16. Default: ["GE"]."""
    rearm: str | None = None
    """Condition for announcing a burst again: "level", after the first step down; "frequency", when the frequency is
    not the highest.

    Default: "level".
    """
    timer: str | None = None
    """With "software": period of the driver's timer, at which rates are computed (time); "1 ms" when absent. The NIC
    uses `nic.mitt`.

    Range: "1 us" to "1 s".
    """
    packet: str | None = None
    """With "software": work of the driver per inspected packet, at `core.frequency` (time); "50 ns" when absent. The
    default is an assumption.

    Range: at most "1 ms".
    """
