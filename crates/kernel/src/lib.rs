//! Discrete-event simulation kernel of hostnet. The kernel knows no hardware.
//!
//! * [`Time`] counts integer picoseconds.
//! * [`Event`] is small `Copy` data. Its [`EventKey`] `(time, source, sequence)` is a total order that needs no global
//!   counter, so the order is the same for one partition or many.
//! * [`Queue`] pops events in that order.
//! * [`Scheduler`] gives a partition its clock and lets it send events.
//! * [`Simulation`] runs partitions in parallel in conservative windows, on threads and in several processes, which
//!   exchange events through an [`Exchange`].
//! * [`repartition()`] redistributes components over other partitions between runs.
//! * [`Observer`] sees every event of a simulation; a run without an observer pays nothing for it.
//! * [`Rng`] gives every part a stream of random numbers of its own.
//! * [`checkpoint`] serialises a whole simulation and restores it.

mod barrier;
pub mod checkpoint;
mod event;
mod exchange;
mod observe;
mod parallel;
mod partition;
mod queue;
mod repartition;
mod rng;
mod scheduler;
mod thread_exchange;
mod time;
mod wheel;

pub use event::{ComponentId, Event, EventKey};
pub use exchange::{all_gather, gather_at_first, Exchange, ProcessGroup};
pub use observe::Observer;
pub use partition::{Progress, Simulation};
pub use queue::Queue;
pub use repartition::repartition;
pub use rng::{mix, Rng};
pub use scheduler::{Partition, PrefetchStage, Scheduler};
pub use thread_exchange::ThreadExchange;
pub use time::Time;
