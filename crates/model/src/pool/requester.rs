//! Requests of a server for lines in the memory of other servers.

use super::prefetch::PrefetchLookup;
use super::{controller, PoolPort};
use crate::line::{CreditQueue, PoolKind, PoolMessage, Request, RequestId};
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Latency from a prefetched line to the CHA, in ps.
const NEXT_PS: u64 = 1;
/// Lines of the address space of a node. The node number is above these bits.
pub(super) const NODE_LINES: u64 = 1 << 40;

/// Request that holds a credit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Slot {
    request: RequestId,
    read: bool,
    class: u8,
    since: Time,
    sequence: u32,
    /// Generation of the timer, which increases each time it is set, also across the requests that use the slot.
    timer: u32,
    to: u16,
    line: u64,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            request: RequestId::NONE,
            read: false,
            class: 0,
            since: Time::ZERO,
            sequence: 0,
            timer: 0,
            to: 0,
            line: 0,
        }
    }
}

impl PoolPort {
    /// Returns the lender of a pool line, and the line within the lender's lent memory.
    pub(super) fn lender_of(&self, line: u64) -> (u16, u64) {
        let page_lines = self.params.page_bytes / 64;
        let (page, within) = (line / page_lines, line % page_lines);
        let lenders = self.params.lenders.len() as u64;
        // Pages are assigned round robin over the lenders (docs/models/pool.md, Pages).
        let lender = self.params.lenders[(page % lenders) as usize];
        (lender.host, (lender.first_page + page / lenders) * page_lines + within)
    }

