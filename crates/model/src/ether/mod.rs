//! Parts of an Ethernet network.

mod drops;
mod egress;
mod occupancy;
mod wire;

pub use drops::{DropReason, Drops};
pub use egress::{Egress, Left, PRIORITIES};
pub use occupancy::Level;
pub use wire::WireParams;
