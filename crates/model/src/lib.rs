//! Models of the parts of a server and of the network between servers, one module each, and the [`Machine`] that
//! connects the parts.
//!
//! A part is a struct that holds its state, implements [`Part`] and has one function per event. Parts interact only
//! through events. A part receives the ids of its peers when it is built, and state that it shares with others through
//! a [`Context`]. Requests (one line each) live in a slab and travel as [`RequestId`].
//!
//! `docs/architecture.md` lists the modules.

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
pub use hostnet_params as params;
mod part;
pub mod pool;
pub mod power;
pub mod transport;
mod world;

pub use line::{
    Content, Ecn, Fifo, Packet, PacketId, Packets, Pages, Request, RequestId, RequestKind, Requests, Slab, SlabEntry,
};
pub use part::{
    Context, IioCounter, NetContext, Notice, Part, PartIds, PartKind, PartName, Payload, Pool, PoolGroup,
    RegisterAccess, Slot, StartContext, UpiPool,
};
pub use world::{Component, ComponentKind, Machine, World};
