//! What joins the parts: a server as the list of its parts and the way events find them, and the partitions of a world.
//!
//! This is the only room that knows the parts: `component.rs` makes the components of the list in `kinds.rs`, and
//! `machine.rs` hands every event to the face of its part, but for an arm for each that a part is sent often. No part
//! knows it.

mod component;
mod machine;
mod partition;

pub use component::{Component, Member};
pub use machine::Machine;
pub use partition::World;
