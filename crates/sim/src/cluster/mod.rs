//! Hosts, switches and cables: builds the world of a cluster, runs it, and makes tables of it.

mod build;
mod control;
mod ends;
mod faults;
mod limits;
mod moment;
mod outside;
mod queues;
mod read;
mod report;
mod run;
mod stuck;

pub use build::{world, Preparation};
pub use outside::HostError;
pub use run::{Options, Run};
