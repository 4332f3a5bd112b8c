//! Links between parts: what a lane costs, the end of PCIe that devices have, and UPI.

mod endpoint;
mod lane;
mod upi;

pub(crate) use endpoint::{Endpoint, REGISTER_BYTES};
pub use lane::Lane;
pub use upi::Upi;
