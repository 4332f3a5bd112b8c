//! Actions of a system in the exploration.

use std::fmt;

use crate::cache::CacheLine;
use crate::directory::LlcBlock;
use crate::explore::{AgentLine, Packet, System, World};
use crate::tile::{Copy, TileHalf};
use crate::uncached::UncachedLine;
use crate::{Rules, Value};

/// Action of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An agent reads. The half is that of a tile, and [`TileHalf::Core`] for other agents.
    Load(u8, u8, TileHalf),
    /// An agent writes.
    Store(u8, u8, TileHalf, Value),
    /// A cache evicts a line.
    Evict(u8, u8, TileHalf),
    /// The LLC evicts the block of a line.
    EvictBlock(u8),
    /// A message is delivered.
    Deliver(u8, Packet),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ni = |half: &TileHalf| if *half == TileHalf::Ni { ", NI," } else { "" };
        match self {
            Self::Load(line, agent, half) => write!(f, "line {line}: agent {agent}{} reads", ni(half)),
            Self::Store(line, agent, half, value) => {
                write!(f, "line {line}: agent {agent}{} writes {value}", ni(half))
            }
            Self::Evict(line, agent, half) => write!(f, "line {line}: agent {agent}{} evicts", ni(half)),
            Self::EvictBlock(line) => write!(f, "line {line}: the LLC evicts"),
            Self::Deliver(line, packet) => {
                write!(f, "line {line}: {} gets {} from {}", packet.to, packet.message, packet.from)
            }
        }
    }
}

impl<R: Rules> System<R> {
    /// Returns the actions that are possible in a state. Some of them may have no effect: see [`System::apply`].
    #[must_use]
    pub fn actions(&self, world: &World) -> Vec<Action> {
        let mut actions = Vec::with_capacity(32);
        for (index, line) in (0_u8..).zip(&world.lines) {
            let mut last = None;
            for packet in &line.packets {
                // Packets are sorted, so equal ones are neighbours: delivering either of them leads to the same state.
                if last != Some(packet) {
                    actions.push(Action::Deliver(index, *packet));
                }
                last = Some(packet);
            }
            if line.home.block != LlcBlock::Absent {
                actions.push(Action::EvictBlock(index));
            }
            for (agent, state) in (0_u8..).zip(&line.agents) {
                self.accesses(world, index, agent, state, &mut actions);
            }
        }
        actions
    }

    fn accesses(&self, world: &World, line: u8, agent: u8, state: &AgentLine, actions: &mut Vec<Action>) {
        let newest = world.lines[usize::from(line)].newest;
        let mut access = |half| {
            if self.has_room(world, line, agent, half) {
                actions.push(Action::Load(line, agent, half));
                actions.extend(self.bounds.stores.values(newest).map(|value| Action::Store(line, agent, half, value)));
            }
        };
        match state {
            AgentLine::Cache(cache) => {
                access(TileHalf::Core);
                if *cache != CacheLine::Invalid {
                    actions.push(Action::Evict(line, agent, TileHalf::Core));
                }
            }
            AgentLine::Tile(tile) => {
                for half in [TileHalf::Core, TileHalf::Ni] {
                    access(half);
                }
                for half in [TileHalf::Core, TileHalf::Ni] {
                    // Eviction of nothing changes nothing.
                    if tile.copy(half) != Copy::None {
                        actions.push(Action::Evict(line, agent, half));
                    }
                }
            }
            AgentLine::Uncached { line: UncachedLine::Idle, .. } => access(TileHalf::Core),
            AgentLine::Uncached { .. } => {}
        }
    }

    /// Returns true if a cache has the line or room for it.
    fn has_room(&self, world: &World, line: u8, agent: u8, half: TileHalf) -> bool {
        let taken = (0_u8..)
            .zip(&world.lines)
            // The line itself does not count: it has its room already, or gets the one that is free.
            .filter(|(index, other)| *index != line && other.agents[usize::from(agent)].occupies(half));
        taken.count() < usize::from(self.bounds.capacity)
    }
}
