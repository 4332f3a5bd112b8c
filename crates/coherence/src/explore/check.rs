//! Invariants that hold in every state.

use std::fmt;

use crate::directory::{LineHolders, LlcBlock};
use crate::explore::{AgentLine, LineWorld, World};
use crate::tile::Copy;
use crate::{Agent, Illegal, Sharers};

/// Invariant of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every message that arrives is legal in the state of its receiver.
    Receiver,
    /// An agent that may write a line is the only one that may read it.
    SingleWriter,
    /// Every readable copy has the newest value.
    NewestValue,
    /// When nothing is pending, the directory knows every copy and the owner.
    Agreement,
    /// When nothing is pending, the next requester gets the newest value.
    DataKept,
    /// A clean block of the LLC equals memory.
    CleanBlock,
    /// A line that is free serves every request.
    IdleServes,
    /// From every state, deliveries of messages alone lead to a state with nothing pending.
    Drains,
}

impl Invariant {
    pub(super) fn broken(self, what: impl Into<String>) -> BrokenInvariant {
        BrokenInvariant { invariant: self, what: what.into() }
    }

    fn holds(self, holds: bool, what: impl FnOnce() -> String) -> Result<(), BrokenInvariant> {
        if holds {
            Ok(())
        } else {
            Err(self.broken(what()))
        }
    }
}

/// Violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenInvariant {
    /// Invariant that is violated.
    pub invariant: Invariant,
    /// Description of the violation.
    pub what: String,
}

impl BrokenInvariant {
    pub(super) fn illegal(illegal: Illegal) -> Self {
        Invariant::Receiver.broken(illegal.to_string())
    }
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.invariant, self.what)
    }
}

impl World {
    /// Checks the invariants that depend on a single state.
    ///
    /// # Errors
    ///
    /// Returns the first violation.
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        self.lines.iter().try_for_each(check_line)
    }
}

fn check_line(line: &LineWorld) -> Result<(), BrokenInvariant> {
    let at = || agents(line).map(|(agent, state)| (agent, state.as_cache()));
    let readers: Sharers = at().filter(|(_, cache)| cache.readable().is_some()).map(|(agent, _)| agent).collect();
    let writers: Sharers = at().filter(|(_, cache)| cache.is_writable()).map(|(agent, _)| agent).collect();
    // The writer itself may read, nobody else.
    Invariant::SingleWriter.holds(writers.is_empty() || writers.len() == 1 && readers == writers, || {
        format!("{} agents may read and {} may write", readers.len(), writers.len())
    })?;
    line.agents.iter().try_for_each(|state| check_copies(line, state))?;
    if let LlcBlock::Clean(value) = line.home.block {
        Invariant::CleanBlock.holds(value == line.memory, || format!("the LLC has {value}, memory {}", line.memory))?;
    }
    // While messages are in flight, the directory may be ahead of the caches or behind them.
    if line.is_quiet() {
        check_quiet(line, readers, writers)?;
    }
    Ok(())
}

fn agents(line: &LineWorld) -> impl Iterator<Item = (Agent, &AgentLine)> {
    (0_u8..).map_while(Agent::new).zip(&line.agents)
}

/// Checks that an agent can read only the newest value, and that the halves of a tile are consistent.
fn check_copies(line: &LineWorld, state: &AgentLine) -> Result<(), BrokenInvariant> {
    let copies = match state {
        AgentLine::Cache(cache) => [cache.readable(), None],
        AgentLine::Tile(tile) => {
            let fits = match (tile.l1, tile.ni) {
                (Copy::Owned(_), _) => false,
                // State O exists in NI caches only, and beside it the L1 has at most a clean copy.
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

fn check_quiet(line: &LineWorld, readers: Sharers, writers: Sharers) -> Result<(), BrokenInvariant> {
    let holders = line.home.holders;
    // A superset is enough: caches drop clean lines silently.
    let known = readers.iter().all(|agent| holders.all().contains(agent));
    Invariant::Agreement.holds(known, || "a copy that the directory does not know of".to_owned())?;
    let owned = writers.iter().all(|agent| holders == LineHolders::Owned(agent));
    Invariant::Agreement.holds(owned, || "an owner that the directory does not know of".to_owned())?;
    // The LLC's block hides memory, as it does for a request.
    let kept = line.home.block.value().unwrap_or(line.memory) == line.newest;
    let modified = line.agents.iter().any(|state| matches!(state.as_cache(), crate::cache::CacheLine::Modified(_)));
    Invariant::DataKept.holds(kept || modified, || format!("the value {} is nowhere", line.newest))
}
