//! Memory channels: controllers with their DRAM as parts of a server.
//!
//! A [`Controller`] knows nothing of events; a [`Channel`] is a controller that takes requests from the CHA and wakes
//! itself up for its commands.

mod clock;
mod command;
mod controller;
mod table;
mod timing;
#[cfg(test)]
pub(crate) mod timing_tests;

pub use crate::line::{Decoder, Place};
pub use clock::Clock;
pub use command::{CommandKind, CommandRecord};
pub use controller::{BankLoads, Controller, Counters, Incoming, Issued, Offered, Served};

use crate::line::{Fifo, Request, RequestId};
use crate::params::{ControllerParams, DramParams};
use crate::part::{self, Context, Group, Part, PartKind, Payload, Pool, Start};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// A memory channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    controller: Controller,
    clock: Clock,
    cha: ComponentId,
    from_mc_ps: u64,
    write_ack_ps: u64,
    /// Reads without an entry, then writes; in a shared queue all are among the first, in the order of their arrival.
    waiting: [Fifo<Request>; 2],
    /// The clock of the last wake-up asked for, and of the last one for a refresh.
    woken_at: u64,
    refresh_woken_at: u64,
}

impl Channel {
    /// A channel whose requests' requesters hear of them through the CHA `cha` after the given times.
    #[must_use]
    pub fn new(
        dram: &DramParams,
        params: &ControllerParams,
        cha: ComponentId,
        from_mc_ps: u64,
        write_ack_ps: u64,
        classes: usize,
        number: u32,
    ) -> Self {
        let controller = Controller::new(dram, params, classes, number);
        Self {
            woken_at: u64::MAX,
            refresh_woken_at: controller.next_clock(),
            clock: Clock::new(dram.clock_ps_numerator, dram.clock_ps_denominator),
            controller,
            cha,
            from_mc_ps,
            write_ack_ps,
            waiting: [Fifo::default(), Fifo::default()],
        }
    }

    /// The controller.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The controller, to settle or to reset.
    pub fn controller_mut(&mut self) -> &mut Controller {
        &mut self.controller
    }

    /// Handles an event.
    pub fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => self.on_arrival(id, context),
            Payload::Wake { clock } if clock == self.controller.next_clock() => self.on_wake(clock, context),
            Payload::Wake { .. } => {}
            other => unreachable!("a channel was sent {other:?}"),
        }
    }

    fn on_arrival(&mut self, id: RequestId, context: &mut Context) {
        let clock = self.clock.at_or_after(context.now());
        let incoming = incoming(id, context);
        let offered = self.controller.offer(context.now(), clock, &incoming);
        if offered == Offered::Refused {
            self.waiting[self.list(incoming.read)].push(context.requests, id);
        } else {
            self.answer(id, incoming.read, clock, offered, context);
        }
        self.wake(context);
    }

    /// Tells the CHA what it wants to know of a request that was taken in.
    fn answer(&self, id: RequestId, read: bool, clock: u64, offered: Offered, context: &mut Context) {
        if !read {
            context.send(self.cha, self.write_ack_ps, Payload::Accepted(id));
        } else if offered == Offered::Forwarded {
            self.send_data(id, clock + 1, context);
        }
    }

    /// Sends the data of a read whose last beat ends with clock `done`.
    fn send_data(&self, id: RequestId, done: u64, context: &mut Context) {
        let delay = self.clock.edge(done).since(context.now()) + self.from_mc_ps;
        context.send(self.cha, delay, Payload::Read(id));
    }

    /// Issues what is planned for `clock`.
    fn on_wake(&mut self, clock: u64, context: &mut Context) {
        while self.controller.next_clock() == clock {
            let issued = self.controller.issue(context.now());
            if let Some(Served { tag, read: true, done }) = issued.served {
                self.send_data(RequestId(tag), done, context);
            }
            if let Some(read) = issued.freed {
                self.admit_waiting(clock, read, context);
            }
            self.controller.decide(context.now());
        }
        self.wake(context);
    }

    /// The list that reads wait in, or else writes.
    fn list(&self, read: bool) -> usize {
        usize::from(!read && !self.controller.shares_entries())
    }

    /// Takes in who waits for the entry that has come free, that of a read or else of a write.
    fn admit_waiting(&mut self, clock: u64, read: bool, context: &mut Context) {
        let list = self.list(read);
        while !self.controller.is_full(read) {
            let Some(id) = self.waiting[list].pop(context.requests) else { return };
            let incoming = incoming(id, context);
            let offered = self.controller.admit(context.now(), clock, &incoming);
            self.answer(id, incoming.read, clock, offered, context);
        }
    }

    /// Sees to it that the channel wakes up for its plan. A refresh is planned again whenever nothing else is to be
    /// done, so its wake-up is kept apart from the others and asked for once.
    #[inline(always)]
    fn wake(&mut self, context: &mut Context) {
        let clock = self.controller.next_clock();
        let asked = if self.controller.waits_for_refresh() { &mut self.refresh_woken_at } else { &mut self.woken_at };
        if clock != u64::MAX && *asked != clock {
            *asked = clock;
            self.wake_at(clock, context);
        }
    }

    #[inline(never)]
    fn wake_at(&self, clock: u64, context: &mut Context) {
        let delay = self.clock.edge(clock).ps().saturating_sub(context.now().ps()).max(1);
        context.send(context.id, delay, Payload::Wake { clock });
    }
}

impl Part for Channel {
    fn kind(&self) -> PartKind {
        PartKind::Channel
    }

    /// Wakes up for its first refresh.
    fn start(&mut self, start: &mut Start<'_>) {
        let clock = self.refresh_woken_at;
        if clock < u64::MAX {
            start.wake(self.clock.edge(clock).ps(), Payload::Wake { clock });
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::Rpq, self.controller.rpq()));
        visit(Pool::new(Group::Wpq, self.controller.wpq()));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.controller.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.controller.domains_mut(), now);
        self.controller.reset_counters(now);
    }
}

fn incoming(id: RequestId, context: &Context) -> Incoming {
    let request = context.requests.get(id);
    Incoming { tag: id.0, place: request.place, class: request.class, read: request.kind.is_read() }
}
