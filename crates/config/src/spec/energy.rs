//! What the parts of a server consume.

use super::values::{Energy, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the parts of a server consume, for its energy meter. What is absent comes from the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnergySpec {
    /// Profile that the values start from, by its name: "server" or "mobile".
    #[serde(default = "server")]
    pub(crate) profile: String,
    /// A core at work, waits for memory among it (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub(crate) core_active: Power,
    /// A core without work (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub(crate) core_idle: Power,
    /// What else of a socket is always on: mesh, caches, memory controllers (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub(crate) uncore: Power,
    /// A look into the LLC (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) llc_lookup: Energy,
    /// A rank of DRAM that does nothing (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub(crate) dram_background: Power,
    /// A row of a rank, opened and closed (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) dram_activate: Energy,
    /// A line read from an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) dram_read: Energy,
    /// A line written to an open row (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) dram_write: Energy,
    /// A refresh of a rank (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 J"))]
    pub(crate) dram_refresh: Energy,
    /// A byte between a device and the processor, or over the link of an expander (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) io_byte: Energy,
    /// A NIC that does nothing (power).
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub(crate) nic: Power,
    /// A byte through the NIC (energy).
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) nic_byte: Energy,
    /// How far off each of these may be, up and down.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) band: f64,
}

/// What a switch consumes. There is no profile of switches: what is absent is not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchEnergySpec {
    /// All of it but its ports, as long as it is on (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "10 kW"))]
    pub(crate) on: Option<Power>,
    /// Each port with a cable, as long as it is on (power); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 uW", "x-max" = "1 kW"))]
    pub(crate) port: Option<Power>,
    /// A byte on the wire that a port sends (energy); not counted when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 fJ", "x-max" = "1 mJ"))]
    pub(crate) byte: Option<Energy>,
}

fn server() -> String {
    "server".to_owned()
}
