//! Receive queue: ring of descriptors, buffer pool, and interrupt moderation.

use super::QueueWiring;
use crate::line::{DescriptorRing, LineRing, Pages};
use crate::met::{Limit, ReachedLimits};
use crate::params::NicParams;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Outcome of interrupt moderation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moderation {
    /// No interrupt is due, or one is waiting already.
    Nothing,
    /// The wait begins. The interrupt fires at this time at the latest.
    Until(Time),
    /// The interrupt fires immediately.
    Fire,
}

/// Descriptor prefetch of a receive queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Fetch {
    ring: DescriptorRing,
    /// Descriptors read at a time.
    batch: u32,
    /// Descriptors that the NIC has read and not used.
    known: u32,
    /// Descriptors that are being read.
    coming: u32,
}

/// Receive queue of one core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    pub(super) core: ComponentId,
    /// Function that the queue belongs to.
    pub(super) function: usize,
    /// Extra latency of an interrupt to a core on another socket, in ps.
    pub(super) away_ps: u64,
    /// True if the memory of the queue is on another socket than the function, so that a write is visible only once
    /// that socket has it.
    pub(super) far: bool,
    /// Virtual address at which the buffer pool begins.
    pub(super) base: u64,
    pool_bytes: u64,
    /// Offset of the next buffer in the pool, in bytes.
    buffer: u64,
    completions: LineRing,
    /// Event queue, if the NIC writes an entry before an interrupt.
    events: Option<LineRing>,
    /// Traffic class of the last packet delivered, which the event queue entry is accounted to.
    pub(super) class: u8,
    /// Descriptors in the ring.
    pub(super) free: u32,
    entries: u32,
    /// Descriptors that the NIC has fetched. `None` if it need not fetch them.
    fetch: Option<Fetch>,
    armed: bool,
    /// Packets that the core was notified of and has not returned a descriptor for.
    seen: u32,
    /// Completions that wait for an interrupt.
    pending: u32,
    /// Time at which the pending completions have waited long enough.
    deadline: Option<Time>,
    /// Period of the master timer that interrupts wait for, in ps, if there is one.
    master_ps: Option<u64>,
}

impl Queue {
    pub(super) fn new(params: &NicParams, wiring: &QueueWiring, armed: bool) -> Self {
        Self {
            core: wiring.core,
            function: wiring.function,
            away_ps: wiring.away_ps,
            far: wiring.far,
            base: wiring.memory.pool(),
            pool_bytes: params.pool_bytes,
            buffer: 0,
            completions: wiring.memory.rings().received,
            events: wiring.memory.rings().events,
            class: 0,
            free: params.ring_entries,
            entries: params.ring_entries,
            fetch: params.attach.zip(wiring.memory.rings().free).map(|(attach, ring)| Fetch {
                ring,
                // At least one at a time; 0 would never fetch.
                batch: attach.fetch.max(1),
                known: 0,
                coming: 0,
            }),
            armed,
            seen: 0,
            pending: 0,
            deadline: None,
            master_ps: None,
        }
    }

    /// Makes interrupts wait for a master timer of this period.
    pub(super) fn set_master(&mut self, period_ps: u64) {
        self.master_ps = Some(period_ps.max(1));
    }

    /// Returns true if the queue is armed and has completions pending, and disarms it: an urgent packet must not
    /// wait.
    pub(super) fn take_due_interrupt(&mut self) -> bool {
        // Disarmed queues have interrupted already and are polled.
        let due = self.armed && self.pending > 0;
        if due {
            self.disarm();
        }
        due
    }

    /// Takes a descriptor and the next `bytes` bytes of the pool, at most all of it. Returns their virtual address.
    pub(super) fn take(&mut self, bytes: u32) -> u64 {
        self.free -= 1;
        self.fetch.iter_mut().for_each(|fetch| fetch.known -= 1);
        // A frame does not wrap around: its lines are consecutive, so the rest of the pool stays unused.
        if self.buffer + u64::from(bytes) > self.pool_bytes {
            self.buffer = 0;
        }
        let address = self.base + self.buffer;
        self.buffer += u64::from(bytes);
        address
    }

    /// Returns true if the NIC has a descriptor for a packet.
    pub(super) fn has_descriptor(&self) -> bool {
        self.fetch.map_or(self.free, |fetch| fetch.known) > 0
    }

    /// Returns true if descriptors should be fetched: none is being read, fewer than a batch are known, and a full
    /// batch is in memory, or any if none is known.
    pub(super) fn needs_descriptors(&self) -> bool {
        self.fetch.is_some_and(|Fetch { batch, known, coming, .. }| {
            let there = self.free - known;
            // Full batches keep the cost of a read per descriptor low; an empty stock cannot wait for one.
            coming == 0 && known < batch && (there >= batch || (known == 0 && there > 0))
        })
    }

