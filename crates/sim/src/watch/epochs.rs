//! The state of a run at the ends of epochs, as a hash: enough to tell where two runs part.

use crate::watch::fingerprint;
use hostnet_kernel::Simulation;
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// The end of an epoch, and the hash of the state then. The last epoch of a run may be shorter than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// When it ended, in ps.
    pub end_ps: u64,
    /// Hash of the state of all parts, their pending events and their random numbers.
    pub hash: u64,
}

/// The epoch that ends now. The books of the world are settled, so that it does not matter when they last were.
pub(crate) fn end(simulation: &Simulation<World>) -> Epoch {
    let hashes: Vec<u64> =
        simulation.parts().iter().map(|(world, scheduler)| fingerprint::of(&(scheduler.state(), world))).collect();
    Epoch { end_ps: simulation.progress().time.ps(), hash: fingerprint::of(&hashes) }
}
