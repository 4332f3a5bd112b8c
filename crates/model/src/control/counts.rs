//! Time that a host was in each regime and at each level.

use super::controller::{Targets, LEVEL_MAX};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Maximum number of level changes that are kept; later ones are only counted.
pub const CHANGES_MAX: usize = 1 << 16;

/// Regimes of hostCC, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Regime {
    /// 1: the target is met, the host is not congested.
    Met,
    /// 2: the target is met, the host is congested.
    MetCongested,
    /// 3: the target is not met, the host is congested.
    UnmetCongested,
    /// 4: the target is not met, the host is not congested.
    Unmet,
}

impl Regime {
    /// Returns the regime of smoothed signals: congested above the target of occupancy, met from the target of
    /// bandwidth on.
    #[must_use]
    pub fn of(targets: Targets, occupancy: u64, bandwidth: u64) -> Self {
        // Equal counts as not congested and as met (docs/models/control.md, hostCC).
        match (occupancy > targets.occupancy, bandwidth >= targets.bandwidth) {
            (false, true) => Self::Met,
            (true, true) => Self::MetCongested,
            (true, false) => Self::UnmetCongested,
            (false, false) => Self::Unmet,
        }
    }
}

/// Counts since the last reset, up to the last update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlCounts {
    /// Time in each regime, in ps, in the order of [`Regime`]; 0 for a rule without targets.
    pub regimes_ps: [u64; 4],
    /// Time at each level, in ps.
    pub levels_ps: [u64; LEVEL_MAX as usize + 1],
    /// Time with packets being marked, in ps.
    pub echo_ps: u64,
    /// Integrals of smoothed I_S and B_S over time, in the units of [`Signals`](super::Signals) times ps.
    pub smoothed_area: [u128; 2],
    /// Number of times that the highest level, which stops the processes, was entered or left.
    pub stops: u64,
    /// Changes of the level.
    pub changes: u64,
    /// Times and new levels of the first [`CHANGES_MAX`] changes.
    pub history: Vec<(Time, u8)>,
    /// Samples of occupancy and of bandwidth.
    pub samples: [u64; 2],
    /// Discarded samples of occupancy and of bandwidth, which `samples` includes.
    pub discarded: [u64; 2],
    /// Registers written.
    pub writes: u64,
}

/// Current state of a host, and its counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ControlRecorder {
    pub(super) counts: ControlCounts,
    pub(super) level: u8,
    pub(super) echo: bool,
    regime: Option<Regime>,
    smoothed: [u64; 2],
    /// Time up to which the counts are settled.
    since: Time,
}

impl ControlRecorder {
    /// Brings the counts up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        let ps = now.since(self.since);
        self.since = now;
        self.counts.levels_ps[usize::from(self.level)] += ps;
        self.counts.echo_ps += if self.echo { ps } else { 0 };
        for (area, value) in self.counts.smoothed_area.iter_mut().zip(self.smoothed) {
            *area += u128::from(value) * u128::from(ps);
        }
        if let Some(regime) = self.regime {
            self.counts.regimes_ps[regime as usize] += ps;
        }
    }

    /// Starts a new measurement window at `now`.
    pub(super) fn reset(&mut self, now: Time) {
        self.counts = ControlCounts::default();
        self.since = now;
    }

    /// Sets the smoothed signals and their regime.
    pub(super) fn set_signals(&mut self, now: Time, smoothed: [u64; 2], regime: Option<Regime>) {
        self.settle(now);
        self.smoothed = smoothed;
        self.regime = regime;
    }

    /// Starts or stops marking. Returns true if that is a change.
    pub(super) fn set_echo(&mut self, now: Time, echo: bool) -> bool {
        let new = self.echo != echo;
        if new {
            self.settle(now);
            self.echo = echo;
        }
        new
    }

    /// Sets the level, which has changed, and counts the change.
    pub(super) fn set_level(&mut self, now: Time, level: u8) {
        self.settle(now);
        // Only changes to or from the highest level stop or continue processes.
        self.counts.stops += u64::from(self.level.max(level) == LEVEL_MAX);
        self.counts.changes += 1;
        // Bounded, so that a run of any length keeps its memory.
        if self.counts.history.len() < CHANGES_MAX {
            self.counts.history.push((now, level));
        }
        self.level = level;
    }
}
