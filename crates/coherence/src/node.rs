//! Senders and receivers of messages.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Agent of the chip, index 0 to 127: a cache, a tile (L1 and NI cache together) or an uncached agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Agent(u8);

impl Agent {
    /// Largest number of agents on a chip: the directory has one bit for each.
    pub const COUNT_MAX: u8 = 128;

    /// Returns the agent with an index, or `None` from [`Agent::COUNT_MAX`] on.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT_MAX {
            Some(Self(index))
        } else {
            None
        }
    }

    /// Returns the index of the agent.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Agent {
    type Error = String;

    fn try_from(index: u8) -> Result<Self, String> {
        Self::new(index).ok_or_else(|| format!("agent {index}: at most {}", Self::COUNT_MAX - 1))
    }
}

impl From<Agent> for u8 {
    fn from(agent: Agent) -> Self {
        agent.0
    }
}

/// Sender or receiver of a message about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Node {
    /// The home of the line: its slice of the directory and of the LLC.
    Home,
    /// The memory controller of the line.
    Memory,
    /// A cache, a tile, or an uncached agent.
    Agent(Agent),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home => f.write_str("home"),
            Self::Memory => f.write_str("memory"),
            Self::Agent(agent) => write!(f, "agent {}", agent.0),
        }
    }
}

/// Set of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sharers(u128);

impl Sharers {
    /// Empty set.
    pub const NONE: Self = Self(0);

    /// Returns the set with one more agent.
    #[must_use]
    pub const fn with(self, agent: Agent) -> Self {
        Self(self.0 | 1 << agent.0)
    }

    /// Returns the set without an agent.
    #[must_use]
    pub const fn without(self, agent: Agent) -> Self {
        Self(self.0 & !(1 << agent.0))
    }

    /// Returns true if the set contains an agent.
    #[must_use]
    pub const fn contains(self, agent: Agent) -> bool {
        self.0 >> agent.0 & 1 == 1
    }

    /// Returns the number of agents in the set: 0 to 128.
    #[must_use]
    pub const fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// Returns true if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the agents, lowest index first.
    pub fn iter(self) -> impl Iterator<Item = Agent> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let index = u8::try_from(left.trailing_zeros()).ok().and_then(Agent::new)?;
            // Clears the lowest bit that is set.
            left &= left - 1;
            Some(index)
        })
    }
}

impl FromIterator<Agent> for Sharers {
    fn from_iter<I: IntoIterator<Item = Agent>>(agents: I) -> Self {
        agents.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_has_room_for_agents_0_to_127() {
        assert_eq!(Agent::new(127).map(Agent::index), Some(127));
        assert_eq!(Agent::new(128), None);
        let all: Sharers = (0..128).filter_map(Agent::new).collect();
        assert_eq!(all.len(), 128);
        assert_eq!(all.iter().count(), 128);
    }

    #[test]
    fn a_set_has_who_was_put_into_it() {
        let [a, b] = [3, 127].map(|index| Agent::new(index).expect("below 128"));
        let both = Sharers::NONE.with(a).with(b);
        assert_eq!(both.iter().collect::<Vec<_>>(), [a, b]);
        assert!(both.contains(b) && !both.without(b).contains(b));
        assert!(both.without(a).without(b).is_empty());
    }
}
