//! The work of frontends: they poll work queues and write completion queues.

use super::Chip;
use crate::agenda::Action;
use crate::caches::Access;
use crate::floor::Unit;
use crate::message::{ChipMessage, MessageBody};
use crate::Placement;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;

impl Chip {
    /// Polls a work queue.
    pub(crate) fn visit(&mut self, core: u16) {
        let entry = self.units.tiles[usize::from(core)].front.taken;
        let line = self.fabric.wq_line(core, entry);
        let at = self.fabric.frontend_at(core);
        // This access of the frontend itself counts as no change of the line.
        let found = self.access(at, TileHalf::Ni, line, Access::Load);
        let front = &mut self.units.tiles[usize::from(core)].front;
        front.visiting = false;
        match found {
            Some((Completion::Loaded(value), handed_over)) if u64::from(value) > entry => {
                front.taken += 1;
                // The entry's content travels beside the simulated line, whose value is only a count.
                let op = {
                    let requests = &self.units.tiles[usize::from(core)].core.requests;
                    requests[(entry % requests.len() as u64) as usize]
                };
                let ni = self.fabric.params.ni;
                // The poll itself has already taken one cycle of the handover.
                let handover = if handed_over { ni.handover_cycles.saturating_sub(1) } else { 0 };
                self.ops.get(op).read = self.fabric.now + u64::from(handover);
                self.fabric.schedule(handover + ni.rgp_frontend_cycles, Action::Handed { op });
                // A line holds several entries, so the next one may be there already.
                self.units.plan_visit(core, &mut self.fabric);
            }
            Some(_) => {}
            None => front.loading = true,
        }
    }

    pub(crate) fn wq_loaded(&mut self, core: u16) {
        let front = &mut self.units.tiles[usize::from(core)].front;
        front.loading = false;
        if !front.visiting {
            self.units.plan_visit(core, &mut self.fabric);
        }
    }

    /// Passes an entry on from the frontend to its backend, which is in the same place or at the edge.
    pub(crate) fn handed(&mut self, op: u32) {
        self.ops.get(op).handed = self.fabric.now;
        let ni = self.fabric.params.ni;
        if ni.placement == Placement::Split {
            let core = self.ops.get(op).core;
            let to = Unit::Edge(self.fabric.floor.edge_of(core));
            self.fabric.send(Unit::Core(core), ChipMessage { to, line: 0, body: MessageBody::WqEntry { op } });
        } else {
            // Frontend and backend in one place share a latch, which saves cycles (docs/models/chip.md, A read).
            self.at_backend(op, ni.rgp_backend_cycles.saturating_sub(ni.latch_saves_cycles).max(1));
        }
    }

    /// Queues a completion that has passed the frontend for the completion queue.
    pub(crate) fn post(&mut self, op: u32) {
        let core = self.ops.get(op).core;
        self.ops.get(op).posting = self.fabric.now;
        let front = &mut self.units.tiles[usize::from(core)].front;
        front.posting.push_back(op);
        // One store at a time: entries become visible in their order.
        if !front.storing {
            self.post_next(core);
        }
    }

    /// Writes entries until one must wait for its line.
    fn post_next(&mut self, core: u16) {
        while !self.units.tiles[usize::from(core)].front.posting.is_empty() {
            let entry = self.units.tiles[usize::from(core)].front.posted;
            let line = self.fabric.cq_line(core, entry);
            self.enter(core, entry);
            let at = self.fabric.frontend_at(core);
            if self.access(at, TileHalf::Ni, line, Access::Store(entry as u32 + 1)).is_none() {
                self.units.tiles[usize::from(core)].front.storing = true;
                return;
            }
            self.posted(core);
        }
    }

    /// Sets the operation of an entry before the entry can be read.
    fn enter(&mut self, core: u16, entry: u64) {
        let tile = &mut self.units.tiles[usize::from(core)];
        let place = (entry % tile.core.completions.len() as u64) as usize;
        tile.core.completions[place] = tile.front.posting[0];
        self.ops.get(tile.front.posting[0]).posted = self.fabric.now;
    }

    fn posted(&mut self, core: u16) {
        let front = &mut self.units.tiles[usize::from(core)].front;
        front.posted += 1;
        if let Some(op) = front.posting.pop_front() {
            self.ops.get(op).posted = self.fabric.now;
        }
    }

    pub(crate) fn cq_stored(&mut self, core: u16) {
        self.units.tiles[usize::from(core)].front.storing = false;
        self.posted(core);
        self.post_next(core);
    }
}
