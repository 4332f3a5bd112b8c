# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Energy that the parts of a server consume."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Energy(Description):
    """What the parts of the server consume; without it there is no energy meter.

    What is absent comes from the profile.
    """

    profile: str | None = None
    """Profile that the values start from, by its name: "server" or "mobile". Default: "server"."""
    core_active: str | None = None
    """A core at work, waits for memory among it (power). Range: "0 uW" to "1 kW"."""
    core_idle: str | None = None
    """A core without work (power). Range: "0 uW" to "1 kW"."""
    uncore: str | None = None
    """What else of a socket is always on: mesh, caches, memory controllers (power). Range: "0 uW" to "10 kW"."""
    llc_lookup: str | None = None
    """A look into the LLC (energy). Range: "0 fJ" to "1 mJ"."""
    dram_background: str | None = None
    """A rank of DRAM that does nothing (power). Range: "0 uW" to "1 kW"."""
    dram_activate: str | None = None
    """A row of a rank, opened and closed (energy). Range: "0 fJ" to "1 mJ"."""
    dram_read: str | None = None
    """A line read from an open row (energy). Range: "0 fJ" to "1 mJ"."""
    dram_write: str | None = None
    """A line written to an open row (energy). Range: "0 fJ" to "1 mJ"."""
    dram_refresh: str | None = None
    """A refresh of a rank (energy). Range: "0 fJ" to "1 J"."""
    io_byte: str | None = None
    """A byte between a device and the processor, or over the link of an expander (energy). Range: "0 fJ" to "1 mJ"."""
    nic: str | None = None
    """A NIC that does nothing (power). Range: "0 uW" to "1 kW"."""
    nic_byte: str | None = None
    """A byte through the NIC (energy). Range: "0 fJ" to "1 mJ"."""
    band: float | None = None
    """How far off each of these may be, up and down. Range: 0 to 1."""
