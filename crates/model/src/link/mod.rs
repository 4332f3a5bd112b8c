//! Links between parts: PCIe lanes, the device end of a PCIe link, and UPI.

mod endpoint;
mod lane;
mod upi;

pub(crate) use endpoint::{PcieEndpoint, REGISTER_BYTES};
pub use lane::Lane;
pub use upi::Upi;
