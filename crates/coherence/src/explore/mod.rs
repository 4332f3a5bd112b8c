//! Tries the protocol out: every state that a small system can get into when messages overtake each other at will.
//!
//! [`System::explore`] goes breadth first, so that what it finds is found on a shortest way. Blocked requests wait in
//! the network and are served in any order, of which oldest first is one.

mod action;
mod apply;
mod check;
mod rename;
mod search;
mod world;

pub use action::Action;
pub use check::{Broken, Invariant};
pub use search::{Report, Violation};
pub use world::{AgentLine, LineWorld, Packet, World};

use std::fmt;

use crate::Rules;

/// How large a system is. Its agents are numbered: caches, then tiles, then uncached agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Caches that are agents of their own: L1s, and NI caches at the edge.
    pub caches: u8,
    /// Tiles, each an L1 with an NI cache.
    pub tiles: u8,
    /// Agents that read and write uncached.
    pub uncached: u8,
    /// Lines, all at homes of their own.
    pub lines: u8,
    /// What is stored.
    pub stores: Stores,
    /// How many lines a cache may hold: with fewer than there are, one has to leave before another comes.
    pub capacity: u8,
    /// How many accesses and write-backs may be in flight at once, over all agents and lines.
    pub in_flight: u8,
    /// Whether memory takes the messages of a home in the order in which they are sent, as it must.
    pub memory_in_order: bool,
}

/// The values that stores have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Any of as many values, at most 32.
    Any(u32),
    /// The one after the newest, of a circle of at most 32.
    Next(u32),
}

impl Bounds {
    /// One line, two values, nothing else bounded.
    #[must_use]
    pub const fn of(caches: u8, tiles: u8, uncached: u8) -> Self {
        Self {
            caches,
            tiles,
            uncached,
            lines: 1,
            stores: Stores::Any(2),
            capacity: 1,
            in_flight: u8::MAX,
            memory_in_order: true,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caches, tiles, uncached, lines, in_flight, .. } = self;
        let (Stores::Any(values) | Stores::Next(values)) = self.stores;
        write!(f, "{caches} caches, {tiles} tiles, {uncached} uncached, {lines} lines, {values} values")?;
        if *in_flight < u8::MAX {
            write!(f, ", {in_flight} in flight")?;
        }
        Ok(())
    }
}

/// A system that follows the protocol, or rules that break it.
#[derive(Clone, Copy, Debug)]
pub struct System<R> {
    /// The rules.
    pub rules: R,
    /// Its size.
    pub bounds: Bounds,
}

impl<R: Rules> System<R> {
    /// A system of some size that follows some rules.
    #[must_use]
    pub const fn new(rules: R, bounds: Bounds) -> Self {
        Self { rules, bounds }
    }
}
