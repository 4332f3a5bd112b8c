//! The discrete-event kernel of hostnet. It knows no hardware.
//!
//! * [`Time`] is integer picoseconds.
//! * An [`Event`] is small `Copy` data; its [`EventKey`] `(time, source, sequence)` is a total order that
//!   needs no global counter, so it is the same for one partition or many.
//! * [`Queue`] pops events in that order.
//! * [`Scheduler`] is what a partition sees: the time, and a way to send.
//! * [`Simulation`] runs partitions side by side in conservative windows, on threads and in several processes, which
//!   hand their mail to each other by an [`Exchange`].
//! * [`recut()`] cuts what stands still elsewhere.
//! * An [`Observer`] sees every event of a simulation of one partition; without one nothing is spent on it.
//! * [`Rng`] gives every part its own stream.
//! * [`checkpoint`] writes a whole simulation to bytes and reads it back.

pub mod checkpoint;
mod event;
mod exchange;
mod letterbox;
mod meeting;
mod observe;
mod parallel;
mod partition;
mod queue;
mod recut;
mod rng;
mod scheduler;
mod time;
mod wheel;

pub use event::{ComponentId, Event, EventKey};
pub use exchange::{told, told_first, Across, Exchange};
pub use letterbox::Letterbox;
pub use observe::Observer;
pub use partition::{Progress, Simulation};
pub use queue::Queue;
pub use recut::recut;
pub use rng::{mix, Rng};
pub use scheduler::{Ahead, Partition, Scheduler};
pub use time::Time;
