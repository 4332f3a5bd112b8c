//! Parameters of the energy meter: power and energy of the parts of a server and of a switch.

use serde::{Deserialize, Serialize};

/// Power and energy of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchEnergyParams {
    /// Power of a switch that is on, without its ports, in microwatts.
    pub on_uw: u64,
    /// Power of a port, in microwatts, while the switch is on.
    pub port_uw: u64,
    /// Energy per byte that a port sends, in femtojoules.
    pub byte_fj: u64,
}

/// Power of the parts of a server, in microwatts, and energy per operation, in femtojoules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergyParams {
    /// Power of an active core, waits for memory included.
    pub core_active_uw: u64,
    /// Power of an idle core.
    pub core_idle_uw: u64,
    /// Power of the rest of a socket, which is always on.
    pub uncore_uw: u64,
    /// Energy of an LLC lookup.
    pub llc_lookup_fj: u64,
    /// Background power of a rank of DRAM.
    pub dram_background_uw: u64,
    /// Energy of opening and closing a row of a rank.
    pub dram_activate_fj: u64,
    /// Energy of reading a line from an open row.
    pub dram_read_fj: u64,
    /// Energy of writing a line to an open row.
    pub dram_write_fj: u64,
    /// Energy of a refresh of a rank.
    pub dram_refresh_fj: u64,
    /// Energy per byte between a device and the processor, or over the link of an expander.
    pub io_byte_fj: u64,
    /// Power of an idle NIC.
    pub nic_uw: u64,
    /// Energy per byte through the NIC.
    pub nic_byte_fj: u64,
    /// Uncertainty of each of these values, up and down, in millionths.
    pub band_ppm: u32,
}
