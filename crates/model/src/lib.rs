//! The parts of machines, one folder each, and the [`Machine`] that joins them.
//!
//! A part is a struct with its state, its face ([`Part`]) and a function per event. Parts touch each other only by
//! events; whom it talks to a part is told when it is made, and what it shares with others comes in as a [`Context`].
//! Requests (one line each) live in a slab and travel as [`RequestId`].
//!
//! | folder | part |
//! |---|---|
//! | `app/` | applications: the accesses and the work of their threads |
//! | `cache/` | L2, LLC, snoop filter, DDIO: what they hold |
//! | `core/` | cores and what runs on them: streams of loads and stores, threads, kernel work |
//! | `lfb/` | the line fill buffer of a core |
//! | `cha/` | caching and home agents: admission, request buffers |
//! | `memory/` | memory controller and DRAM of one channel, address map |
//! | `mesh/` | the mesh of a die: distances, links that fill |
//! | `iio/` | integrated IO controller: write and read buffers |
//! | `os/` | what network traffic costs a core: softirq, copies, applications |
//! | `nvme/` | drives as DMA sources and sinks |
//! | `flow/` | applications at the ends of flows |
//! | `ether/` | cables, ports, switches, hosts without a host network |
//! | `nic/` | the NIC: receive buffer, rings, DMA, interrupts, sending |
//! | `transport/` | TCP and RoCE as pure state machines |
//! | `control/` | what watches the host and throttles it (hostCC) |
//! | `power/` | frequencies, sleep and their governors as pure state machines |
//! | `fluid/` | a memory system that has rates instead of lines |
//! | `met.rs` | which limits have come into play |
//! | `line/` | requests and packets on their way, and where lines are at home |
//! | `link/` | what a link costs, the end of PCIe that devices have, UPI |
//! | `kinds.rs` | the list of the kinds of parts |
//! | `part/` | what every part has, and what it sees of the others |
//! | `world/` | what joins the parts |

pub mod app;
pub mod cache;
pub mod cha;
pub mod control;
pub mod core;
pub mod dimm;
pub mod ether;
pub mod expander;
pub mod flow;
pub mod fluid;
pub mod iio;
mod kinds;
mod lfb;
pub mod line;
pub mod link;
pub mod mcn;
pub mod memory;
pub mod mesh;
pub mod met;
pub mod nic;
pub mod nvme;
pub mod os;
pub mod params;
mod part;
pub mod pool;
pub mod power;
pub mod transport;
mod world;

pub use line::{Content, Ecn, Entry, Fifo, Kind, Packet, PacketId, Packets, Pages, Request, RequestId, Requests, Slab};
pub use part::{
    Access, Context, Group, Ids, IioCounter, NetContext, Part, PartKind, PartName, Payload, Pool, Slot, Start, Told,
    UpiPool,
};
pub use world::{Component, Machine, Member, World};
