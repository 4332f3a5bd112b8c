//! The network on a chip: flits of 1 to some packets between terminals, through routers with virtual channels and
//! credits. It knows no cores, no caches and no text.
//!
//! * [`Layout`] is a drawing: routers, channels between them, terminals at them. [`topology`] makes them; a new one is
//!   a file there that draws its channels and says the next one on every way.
//! * [`Routes`] says for every class of messages, router and destination which port comes next, and which virtual
//!   channels may be used; [`deadlock`] proves that such routes cannot wait for each other in a circle.
//! * [`Network`] moves flits, a cycle at a time; it costs nothing while it is empty.
//! * [`Run`] is the network alone: generated traffic or a trace, warm-up, measurement.

pub mod deadlock;
mod error;
mod layout;
mod load;
mod network;
mod params;
mod routes;
mod run;
mod source;
pub mod topology;
mod traffic;

pub use error::NocError;
pub use layout::{Channel, Layout, Place, Port, Terminal};
pub use load::{busiest, channel_load, ChannelLoad};
pub use network::{Delivery, Network, Packet, PacketId};
pub use params::{Allocation, Class, Order, Params, Reuse, Router, Shape};
pub use routes::{Hop, Next, Routes, Way};
pub use run::{LinkCount, Measure, Report, Run, Status};
pub use source::{Source, TracePacket};
pub use traffic::{Pattern, Traffic};
