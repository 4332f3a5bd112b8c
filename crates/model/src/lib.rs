//! The parts of machines, one folder each, and the [`Machine`] that joins them.
//!
//! A part is a struct with its state, its face ([`Part`]) and a function per event. Parts touch each other only by
//! events; whom it talks to a part is told when it is made, and what it shares with others comes in as a [`Context`].
//! Requests (one line each) live in a slab and travel as [`RequestId`].
//!
//! `docs/architecture.md` says what is in which folder.

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
