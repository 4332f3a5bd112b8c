//! Ethernet: cables, ports, switches, and hosts without a host network.
//!
//! A [`Fabric`] is all switches and endpoints of a world, one partition of it; [`fabric`] builds it from the
//! description of a cluster. A [`World`] is a partition of any kind. An [`Egress`] is a port of a switch, an endpoint
//! or a NIC.

mod build;
mod deadlock;
mod drops;
mod egress;
mod endpoint;
mod fabric;
mod flow_end;
mod occupancy;
mod routes;
mod served;
mod stream;
mod switch;
mod wire;

pub use build::{fabric, headroom_bytes, Built};
pub use deadlock::PausedPort;
pub use drops::{DropReason, Drops};
pub use egress::{Egress, Left, PRIORITIES};
pub use endpoint::Endpoint;
pub use fabric::{Fabric, Node};
pub use flow_end::{FlowEnd, TCP_HEADER_BYTES};
pub use occupancy::Level;
pub use routes::Routes;
pub use stream::Stream;
pub use switch::{Port, Switch};
pub use wire::WireParams;
