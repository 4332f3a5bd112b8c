//! Idle governors, which select the C-state of an idle core: those of Linux (cpuidle).

mod early_menu;
mod ladder;
mod menu;
mod teo;
#[cfg(test)]
mod tests;

pub use early_menu::EarlyMenu;
pub use ladder::Ladder;
pub use menu::Menu;
pub use teo::Teo;

use crate::params::{CState, IdleGovernorParams};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Latencies of a C-state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CStateLatency {
    /// Exit latency, in ps.
    exit_ps: u64,
    /// Target residency, in ps.
    residency_ps: u64,
}

impl CStateLatency {
    fn all(cstates: &[CState]) -> Vec<Self> {
        cstates.iter().map(|cstate| Self { exit_ps: cstate.exit_ps, residency_ps: cstate.residency_ps }).collect()
    }

    /// Returns true if the exit latency is within the limit. A limit of 0 allows no sleep, not even without exit
    /// latency.
    fn fits(&self, qos_ps: Option<u64>) -> bool {
        qos_ps.is_none_or(|limit| limit > 0 && self.exit_ps <= limit)
    }
}

/// Idle governor of one core. Call [`IdleGovernor::select`] when the core becomes idle and [`IdleGovernor::reflect`]
/// when it works again, alternately.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum IdleGovernor {
    /// Never sleeps.
    Poll,
    /// Moves one state deeper or shallower at a time.
    Ladder(Ladder),
    /// Predicts by the next timer and the last sleeps.
    Menu(Menu),
    /// Predicts as the menu governor of early kernels does.
    EarlyMenu(EarlyMenu),
    /// Predicts by how often timers woke the core.
    Teo(Teo),
}

impl IdleGovernor {
    /// Creates the governor `kind` for C-states ordered from the lightest to the deepest.
    #[must_use]
    pub fn new(kind: IdleGovernorParams, cstates: &[CState]) -> Self {
        let depths = CStateLatency::all(cstates);
        match kind {
            IdleGovernorParams::Poll => Self::Poll,
            IdleGovernorParams::Ladder => Self::Ladder(Ladder::new(depths)),
            IdleGovernorParams::Menu => Self::Menu(Menu::new(depths)),
            IdleGovernorParams::EarlyMenu => Self::EarlyMenu(EarlyMenu::new(depths)),
            IdleGovernorParams::Teo => Self::Teo(Teo::new(depths)),
        }
    }

    /// Returns true if the governor ever selects sleep.
    #[must_use]
    pub fn sleeps(&self) -> bool {
        !matches!(self, Self::Poll)
    }

    /// Returns the index of the C-state to sleep in, or `None` to poll.
    ///
    /// `next_timer_ps` is the time until the core's next timer in ps, if any. `qos_ps` limits the exit latency (PM
    /// QoS). A limit of 0 allows no sleep.
    #[must_use]
    pub fn select(&mut self, now: Time, next_timer_ps: Option<u64>, qos_ps: Option<u64>) -> Option<usize> {
        self.select_while(now, next_timer_ps, qos_ps, 0)
    }

    /// Selects as [`IdleGovernor::select`] does, with `reads` outstanding storage reads of the core. Only the early
    /// menu uses them.
    #[must_use]
    pub fn select_while(
        &mut self,
        now: Time,
        next_timer_ps: Option<u64>,
        qos_ps: Option<u64>,
        reads: u32,
    ) -> Option<usize> {
        let timer_ps = next_timer_ps.unwrap_or(u64::MAX);
        match self {
            Self::Poll => None,
            Self::Ladder(ladder) => ladder.select(qos_ps),
            Self::Menu(menu) => menu.select(timer_ps, qos_ps),
            Self::EarlyMenu(menu) => menu.select(timer_ps, qos_ps, reads),
            Self::Teo(teo) => teo.select(now, timer_ps, qos_ps),
        }
    }

    /// Reports that the core works again. `slept_ps` is the time from becoming idle to the first instruction after,
    /// in ps. The time includes the exit latency, as `last_residency` of Linux does.
    pub fn reflect(&mut self, now: Time, slept_ps: u64) {
        match self {
            Self::Poll => {}
            Self::Ladder(ladder) => ladder.reflect(slept_ps),
            Self::Menu(menu) => menu.reflect(slept_ps),
            Self::EarlyMenu(menu) => menu.reflect(slept_ps),
            Self::Teo(teo) => teo.reflect(now, slept_ps),
        }
    }
}
