//! How long a host was in which state.

use super::controller::{Targets, LEVEL_MAX};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Changes of the level that are kept at most; later ones are only counted.
pub const CHANGES_MAX: usize = 1 << 16;

/// The four regimes of hostCC.
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
    /// The regime of smoothed signals: congested above the target of occupancy, met from the target of bandwidth on.
    #[must_use]
    pub fn of(targets: Targets, occupancy: u64, bandwidth: u64) -> Self {
        match (occupancy > targets.occupancy, bandwidth >= targets.bandwidth) {
            (false, true) => Self::Met,
            (true, true) => Self::MetCongested,
            (true, false) => Self::UnmetCongested,
            (false, false) => Self::Unmet,
        }
    }
}

/// What has happened since the last reset, up to the last settling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlCounts {
    /// Time in each regime in ps, in the order of [`Regime`]; nothing for a rule without targets.
    pub regimes_ps: [u64; 4],
    /// Time at each level in ps.
    pub levels_ps: [u64; LEVEL_MAX as usize + 1],
    /// Time with packets being marked in ps.
    pub echo_ps: u64,
    /// Smoothed I_S and B_S, in the units of [`Signals`](super::Signals), times the ps for which they stood.
    pub smoothed_area: [u128; 2],
    /// Changes between the two highest levels, one way or the other.
    pub stops: u64,
    /// Changes of the level.
    pub changes: u64,
    /// When the level changed, and to what; the first [`CHANGES_MAX`].
    pub history: Vec<(Time, u8)>,
    /// Samples of occupancy and of bandwidth.
    pub samples: [u64; 2],
    /// Of those, samples that were discarded.
    pub discarded: [u64; 2],
    /// Registers written.
    pub writes: u64,
}

/// Keeps the counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Book {
    pub(super) counts: ControlCounts,
    pub(super) level: u8,
    pub(super) echo: bool,
    regime: Option<Regime>,
    smoothed: [u64; 2],
    since: Time,
}

impl Book {
    /// Brings the times up to `now`.
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

    /// Begins anew at `now`.
    pub(super) fn reset(&mut self, now: Time) {
        self.counts = ControlCounts::default();
        self.since = now;
    }

    /// The smoothed signals, and the regime that they mean.
    pub(super) fn set_signals(&mut self, now: Time, smoothed: [u64; 2], regime: Option<Regime>) {
        self.settle(now);
        self.smoothed = smoothed;
        self.regime = regime;
    }

    /// Returns whether that is new.
    pub(super) fn set_echo(&mut self, now: Time, echo: bool) -> bool {
        let new = self.echo != echo;
        if new {
            self.settle(now);
            self.echo = echo;
        }
        new
    }

    pub(super) fn set_level(&mut self, now: Time, level: u8) {
        self.settle(now);
        self.counts.stops += u64::from(self.level.max(level) == LEVEL_MAX);
        self.counts.changes += 1;
        if self.counts.history.len() < CHANGES_MAX {
            self.counts.history.push((now, level));
        }
        self.level = level;
    }
}
