//! Cache coherence protocol of a manycore chip: a blocking, inexact directory with MESI caches.
//!
//! Each function takes the state of one line at one place and an event, and returns the new state and the messages
//! sent:
//!
//! * [`cache::step`] for an L1, or for an NI cache that is an agent of its own.
//! * [`tile::step`] for an L1 with an NI cache at its back side, which act as one agent.
//! * [`uncached::step`] for an agent that reads and writes lines without caching them.
//! * [`directory::step`] for the home of a line, with its block of the LLC.
//!
//! The functions know neither time nor addresses, allocate nothing and never panic: an event that the protocol forbids
//! is an [`Illegal`] error. [`explore`] checks them in every reachable state of small systems.

pub mod cache;
pub mod directory;
pub mod explore;
mod illegal;
mod message;
mod node;
mod rules;
mod sends;
pub mod tile;
pub mod uncached;

pub use illegal::{Illegal, Place};
pub use message::{Class, Message};
pub use node::{Agent, Node, Sharers};
pub use rules::{Flaw, Protocol, Rules};
pub use sends::{Sends, SentMessage};

/// Content of a line: a version number, or any value that stands for its 64 bytes.
pub type Value = u32;
