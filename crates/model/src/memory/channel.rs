//! A memory channel: a controller that takes requests from the CHA.
//!
//! Nobody can tell what a channel does before its first answer arrives. So it is told of a request as soon as that sets
//! out, and does what it has to do a stretch at a time, each thing at its own time: it lets as much time pass as its
//! quickest answer takes, and no event is needed for a command or an arrival.

use super::alarm::Alarm;
use super::slots::Slots;
use super::{Clock, Controller, Incoming, Offered, Served};
use crate::line::{RequestId, RequestKind};
use crate::params::{DramParams, MemoryControllerParams};
use crate::part::{self, Context, Group, Part, PartKind, Payload, Pool, Start};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Requests that may be on their way to a channel, or wait in front of it, before its lists have to grow.
const COMING_CAPACITY: usize = 256;

/// In the tag of a write that somebody is told of when it is issued; numbers of requests are below it.
const WATCHED: u32 = 1 << 31;

/// A request that is on its way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Coming {
    at: Time,
    request: Incoming,
}

/// The entries in use of RPQ and WPQ as they changed, for whoever looks on.
#[derive(Clone, Debug, Default)]
struct Steps {
    kept: bool,
    steps: Vec<(Time, [u32; 2])>,
    /// How many of them were there at the end of the last event.
    shown: usize,
}

/// A memory channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    pub(super) controller: Controller,
    pub(super) clock: Clock,
    cha: ComponentId,
    from_mc_ps: u64,
    write_ack_ps: u64,
    /// For how long what is due may wait: one ps less than the quickest answer takes.
    pub(super) patience_ps: u64,
    /// Requests on their way, in the order of their arrival.
    coming: VecDeque<Coming>,
    /// Reads without an entry, then writes; in a shared queue all are among the first, in the order of their arrival.
    waiting: [VecDeque<Incoming>; 2],
    /// What it has to tell the CHA, and when that is known there.
    answers: Vec<(Time, Payload)>,
    /// The time of what was done last.
    pub(super) at: Time,
    /// The clock of the next command, and when it goes.
    pub(super) planned: (u64, Time),
    alarm: Alarm,
    /// Who is told when a write past the caches is issued.
    buffer: Option<ComponentId>,
    /// When it had data on its bus, if that is kept.
    busy: Option<Box<Bins>>,
    /// Slots of a DIMM that answers for itself, if it shares the channel.
    pub(super) slots: Option<Box<Slots>>,
    #[serde(skip)]
    steps: Steps,
}

