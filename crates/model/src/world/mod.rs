//! Machines and worlds: a server as a list of parts with the dispatch of events to them, and the partitions of a
//! world.
//!
//! This is the only module that knows all parts. `component.rs` makes the components of the list in `lib.rs`;
//! `machine.rs` passes every event to the [`Part`](crate::Part) that it is for, with a separate arm for each event
//! that parts are sent often. No part knows this module.

mod component;
mod machine;
mod migration;
mod partition;

pub use component::{Component, ComponentKind};
pub use machine::Machine;
pub use partition::World;
