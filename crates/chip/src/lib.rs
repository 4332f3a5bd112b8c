//! A chip of tiles on a network: cores with an L1, slices of the LLC with their directory, memory controllers, and
//! network interfaces (NIs) through which cores read and write the memory of other chips by queue pairs.
//!
//! All traffic between tiles consists of packets of [`hostnet_noc`], and every change of a line is a step of
//! [`hostnet_coherence`]. This crate adds the places of the units and the time that they take. No end-to-end latency
//! is an input: that of a remote read is the sum of its steps.
//!
//! A single chip has a mirror as its peer: for every request that leaves, an equal one arrives, and the answer takes
//! as long as the chip's own answer to it. In a [`Rack`] the peers are simulated chips.

mod agenda;
mod caches;
mod chip;
mod core;
mod fabric;
mod floor;
mod llc;
mod message;
mod ni;
mod op;
mod params;
mod rack;
mod rack_message;
mod slice;
mod stats;
mod torus;

pub use chip::{Chip, ChipStatus, InFlight};
pub use floor::{FloorPlan, Unit};
pub use params::{
    CacheParams, ChipParams, Completion, Home, Interleave, Mode, NiParams, OpKind, Placement, RackParams, Routing,
    Shape, SoftwareCosts, Workload,
};
pub use rack::{Rack, RackChip, RackEvent};
pub use stats::{Breakdown, ChipStats, Part, PARTS};
pub use torus::{Pattern, Place, Torus};

/// Error about the parameters of a chip that cannot be built.
pub use hostnet_noc::NocError as ChipError;
