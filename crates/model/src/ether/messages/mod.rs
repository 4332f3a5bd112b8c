//! Network of messages: each message of a rank is a flow of bytes that shares the links on its path with others, and
//! not a train of packets.
//!
//! A [`MessageNetwork`] plays all cables and switches for the endpoints of a fabric. An endpoint posts a message
//! ([`crate::Payload::Message`]). The message begins at that time, and gets a max-min fair share of every link on its
//! path ([`fill`]). When its bytes have passed, it arrives after the delays of the path
//! ([`crate::MessageEvent::Arrived`]). Shares are computed anew when messages begin or end, and only for the messages
//! that share links with these, directly or by way of others.

mod build;
mod channel;
mod fill;
mod link;
mod network;
mod packets;
#[cfg(test)]
mod tests;
mod window;

pub(super) use build::NetworkOfMessages;
pub(super) use link::MessagePorts;
pub use network::MessageNetwork;
pub(super) use packets::MessageTransport;

/// Binary logarithm of the units of a byte in which links count what they carry, and of rates in bytes per ps.
const UNIT_BITS: u32 = 56;

/// Events from the time of a message until its share is known, in ps: one to the network, and one of the network to
/// itself, so that all messages of a picosecond are handled at once. Times of arrivals make up for it.
const STEPS_PS: u64 = 2;

/// Returns a rate in units per ps, rounded up so that exact times stay exact.
fn units_per_ps(bytes_per_s: u64) -> u64 {
    let units = (u128::from(bytes_per_s.max(1)) << UNIT_BITS).div_ceil(1_000_000_000_000);
    u64::try_from(units).unwrap_or(u64::MAX)
}
