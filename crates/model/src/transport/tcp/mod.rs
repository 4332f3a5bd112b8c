//! TCP.
//!
//! | file | content |
//! |---|---|
//! | `segment.rs` | header of a segment |
//! | `connection.rs` | one end of a flow: a sender and a receiver |
//! | `receiver.rs` | reassembly, acknowledgements, the advertised window |
//! | `sender.rs`, `acks.rs`, `timers.rs` | sending; effects of acknowledgements and timers on the sender |
//! | `hold.rs` | limits that hold data back, and for how long |
//! | `scoreboard.rs` | bytes known to have arrived or considered lost |
//! | `intervals.rs` | sets of bytes of a stream |
//! | `rare.rs` | state that most connections never need |
//! | `rtt.rs` | round-trip time and retransmission timeout |
//! | `congestion/` | Reno, CUBIC, DCTCP |
//! | `counters.rs` | counters |

mod acks;
mod congestion;
mod connection;
mod counters;
mod hold;
mod intervals;
mod rare;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
#[cfg(test)]
mod tests;
mod timers;

pub use connection::TcpConnection;
pub use counters::Counters;
pub use segment::{SackBlock, Segment};
