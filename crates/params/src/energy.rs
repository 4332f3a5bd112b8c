//! Keys and parameters of the energy that parts consume.

use super::values::{Energy, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the parts of a server consume, for its energy meter. What is absent comes from the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnergySpec {
    /// Profile that the values start from, by its name: "server" or "mobile".
    #[serde(default = "server")]
    pub profile: String,
    /// A core at work, waits for memory among it (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub core_active: Power,
    /// A core without work (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub core_idle: Power,
    /// What else of a socket is always on: mesh, caches, memory controllers (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub uncore: Power,
    /// A look into the LLC (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub llc_lookup: Energy,
    /// A rank of DRAM that does nothing (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub dram_background: Power,
    /// A row of a rank, opened and closed (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_activate: Energy,
    /// A line read from an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_read: Energy,
    /// A line written to an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_write: Energy,
    /// A refresh of a rank (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 J"))]
    pub dram_refresh: Energy,
    /// A byte between a device and the processor, or over the link of an expander (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub io_byte: Energy,
    /// A NIC that does nothing (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub nic: Power,
    /// A byte through the NIC (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub nic_byte: Energy,
    /// How far off each of these may be, up and down.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub band: f64,
}

/// What a switch consumes. There is no profile of switches: what is absent is not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchEnergySpec {
    /// All of it but its ports, as long as it is on (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub on: Option<Power>,
    /// Each port with a cable, as long as it is on (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub port: Option<Power>,
    /// A byte on the wire that a port sends (energy); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub byte: Option<Energy>,
}

fn server() -> String {
    "server".to_owned()
}

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
