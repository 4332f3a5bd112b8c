//! Exhaustive exploration of the protocol: every reachable state of a small system, with messages that overtake each
//! other arbitrarily.
//!
//! [`System::explore`] searches breadth first, so that it finds a shortest path to a violation. Blocked requests wait
//! in the network and are served in any order, of which oldest first is one.

mod action;
mod apply;
mod check;
mod rename;
mod search;
mod world;

pub use action::Action;
pub use check::{BrokenInvariant, Invariant};
pub use search::{Report, Violation};
pub use world::{AgentLine, LineWorld, Packet, World};

use std::fmt;

use crate::Rules;

/// Size of a system. Its agents are numbered: caches, then tiles, then uncached agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Caches that are agents of their own: L1s, and NI caches at the edge.
    pub caches: u8,
    /// Tiles, each an L1 with an NI cache.
    pub tiles: u8,
    /// Uncached agents.
    pub uncached: u8,
    /// Lines, each with its own home.
    pub lines: u8,
    /// Values that stores write.
    pub stores: StoreValues,
    /// Lines that a cache holds at most; with fewer than `lines`, a cache must evict one before it gets another.
    pub capacity: u8,
    /// Accesses and write-backs in flight at most, over all agents and lines.
    pub in_flight: u8,
    /// True if memory handles the messages of a home in the order in which they are sent. The protocol requires
    /// this; false explores what breaks without it.
    pub memory_in_order: bool,
}

/// Values that stores write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreValues {
    /// Any of so many values, at most 32.
    Any(u32),
    /// The value after the newest one, cyclically among at most 32.
    Next(u32),
}

impl Bounds {
    /// Returns the bounds of a system with one line, two values and no other limits.
    #[must_use]
    pub const fn of(caches: u8, tiles: u8, uncached: u8) -> Self {
        Self {
            caches,
            tiles,
            uncached,
            lines: 1,
            stores: StoreValues::Any(2),
            capacity: 1,
            in_flight: u8::MAX,
            memory_in_order: true,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caches, tiles, uncached, lines, in_flight, .. } = self;
        let (StoreValues::Any(values) | StoreValues::Next(values)) = self.stores;
        write!(f, "{caches} caches, {tiles} tiles, {uncached} uncached, {lines} lines, {values} values")?;
        if *in_flight < u8::MAX {
            write!(f, ", {in_flight} in flight")?;
        }
        Ok(())
    }
}

/// System that follows the protocol, or a mutation of it.
#[derive(Clone, Copy, Debug)]
pub struct System<R> {
    /// Rules of the protocol.
    pub rules: R,
    /// Size of the system.
    pub bounds: Bounds,
}

impl<R: Rules> System<R> {
    /// Creates a system of a given size and rules.
    #[must_use]
    pub const fn new(rules: R, bounds: Bounds) -> Self {
        Self { rules, bounds }
    }
}
