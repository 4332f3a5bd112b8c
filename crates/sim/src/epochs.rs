//! The state of a run every 10 us of simulated time, as a hash: enough to tell where two runs part.

use crate::fingerprint;
use crate::sample;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::Machine;
use serde::{Deserialize, Serialize};

/// The length of an epoch in ps.
pub const EPOCH_PS: u64 = 10_000_000;

/// The end of an epoch, and the hash of the state then. The last epoch of a run may be shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// When it ended, in ps.
    pub end_ps: u64,
    /// Hash of the state of the machine, its pending events and its random numbers.
    pub hash: u64,
}

/// When the epoch after `epochs` ends, if the run goes on for so long.
pub(crate) fn next_end(epochs: &[Epoch]) -> Time {
    Time::from_ps((epochs.len() as u64 + 1) * EPOCH_PS)
}

/// The epoch that ends now. Brings the books of the machine up to now, so that it does not matter when they last were.
pub(crate) fn end(simulation: &mut Simulation<Machine>) -> Epoch {
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    let now = scheduler.now();
    sample::settle(machine, now);
    Epoch { end_ps: now.ps(), hash: fingerprint::of(&(scheduler.state(), &*machine)) }
}
