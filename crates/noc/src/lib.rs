//! Network on a chip: carries packets of one or more flits between terminals, through routers with virtual channels
//! and credits. The crate knows no cores, no caches and no text.
//!
//! * [`Layout`] describes the routers, the channels between them and the terminals. The functions of [`topology`]
//!   build layouts; a new topology is a file there that adds its channels and returns the next hop of every route.
//! * [`Routes`] holds, for every class of messages, router and destination, the next port and the virtual channels
//!   that may be used. [`deadlock`] proves that the waits of packets on such routes form no cycle.
//! * [`Network`] moves flits, one cycle at a time; it costs nothing while it is empty.
//! * [`Run`] simulates the network alone: generated traffic or a trace, warm-up, measurement.

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
pub use routes::{Hop, Routes, RoutingFunction, VcClass};
pub use run::{LinkCount, Measure, Report, Run, Status};
pub use source::{Source, TracePacket};
pub use traffic::{Pattern, Traffic};
