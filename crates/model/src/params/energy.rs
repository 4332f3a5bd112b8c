//! What the parts of a server consume.

use serde::{Deserialize, Serialize};

/// What a switch consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchEnergyParams {
    /// All of it but its ports, in microwatts, as long as it is on.
    pub on_uw: u64,
    /// Each of its ports, in microwatts, as long as it is on.
    pub port_uw: u64,
    /// A byte that a port sends, in femtojoules.
    pub byte_fj: u64,
}

/// What the parts of a server consume: microwatts for as long as they are so, femtojoules for each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergyParams {
    /// A core at work, waits for memory among it.
    pub core_active_uw: u64,
    /// A core without work.
    pub core_idle_uw: u64,
    /// What else of a socket is always on.
    pub uncore_uw: u64,
    /// A look into the LLC.
    pub llc_lookup_fj: u64,
    /// A rank of DRAM that does nothing.
    pub dram_background_uw: u64,
    /// A row of a rank, opened and closed.
    pub dram_activate_fj: u64,
    /// A line read from an open row.
    pub dram_read_fj: u64,
    /// A line written to an open row.
    pub dram_write_fj: u64,
    /// A refresh of a rank.
    pub dram_refresh_fj: u64,
    /// A byte between a device and the processor, or over the link of an expander.
    pub io_byte_fj: u64,
    /// A NIC that does nothing.
    pub nic_uw: u64,
    /// A byte through the NIC.
    pub nic_byte_fj: u64,
    /// How far off each of these may be, up and down, in millionths.
    pub band_ppm: u32,
}
