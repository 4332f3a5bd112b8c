//! Memory channel: a memory controller that serves requests of the CHA.
//!
//! No other part can observe a channel before its first answer arrives. The channel therefore gets an advance notice
//! of each request when the request departs, and handles arrivals and DRAM commands in batches, each at its own time:
//! it may run late by almost the time that its quickest answer takes. No event is needed for an arrival or a command.

use super::slots::Slots;
use super::wake_ups::WakeUps;
use super::{Controller, DramClock, IncomingRequest, OfferResult, ServedRequest};
use crate::line::{RequestId, RequestKind};
use crate::params::{DramParams, MemoryControllerParams};
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PoolGroup, StartContext};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Requests that may be in flight to a channel, or wait in front of it, before its lists have to grow.
const ARRIVING_CAPACITY: usize = 256;

/// Bit in the tag of a write whose issue must be reported; numbers of requests are below it.
const REPORTED: u32 = 1 << 31;

/// Request in flight to the channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ArrivingRequest {
    at: Time,
    request: IncomingRequest,
}

/// Recorded changes of the occupancy of RPQ and WPQ, for an observer.
#[derive(Clone, Debug, Default)]
struct OccupancySteps {
    kept: bool,
    steps: Vec<(Time, [u32; 2])>,
    /// Number of steps that had been recorded at the end of the last event.
    shown: usize,
}

/// Memory channel: a controller and the requests around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    pub(super) controller: Controller,
    pub(super) clock: DramClock,
    cha: ComponentId,
    from_mc_ps: u64,
    write_ack_ps: u64,
    /// Time that due work may wait, in ps: one less than the quickest answer takes.
    pub(super) lateness_max_ps: u64,
    /// Requests in flight, in the order of their arrival.
    arriving: VecDeque<ArrivingRequest>,
    /// Requests that wait for an entry: reads, then writes; with shared entries all are in the first list. In the
    /// order of their arrival.
    waiting: [VecDeque<IncomingRequest>; 2],
    /// Answers to the CHA, each with the time of its arrival there.
    answers: Vec<(Time, Payload)>,
    /// Time of the last step.
    pub(super) at: Time,
    /// Clock of the next command, and its time.
    pub(super) planned: (u64, Time),
    wake_ups: WakeUps,
    /// Component that is notified when a write past the caches is issued.
    buffer: Option<ComponentId>,
    /// Times at which the data bus was busy, if they are recorded.
    busy: Option<Box<Bins>>,
    /// Slots of an asynchronous DIMM, if one shares the channel.
    pub(super) slots: Option<Box<Slots>>,
    #[serde(skip)]
    steps: OccupancySteps,
}

impl Channel {
    /// Creates channel number `number` of the CHA `cha`. Read data reaches the CHA `from_mc_ps` after its last beat,
    /// the acceptance of a write `write_ack_ps` after it.
    #[must_use]
    pub fn new(
        dram: &DramParams,
        params: &MemoryControllerParams,
        cha: ComponentId,
        from_mc_ps: u64,
        write_ack_ps: u64,
        classes: usize,
        number: u32,
    ) -> Self {
        let mut channel = Self {
            clock: DramClock::new(dram.clock_ps_numerator, dram.clock_ps_denominator),
            controller: Controller::new(dram, params, classes, number),
            cha,
            from_mc_ps,
            write_ack_ps,
            // One ps less than the quickest answer takes, because an event lies at least 1 ps ahead.
            lateness_max_ps: from_mc_ps.min(write_ack_ps).saturating_sub(1),
            arriving: VecDeque::with_capacity(ARRIVING_CAPACITY),
            waiting: [(); 2].map(|()| VecDeque::with_capacity(ARRIVING_CAPACITY)),
            answers: Vec::with_capacity(ARRIVING_CAPACITY),
            at: Time::ZERO,
            planned: (u64::MAX, Time::MAX),
            wake_ups: WakeUps::NONE,
            buffer: None,
            busy: None,
            slots: None,
            steps: OccupancySteps::default(),
        };
        channel.update_plan();
        channel
    }

    /// Accounts for answers that are up to `ps` quicker than the others, such as those to nearby slices.
    #[must_use]
    pub fn with_quicker_answers(mut self, ps: u64) -> Self {
        self.lateness_max_ps = self.lateness_max_ps.saturating_sub(ps);
        self
    }

    /// Adds buffer devices in the slots of the channel: their component `part` is notified when a line that a core
    /// writes past the caches has been issued.
    #[must_use]
    pub fn with_buffer_devices(mut self, part: Option<ComponentId>) -> Self {
        self.buffer = part;
        self
    }

