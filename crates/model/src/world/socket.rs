//! What the parts of a socket share.

use crate::cache::Caches;
use crate::fluid::FluidMemory;
use serde::{Deserialize, Serialize};

/// A socket: what its parts share, and none of them has for itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Socket {
    /// Its caches, if it has any.
    pub caches: Option<Caches>,
    /// Its memory, if that has rates instead of lines; among the parts [`Component::Fluid`](super::Component::Fluid)
    /// stands for it.
    pub fluid: Option<Box<FluidMemory>>,
}
