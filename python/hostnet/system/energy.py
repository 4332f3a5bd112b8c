# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Energy that the parts of a server consume."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Energy(Description):
    """Energy consumption of the parts of the server; without it there is no energy meter.

    Absent values come from the profile.
    """

    profile: str | None = None
    """Profile that the values start from: "server" or "mobile". Default: "server"."""
    core_active: str | None = None
    """Power of an active core, waits for memory included (power). Range: "0 uW" to "1 kW"."""
    core_idle: str | None = None
    """Power of an idle core (power). Range: "0 uW" to "1 kW"."""
    uncore: str | None = None
    """Power of the rest of a socket, which is always on: mesh, caches, memory controllers (power).

    Range: "0 uW" to "10 kW".
    """
    llc_lookup: str | None = None
    """Energy of an LLC lookup (energy). Range: "0 fJ" to "1 mJ"."""
    dram_background: str | None = None
    """Background power of a rank of DRAM (power). Range: "0 uW" to "1 kW"."""
    dram_activate: str | None = None
    """Energy of opening and closing a row of a rank (energy). Range: "0 fJ" to "1 mJ"."""
    dram_read: str | None = None
    """Energy of reading a line from an open row (energy). Range: "0 fJ" to "1 mJ"."""
    dram_write: str | None = None
    """Energy of writing a line to an open row (energy). Range: "0 fJ" to "1 mJ"."""
    dram_refresh: str | None = None
    """Energy of a refresh of a rank (energy). Range: "0 fJ" to "1 J"."""
    io_byte: str | None = None
    """Energy per byte between a device and the processor, or over the link of an expander (energy).

    Range: "0 fJ" to "1 mJ".
    """
    nic: str | None = None
    """Power of an idle NIC (power). Range: "0 uW" to "1 kW"."""
    nic_byte: str | None = None
    """Energy per byte through the NIC (energy). Range: "0 fJ" to "1 mJ"."""
    band: float | None = None
    """Relative uncertainty of each of these values, up and down. Range: 0 to 1."""
