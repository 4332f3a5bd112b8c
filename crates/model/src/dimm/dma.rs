//! DMA engine of the buffer device, which the NIC is attached to: moves lines of TLPs to and from local memory.

use crate::line::{Request, RequestId, RequestKind};
use crate::link::{Lane, ReadBursts, WaitingTlp};
use crate::params::PcieParams;
use crate::part::{Context, Payload, Pool, PoolGroup, TlpTag};
use hostnet_kernel::ComponentId;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Write in flight. Writes are kept in the order of their arrival.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingWrite {
    id: RequestId,
    /// Tag that the NIC receives when the write is visible, or [`TlpTag::NONE`].
    tag: TlpTag,
    /// True once memory has accepted the write.
    done: bool,
}

/// DMA engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DmaEngine {
    nic: ComponentId,
    link: PcieParams,
    down: Lane,
    /// TLPs that wait: writes, and reads.
    waiting: [VecDeque<WaitingTlp>; 2],
    written: VecDeque<PendingWrite>,
    bursts: ReadBursts,
    /// Entries of lines that are written, and of lines that are read.
    entries: [Domain; 2],
}

impl DmaEngine {
    pub(super) fn new(nic: ComponentId, link: PcieParams, lines: u32, classes: usize) -> Self {
        let domain = || Domain::new(lines, lines, classes);
        Self {
            nic,
            down: Lane::new(&link),
            link,
            waiting: [VecDeque::new(), VecDeque::new()],
            written: VecDeque::with_capacity(lines as usize),
            bursts: ReadBursts::with_capacity(0),
            entries: [domain(), domain()],
        }
    }

    pub(super) fn domains(&self) -> &[Domain; 2] {
        &self.entries
    }

    pub(super) fn domains_mut(&mut self) -> &mut [Domain; 2] {
        &mut self.entries
    }

    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        let [writes, reads] = &self.entries;
        visit(Pool::new(PoolGroup::DimmDmaWrite, writes));
        visit(Pool::new(PoolGroup::DimmDmaRead, reads));
    }

    /// Queues a write TLP of the NIC.
    pub(super) fn write(&mut self, line: u64, lines: u8, class: u8, tag: TlpTag) {
        self.waiting[0].push_back(WaitingTlp::new(line, lines, class, 0, tag));
    }

    /// Queues a read request of the NIC.
    pub(super) fn read(&mut self, line: u64, lines: u8, class: u8) {
        let burst = self.bursts.open(0, class, lines);
        self.waiting[1].push_back(WaitingTlp::new(line, lines, class, burst, TlpTag::NONE));
    }

    /// Returns the next line that may go to memory, as a request; writes and reads each go in order.
    pub(super) fn next(&mut self, context: &mut Context) -> Option<RequestId> {
        // Writes first: completions and packets wait for them.
        let read = (0..2).find(|&read| !self.waiting[read].is_empty() && self.entries[read].free() > 0)?;
        let tlp = self.waiting[read].front_mut()?;
        let line = tlp.take_line();
        let tlp = *tlp;
        let taken = self.entries[read].try_acquire(context.now(), tlp.class);
        assert!(taken, "an entry is free");
        let kind = if read == 1 { RequestKind::IoRead } else { RequestKind::IoWrite };
        let id = request(kind, line, tlp.class, tlp.burst, context);
        if read == 0 {
            // The last line of a TLP stands for the whole TLP.
            let tag = if tlp.left == 0 { tlp.tag } else { TlpTag::NONE };
            self.written.push_back(PendingWrite { id, tag, done: false });
        }
        if tlp.left == 0 {
            self.waiting[read].pop_front();
            if read == 0 {
                // Posted credits return when all lines of the TLP have an entry, as at an IIO.
                context.send(self.nic, self.link.latency_ps, Payload::PostedCredit { lines: tlp.lines });
            }
        }
        Some(id)
    }

    /// Handles the acceptance of a written line by memory. Notifies the NIC, in order, of the writes that are visible
    /// now.
    pub(super) fn accepted(&mut self, id: RequestId, context: &mut Context) {
        let Request { class, since, .. } = *context.requests.get(id);
        self.entries[0].release(context.now(), class, since);
        context.requests.remove(id);
        if let Some(written) = self.written.iter_mut().find(|written| written.id == id) {
            written.done = true;
        }
        // In the order of arrival: a completion is visible only when its packet is (docs/models/dimm.md).
        while let Some(&PendingWrite { tag, done: true, .. }) = self.written.front() {
            self.written.pop_front();
            if tag != TlpTag::NONE {
                context.send(self.nic, 1, Payload::Seen { tag });
            }
        }
    }

    /// Handles the data of a line. A completion leaves when it is full (MPS) or is the last of its request.
    pub(super) fn data(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { class, since, tag, .. } = *context.requests.get(id);
        self.entries[1].release(now, class, since);
        context.requests.remove(id);
        let class = self.bursts.get(tag).class;
        if let Some(lines) = self.bursts.arrive(tag, self.link.mps_bytes) {
            let bytes = u64::from(lines) * 64 + u64::from(self.link.completion_overhead_bytes);
            let delay = self.down.send(now, bytes);
            context.send(self.nic, delay, Payload::Completion { lines, class });
        }
    }
}

/// Creates a request of the buffer device.
pub(super) fn request(kind: RequestKind, line: u64, class: u8, tag: u32, context: &mut Context) -> RequestId {
    let request = context.request(kind, line, class, tag);
    context.requests.insert(request)
}
