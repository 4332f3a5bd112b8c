//! Who decides in which state an idle core sleeps: the governors of Linux (cpuidle).

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

use crate::params::{CState, IdleParams};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// What a governor has to know of a C-state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Depth {
    exit_ps: u64,
    residency_ps: u64,
}

impl Depth {
    fn all(cstates: &[CState]) -> Vec<Self> {
        cstates.iter().map(|cstate| Self { exit_ps: cstate.exit_ps, residency_ps: cstate.residency_ps }).collect()
    }

    /// Whether a core gets out of it in time. A limit of 0 allows no sleep at all, not even one without exit latency.
    fn fits(&self, qos_ps: Option<u64>) -> bool {
        qos_ps.is_none_or(|limit| limit > 0 && self.exit_ps <= limit)
    }
}

/// Decides for one core. To be asked by turns: [`IdleGovernor::select`] when the core becomes idle,
/// [`IdleGovernor::reflect`] when it works again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum IdleGovernor {
    /// Never sleeps.
    Poll,
    /// Step by step.
    Ladder(Ladder),
    /// By the next timer and what was.
    Menu(Menu),
    /// The same as of early kernels.
    EarlyMenu(EarlyMenu),
    /// By how often timers were what woke the core.
    Teo(Teo),
}

impl IdleGovernor {
    /// The governor that parameters name, for C-states from the lightest to the deepest.
    #[must_use]
    pub fn new(kind: IdleParams, cstates: &[CState]) -> Self {
        let depths = Depth::all(cstates);
        match kind {
            IdleParams::Poll => Self::Poll,
            IdleParams::Ladder => Self::Ladder(Ladder::new(depths)),
            IdleParams::Menu => Self::Menu(Menu::new(depths)),
            IdleParams::EarlyMenu => Self::EarlyMenu(EarlyMenu::new(depths)),
            IdleParams::Teo => Self::Teo(Teo::new(depths)),
        }
    }

    /// Whether it ever lets the core sleep.
    #[must_use]
    pub fn sleeps(&self) -> bool {
        !matches!(self, Self::Poll)
    }

    /// The C-state to sleep in by its place in the table; none: poll. `next_timer_ps` is the time until the next timer
    /// of the core, in ps; none: there is no timer. No state is chosen whose exit takes longer than `qos_ps` (PM QoS),
    /// none at all if that is 0.
    #[must_use]
    pub fn select(&mut self, now: Time, next_timer_ps: Option<u64>, qos_ps: Option<u64>) -> Option<usize> {
        self.select_while(now, next_timer_ps, qos_ps, 0)
    }

    /// The same while so many reads of storage that the core asked for are waited for, which the early menu looks at.
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

    /// The core works again. `slept_ps` is the time from the beginning of idleness to the first instruction after it,
    /// in ps, so that the exit latency is part of it, as in what Linux measures (`last_residency`).
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
