//! Accesses to lines of queues, through the coherence protocol.

use super::units::Units;
use crate::agenda::Action;
use crate::caches::Access;
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::message::Token;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;
use hostnet_coherence::{Message, Node};
use serde::{Deserialize, Serialize};

/// An access to a line of a queue, from a half of the caches at a place.
pub(crate) type QueueAccess = (Unit, TileHalf, u64, Access);

/// Accesses to lines of queues that are not complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueueAccesses {
    /// Lines that have arrived and are being written to the cache that requested them.
    filling: Vec<(Unit, u64)>,
    /// Accesses that wait for such a line, or for an access of the other half of the tile.
    stalled: Vec<QueueAccess>,
}

impl QueueAccesses {
    /// Handles a coherence message for the caches of queue lines.
    pub(super) fn receive(
        &mut self,
        (at, line): (Unit, u64),
        from: Node,
        message: Message,
        units: &mut Units,
        fabric: &mut Fabric,
    ) {
        let half = if matches!(at, Unit::Edge(_)) { TileHalf::Ni } else { TileHalf::Core };
        let cycles = fabric.params.cache.l1_cycles;
        let node = fabric.node(at);
        let outcome = units.caches(at).receive(half, line, from, message);
        fabric.send_step(cycles, (at, node), line, outcome.out, Token::NONE);
        if let Some((half, completion)) = outcome.done {
            fabric.schedule(cycles, Action::Cached { at, half, line, completion });
            // The protocol has the line, but the cache is still being filled for `l1_cycles`: accesses wait for it.
            self.filling.push((at, line));
        }
        units.changed(at, line, fabric);
    }

    /// Reads or writes a line of a queue. If the access is served at once, returns its completion, and true if the
    /// line came from the other half of the tile. Otherwise [`Action::Cached`] follows when the access is served.
    pub(super) fn access(
        &mut self,
        (at, half, line, access): QueueAccess,
        units: &mut Units,
        fabric: &mut Fabric,
    ) -> Option<(Completion, bool)> {
        if self.filling.contains(&(at, line)) {
            self.stalled.push((at, half, line, access));
            return None;
        }
        let node = fabric.node(at);
        let outcome = units.caches(at).access(half, line, access);
        // The other half of the tile has a transaction pending: the access is repeated after it.
        if outcome.stalled {
            self.stalled.push((at, half, line, access));
            return None;
        }
        let cycles = fabric.params.cache.l1_cycles;
        fabric.send_step(cycles, (at, node), line, outcome.out, Token::NONE);
        let (_, completion) = outcome.done?;
        // In a tile the other half polls the same line and sees the store at once.
        if matches!(access, Access::Store(_)) && units.caches(at).is_pair() {
            units.changed(at, line, fabric);
        }
        Some((completion, outcome.handed_over))
    }

    /// Notes that a line has been written to its cache.
    pub(super) fn end_fill(&mut self, at: Unit, line: u64) {
        self.filling.retain(|filled| *filled != (at, line));
    }

    /// Takes the oldest access to a line that had to wait.
    pub(super) fn take_stalled(&mut self, at: Unit, line: u64) -> Option<QueueAccess> {
        let place = self.stalled.iter().position(|wait| (wait.0, wait.2) == (at, line))?;
        Some(self.stalled.remove(place))
    }
}
