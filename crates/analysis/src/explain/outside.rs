//! Limits outside of the path of a workload's lines in its server.

use super::facts::WorkloadFacts;
use crate::evidence::limiting;
use crate::limits::NOT_KNOWN;
use serde::{Deserialize, Serialize};

/// Name of the limit of a workload whose host throttles its cores.
pub const THROTTLE: &str = "throttle";
/// Name of the limit of a class all of whose flows have ended.
pub const ENDED: &str = "ended";
/// Name of the limit of a class that was not measured.
pub const NOT_MEASURED: &str = "nothing measured";
/// Share of a workload's time from which a throttle is its limit.
const THROTTLED: f64 = 0.2;
/// Share of a workload's time below which a throttle is neglected.
const HARDLY_THROTTLED: f64 = 0.02;

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

impl WorkloadFacts {
    /// Sets a limit outside of the path in the server, which replaces any other limit.
    #[must_use]
    pub fn with_outside(mut self, outside: Option<OutsideLimit>) -> Self {
        if let Some(outside) = outside {
            self.binding = vec![outside.limit.clone()];
            self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
            self.outside = Some(outside);
        }
        self
    }

    /// Adds the throttling of its cores by a host control: severe throttling is the limit, mild throttling makes any
    /// other limit doubtful.
    #[must_use]
    pub fn throttled(mut self, throttling: Option<Throttling>) -> Self {
        let Some(Throttling { lost, why }) = throttling.filter(|throttling| throttling.lost >= HARDLY_THROTTLED) else {
            return self;
        };
        self.throttled_share = lost;
        let limit = OutsideLimit { limit: THROTTLE.to_owned(), why, in_host: false };
        self.with_outside((lost >= THROTTLED).then_some(limit))
    }

    /// Describes the limit if it lies outside of the path, in words that follow the name of the workload.
    pub(super) fn outside_clause(&self) -> Option<String> {
        let OutsideLimit { limit, why, in_host } = self.outside.as_ref()?;
        match limit.as_str() {
            NOT_KNOWN | NOT_MEASURED => return Some(format!("has no known limit: {why}")),
            ENDED => return Some(format!("has ended: {why}")),
            _ => {}
        }
        let stage = limiting(&self.stages).filter(|_| *in_host);
        let evidence = stage.map_or_else(String::new, |stage| format!("; {} {}", stage.limit, stage.in_words()));
        Some(format!("is limited by {limit}: {why}{evidence}"))
    }
}
