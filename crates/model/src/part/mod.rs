//! Common base of all parts: their interface, their pools, the events that they exchange, and the access to the world
//! that they have while they handle an event.
//!
//! Every part uses this module; the module depends on none of them.

mod buffer_counters;
mod cargo;
mod chore;
mod context;
mod group;
mod ids;
mod interface;
mod kind;
mod mesh_message;
mod message_event;
mod payload;
mod power;
mod rates;
mod ring;
mod tags;

pub(crate) use buffer_counters::BufferCounters;
pub(crate) use cargo::{load, unload};
pub(crate) use chore::Chore;
pub use context::{Context, NetContext, Notice};
pub use group::{PoolGroup, CHA_CLASSES_PER_WORKLOAD};
pub use ids::PartIds;
pub(crate) use interface::{reset, settle};
pub use interface::{Part, PartName, Pool, StartContext};
pub use kind::PartKind;
pub use message_event::MessageEvent;
pub use payload::Payload;
pub(crate) use power::PowerEvent;
pub(crate) use rates::CopyRates;
pub use ring::RingEvent;
pub(crate) use tags::TlpTag;
pub use tags::{IioCounter, RegisterAccess, Slot, UpiPool};
