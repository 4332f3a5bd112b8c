//! A server as its parts: what they have in common, what joins them, and the way events find them.
//!
//! This is the only room that lists the parts. `component.rs` has one line for each, `machine.rs` one arm for each
//! event that a part is sent often.

mod component;
mod context;
mod group;
mod ids;
mod machine;
mod part;
mod payload;

pub use component::{Component, Member};
pub use context::{Context, NetContext};
pub use group::Group;
pub use ids::Ids;
pub use machine::Machine;
pub(crate) use machine::{load, unload};
pub(crate) use part::{reset, settle};
pub use part::{Part, PartKind, PartName, Pool, Start};
pub use payload::{IioCounter, Payload, UpiPool};
