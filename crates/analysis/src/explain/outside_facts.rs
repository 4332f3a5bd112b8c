//! Limits outside of the path of a workload's lines, among the facts about the workload.

use super::facts::WorkloadFacts;
use super::outside::{OutsideLimit, Throttling, ENDED, HARDLY_THROTTLED, NOT_MEASURED, THROTTLE, THROTTLED};
use crate::binding::NOT_KNOWN;
use crate::evidence::limiting;

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

    /// Adds the throttling of the workload's cores by host congestion control: severe throttling is reported as the
    /// limit; mild throttling makes any other limit uncertain.
    #[must_use]
    pub fn throttled(mut self, throttling: Option<Throttling>) -> Self {
        // From 2 % on, any other limit is doubtful, from 20 % on, the throttle is the limit (docs/domains.md).
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
