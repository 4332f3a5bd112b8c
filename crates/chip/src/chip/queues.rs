//! Accesses to lines of queues, through the coherence protocol.

use super::Chip;
use crate::agenda::Action;
use crate::caches::{Access, Caches};
use crate::floor::Unit;
use crate::message::Token;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;
use hostnet_coherence::{Agent, Message, Node};

impl Chip {
    /// Handles a coherence message for the caches of queue lines.
    pub(super) fn cache_message(&mut self, at: Unit, line: u64, from: Node, message: Message) {
        let half = if matches!(at, Unit::Edge(_)) { TileHalf::Ni } else { TileHalf::Core };
        let cycles = self.fabric.params.cache.l1_cycles;
        let node = self.node(at);
        let outcome = self.caches(at).receive(half, line, from, message);
        self.fabric.send_step(cycles, (at, node), line, outcome.out, Token::NONE);
        if let Some((half, completion)) = outcome.done {
            self.fabric.schedule(cycles, Action::Cached { at, half, line, completion });
            // The protocol has the line, but the cache is still being filled for `l1_cycles`: accesses wait for it.
            self.filling.push((at, line));
        }
        self.changed(at, line);
    }

    /// Reads or writes a line of a queue. If the access is served at once, returns its completion, and true if the
    /// line came from the other half of the tile. Otherwise [`Chip::cached`] is called when the access is served.
    pub(crate) fn access(&mut self, at: Unit, half: TileHalf, line: u64, access: Access) -> Option<(Completion, bool)> {
        if self.filling.contains(&(at, line)) {
            self.stalled.push((at, half, line, access));
            return None;
        }
        let node = self.node(at);
        let outcome = self.caches(at).access(half, line, access);
        // The other half of the tile has a transaction pending: `retry` repeats the access after it.
        if outcome.stalled {
            self.stalled.push((at, half, line, access));
            return None;
        }
        let cycles = self.fabric.params.cache.l1_cycles;
        self.fabric.send_step(cycles, (at, node), line, outcome.out, Token::NONE);
        let (_, completion) = outcome.done?;
        // In a tile the other half polls the same line and sees the store at once.
        if matches!(access, Access::Store(_)) && self.caches(at).is_pair() {
            self.changed(at, line);
        }
        Some((completion, outcome.handed_over))
    }

    /// Retries an access that had to wait for one of the other half of a tile.
    pub(crate) fn retry(&mut self, at: Unit, line: u64) {
        let Some(place) = self.stalled.iter().position(|wait| (wait.0, wait.2) == (at, line)) else { return };
        let (at, half, line, access) = self.stalled.remove(place);
        if let Some((completion, _)) = self.access(at, half, line, access) {
            self.cached(at, half, line, completion);
        }
    }

    pub(crate) fn caches(&mut self, at: Unit) -> &mut Caches {
        match at {
            Unit::Edge(row) => &mut self.edges[usize::from(row)].caches,
            Unit::Core(core) | Unit::Slice(core) | Unit::Memory(core) => &mut self.tiles[usize::from(core)].caches,
        }
    }

    /// Returns the agent as which the directory knows a unit.
    pub(crate) fn node(&self, at: Unit) -> Node {
        let index = match at {
            // Agents are numbered: tiles first, then the edge parts.
            Unit::Edge(row) => self.fabric.params.tiles() + row,
            Unit::Core(core) | Unit::Slice(core) | Unit::Memory(core) => core,
        };
        Node::Agent(Agent::new(index as u8).expect("a chip has fewer agents than a directory has bits"))
    }
}
