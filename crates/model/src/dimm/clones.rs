//! Clones under way, each for a packet. A doorbell or a core waits for each.
//!
//! A clone copies the content of DRAM, so it begins when no write waits for its banks. Meanwhile no read goes to the
//! controllers, so that the writes get through.

use super::counters::DimmCounters;
use super::ncontroller::NController;
use super::rowclone::RowClone;
use crate::line::PacketId;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Clone under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clone {
    pub(super) packet: PacketId,
    /// Next row to clone.
    from: u32,
    /// Row that it is cloned to.
    to: u32,
    /// Lines left.
    lines: u32,
    /// Core that requested the clone.
    pub(super) core: ComponentId,
    /// True if the packet was received, so that the core waits for the clone; otherwise its doorbell may wait.
    pub(super) received: bool,
    /// True once the doorbell of the packet is rung.
    pub(super) rung: bool,
    /// True once the command has arrived.
    commanded: bool,
    /// True while a row is being cloned.
    running: bool,
}

/// Clones under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PacketClones {
    rows: RowClone,
    under_way: Vec<Clone>,
}

impl PacketClones {
    pub(super) fn new(rows: RowClone) -> Self {
        Self { rows, under_way: Vec::with_capacity(64) }
    }

    /// Adds a clone that a core is about to command.
    pub(super) fn announce(&mut self, clone: [u32; 3], packet: PacketId, core: ComponentId, received: bool) {
        let [from, to, lines] = clone;
        let (rung, commanded, running) = (false, false, false);
        self.under_way.push(Clone { packet, from, to, lines, core, received, rung, commanded, running });
    }

    fn find(&mut self, packet: PacketId) -> Option<&mut Clone> {
        self.under_way.iter_mut().find(|clone| clone.packet == packet)
    }

    /// Records that the command of a clone has arrived.
    pub(super) fn command(&mut self, packet: PacketId) {
        if let Some(clone) = self.find(packet) {
            clone.commanded = true;
        }
    }

    /// Records the doorbell of a packet. Returns true if the doorbell must wait for a clone.
    pub(super) fn ring(&mut self, packet: PacketId) -> bool {
        self.find(packet).map(|clone| clone.rung = true).is_some()
    }

    /// Returns true if a clone waits for writes to its banks.
    pub(super) fn waits(&self) -> bool {
        self.under_way.iter().any(|clone| clone.commanded && !clone.running)
    }

    /// Begins the clones that can begin. Calls `overwrite` with the row that is cloned to and its number of lines.
    pub(super) fn begin(
        &mut self,
        memory: &mut NController,
        counters: &mut DimmCounters,
        overwrite: &mut dyn FnMut(u32, u32),
        context: &mut Context,
    ) {
        let now = context.now();
        // In the order of their commands, so that the choice is deterministic.
        for clone in self.under_way.iter_mut().filter(|clone| clone.commanded && !clone.running) {
            let lines = clone.lines.min(self.rows.lines_per_row());
            let class = self.rows.class(clone.from, clone.to);
            let (banks, ps) = (self.rows.banks(clone.from, clone.to), self.rows.ps(class, lines));
            // Writes still wait for its banks; the next event tries again.
            let Some(end) = memory.occupy(banks, ps, context) else { continue };
            // The whole row is overwritten, whatever the packet takes of it.
            overwrite(clone.to, self.rows.lines_per_row());
            clone.running = true;
            counters.clones[class as usize] += 1;
            context.send(context.id, end.since(now).max(1), Payload::Cloned(clone.packet));
        }
    }

    /// Handles the end of the clone of a row. Returns the clone if that was its last row and a core or a doorbell
    /// waits.
    pub(super) fn end(&mut self, packet: PacketId) -> Option<Clone> {
        let lines_per_row = self.rows.lines_per_row();
        let at = self.under_way.iter().position(|clone| clone.packet == packet)?;
        let clone = &mut self.under_way[at];
        if clone.lines > lines_per_row {
            clone.lines -= lines_per_row;
            // A packet of several rows is cloned row by row.
            (clone.from, clone.to, clone.running) = (clone.from + 1, clone.to + 1, false);
            return None;
        }
        if clone.received || clone.rung {
            return Some(self.under_way.swap_remove(at));
        }
        // A doorbell that is rung later finds no clone to wait for.
        self.under_way.swap_remove(at);
        None
    }
}
