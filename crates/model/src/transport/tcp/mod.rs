//! TCP.
//!
//! | file | what |
//! |---|---|
//! | `segment.rs` | what a header says |
//! | `connection.rs` | one end of a flow: a sender and a receiver |
//! | `receiver.rs` | reassembly, acknowledgements, the window that is offered |
//! | `sender.rs`, `acks.rs`, `timers.rs` | what is sent and when; what an acknowledgement and a timer change |
//! | `hold.rs` | what keeps data back, and for how long |
//! | `scoreboard.rs` | which bytes are known to have arrived or to be lost |
//! | `intervals.rs` | sets of bytes of a stream |
//! | `rtt.rs` | round-trip time and retransmission timeout |
//! | `congestion/` | Reno, CUBIC, DCTCP |
//! | `counters.rs` | what is counted |

mod acks;
mod congestion;
mod connection;
mod counters;
mod hold;
mod intervals;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
#[cfg(test)]
mod tests;
mod timers;

pub use connection::Connection;
pub use counters::Counters;
pub use segment::{SackBlock, Segment};
