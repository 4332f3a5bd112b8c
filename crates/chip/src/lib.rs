//! A chip of tiles on a network: cores with an L1, slices of the LLC with their directory, memory controllers, and
//! network interfaces (NI) through which cores read and write the memory of other chips by queue pairs.
//!
//! Everything that goes between tiles is a packet of [`hostnet_noc`], everything that happens to a line is a step of
//! [`hostnet_coherence`]; this crate adds where things are and how long they take. Nothing is a measured latency: what
//! a remote read takes is the sum of what it did.
//!
//! The other chips are a mirror: for every request that leaves, one comes in, and the answer takes as long as the own
//! answers did. Or they are chips themselves: a [`Rack`].

mod agenda;
mod books;
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
mod slice;

pub use books::{Books, Breakdown, Part, PARTS};
pub use chip::{Chip, ChipStatus, InFlight};
pub use floor::{Floor, Unit};
pub use params::{
    CacheParams, ChipParams, Completion, Home, Interleave, Mode, NiParams, OpKind, Placement, RackParams, Routing,
    Shape, Software, Workload,
};
pub use rack::{Happening, Pattern, Place, Rack, RackChip, Torus};

/// A chip cannot be built so.
pub use hostnet_noc::NocError as ChipError;
