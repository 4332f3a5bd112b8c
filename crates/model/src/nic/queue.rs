//! A receive queue: its ring of descriptors, the memory behind them, and its interrupts.

use super::QueueWiring;
use crate::line::{Descriptors, Pages, Ring};
use crate::met::{Limit, Met};
use crate::params::NicParams;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// What becomes of an interrupt request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moderation {
    /// Nothing, or it waits already.
    Nothing,
    /// The wait begins, and ends at this time at the latest.
    Until(Time),
    /// Now.
    Fire,
}

/// The descriptors that a card has read, and those that it is reading.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Fetch {
    ring: Descriptors,
    batch: u32,
    known: u32,
    coming: u32,
}

/// A receive queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    pub(super) core: ComponentId,
    /// The function that it goes by, and what an interrupt takes longer to get to the core, in ps.
    pub(super) function: usize,
    pub(super) away_ps: u64,
    /// Whether what is written for it can be seen only when another socket has it.
    pub(super) far: bool,
    /// Where its pool begins.
    pub(super) base: u64,
    pool_bytes: u64,
    /// Where the next buffer begins in the pool.
    buffer: u64,
    completions: Ring,
    /// What is written before an interrupt, if anything is; and the class of the packet that it is last for.
    events: Option<Ring>,
    pub(super) class: u8,
    /// Descriptors in the ring.
    pub(super) free: u32,
    entries: u32,
    /// Of those, the ones that the card has read, and whether it is reading more; `None` = it need not.
    fetch: Option<Fetch>,
    armed: bool,
    /// Packets that the core was told of and has not given a descriptor back for.
    seen: u32,
    /// Completions that wait for their interrupt.
    pending: u32,
    /// When they have waited long enough.
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

    /// Interrupts wait for a timer of this period from now on.
    pub(super) fn set_master(&mut self, period_ps: u64) {
        self.master_ps = Some(period_ps.max(1));
    }

    /// What has come is not to wait: whether the interrupt is due.
    pub(super) fn take_due_interrupt(&mut self) -> bool {
        let due = self.armed && self.pending > 0;
        if due {
            self.disarm();
        }
        due
    }

    /// Takes a descriptor and the next `bytes` bytes of the pool, at most all of it: their virtual address.
    pub(super) fn take(&mut self, bytes: u32) -> u64 {
        self.free -= 1;
        self.fetch.iter_mut().for_each(|fetch| fetch.known -= 1);
        if self.buffer + u64::from(bytes) > self.pool_bytes {
            self.buffer = 0;
        }
        let address = self.base + self.buffer;
        self.buffer += u64::from(bytes);
        address
    }

    /// Whether there is a descriptor for a packet.
    pub(super) fn has_descriptor(&self) -> bool {
        self.fetch.map_or(self.free, |fetch| fetch.known) > 0
    }

    /// Whether it is time to read descriptors: fewer are known than are read at a time, and as many are there, or none
    /// is known.
    pub(super) fn wants_descriptors(&self) -> bool {
        self.fetch.is_some_and(|Fetch { batch, known, coming, .. }| {
            let there = self.free - known;
            coming == 0 && known < batch && (there >= batch || (known == 0 && there > 0))
        })
    }

    /// Lines that a read of descriptors has at most.
    pub(super) fn lines_to_fetch(&self) -> u32 {
        self.fetch.map_or(0, |fetch| Descriptors::lines(fetch.batch))
    }

    /// Begins to read descriptors: the virtual address of their first line, and their lines.
    pub(super) fn begin_fetch(&mut self) -> Option<(u64, u32)> {
        let free = self.free;
        let fetch = self.fetch.as_mut()?;
        let (count, address, lines) = fetch.ring.advance(fetch.batch.min(free - fetch.known));
        fetch.coming = count;
        Some((address, lines))
    }

    /// The descriptors that are being read are there.
    pub(super) fn end_fetch(&mut self) {
        if let Some(fetch) = &mut self.fetch {
            fetch.known += std::mem::take(&mut fetch.coming);
        }
    }

    /// The physical line of the next completion.
    pub(super) fn completion_line(&mut self, pages: &Pages) -> u64 {
        pages.physical(self.completions.next_line()) / 64
    }

    /// Whether something is written before an interrupt.
    pub(super) fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// The physical line of the next event, if there are any.
    pub(super) fn event_line(&mut self, pages: &Pages) -> Option<u64> {
        self.events.as_mut().map(|events| pages.physical(events.next_line()) / 64)
    }

    /// The core was told of a packet.
    pub(super) fn deliver(&mut self, now: Time, params: &NicParams, met: &mut Met) -> Moderation {
        self.seen += 1;
        if !self.armed {
            return Moderation::Nothing;
        }
        self.pending += 1;
        self.moderate(now, params, met)
    }

    /// Descriptors are back, and perhaps interrupts are wanted: at once for packets that the core has not taken yet.
    ///
    /// # Panics
    /// If the core gives back more than it has.
    pub(super) fn replenish(
        &mut self,
        count: u32,
        armed: bool,
        now: Time,
        params: &NicParams,
        met: &mut Met,
    ) -> Moderation {
        self.free += count;
        self.seen = self.seen.checked_sub(count).expect("descriptors come back once");
        assert!(self.free <= self.entries, "a ring holds {} descriptors", self.entries);
        if !armed || self.armed {
            return Moderation::Nothing;
        }
        self.armed = true;
        self.pending = self.seen;
        self.moderate(now, params, met)
    }

    fn moderate(&mut self, now: Time, params: &NicParams, met: &mut Met) -> Moderation {
        if self.pending == 0 {
            return Moderation::Nothing;
        }
        if let (Some(period_ps), None) = (self.master_ps, self.deadline) {
            let deadline = Time::from_ps((now.ps() / period_ps + 1) * period_ps);
            self.deadline = Some(deadline);
            return Moderation::Until(deadline);
        }
        if self.master_ps.is_some() {
            return Moderation::Nothing;
        }
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

    /// A wait may have ended: whether it has, and the interrupt is due.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        let due = self.deadline == Some(now);
        if due {
            self.disarm();
        }
        due
    }

    fn disarm(&mut self) {
        self.armed = false;
        self.pending = 0;
        self.deadline = None;
    }
}
