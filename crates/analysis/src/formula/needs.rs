//! What has to be known before something can be computed.

use crate::counters::Flow;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why something cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What cannot be computed.
    pub quantity: String,
    /// The counters, by their names in [`Counters`], that were not read.
    pub counters: Vec<String>,
    /// Counters that must not be zero and are.
    pub zero: Vec<String>,
}

impl Missing {
    /// For want of one counter.
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

/// Takes values out of counters and remembers which are not there.
pub(super) struct Needs {
    missing: Missing,
}

impl Needs {
    /// Nothing is missing yet for `quantity`.
    pub(super) fn new(quantity: &str) -> Self {
        Self { missing: Missing { quantity: quantity.to_owned(), counters: Vec::new(), zero: Vec::new() } }
    }

    /// What `reckon` makes of the counters that it asks for.
    pub(super) fn tell(quantity: &str, reckon: &dyn Fn(&mut Self) -> f64) -> Result<f64, Missing> {
        let mut needs = Self::new(quantity);
        let value = reckon(&mut needs);
        needs.done(value)
    }

    /// A part of what is asked for.
    pub(super) fn found(&mut self, part: Result<f64, Missing>) -> f64 {
        part.unwrap_or_else(|lacking| {
            lacking.counters.iter().for_each(|name| note(&mut self.missing.counters, name));
            lacking.zero.iter().for_each(|name| note(&mut self.missing.zero, name));
            0.0
        })
    }

    pub(super) fn value(&mut self, name: &str, value: Option<f64>) -> f64 {
        if value.is_none_or(|value| !value.is_finite()) {
            note(&mut self.missing.counters, name);
        }
        value.unwrap_or(0.0)
    }

    pub(super) fn positive(&mut self, name: &str, value: Option<f64>) -> f64 {
        if value.is_some_and(|value| value <= 0.0) {
            note(&mut self.missing.zero, name);
        }
        self.value(name, value)
    }

    /// Mean time of a line in a pool in ns.
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
