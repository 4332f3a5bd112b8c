//! Limits that the path of a workload's lines in its server does not show.

use super::facts::WorkloadFacts;
use crate::evidence::limiting;
use crate::limits::NOT_KNOWN;
use serde::{Deserialize, Serialize};

/// The limit of a workload whose host slows down its cores.
pub const THROTTLE: &str = "throttle";
/// Names the limit of a class all of whose flows have ended, and of one that was not measured.
pub const ENDED: &str = "ended";
/// See [`ENDED`].
pub const NOT_MEASURED: &str = "nothing measured";
/// A throttle that takes this share of the time of a workload is its limit.
const THROTTLED: f64 = 0.2;
/// A throttle that takes less than this share changes no limit.
const HARDLY_THROTTLED: f64 = 0.02;

/// A limit that was found outside of the path of the lines in a server: in the network around it, at the cores that
/// serve the network, or in what its host control does to its cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideLimit {
    /// Its name.
    pub limit: String,
    /// The evidence, in words.
    pub why: String,
    /// Is true if it lies in the memory system of this server, whose stages say more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_host: bool,
}

/// The share of time that a host control takes from the cores of a workload, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Throttling {
    /// The share of their time that this takes.
    pub lost: f64,
    /// How far they are throttled, in words.
    pub why: String,
}

impl WorkloadFacts {
    /// Sets a limit outside of the path in the server; it takes the place of any other.
    #[must_use]
    pub fn with_outside(mut self, outside: Option<OutsideLimit>) -> Self {
        if let Some(outside) = outside {
            self.binding = vec![outside.limit.clone()];
            self.full_share = self.main_pool().map_or(0.0, |pool| pool.full_share);
            self.outside = Some(outside);
        }
        self
    }

    /// Adds what a host control does to its cores: much of that is its limit, and some leaves any other in doubt.
    #[must_use]
    pub fn throttled(mut self, throttling: Option<Throttling>) -> Self {
        let Some(Throttling { lost, why }) = throttling.filter(|throttling| throttling.lost >= HARDLY_THROTTLED) else {
            return self;
        };
        self.throttled_share = lost;
        let limit = OutsideLimit { limit: THROTTLE.to_owned(), why, in_host: false };
        self.with_outside((lost >= THROTTLED).then_some(limit))
    }

    /// Says what limits it if that lies outside, in words that follow its name.
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