impl Channel {
    /// A channel whose requests' requesters hear of them through the CHA `cha` after the given times.
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
            clock: Clock::new(dram.clock_ps_numerator, dram.clock_ps_denominator),
            controller: Controller::new(dram, params, classes, number),
            cha,
            from_mc_ps,
            write_ack_ps,
            patience_ps: from_mc_ps.min(write_ack_ps).saturating_sub(1),
            coming: VecDeque::with_capacity(COMING_CAPACITY),
            waiting: [(); 2].map(|()| VecDeque::with_capacity(COMING_CAPACITY)),
            answers: Vec::with_capacity(COMING_CAPACITY),
            at: Time::ZERO,
            planned: (u64::MAX, Time::MAX),
            alarm: Alarm::NONE,
            buffer: None,
            busy: None,
            slots: None,
            steps: Steps::default(),
        };
        channel.note_plan();
        channel
    }

    /// Has some answers be up to `ps` quicker than the others, as those to near slices are.
    #[must_use]
    pub fn with_nearest(mut self, ps: u64) -> Self {
        self.patience_ps = self.patience_ps.saturating_sub(ps);
        self
    }

    /// With buffer devices in its slots, whose part is told when a line that a core writes past the caches is there.
    #[must_use]
    pub fn with_buffer(mut self, part: Option<ComponentId>) -> Self {
        self.buffer = part;
        self
    }

    /// The same; it keeps when it has data on its bus.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.busy = Some(Box::default());
        self
    }

    /// When it had data on its bus since the start of the run, if that is kept.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.busy.as_deref()
    }

    /// The controller, as of when the channel was last settled or woken up.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// A request has set out that will be here at time `at`.
    #[inline]
    pub(crate) fn expect(&mut self, id: RequestId, at: Time, context: &mut Context) {
        let request = context.requests.get(id);
        let (place, class, read) = (request.place, request.class, request.kind.is_read());
        let tag = if request.kind == RequestKind::CorePost { id.0 | WATCHED } else { id.0 };
        let coming = Coming { at, request: Incoming { tag, place, class, read } };
        let before = self.coming.iter().rev().take_while(|other| other.at > at).count();
        if before == 0 {
            self.coming.push_back(coming);
        } else {
            self.coming.insert(self.coming.len() - before, coming);
        }
        self.ask_to_be_woken(context);
    }

    /// It is time to do what is due.
    pub(crate) fn on_wake(&mut self, context: &mut Context) {
        let rings = self.alarm.rings(context.now());
        if rings || self.steps.kept {
            self.steps.steps.drain(..self.steps.shown);
            self.catch_up(context.now());
            self.steps.shown = self.steps.steps.len();
        }
        if rings {
            if let Some(buffer) = self.buffer {
                self.answer_beside(buffer, context);
            }
            for (at, answer) in self.answers.drain(..) {
                context.send(self.cha, at.since(context.now()), answer);
            }
            if let Some(slots) = &mut self.slots {
                let dimm = slots.dimm();
                slots.answers.drain(..).for_each(|(at, slot)| context.send(dimm, at.since(context.now()), slot));
            }
            self.ask_to_be_woken(context);
        }
    }

    /// Sends what the CHA and buffer devices are told.
    #[cold]
    fn answer_beside(&mut self, buffer: ComponentId, context: &mut Context) {
        for (at, answer) in self.answers.drain(..) {
            let to = if matches!(answer, Payload::Issued(_)) { buffer } else { self.cha };
            context.send(to, at.since(context.now()), answer);
        }
    }

    /// The time of the next request or DRAM command.
    #[inline]
    pub(super) fn coming_or_planned(&self) -> Time {
        self.coming.front().map_or(self.planned.1, |coming| coming.at.min(self.planned.1))
    }

    /// The time of what has to be done next.
    #[inline]
    fn next(&self) -> Time {
        let next = self.coming_or_planned();
        if self.slots.is_none() {
            next
        } else {
            next.min(self.next_slot_at())
        }
    }

    /// When that has to be done at the latest.
    #[inline]
    fn due(&self) -> Time {
        self.next().saturating_add(self.patience_ps)
    }

    #[inline(always)]
    pub(super) fn ask_to_be_woken(&mut self, context: &mut Context) {
        let due = self.due();
        if due < Time::MAX && self.alarm.set(due) {
            context.send(context.id, due.since(context.now()), Payload::Wake);
        }
    }

    /// Does what is due up to and including `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        if self.slots.is_some() {
            return self.catch_up_beside(now);
        }
        while self.coming_or_planned() <= now {
            self.step();
        }
    }

    /// Takes in the next request, or issues the next command. Inlined: without slots most of a run's time is here.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        match self.coming.front() {
            Some(coming) if coming.at <= self.planned.1 => {
                let coming = *coming;
                self.coming.pop_front();
                self.at = coming.at;
                self.take_in(coming.request);
            }
            _ => {
                self.at = self.planned.1;
                self.issue(self.planned.0);
            }
        }
        self.note_plan();
        if self.steps.kept {
            let in_use = [self.controller.rpq().in_use(), self.controller.wpq().in_use()];
            self.steps.steps.push((self.at, in_use));
        }
    }

    /// Notes when the next command goes, if that has changed.
    #[inline]
    pub(super) fn note_plan(&mut self) {
        let clock = self.controller.next_clock();
        if clock != self.planned.0 {
            let time = if clock == u64::MAX { Time::MAX } else { self.clock.edge(clock).max(self.at + 1) };
            self.planned = (clock, time);
        }
    }

    /// A request has arrived.
    #[inline(always)]
    fn take_in(&mut self, request: Incoming) {
        let clock = self.clock.at_or_after(self.at);
        let offered = self.controller.offer(self.at, clock, &request);
        if offered == Offered::Refused {
            self.waiting[self.list(request.read)].push_back(request);
        } else {
            self.answer(&request, clock, offered);
        }
    }

    /// Notes what the CHA wants to know of a request that was taken in.
    #[inline]
    fn answer(&mut self, request: &Incoming, clock: u64, offered: Offered) {
        let id = RequestId(request.tag & !WATCHED);
        if !request.read {
            self.answers.push((self.at + self.write_ack_ps, Payload::Accepted(id)));
        } else if offered == Offered::Forwarded {
            self.send_data(id, clock + 1);
        }
    }

    /// Sends the data of a read whose last beat ends with clock `done`.
    #[inline]
    fn send_data(&mut self, id: RequestId, done: u64) {
        self.answers.push((self.clock.edge(done) + self.from_mc_ps, Payload::Read(id)));
    }

    /// A write that somebody waits for has been issued, and its last beat ends with clock `done`.
    #[cold]
    fn tell_issued(&mut self, tag: u32, done: u64) {
        let at = self.clock.edge(done).max(self.at + self.write_ack_ps);
        self.answers.push((at, Payload::Issued(RequestId(tag & !WATCHED))));
    }

    /// The last beat of a line ends with clock `done`.
    #[cold]
    fn note_busy(&mut self, done: u64) {
        let (from, to) = (self.clock.edge(done.saturating_sub(self.controller.line_clocks())), self.clock.edge(done));
        if let Some(busy) = &mut self.busy {
            busy.add(from.ps(), to.ps());
        }
    }

    /// Issues what is planned for `clock`.
    #[inline(always)]
    fn issue(&mut self, clock: u64) {
        while self.controller.next_clock() == clock {
            let issued = self.controller.issue(self.at);
            if let (Some(Served { done, .. }), true) = (&issued.served, self.busy.is_some()) {
                self.note_busy(*done);
            }
            match issued.served {
                Some(Served { tag, read: true, done }) => self.send_data(RequestId(tag), done),
                Some(Served { tag, done, .. }) if tag & WATCHED != 0 => self.tell_issued(tag, done),
                _ => {}
            }
            if let Some(read) = issued.freed {
                self.admit_waiting(clock, read);
            }
            self.controller.decide(self.at);
        }
    }

    /// The list that reads wait in, or else writes.
    #[inline]
    fn list(&self, read: bool) -> usize {
        usize::from(!read && !self.controller.shares_entries())
    }

    /// Takes in who waits for the entry that has come free, that of a read or else of a write.
    #[inline]
    fn admit_waiting(&mut self, clock: u64, read: bool) {
        let list = self.list(read);
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

    /// Wakes up for its first refresh.
    fn start(&mut self, start: &mut Start<'_>) {
        let due = self.due();
        if due < Time::MAX && self.alarm.set(due) {
            start.wake(due.ps(), Payload::Wake);
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::Rpq, self.controller.rpq()));
        visit(Pool::new(Group::Wpq, self.controller.wpq()));
    }

    fn watch(&mut self, on: bool) {
        self.steps = Steps { kept: on, ..Steps::default() };
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
