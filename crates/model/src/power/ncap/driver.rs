//! Driver of NCAP: the response to an interrupt.

use super::InterruptCause;
use crate::params::PState;
use crate::power::governor::at_most;
use serde::{Deserialize, Serialize};

/// Request of the driver to power management. `DriverOrders::default()` requests nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverOrders {
    /// P-state to switch to.
    pub frequency: Option<usize>,
    /// True if the frequency governor is held for one of its periods.
    pub hold: bool,
    /// True to allow sleep of cores, false to forbid it, `None` to leave it as it is.
    pub sleep: Option<bool>,
}

/// Algorithm 2 (section 2.4.3): returns the request for an interrupt at P-state `at`.
///
/// `steps` (FCONS, at least 1) is the number of steps from the highest to the lowest frequency. A step selects the
/// fastest P-state of at most its target frequency, so that `steps` steps suffice. Cores may sleep from the first
/// IT_LOW on, as the text of the thesis says. The algorithm says so only above the lowest frequency.
#[must_use]
pub fn driver_orders(cause: InterruptCause, at: usize, pstates: &[PState], steps: u32) -> DriverOrders {
    let fastest = pstates.len() - 1;
    let khz = |at: usize| u64::from(pstates[at.min(fastest)].khz);
    // The highest frequency at once, and no sleep while the burst lasts (algorithm 2).
    if cause.high {
        return DriverOrders { frequency: Some(fastest), hold: true, sleep: Some(false) };
    }
    if !cause.low {
        return DriverOrders::default();
    }
    // At the lowest frequency only sleep is left to allow.
    if at == 0 {
        return DriverOrders { sleep: Some(true), ..DriverOrders::default() };
    }
    let step = (khz(fastest) - khz(0)).div_ceil(u64::from(steps.max(1)));
    let lower = at_most(pstates, khz(at).saturating_sub(step));
    DriverOrders { frequency: Some(lower), hold: true, sleep: Some(true) }
}
