//! The cache coherence protocol of a manycore chip: a blocking, inexact directory with MESI caches.
//!
//! Each function takes the state of one line at one place and an event, and gives the new state and what is sent:
//!
//! * [`cache::step`] for an L1, or for an NI cache that is an agent of its own.
//! * [`tile::step`] for an L1 with an NI cache at its back side, which look like one agent.
//! * [`uncached::step`] for who reads and writes lines without keeping them.
//! * [`directory::step`] for the home of a line, with its block of the LLC.
//!
//! They know no time and no addresses, allocate nothing and never panic: what the protocol does not allow is an
//! [`Illegal`]. [`explore`] tries them out in every order that small systems can get into.

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
pub use sends::{Sends, Sent};

/// What a line holds: a version, or whatever the model stands for the 64 bytes with.
pub type Value = u32;
