# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Frequencies, voltages and sleep of the cores, and notifications of a NIC to the power management."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class PStateRange(Description):
    """A range: frequencies at even distances, and so their voltages."""

    count: int | None = None
    """How many frequencies a range has, at even distances. Range: 2 to 64."""
    from_: str | None = None
    """The slowest of a range (frequency at voltage), such as "0.8 GHz @ 0.65 V". Its key in files is `from`."""
    to: str | None = None
    """The fastest of a range (frequency at voltage)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PState(Description):
    """A frequency that cores may have, and what cores take at it."""

    at: str
    """Frequency at voltage, such as "0.8 GHz @ 0.65 V"."""
    static: str | None = None
    """What a core takes there for being there (power); as `power.static` says when absent. Range: at most "1 kW"."""
    dynamic: str | None = None
    """What a core at work takes there beyond that (power); as `power.dynamic` says when absent.

    Range: at most "1 kW".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class StaticPower(Description):
    """What a core takes for being there, whatever it does."""

    low: str | None = None
    """What a core takes for being there at the lower of two voltages (power at voltage), such as "1.92 W @ 0.65 V"; at
    others it follows the power law through both.
    """
    high: str | None = None
    """What it takes at the higher one (power at voltage)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class DynamicPower(Description):
    """What a core at work takes beyond that."""

    power: str | None = None
    """What a core at work takes beyond its being there (power). Range: at most "1 kW"."""
    at: str | None = None
    """Where it takes that (frequency at voltage); elsewhere it is in proportion to the frequency and the square of the
    voltage.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class CState(Description):
    """A state that an idle core may sleep in."""

    exit: str | None = None
    """From the end of sleep until the core works again (time). Range: at most "1 s"."""
    residency: str | None = None
    """The shortest stay that is worth it (time), not less than `exit`. Range: at most "10 s"."""
    power: str | None = None
    """What a core takes there (power), or "static": what it takes for being there at the voltage that it has; "static"
    when absent.

    Range: at most "1 kW".
    """
    disable: bool | None = None
    """Whether it is left out; false when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Governor(Description):
    """Who decides on frequencies."""

    kind: str | None = None
    """Its name: "performance", the highest; "powersave", the lowest; "userspace", `frequency`; "ondemand", the highest
    above a load, else less; "conservative", up and down by steps; "schedutil", by the utilisation that the scheduler
    tracks; "user", one from outside.
    """
    variant: str | None = None
    """Of "ondemand": whose rule below the load, "2.6.38", the least frequency at which it would be 3 points below, or
    "3.9", in proportion to it; "2.6.38" when absent.
    """
    period: str | None = None
    """How often it looks (time); "10 ms" when absent. Not of "performance", "powersave" and "userspace".

    Range: "1 us" to "4 s".
    """
    cost: str | None = None
    """What a look costs a core at `core.frequency` (time), assumed; "10 us" when absent. Of those with a period.

    Range: at most "100 ms".
    """
    up_threshold: int | None = None
    """Of "ondemand" and "conservative": load above which the frequency rises, in percent; 95 and 80 when absent.

    Range: 1 to 100.
    """
    io_busy: bool | None = None
    """Of "ondemand": whether a core that is idle while storage is waited for counts as busy (io_is_busy), as on
    processors of Intel; true when absent.
    """
    down_threshold: int | None = None
    """Of "conservative": load below which it falls, in percent, less than `up_threshold`; 20 when absent.

    Range: 0 to 99.
    """
    step: int | None = None
    """Of "conservative": a step, in percent of the highest frequency; 5 when absent. Range: 1 to 100."""
    frequency: str | None = None
    """Of "userspace": the frequency, one of those of `power.pstates`. Range: "10 MHz" to "10 GHz"."""
    name: str | None = None
    """Of "user": the name that it is known by; "user" when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Power(Description):
    """Frequencies, voltages and sleep of the cores; without it they have one frequency and do not sleep.

    What is absent comes from the profile.
    """

    profile: str | None = None
    """Profile that the values start from, by its name: "i7-3770". Default: "i7-3770"."""
    pstates: PStateRange | Sequence[str | PState] | None = None
    """The frequencies that cores may have, each with its voltage (P-states): a range, or a list of 1 to 64 from the
    slowest, each as text such as "0.8 GHz @ 0.65 V" or as a table.
    """
    static: StaticPower | None = None
    """What a core takes for being there, whatever it does."""
    dynamic: DynamicPower | None = None
    """What a core at work takes beyond that."""
    domain: str | None = None
    """Which cores have one frequency: "chip", all of a socket; "core", each has its own."""
    slew: str | None = None
    """How fast a voltage changes (slew rate): before a frequency rises, and after it fell. More than none where the
    voltages of `pstates` differ.

    Range: at most "1 V/us".
    """
    relock: str | None = None
    """How long cores stand still while their frequency changes (time). Range: at most "1 ms"."""
    cstate: Mapping[str, CState] = field(default_factory=dict)
    """The states that an idle core may sleep in (C-states), by name."""
    governor: str | Governor | None = None
    """Who decides on frequencies: its name, or a table: "performance", "powersave", "userspace", "ondemand",
    "conservative", "schedutil" or "user".
    """
    idle: str | None = None
    """Who decides in which state a core sleeps: "menu", by the next timer and what was; "menu-2.6.38", the same as of
    that Linux; "teo", by the timer events that were; "ladder", step by step; "poll", nobody, and an idle core polls.
    """
    qos: str | None = None
    """The longest exit from sleep that is allowed (time): deeper states are not used (PM QoS), and none, so that an
    idle core polls, when that of all is longer; any when absent.

    Range: at most "1 s".
    """
    poll: float | None = None
    """Of what a core at work takes beyond its being there, the share that one takes that polls (0 to 1)."""
    tick: str | None = None
    """Between two ticks of the scheduler at a core (time); none when absent. Range: "100 us" to "1 s"."""
    tick_cost: str | None = None
    """With `power.tick`: work of a tick at `core.frequency` (time); "1 us" when absent. Range: at most "1 ms"."""
    tickless: bool | None = None
    """With `power.tick`: whether an idle core has none (CONFIG_NO_HZ); else ticks wake it. True when absent."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Ncap(Description):
    """What it tells the power management of the packets that it sees (NCAP); nothing when absent. It needs `power`."""

    mode: str | None = None
    """Who does it: "hardware", the card; "software", its driver; "off", nobody. Default: "hardware"."""
    rht: str | None = None
    """Requests per second above which a burst has come (rate), or "inf": never.

    Range: at most "1 G/s". Default: "35 k/s".
    """
    rlt: str | None = None
    """Requests per second below which a burst may be over (rate), at most `rht`.

    Range: at most "1 G/s". Default: "5 k/s".
    """
    tlt: str | None = None
    """What is sent per second below which a burst may be over (bandwidth); "5 Mbps" when absent.

    Range: at most "1 TB/s".
    """
    cit: str | None = None
    """Time without an interrupt after which a request interrupts at once (time), or "inf": never.

    Range: at most "1000 s". Default: "500 us".
    """
    fcons: int | None = None
    """Steps from the highest frequency to the lowest. Range: 1 to 64. Default: 5."""
    low: str | None = None
    """How long requests and what is sent are below `rlt` and `tlt` before a step (time).

    Range: "1 us" to "10 s". Default: "1 ms".
    """
    templates: Sequence[str] | None = None
    """The first two bytes of requests, each as two characters; 1 to 16. Default: ["GE"]."""
    rearm: str | None = None
    """When a burst is announced again: "level", after the first step down; "frequency", when the frequency is not the
    highest.

    Default: "level".
    """
    timer: str | None = None
    """Of "software": period of the driver's timer, by which it takes rates (time); "1 ms" when absent. The card does by
    `nic.mitt`.

    Range: "1 us" to "1 s".
    """
    packet: str | None = None
    """Of "software": work of the driver per packet that it looks at, at `core.frequency` (time), assumed; "50 ns" when
    absent.

    Range: at most "1 ms".
    """
