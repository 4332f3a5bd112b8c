//! What holds in every state.

use std::fmt;

use crate::directory::{Block, Holders};
use crate::explore::{AgentLine, LineWorld, System, World};
use crate::tile::Copy;
use crate::{Agent, Illegal, Rules, Sharers};

/// A law of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every message that comes has somebody who knows what to do with it.
    Receiver,
    /// Who may write a line is the only one that may read it.
    SingleWriter,
    /// What can be read is the newest value.
    NewestValue,
    /// When nothing is going on, the directory knows of every copy, and of who may write.
    Agreement,
    /// When nothing is going on, the newest value is where the next requester gets it from.
    DataKept,
    /// A clean block of the LLC is as memory has it.
    CleanBlock,
    /// A line that is free takes every request.
    IdleServes,
    /// From every state, the messages on their way lead to one in which nothing is going on.
    Drains,
}

impl Invariant {
    pub(super) fn broken(self, what: impl Into<String>) -> Broken {
        Broken { invariant: self, what: what.into() }
    }

    fn holds(self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Broken> {
        if holds {
            Ok(())
        } else {
            Err(self.broken(what()))
        }
    }
}

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The law.
    pub invariant: Invariant,
    /// What is there instead.
    pub what: String,
}

impl Broken {
    pub(super) fn illegal(illegal: Illegal) -> Self {
        Invariant::Receiver.broken(illegal.to_string())
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.what)
    }
}

impl<R: Rules> System<R> {
    /// Whether the laws hold that a state alone can tell.
    ///
    /// # Errors
    ///
    /// The first law that does not hold.
    pub fn check(&self, world: &World) -> Result<(), Broken> {
        world.lines.iter().try_for_each(check_line)
    }
}

fn check_line(line: &LineWorld) -> Result<(), Broken> {
    let at = || agents(line).map(|(agent, state)| (agent, state.as_cache()));
    let readers: Sharers = at().filter(|(_, cache)| cache.readable().is_some()).map(|(agent, _)| agent).collect();
    let writers: Sharers = at().filter(|(_, cache)| cache.is_writable()).map(|(agent, _)| agent).collect();
    Invariant::SingleWriter.holds(writers.is_empty() || writers.len() == 1 && readers == writers, || {
        format!("{} agents may read and {} may write", readers.len(), writers.len())
    })?;
    line.agents.iter().try_for_each(|state| check_copies(line, state))?;
    if let Block::Clean(value) = line.home.block {
        Invariant::CleanBlock.holds(value == line.memory, || format!("the LLC has {value}, memory {}", line.memory))?;
    }
    if line.is_quiet() {
        check_quiet(line, readers, writers)?;
    }
    Ok(())
}

fn agents(line: &LineWorld) -> impl Iterator<Item = (Agent, &AgentLine)> {
    (0_u8..).map_while(Agent::new).zip(&line.agents)
}

/// What an agent can read is the newest, and the halves of a tile fit each other.
fn check_copies(line: &LineWorld, state: &AgentLine) -> Result<(), Broken> {
    let copies = match state {
        AgentLine::Cache(cache) => [cache.readable(), None],
        AgentLine::Tile(tile) => {
            let fits = match (tile.l1, tile.ni) {
                (Copy::Owned(_), _) => false,
                (l1, Copy::Owned(_)) => !l1.is_alone(),
                (l1, ni) => !(l1.is_alone() || ni.is_alone()) || l1 == Copy::None || ni == Copy::None,
            };
            Invariant::SingleWriter.holds(fits, || format!("{state} in one tile"))?;
            [tile.l1.value(), tile.ni.value()]
        }
        AgentLine::Uncached { .. } => [None, None],
    };
    let newest = copies.into_iter().flatten().all(|value| value == line.newest);
    Invariant::NewestValue.holds(newest, || format!("{state} can be read; the newest value is {}", line.newest))
}

fn check_quiet(line: &LineWorld, readers: Sharers, writers: Sharers) -> Result<(), Broken> {
    let holders = line.home.holders;
    let known = readers.iter().all(|agent| holders.all().contains(agent));
    Invariant::Agreement.holds(known, || "a copy that the directory does not know of".to_owned())?;
    let owned = writers.iter().all(|agent| holders == Holders::Owned(agent));
    Invariant::Agreement.holds(owned, || "an owner that the directory does not know of".to_owned())?;
    let kept = line.home.block.value().unwrap_or(line.memory) == line.newest;
    let modified = line.agents.iter().any(|state| matches!(state.as_cache(), crate::cache::CacheLine::Modified(_)));
    Invariant::DataKept.holds(kept || modified, || format!("the value {} is nowhere", line.newest))
}
