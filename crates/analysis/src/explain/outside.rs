//! Limits outside of the path of a workload's lines in its server.

use serde::{Deserialize, Serialize};

/// Name of the limit of a workload whose host throttles its cores.
pub const THROTTLE: &str = "throttle";
/// Name of the limit of a class all of whose flows have ended.
pub const ENDED: &str = "ended";
/// Name of the limit of a class that was not measured.
pub const NOT_MEASURED: &str = "nothing measured";
/// Share of a workload's time at or above which a throttle is its limit.
pub(super) const THROTTLED: f64 = 0.2;
/// Share of a workload's time below which a throttle is neglected.
pub(super) const HARDLY_THROTTLED: f64 = 0.02;

/// A limit outside of the path of lines in a server: in the network around it, at the cores that serve the network,
/// or in the throttling of its cores by the host control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideLimit {
    /// Name of the limit.
    pub limit: String,
    /// Evidence for the limit, in words.
    pub why: String,
    /// True if the limit lies in the memory system of this server, whose stages say more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_host: bool,
}

/// Share of time that a host control takes from the cores of a workload, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Throttling {
    /// Share of their time that the throttle takes, 0 to 1.
    pub lost: f64,
    /// Degree of throttling, in words.
    pub why: String,
}