    /// Returns the maximum number of lines that one read of descriptors covers.
    pub(super) fn lines_to_fetch(&self) -> u32 {
        self.fetch.map_or(0, |fetch| DescriptorRing::lines(fetch.batch))
    }

    /// Begins to fetch descriptors. Returns the virtual address of their first line, and the number of lines.
    pub(super) fn begin_fetch(&mut self) -> Option<(u64, u32)> {
        let free = self.free;
        let fetch = self.fetch.as_mut()?;
        // The ring may end before the batch does, so fewer may be read.
        let (count, address, lines) = fetch.ring.advance(fetch.batch.min(free - fetch.known));
        fetch.coming = count;
        Some((address, lines))
    }

    /// Adds the descriptors that were being read to those known.
    pub(super) fn end_fetch(&mut self) {
        if let Some(fetch) = &mut self.fetch {
            fetch.known += std::mem::take(&mut fetch.coming);
        }
    }

    /// Returns the physical line of the next completion.
    pub(super) fn completion_line(&mut self, pages: &Pages) -> u64 {
        pages.physical(self.completions.next_line()) / 64
    }

    /// Returns true if an event queue entry is written before an interrupt.
    pub(super) fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Returns the physical line of the next event queue entry, if there is an event queue.
    pub(super) fn event_line(&mut self, pages: &Pages) -> Option<u64> {
        self.events.as_mut().map(|events| pages.physical(events.next_line()) / 64)
    }

    /// Records a packet that the core was notified of.
    pub(super) fn deliver(&mut self, now: Time, params: &NicParams, met: &mut ReachedLimits) -> Moderation {
        // Counted whether armed or not: `replenish` needs the number that the core has not taken yet.
        self.seen += 1;
        if !self.armed {
            return Moderation::Nothing;
        }
        self.pending += 1;
        self.moderate(now, params, met)
    }

    /// Returns descriptors to the ring and arms the queue if `armed`. Packets that the core has not taken yet count
    /// as pending, so that none is forgotten.
    ///
    /// # Panics
    /// Panics if the core returns more descriptors than it holds.
    pub(super) fn replenish(
        &mut self,
        count: u32,
        armed: bool,
        now: Time,
        params: &NicParams,
        met: &mut ReachedLimits,
    ) -> Moderation {
        self.free += count;
        // Descriptors return when the core has taken their packets.
        self.seen = self.seen.checked_sub(count).expect("descriptors come back once");
        assert!(self.free <= self.entries, "a ring holds {} descriptors", self.entries);
        // A poll that used up its budget returns descriptors without arming, since it goes on (NAPI).
        if !armed || self.armed {
            return Moderation::Nothing;
        }
        self.armed = true;
        // Packets that arrived between the last poll and now have no interrupt yet.
        self.pending = self.seen;
        self.moderate(now, params, met)
    }

    fn moderate(&mut self, now: Time, params: &NicParams, met: &mut ReachedLimits) -> Moderation {
        if self.pending == 0 {
            return Moderation::Nothing;
        }
        // The master timer runs free from time 0: an interrupt waits for the next multiple of its period.
        if let (Some(period_ps), None) = (self.master_ps, self.deadline) {
            let deadline = Time::from_ps((now.ps() / period_ps + 1) * period_ps);
            self.deadline = Some(deadline);
            return Moderation::Until(deadline);
        }
        if self.master_ps.is_some() {
            return Moderation::Nothing;
        }
        // Without a moderation time every completion fires, so the limit is not what fires it.
        if self.pending >= params.coalesce_packets && params.coalesce_ps > 0 {
            met.set(Limit::CoalescePackets);
        }
        if self.pending >= params.coalesce_packets || params.coalesce_ps == 0 {
            self.disarm();
            return Moderation::Fire;
        }
        if self.deadline.is_some() {
            return Moderation::Nothing;
        }
        let deadline = now + params.coalesce_ps;
        self.deadline = Some(deadline);
        Moderation::Until(deadline)
    }

    /// Disarms the queue and returns true if the deadline of the wait is `now`. A deadline that has been replaced is
    /// ignored.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        let due = self.deadline == Some(now);
        if due {
            self.disarm();
        }
        due
    }

    fn disarm(&mut self) {
        self.armed = false;
        // The core polls until its queue is empty, so one interrupt covers all completions.
        self.pending = 0;
        self.deadline = None;
    }
}
