//! Links between parts: PCIe lanes, the device end of a PCIe link, and UPI.

mod endpoint;
mod lane;
mod tlp;
mod upi;

pub(crate) use endpoint::{PcieEndpoint, REGISTER_BYTES};
pub use lane::Lane;
pub(crate) use tlp::{ReadBurst, ReadBursts, WaitingTlp};
pub use upi::Upi;
