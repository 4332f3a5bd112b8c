//! Collects the counters that a formula needs, and reports those that are missing.

use crate::counters::Flow;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason why a quantity cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Name of the quantity.
    pub quantity: String,
    /// Names of the counters that were not read, as in [`Counters`](crate::Counters).
    pub counters: Vec<String>,
    /// Names of the counters that are zero but must not be.
    pub zero: Vec<String>,
}

impl Missing {
    /// Reports that one counter is missing.
    pub(crate) fn counter(quantity: &str, counter: &str) -> Self {
        Self { quantity: quantity.to_owned(), counters: vec![counter.to_owned()], zero: Vec::new() }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, counters, zero } = self;
        let mut reasons = Vec::new();
        if !counters.is_empty() {
            reasons.push(format!("no counter {}", counters.join(", ")));
        }
        if !zero.is_empty() {
            reasons.push(format!("{} is zero", zero.join(", ")));
        }
        write!(formatter, "{quantity} cannot be computed: {}", reasons.join("; "))
    }
}

impl std::error::Error for Missing {}

/// Reads the values of counters and records those that are missing.
pub(super) struct RequiredCounters {
    missing: Missing,
}

impl RequiredCounters {
    /// Starts to compute `quantity` with nothing missing so far.
    pub(super) fn new(quantity: &str) -> Self {
        Self { missing: Missing { quantity: quantity.to_owned(), counters: Vec::new(), zero: Vec::new() } }
    }

    /// Computes a quantity with `formula`, or returns an error with the counters that `formula` lacks.
    pub(super) fn compute(quantity: &str, formula: &dyn Fn(&mut Self) -> f64) -> Result<f64, Missing> {
        let mut needs = Self::new(quantity);
        let value = formula(&mut needs);
        needs.done(value)
    }

    /// Returns the value of one part of the quantity, or records what the part lacks and returns 0.
    pub(super) fn found(&mut self, part: Result<f64, Missing>) -> f64 {
        part.unwrap_or_else(|lacking| {
            lacking.counters.iter().for_each(|name| note(&mut self.missing.counters, name));
            lacking.zero.iter().for_each(|name| note(&mut self.missing.zero, name));
            0.0
        })
    }

    pub(super) fn value(&mut self, name: &str, value: Option<f64>) -> f64 {
        // NaN and infinity come from counters without a clock: as good as not read.
        if value.is_none_or(|value| !value.is_finite()) {
            note(&mut self.missing.counters, name);
        }
        // Going on with 0 lets one pass collect every missing counter; `done` discards the value.
        value.unwrap_or(0.0)
    }

    pub(super) fn positive(&mut self, name: &str, value: Option<f64>) -> f64 {
        if value.is_some_and(|value| value <= 0.0) {
            note(&mut self.missing.zero, name);
        }
        self.value(name, value)
    }

    /// Mean residence of a line in a pool, in ns.
    pub(super) fn latency(&mut self, name: &str, flow: Flow, window_ns: f64) -> f64 {
        let occupancy = self.value(&format!("{name}.occupancy"), flow.occupancy);
        let lines = self.positive(&format!("{name}.lines"), flow.lines);
        occupancy * window_ns / lines
    }

    pub(super) fn done<T>(self, value: T) -> Result<T, Missing> {
        if self.missing.counters.is_empty() && self.missing.zero.is_empty() {
            Ok(value)
        } else {
            Err(self.missing)
        }
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
