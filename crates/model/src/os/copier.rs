//! The lines of a core that does nothing but copy what packets brought.

use super::books::StackCounts;
use super::kernel::Owed;
use super::lines::{Lines, Pace};
use super::NetFootprint;
use crate::lfb::Lfb;
use crate::line::Pages;
use crate::params::{CoreParams, StackParams};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// The packets that a core copies one after the other, as its kernel does: where they lie, and how many lines each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopySource {
    /// Virtual address of the first, a multiple of 4096.
    pub base: u64,
    /// Bytes that they go through before the first place is used again, a multiple of `step_bytes`.
    pub bytes: u64,
    /// From one packet to the next, a multiple of 4096.
    pub step_bytes: u64,
    /// Lines of a packet.
    pub lines: u32,
}

/// The lines of a core that copies without end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CopyLines {
    lfb: Lfb,
    lines: Lines,
    pages: Pages,
    source: CopySource,
    class: u8,
    owed: Owed,
    begun: u64,
    counts: StackCounts,
}

impl CopyLines {
    /// Core number `index`, whose lines go by way of the CHA `cha`.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        cha: ComponentId,
        core: CoreParams,
        stack: &StackParams,
        pages: Pages,
        mut rng: Rng,
        footprint: NetFootprint,
        source: CopySource,
        classes: usize,
    ) -> Self {
        let class = (classes - 1) as u8;
        // Cores that began alike would meet in the same banks for ever.
        let begun = rng.next_u64() % (source.bytes / source.step_bytes.max(1)).max(1);
        let lfb = Lfb::new(&core, core.lfb_entries, classes);
        let mut lines = Lines::new(index, cha, core, stack, pages.clone(), rng, [footprint.user, footprint.kernel]);
        lines.begin_read(class);
        let owed = Owed::of_packet(stack, source.lines * 64);
        Self { lfb, lines, pages, source, class, owed, begun, counts: StackCounts::default() }
    }

    /// Lines copied since the start.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.lines.copied()
    }

    /// C2M-Read.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.lfb.read
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 3] {
        self.lfb.domains_mut()
    }

    pub(crate) fn on_event(&mut self, payload: Payload, context: &mut Context) {
        self.lfb.idle += u32::from(payload == Payload::Refill);
        self.lines.on_event(payload, &mut self.lfb, &mut self.counts, context);
    }

    /// Goes on, packet by packet: the lines of the kernel, the copy; until when the core is busy, if it does not
    /// wait for a line.
    pub(crate) fn advance(&mut self, context: &mut Context) -> Option<Time> {
        loop {
            match self.lines.follow(&mut self.lfb, &mut self.counts, context) {
                Pace::Until(time) => return Some(time),
                Pace::Waiting => return None,
                Pace::Done => {}
            }
            if self.lines.left() < 2 * u64::from(self.source.lines) {
                self.next_packet(context);
                continue;
            }
            match self.lines.advance(&mut self.lfb, &mut self.counts, context) {
                Pace::Until(time) => return Some(time),
                Pace::Waiting | Pace::Done => return None,
            }
        }
    }

    fn next_packet(&mut self, context: &mut Context) {
        let CopySource { base, bytes, step_bytes, lines } = self.source;
        let address = base + self.begun * step_bytes % bytes.max(1);
        self.lines.source(address / 64, lines);
        self.begun += 1;
        self.lines.owe(self.owed, self.class, &mut self.lfb, &mut self.counts, context);
    }
}
