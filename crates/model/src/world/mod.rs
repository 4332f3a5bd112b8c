//! What joins the parts: a server as the list of its parts and the way events find them, and the partitions of a world.
//!
//! This is the only room that lists the parts. `component.rs` has one line for each, `machine.rs` one arm for each
//! event that a part is sent often. No part knows it.

mod component;
mod machine;
mod partition;
mod socket;

pub use component::{Component, Member};
pub use machine::Machine;
pub use partition::World;
pub use socket::Socket;
