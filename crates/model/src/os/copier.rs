//! Lines of a core that does nothing but copy the data of packets.

use super::counters::StackCounts;
use super::kernel::PendingLines;
use super::lines::{LineProgress, Lines};
use super::NetFootprint;
use crate::cache::Caches;
use crate::lfb::Lfb;
use crate::line::Pages;
use crate::params::{CoreParams, StackParams};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packets that may wait for a core. The lines of further packets stay unread.
const PACKETS_WAITING: usize = 64;

/// Source of the packets that a core copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopySource {
    /// Packets in memory, one after the other.
    Memory(PacketMemory),
    /// Packets that the NIC delivers: the first virtual line of each, and its number of lines.
    Packets(VecDeque<(u64, u32)>),
}

/// Layout of packets in memory that a core copies one after the other, as its kernel does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketMemory {
    /// Virtual address of the first packet, a multiple of 4096.
    pub base: u64,
    /// Bytes after which the first location is used again, a multiple of `step_bytes`.
    pub bytes: u64,
    /// Distance between packets in bytes, a multiple of 4096.
    pub step_bytes: u64,
    /// Lines of a packet.
    pub lines: u32,
    /// Packets begun so far.
    pub begun: u64,
}

impl CopySource {
    /// Returns the first virtual line and the number of lines of the next packet, if there is one.
    fn next(&mut self) -> Option<(u64, u32)> {
        match self {
            Self::Memory(PacketMemory { base, bytes, step_bytes, lines, begun }) => {
                let address = *base + *begun * *step_bytes % (*bytes).max(1);
                *begun += 1;
                Some((address / 64, *lines))
            }
            Self::Packets(packets) => packets.pop_front(),
        }
    }
}

/// Lines of a core that copies packets without pause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PacketCopier {
    lfb: Lfb,
    lines: Lines,
    source: CopySource,
    /// Lines of the packet that was begun last.
    packet_lines: u32,
    class: u8,
    stack: StackParams,
    counts: StackCounts,
}

impl PacketCopier {
    /// Creates core number `index`, whose lines pass the CHA `cha`.
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
        mut source: CopySource,
        classes: usize,
    ) -> Self {
        let class = (classes - 1) as u8;
        if let CopySource::Memory(PacketMemory { bytes, step_bytes, begun, .. }) = &mut source {
            // Cores that start at the same packet would access the same banks forever.
            *begun = rng.next_u64() % (*bytes / (*step_bytes).max(1)).max(1);
        }
        let lfb = Lfb::new(&core, core.lfb_entries, classes);
        // Rates are measured with the lines that the LFB keeps in flight, without prefetchers.
        let stack = StackParams { prefetch_ahead: 0, ..stack.clone() };
        let regions = [footprint.user, footprint.kernel];
        let mut lines = Lines::new(index, cha, core, &stack, pages, rng, regions, classes);
        lines.begin_read(class);
        Self { lfb, lines, source, packet_lines: 1, class, stack, counts: StackCounts::default() }
    }

    /// Returns the lines copied since the start.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.lines.copied()
    }

    /// Returns the C2M-Read domain.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.lfb.read
    }

    /// Returns the domains, to settle or to reset them.
    pub fn domains_mut(&mut self) -> [&mut Domain; 3] {
        self.lfb.domains_mut()
    }

    /// Queues a packet that the NIC has delivered: `lines` lines from virtual line `line` on.
    pub(crate) fn queue_packet(&mut self, line: u64, lines: u32) {
        if let CopySource::Packets(packets) = &mut self.source {
            // The copy measures a rate: further packets would only wait.
            if packets.len() < PACKETS_WAITING {
                packets.push_back((line, lines));
            }
        }
    }

    /// Returns the packets that the NIC has delivered and that are not begun.
    pub(crate) fn waiting(&self) -> usize {
        match &self.source {
            CopySource::Memory(_) => 0,
            CopySource::Packets(packets) => packets.len(),
        }
    }

    /// Returns true if all packets so far are copied.
    pub(crate) fn is_done(&self) -> bool {
        self.lines.left() == 0 && matches!(&self.source, CopySource::Packets(packets) if packets.is_empty())
    }

    /// Copies a packet before the simulation starts, in `caches` alone.
    pub(crate) fn warm_up(&mut self, line: u64, lines: u32, caches: &mut Caches) {
        self.lines.warm_up(line, lines, self.class, caches);
    }

    pub(crate) fn on_event(&mut self, payload: Payload, context: &mut Context) {
        self.lfb.idle += u32::from(payload == Payload::Refill);
        self.lines.on_event(payload, &mut self.lfb, &mut self.counts, context);
    }

    /// Continues packet by packet: first the lines of the kernel, then the copy. Returns the time until which the core
    /// is busy, or `None` if it waits for a line or a packet.
    pub(crate) fn advance(&mut self, context: &mut Context) -> Option<Time> {
        loop {
            match self.lines.follow(&mut self.lfb, &mut self.counts, context) {
                LineProgress::Until(time) => return Some(time),
                LineProgress::Waiting => return None,
                LineProgress::Done => {}
            }
            // The next packet begins before the last one is copied, so that lines are always requested ahead.
            if self.lines.left() < 2 * u64::from(self.packet_lines) && self.next_packet(context) {
                continue;
            }
            match self.lines.advance(&mut self.lfb, &mut self.counts, context) {
                LineProgress::Until(time) => return Some(time),
                LineProgress::Waiting | LineProgress::Done => return None,
            }
        }
    }

    /// Begins the next packet. Returns false if there is none.
    fn next_packet(&mut self, context: &mut Context) -> bool {
        let Some((line, lines)) = self.source.next() else { return false };
        self.packet_lines = lines;
        self.lines.source(line, lines);
        let pending = PendingLines::of_packet(&self.stack, lines * 64, 0);
        self.lines.add_kernel_lines(pending, self.class, &mut self.lfb, &mut self.counts, context);
        true
    }
}
