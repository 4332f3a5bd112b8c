//! What the driver does when NCAP has interrupted.

use super::Cause;
use crate::params::PState;
use crate::power::governor::at_most;
use serde::{Deserialize, Serialize};

/// What the driver asks of the power management. `Orders::default()` is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The P-state to go to.
    pub frequency: Option<usize>,
    /// Whether the governor of frequencies is held for one of its periods.
    pub hold: bool,
    /// Whether cores may sleep from now on.
    pub sleep: Option<bool>,
}

/// Algorithm 2 (section 2.4.3): what an interrupt asks for at P-state `at`, where `steps` (FCONS, at least 1) lead from
/// the highest to the lowest frequency. A step ends at the fastest P-state of at most the frequency that it aims at, so
/// that no more steps than that are needed. Cores may sleep from the first IT_LOW on, as the text says; the algorithm
/// says so only above the lowest frequency.
#[must_use]
pub fn orders(cause: Cause, at: usize, pstates: &[PState], steps: u32) -> Orders {
    let fastest = pstates.len() - 1;
    let khz = |at: usize| u64::from(pstates[at.min(fastest)].khz);
    if cause.high {
        return Orders { frequency: Some(fastest), hold: true, sleep: Some(false) };
    }
    if !cause.low {
        return Orders::default();
    }
    if at == 0 {
        return Orders { sleep: Some(true), ..Orders::default() };
    }
    let step = (khz(fastest) - khz(0)).div_ceil(u64::from(steps.max(1)));
    let lower = at_most(pstates, khz(at).saturating_sub(step));
    Orders { frequency: Some(lower), hold: true, sleep: Some(true) }
}