    /// Records the times at which the data bus is busy.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.busy = Some(Box::default());
        self
    }

    /// Returns the times at which the data bus was busy since the start of the run, if they are recorded.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.busy.as_deref()
    }

    /// Returns the controller, as of the last time that the channel was settled or woken up.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Handles the notice of a request that has departed and arrives at time `at`.
    #[inline]
    pub(crate) fn expect(&mut self, id: RequestId, at: Time, context: &mut Context) {
        let request = context.requests.get(id);
        let (place, class, read) = (request.place, request.class, request.kind.is_read());
        let tag = if request.kind == RequestKind::CorePost { id.0 | REPORTED } else { id.0 };
        let arriving = ArrivingRequest { at, request: IncomingRequest { tag, place, class, read } };
        // Requests that depart later may arrive earlier, because their delays differ.
        let before = self.arriving.iter().rev().take_while(|other| other.at > at).count();
        if before == 0 {
            self.arriving.push_back(arriving);
        } else {
            self.arriving.insert(self.arriving.len() - before, arriving);
        }
        self.schedule_wake_up(context);
    }

    /// Handles a wake-up: does the work that is due, and sends the answers.
    pub(crate) fn on_wake(&mut self, context: &mut Context) {
        let take_due = self.wake_ups.take_due(context.now());
        if take_due || self.steps.kept {
            self.steps.steps.drain(..self.steps.shown);
            self.catch_up(context.now());
            self.steps.shown = self.steps.steps.len();
        }
        if take_due {
            // Drains the list, so that the loop below sends nothing on a channel with buffer devices.
            if let Some(buffer) = self.buffer {
                self.send_answers(buffer, context);
            }
            for (at, answer) in self.answers.drain(..) {
                context.send(self.cha, at.since(context.now()), answer);
            }
            if let Some(slots) = &mut self.slots {
                let dimm = slots.dimm();
                slots.answers.drain(..).for_each(|(at, slot)| context.send(dimm, at.since(context.now()), slot));
            }
            self.schedule_wake_up(context);
        }
    }

    /// Sends the answers to the CHA and to the buffer devices.
    #[cold]
    fn send_answers(&mut self, buffer: ComponentId, context: &mut Context) {
        for (at, answer) in self.answers.drain(..) {
            let to = if matches!(answer, Payload::Issued(_)) { buffer } else { self.cha };
            context.send(to, at.since(context.now()), answer);
        }
    }

    /// Returns the time of the next arrival or DRAM command.
    #[inline]
    pub(super) fn next_arrival_or_command(&self) -> Time {
        self.arriving.front().map_or(self.planned.1, |arriving| arriving.at.min(self.planned.1))
    }

    /// Returns the time of the next arrival, DRAM command or slot.
    #[inline]
    fn next(&self) -> Time {
        let next = self.next_arrival_or_command();
        if self.slots.is_none() {
            next
        } else {
            next.min(self.next_slot_at())
        }
    }

    /// Returns the latest time at which that work may be done.
    #[inline]
    fn due(&self) -> Time {
        self.next().saturating_add(self.lateness_max_ps)
    }

    #[inline(always)]
    pub(super) fn schedule_wake_up(&mut self, context: &mut Context) {
        let due = self.due();
        if due < Time::MAX && self.wake_ups.set(due) {
            context.send(context.id, due.since(context.now()), Payload::Wake);
        }
    }

    /// Does the work that is due up to and including `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.slots.is_some() {
            return self.catch_up_with_slots(now);
        }
        while self.next_arrival_or_command() <= now {
            self.step();
        }
    }

    /// Takes in the next request, or issues the next command. Inlined, because a run without slots spends most of its
    /// time here.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        match self.arriving.front() {
            // An arrival in the clock of a command goes first, so that the choice of the command sees the request.
            Some(arriving) if arriving.at <= self.planned.1 => {
                let arriving = *arriving;
                self.arriving.pop_front();
                self.at = arriving.at;
                self.on_arrival(arriving.request);
            }
            _ => {
                self.at = self.planned.1;
                self.issue(self.planned.0);
            }
        }
        self.update_plan();
        if self.steps.kept {
            let in_use = [self.controller.rpq().in_use(), self.controller.wpq().in_use()];
            self.steps.steps.push((self.at, in_use));
        }
    }

    /// Updates the time of the next command, if its clock has changed.
    #[inline]
    pub(super) fn update_plan(&mut self) {
        let clock = self.controller.next_clock();
        if clock != self.planned.0 {
            // Each step is at least 1 ps after the last, even if the clock edge of the command is over.
            let time = if clock == u64::MAX { Time::MAX } else { self.clock.edge(clock).max(self.at + 1) };
            self.planned = (clock, time);
        }
    }

    /// Offers a request that has arrived to the controller; the request waits if there is no entry.
    #[inline(always)]
    fn on_arrival(&mut self, request: IncomingRequest) {
        let clock = self.clock.at_or_after(self.at);
        let offered = self.controller.offer(self.at, clock, &request);
        if offered == OfferResult::Refused {
            self.waiting[self.list(request.read)].push_back(request);
        } else {
            self.answer(&request, clock, offered);
        }
    }

    /// Records the answer to a request that was taken in: the acceptance of a write, or the data of a forwarded read.
    #[inline]
    fn answer(&mut self, request: &IncomingRequest, clock: u64, offered: OfferResult) {
        let id = RequestId(request.tag & !REPORTED);
        if !request.read {
            // A write is acknowledged when the WPQ accepts it, not when DRAM is written (docs/models/memory.md).
            self.answers.push((self.at + self.write_ack_ps, Payload::Accepted(id)));
        } else if offered == OfferResult::Forwarded {
            // The data of a queued write is ready in the next clock, as in Ramulator 2.
            self.send_data(id, clock + 1);
        }
    }

    /// Records the data of a read, whose last beat ends with clock `done`, as an answer.
    #[inline]
    fn send_data(&mut self, id: RequestId, done: u64) {
        self.answers.push((self.clock.edge(done) + self.from_mc_ps, Payload::Read(id)));
    }

    /// Records the issue of a write, whose last beat ends with clock `done`, as an answer to the component that waits
    /// for it.
    #[cold]
    fn report_issued(&mut self, tag: u32, done: u64) {
        // The channel may run late by `lateness_max_ps`, which is less than `write_ack_ps`.
        let at = self.clock.edge(done).max(self.at + self.write_ack_ps);
        self.answers.push((at, Payload::Issued(RequestId(tag & !REPORTED))));
    }

    /// Records the bus time of a line, whose last beat ends with clock `done`.
    #[cold]
    fn note_busy(&mut self, done: u64) {
        let (from, to) = (self.clock.edge(done.saturating_sub(self.controller.line_clocks())), self.clock.edge(done));
        if let Some(busy) = &mut self.busy {
            busy.add(from.ps(), to.ps());
        }
    }

    /// Issues all commands that are planned for `clock`.
    #[inline(always)]
    fn issue(&mut self, clock: u64) {
        // A clock may have several: holding banks for a refresh takes no bus, and HBM has two command buses.
        while self.controller.next_clock() == clock {
            let issued = self.controller.issue(self.at);
            if let (Some(ServedRequest { done, .. }), true) = (&issued.served, self.busy.is_some()) {
                self.note_busy(*done);
            }
            match issued.served {
                Some(ServedRequest { tag, read: true, done }) => self.send_data(RequestId(tag), done),
                Some(ServedRequest { tag, done, .. }) if tag & REPORTED != 0 => self.report_issued(tag, done),
                _ => {}
            }
            if let Some(read) = issued.freed {
                // Before `decide`, so that the next command is chosen with the admitted request in the queue.
                self.admit_waiting(clock, read);
            }
            self.controller.decide(self.at);
        }
    }

    /// Returns the index of the list in which reads (`read`) or writes wait.
    #[inline]
    fn list(&self, read: bool) -> usize {
        usize::from(!read && !self.controller.shares_entries())
    }

    /// Takes in requests that wait for the entry that has become free: that of a read if `read`, else that of a write.
    #[inline]
    fn admit_waiting(&mut self, clock: u64, read: bool) {
        let list = self.list(read);
        // A loop, because a write that merges and a read that is forwarded leave the entry to the next request.
        while !self.controller.is_full(read) {
            let Some(request) = self.waiting[list].pop_front() else { return };
            let offered = self.controller.admit(self.at, clock, &request);
            self.answer(&request, clock, offered);
        }
    }
}

impl Part for Channel {
    fn kind(&self) -> PartKind {
        PartKind::Channel
    }

    /// Schedules the wake-up for the first refresh.
    fn start(&mut self, start: &mut StartContext<'_>) {
        let due = self.due();
        if due < Time::MAX && self.wake_ups.set(due) {
            start.wake(due.ps(), Payload::Wake);
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::Rpq, self.controller.rpq()));
        visit(Pool::new(PoolGroup::Wpq, self.controller.wpq()));
    }

    fn watch(&mut self, on: bool) {
        self.steps = OccupancySteps { kept: on, ..OccupancySteps::default() };
    }

    fn steps(&self, visit: &mut dyn FnMut(Time, &[u32])) {
        self.steps.steps.iter().for_each(|(at, in_use)| visit(*at, in_use));
    }

    fn settle(&mut self, now: Time) {
        self.catch_up(now);
        part::settle(self.controller.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        self.catch_up(now);
        part::reset(self.controller.domains_mut(), now);
        self.controller.reset_counters(now);
        if let Some(slots) = &mut self.slots {
            slots.passed = [0; 3];
        }
    }
}
