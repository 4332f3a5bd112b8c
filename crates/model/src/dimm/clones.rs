//! Clones under way, each for a packet: a doorbell waits for it, or a core.
//!
//! A clone takes what DRAM holds, so it begins when no write waits for its banks. Meanwhile no read goes to the
//! controllers, so that writes do.

use super::books::DimmCounters;
use super::ncontroller::NController;
use super::rowclone::RowClone;
use crate::line::PacketId;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// A clone under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clone {
    pub(super) packet: PacketId,
    /// The next rows, and the lines that are left.
    from: u32,
    to: u32,
    lines: u32,
    /// Who asked for it, and whether it waits; else the doorbell does, if it has been rung.
    pub(super) core: ComponentId,
    pub(super) received: bool,
    pub(super) rung: bool,
    /// Whether the command has come, and whether rows are being cloned now.
    commanded: bool,
    running: bool,
}

/// The clones under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clones {
    rows: RowClone,
    under_way: Vec<Clone>,
}

impl Clones {
    pub(super) fn new(rows: RowClone) -> Self {
        Self { rows, under_way: Vec::with_capacity(64) }
    }

    /// A core is about to command a clone.
    pub(super) fn announce(&mut self, clone: [u32; 3], packet: PacketId, core: ComponentId, received: bool) {
        let [from, to, lines] = clone;
        let (rung, commanded, running) = (false, false, false);
        self.under_way.push(Clone { packet, from, to, lines, core, received, rung, commanded, running });
    }

    fn find(&mut self, packet: PacketId) -> Option<&mut Clone> {
        self.under_way.iter_mut().find(|clone| clone.packet == packet)
    }

    /// The command of a clone has come.
    pub(super) fn command(&mut self, packet: PacketId) {
        if let Some(clone) = self.find(packet) {
            clone.commanded = true;
        }
    }

    /// The doorbell of a packet is rung: whether it has to wait for a clone.
    pub(super) fn ring(&mut self, packet: PacketId) -> bool {
        self.find(packet).map(|clone| clone.rung = true).is_some()
    }

    /// Whether one waits for writes to its banks.
    pub(super) fn waits(&self) -> bool {
        self.under_way.iter().any(|clone| clone.commanded && !clone.running)
    }

    /// Begins what can be begun. The lines that rows are cloned to are handed to `overwrite`.
    pub(super) fn begin(
        &mut self,
        memory: &mut NController,
        books: &mut DimmCounters,
        overwrite: &mut dyn FnMut(u32, u32),
        context: &mut Context,
    ) {
        let now = context.now();
        for clone in self.under_way.iter_mut().filter(|clone| clone.commanded && !clone.running) {
            let lines = clone.lines.min(self.rows.lines_per_row());
            let class = self.rows.class(clone.from, clone.to);
            let (banks, ps) = (self.rows.banks(clone.from, clone.to), self.rows.ps(class, lines));
            let Some(end) = memory.occupy(banks, ps, context) else { continue };
            overwrite(clone.to, self.rows.lines_per_row());
            clone.running = true;
            books.clones[class as usize] += 1;
            context.send(context.id, end.since(now).max(1), Payload::Cloned(clone.packet));
        }
    }

    /// A row is cloned: the clone, if that was its last.
    pub(super) fn end(&mut self, packet: PacketId) -> Option<Clone> {
        let lines_per_row = self.rows.lines_per_row();
        let at = self.under_way.iter().position(|clone| clone.packet == packet)?;
        let clone = &mut self.under_way[at];
        if clone.lines > lines_per_row {
            clone.lines -= lines_per_row;
            (clone.from, clone.to, clone.running) = (clone.from + 1, clone.to + 1, false);
            return None;
        }
        if clone.received || clone.rung {
            return Some(self.under_way.swap_remove(at));
        }
        // The doorbell finds no clone to wait for.
        self.under_way.swap_remove(at);
        None
    }
}
