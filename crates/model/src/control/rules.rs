//! Rules that come with hostnet.

use super::controller::{Actions, Controller, Sampled, Signals, Smoothing, Targets, LEVEL_MAX};
use crate::params::HostCcParams;
use serde::{Deserialize, Serialize};

/// hostCC: sets level and marking by the four regimes of "Host Congestion Control" (SIGCOMM 2023).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostCc {
    params: HostCcParams,
    /// Time at which the level last went down, in ps.
    lowered_ps: Option<u64>,
}

impl HostCc {
    /// Creates the rule; see [`HostCcParams`].
    #[must_use]
    pub fn new(params: HostCcParams) -> Self {
        Self { params, lowered_ps: None }
    }

    fn level(&mut self, signals: &Signals) -> Option<u8> {
        let Signals { now_ps, level, occupancy_smoothed: occupancy, bandwidth_smoothed: bandwidth, .. } = *signals;
        let HostCcParams { occupancy: occupancy_target, target_bytes_per_s: target, hold_ps, .. } = self.params;
        // Signals equal to their targets change nothing, and only lowering is held, as in the artefact of the authors.
        if occupancy > occupancy_target && bandwidth < target && level < LEVEL_MAX {
            return Some(level + 1);
        }
        let held = self.lowered_ps.is_some_and(|lowered_ps| now_ps - lowered_ps < hold_ps);
        if occupancy < occupancy_target && bandwidth > target && level > 0 && !held {
            self.lowered_ps = Some(now_ps);
            return Some(level - 1);
        }
        None
    }
}

impl Controller for HostCc {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        match signals.sampled {
            Sampled::Occupancy if self.params.echo => {
                Actions { echo: Some(signals.occupancy_smoothed > self.params.occupancy), level: None }
            }
            Sampled::Bandwidth if self.params.local => Actions { level: self.level(signals), echo: None },
            _ => Actions::default(),
        }
    }

    fn smoothing(&self) -> Smoothing {
        Smoothing {
            occupancy_shift: self.params.occupancy_shift,
            bandwidth_shift: self.params.bandwidth_shift,
            occupancy_floor: self.params.occupancy_floor,
            bandwidth_ceiling: self.params.bandwidth_ceiling,
        }
    }

    fn targets(&self) -> Option<Targets> {
        Some(Targets { occupancy: self.params.occupancy, bandwidth: self.params.target_bytes_per_s })
    }
}

/// Constant level.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fixed(pub u8);

impl Controller for Fixed {
    fn on_sample(&mut self, _signals: &Signals) -> Actions {
        Actions { level: Some(self.0), echo: None }
    }
}

/// Rule that does nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch;

impl Controller for Watch {
    fn on_sample(&mut self, _signals: &Signals) -> Actions {
        Actions::default()
    }
}
