//! What every part has, and what it sees of the others: its face, its pools, the events that it is sent and the world
//! around it while it handles one.
//!
//! Every part knows this room; it knows none of them.

mod context;
mod face;
mod group;
mod ids;
mod kind;
mod payload;
mod rates;

pub use context::{Context, NetContext, Told};
pub(crate) use face::{reset, settle};
pub use face::{Part, PartName, Pool, Start};
pub use group::{Group, BOOKS};
pub use ids::Ids;
pub use kind::PartKind;
pub use payload::Access;
pub(crate) use payload::Tag;
pub(crate) use payload::{load, unload};
pub use payload::{IioCounter, Payload, Slot, UpiPool};
pub(crate) use rates::Rates;
