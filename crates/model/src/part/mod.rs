//! Common base of all parts: their interface, their pools, the events that they exchange, and the access to the world
//! that they have while they handle an event.
//!
//! Every part uses this module; the module depends on none of them.

mod cargo;
mod context;
mod face;
mod group;
mod ids;
mod kind;
mod payload;
mod power;
mod rates;
mod serving;
mod tags;
mod travels;

pub(crate) use cargo::{load, unload};
pub use context::{Context, NetContext, Told};
pub(crate) use face::{reset, settle};
pub use face::{Part, PartName, Pool, Start};
pub use group::{Group, BOOKS};
pub use ids::Ids;
pub use kind::PartKind;
pub use payload::Payload;
pub(crate) use power::PowerEvent;
pub(crate) use rates::Rates;
pub(crate) use serving::Chore;
pub(crate) use tags::Tag;
pub use tags::{Access, IioCounter, Slot, UpiPool};
