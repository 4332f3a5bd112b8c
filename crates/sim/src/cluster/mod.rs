//! Hosts on a network: what flows, ports and hosts did.

mod control;
pub(crate) mod ends;
mod faults;
mod limits;
pub(crate) mod moment;
pub(crate) mod queues;
pub(crate) mod read;
mod report;
pub(crate) mod stuck;
