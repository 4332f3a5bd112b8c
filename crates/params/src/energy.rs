//! Keys and parameters of the power and energy of parts.

use super::values::{Energy, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Power and energy of the parts of a server, for its energy meter. Keys that are absent come from the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnergySpec {
    /// Profile that the values start from: "server" or "mobile".
    #[serde(default = "server")]
    pub profile: String,
    /// Power of an active core, waits for memory included (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub core_active: Power,
    /// Power of an idle core (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub core_idle: Power,
    /// Power of the rest of a socket, which is always on: mesh, caches, memory controllers (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub uncore: Power,
    /// Energy of an LLC lookup (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub llc_lookup: Energy,
    /// Background power of a rank of DRAM (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub dram_background: Power,
    /// Energy of opening and closing a row of a rank (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_activate: Energy,
    /// Energy of reading a line from an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_read: Energy,
    /// Energy of writing a line to an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub dram_write: Energy,
    /// Energy of a refresh of a rank (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 J"))]
    pub dram_refresh: Energy,
    /// Energy per byte between a device and the processor, or over the link of an expander (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub io_byte: Energy,
    /// Power of an idle NIC (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub nic: Power,
    /// Energy per byte through the NIC (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub nic_byte: Energy,
    /// Relative uncertainty of each of these values, up and down.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub band: f64,
}

/// Power and energy of a switch. There is no profile of switches: keys that are absent are not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchEnergySpec {
    /// Power of a switch that is on, without its ports (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub on: Option<Power>,
    /// Power of each port with a cable, while the switch is on (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub port: Option<Power>,
    /// Energy per byte on the wire that a port sends (energy); not counted when absent.
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