    /// Handles a request of the CHA to read or write a pool line.
    pub(super) fn on_request(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, line, admitted, .. } = *context.requests.get(id);
        let (line, read) = (line % NODE_LINES, kind.is_read());
        if !self.may_begin(id, line, read, context) {
            return;
        }
        // Taken out even for a write, which makes the prefetched line stale.
        let found = self.prefetcher.as_mut().map_or(PrefetchLookup::Nothing, |ahead| ahead.take(line));
        // The cache first: it may have a newer value than the prefetched line.
        if self.serve_from_cache(id, line, read, context) {
        } else if read && found == PrefetchLookup::Line {
            self.counts.prefetch_hits += 1;
            self.counts.reads += 1;
            self.counts.latency[0].record(context.now().since(admitted) + NEXT_PS);
            context.send(self.wiring.cha, NEXT_PS, Payload::Read(id));
            self.claim_frame(line);
            self.keep(line, 0, context);
        } else {
            self.counts.prefetch_late += u64::from(read && found == PrefetchLookup::InFlight);
            self.send_or_queue(id, line, read, context);
        }
        if read {
            self.read_ahead(line, context);
        }
        self.start_transfers(context);
    }

    /// Sends a request to its lender, or queues it until a credit is free.
    fn send_or_queue(&mut self, id: RequestId, line: u64, read: bool, context: &mut Context) {
        // Writes go to the lender unless the page has a frame, so they claim none.
        if read {
            self.claim_frame(line);
        }
        self.count_access(line, true, context);
        if self.credit_queues[usize::from(!read)].admits(id, context.requests) {
            self.begin(id, context);
        }
    }

    /// Returns true if requests wait for credits.
    pub(super) fn is_waiting(&self) -> bool {
        self.credit_queues.iter().any(CreditQueue::is_waiting)
    }

    /// Takes a credit for a request and sends it.
    ///
    /// # Panics
    /// Panics if no credit is free.
    fn begin(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { kind, class, line, .. } = *context.requests.get(id);
        let read = kind.is_read();
        self.credit_queues[usize::from(!read)].take(now, class);
        let (to, line) = self.lender_of(line % NODE_LINES);
        let number = self.free.pop().expect("there is a place for every credit");
        self.sequence = self.sequence.wrapping_add(1);
        let slot = &mut self.slots[number as usize];
        // The generation goes on, so that timers of the last request in the slot stay invalid.
        *slot = Slot { request: id, read, class, since: now, sequence: self.sequence, timer: slot.timer, to, line };
        self.attempt(number, context);
    }

    /// Sends the message of a request, for the first time or again.
    fn attempt(&mut self, number: u32, context: &mut Context) {
        let Slot { read, sequence, to, line, .. } = self.slots[number as usize];
        let kind = if read { PoolKind::Read } else { PoolKind::Write };
        self.send(self.message(kind, number, sequence, line), to, 0, context);
        // The timer covers losses that no switch reports.
        self.set_timer(number, self.params.timeout_ps, context);
    }

    pub(super) fn message(&self, kind: PoolKind, slot: u32, sequence: u32, line: u64) -> PoolMessage {
        let small_bytes = self.params.small_bytes as u16;
        PoolMessage { kind, requester: self.wiring.host, small_bytes, slot, sequence, line, round: 0 }
    }

    /// Sets the timer of a request and invalidates the previous one.
    fn set_timer(&mut self, number: u32, delay_ps: u64, context: &mut Context) {
        let slot = &mut self.slots[number as usize];
        slot.timer = slot.timer.wrapping_add(1);
        let timer = Payload::Timer { connection: number, generation: slot.timer };
        context.send(context.id, delay_ps, timer);
    }

    /// Handles a timer event. Sends the request again if it has not ended.
    pub(super) fn on_timer(&mut self, number: u32, generation: u32, context: &mut Context) {
        if number == controller::TIMER {
            return self.decide(context);
        }
        // Numbers after the slots are those of transfers, then those of page requests.
        if let Some(place) = number.checked_sub(self.slots.len() as u32) {
            return match place.checked_sub(self.transfers()) {
                Some(place) => self.on_page_timeout(place, generation, context),
                None => self.on_transfer_timeout(place, generation, context),
            };
        }
        let slot = &self.slots[number as usize];
        if slot.request != RequestId::NONE && slot.timer == generation {
            self.counts.retries += 1;
            self.attempt(number, context);
        }
    }

    /// Handles an answer to one of this server's requests.
    pub(super) fn on_answer(&mut self, message: PoolMessage, context: &mut Context) {
        match message.kind {
            PoolKind::Prefetched => return self.on_ahead(message, context),
            PoolKind::Fetched | PoolKind::WrittenBack => return self.on_transfer(message, context),
            PoolKind::Granted => return self.on_granted(message, context),
            _ => {}
        }
        if let Some(place) = message.slot.checked_sub(self.slots.len() as u32) {
            return match place.checked_sub(self.transfers()) {
                Some(place) => self.on_page_nack(place, message.sequence, context),
                None => self.on_transfer_nack(place, message.sequence, context),
            };
        }
        let slot = self.slots[message.slot as usize];
        if slot.request == RequestId::NONE || slot.sequence != message.sequence {
            self.counts.stale += 1;
        } else if message.kind == PoolKind::Nack {
            self.counts.nacks += 1;
            self.set_timer(message.slot, self.params.retry_ps, context);
        } else {
            self.end(message.slot, context);
        }
    }

    /// Handles a prefetched line that has arrived: it waits for a read, or moves to the local cache.
    fn on_ahead(&mut self, message: PoolMessage, context: &mut Context) {
        let arrived = self.prefetcher.as_mut().and_then(|ahead| ahead.arrive(message.slot, message.sequence));
        let Some(line) = arrived else {
            self.counts.stale += 1;
            return;
        };
        if self.keep(line, self.params.latency_ps, context) {
            // The line is in the local cache now, which serves the read.
            self.prefetcher.as_mut().map(|ahead| ahead.take(line));
        }
    }

    /// Ends a request: frees its credit, answers the CHA, and starts the next waiting request.
    fn end(&mut self, number: u32, context: &mut Context) {
        let now = context.now();
        let slot = &mut self.slots[number as usize];
        let Slot { request, read, class, since, .. } = *slot;
        slot.request = RequestId::NONE;
        // Invalidates the pending timeout.
        slot.timer = slot.timer.wrapping_add(1);
        self.free.push(number);
        let way = usize::from(!read);
        let next = self.credit_queues[way].release(now, class, since, context.requests);
        let Request { admitted, line, .. } = *context.requests.get(request);
        self.counts.latency[way].record(now.since(admitted) + self.params.latency_ps);
        self.counts.reads += u64::from(read);
        self.counts.writes += u64::from(!read);
        let answer = if read { Payload::Read(request) } else { Payload::Accepted(request) };
        context.send(self.wiring.cha, self.params.latency_ps, answer);
        // The credit goes to the next request at once; the CHA learns of the end later.
        if let Some(next) = next {
            self.begin(next, context);
        }
        if read {
            self.keep(line % NODE_LINES, self.params.latency_ps, context);
        }
        self.count_access(line % NODE_LINES, false, context);
        self.start_transfers(context);
    }

    /// Issues the prefetches that follow from a read.
    fn read_ahead(&mut self, line: u64, context: &mut Context) {
        let Some(mut ahead) = self.prefetcher.take() else { return };
        ahead.follow(line);
        for index in 0..ahead.wanted.len() {
            let line = ahead.wanted[index];
            if line >= self.params.borrowed_bytes / 64 {
                break;
            }
            if self.is_cached(line) {
                continue;
            }
            match ahead.place(line, context.now()) {
                Ok((place, sequence)) => {
                    self.counts.prefetches += 1;
                    let (to, line) = self.lender_of(line);
                    self.send(self.message(PoolKind::Prefetch, place, sequence, line), to, 0, context);
                }
                Err(full) => self.counts.prefetch_full += u64::from(full),
            }
        }
        self.prefetcher = Some(ahead);
    }
}
