//! Ethernet: cables, ports, switches, and endpoints (hosts without a host network).
//!
//! A [`Fabric`] is a partition with all switches and endpoints of a world or some of them. [`fabrics`] builds the
//! fabrics from the description of a cluster, [`repartition()`] moves the cuts between them, and a [`Network`] is a
//! view of all of them. [`crate::World`] is a partition of any kind. A [`Switch`] has static routes, a
//! [`LearningSwitch`] learns the ports of hosts from packets. An [`Egress`] is an output port of a switch, an endpoint
//! or a NIC.

mod addresses;
mod build;
mod crossing;
mod cut;
mod deadlock;
mod drops;
mod egress;
mod endpoint;
mod endpoint_forward;
mod endpoint_ranks;
mod endpoint_sums;
mod engines;
mod equal_ports;
mod fabric;
mod flow_end;
mod flow_index;
mod forwarder;
mod learning;
mod message_end;
mod messages;
mod network;
mod occupancy;
mod pool_drops;
mod port_queues;
mod ranks;
mod repartition;
mod routes;
mod served;
mod sharers;
mod stream;
mod sums;
mod switch;
mod switch_sharers;
mod wire;

pub use addresses::{AddressCounts, AddressTable};
pub use build::{cut, fabrics, headroom_bytes, BuiltFabrics, NetworkCut};
pub use crossing::{fabric_crossing_ps, FabricCrossing};
pub use deadlock::{cycle, PauseWait, PausedLink, PausedPort};
pub use drops::{DropCounters, DropReason};
pub use egress::{DepartedPacket, Egress};
pub use endpoint::Endpoint;
pub use engines::{Compressor, Decompressor, EngineCounts};
pub use fabric::{Fabric, FabricNode};
pub use flow_end::FlowEnd;
pub use learning::{LearningCounts, LearningSwitch};
pub use messages::MessageNetwork;
pub use network::Network;
pub use occupancy::OccupancyStats;
pub use port_queues::PRIORITIES;
pub use repartition::{join_fabrics, repartition};
pub use routes::Routes;
pub use stream::TcpFlowEnd;
pub use switch::{Switch, SwitchPort};
pub use wire::{WireParams, BYTE_PARTS, TCP_HEADER_BYTES};
