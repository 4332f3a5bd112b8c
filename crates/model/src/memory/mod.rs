//! One memory channel: its controller and its DRAM.
//!
//! The controller keeps reads and writes apart (RPQ, WPQ) and the channel in read mode or write mode. It never ticks: after
//! every command it computes the first clock at which another one may go, and wakes up then. All clocks are counted from the
//! start of the run; an edge is computed from its number, so no rounding adds up.

mod bank;
#[cfg(test)]
mod bank_tests;
mod clock;
mod command;
mod map;
mod queue;
mod schedule;

pub use command::{CommandKind, CommandRecord};
pub use map::{Decoder, Place};

use crate::context::{Context, Payload};
use crate::params::{ControllerParams, DramParams};
use crate::request::{Fifo, RequestId};
use bank::Timing;
use clock::Clock;
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use queue::{Entry, Queue};
use schedule::{Command, Plan};
use serde::{Deserialize, Serialize};

/// What a channel did since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Lines read, per workload.
    pub reads: Vec<u64>,
    /// Lines written, per workload.
    pub writes: Vec<u64>,
    /// Activations made for reads.
    pub read_activations: u64,
    /// Activations made for writes.
    pub write_activations: u64,
    /// Rows closed because another one of the bank was wanted by a read.
    pub read_conflicts: u64,
    /// Rows closed because another one of the bank was wanted by a write.
    pub write_conflicts: u64,
    /// Rows closed, for whatever reason.
    pub precharges: u64,
    /// Refreshes, all ranks together.
    pub refreshes: u64,
    /// Changes between reading and writing on the bus.
    pub switches: u64,
    /// Write modes entered.
    pub write_modes: u64,
    /// Picoseconds in write mode.
    pub write_mode_ps: u64,
}

/// Which way the channel works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Read,
    Write,
}

/// A memory channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channel {
    dram: DramParams,
    params: ControllerParams,
    from_mc_ps: u64,
    write_ack_ps: u64,
    clock: Clock,
    timing: Timing,
    reads: Queue,
    writes: Queue,
    waiting_reads: Fifo,
    waiting_writes: Fifo,
    mode: Mode,
    mode_since: Time,
    /// Lines served since the last change of mode.
    served: u32,
    /// True while an empty RPQ lets writes pass.
    idle_drain: bool,
    last_was_write: bool,
    plan: Plan,
    /// The clock of the last wake-up asked for, and of the last one for a refresh.
    woken_at: u64,
    refresh_woken_at: u64,
    /// The first clock that no command has used.
    next_clock: u64,
    rpq: Domain,
    wpq: Domain,
    counters: Counters,
}

impl Channel {
    /// A channel whose requests' requesters hear of them through the CHA after the given times.
    #[must_use]
    pub fn new(dram: DramParams, params: ControllerParams, from_mc_ps: u64, write_ack_ps: u64, classes: usize) -> Self {
        let banks = dram.ranks * dram.bank_groups * dram.banks_per_group;
        let timing = Timing::new(&dram);
        Self {
            plan: Plan::refresh_at(timing.refresh_due()),
            woken_at: u64::MAX,
            refresh_woken_at: timing.refresh_due(),
            next_clock: 0,
            clock: Clock::new(dram.clock_ps_numerator, dram.clock_ps_denominator),
            timing,
            reads: Queue::new(params.rpq_entries, banks),
            writes: Queue::new(params.wpq_entries, banks),
            waiting_reads: Fifo::default(),
            waiting_writes: Fifo::default(),
            mode: Mode::Read,
            mode_since: Time::ZERO,
            served: 0,
            idle_drain: false,
            last_was_write: false,
            rpq: Domain::new(params.rpq_entries, params.rpq_full_threshold, classes),
            wpq: Domain::new(params.wpq_entries, params.wpq_full_threshold, classes),
            counters: Counters { reads: vec![0; classes], writes: vec![0; classes], ..Counters::default() },
            dram,
            params,
            from_mc_ps,
            write_ack_ps,
        }
    }

    /// The channel's first wake-up, for its first refresh, and the ps from the start of the run to it; none without refresh.
    #[must_use]
    pub fn first_wake(&self) -> Option<(u64, Payload)> {
        let clock = self.refresh_woken_at;
        (clock < u64::MAX).then(|| (self.clock.edge(clock).ps(), Payload::Wake { clock }))
    }

    /// The read pending queue.
    #[must_use]
    pub fn rpq(&self) -> &Domain {
        &self.rpq
    }

    /// The write pending queue.
    #[must_use]
    pub fn wpq(&self) -> &Domain {
        &self.wpq
    }

    /// What the channel did, up to `now`.
    #[must_use]
    pub fn counters(&self, now: Time) -> Counters {
        let running = if self.mode == Mode::Write { now.since(self.mode_since) } else { 0 };
        Counters { write_mode_ps: self.counters.write_mode_ps + running, ..self.counters.clone() }
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.rpq, &mut self.wpq]
    }

    /// Starts a new measuring window.
    pub fn reset_counters(&mut self, now: Time) {
        let classes = self.counters.reads.len();
        self.counters = Counters { reads: vec![0; classes], writes: vec![0; classes], ..Counters::default() };
        self.mode_since = now;
    }

    /// Handles an event.
    pub fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => self.on_arrival(id, context),
            Payload::Wake { clock } if clock == self.plan.clock => self.on_wake(context),
            Payload::Wake { .. } => {}
            other => unreachable!("a channel was sent {other:?}"),
        }
    }

    fn on_arrival(&mut self, id: RequestId, context: &mut Context) {
        let read = context.requests.get(id).kind.is_read();
        let queue = if read { &self.reads } else { &self.writes };
        if queue.is_full() {
            let list = if read { &mut self.waiting_reads } else { &mut self.waiting_writes };
            list.push(context.requests, id);
            return;
        }
        let clock = self.clock.at_or_after(context.now());
        self.accept(id, clock, context);
        let bank = context.requests.get(id).place.bank;
        let turned = self.choose_mode(context.now());
        let floor = clock.max(self.next_clock);
        self.plan = if turned { self.plan(floor) } else { self.replan(self.plan, bank, read, floor) };
        self.wake(context);
    }

    /// Takes a request into its queue, and tells the CHA when it is a write.
    fn accept(&mut self, id: RequestId, clock: u64, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get(id);
        let (place, class, read) = (request.place, request.class, request.kind.is_read());
        self.close_idle_row(usize::from(place.bank), clock);
        let open_row = self.timing.open_row(usize::from(place.bank));
        let (queue, domain) = if read { (&mut self.reads, &mut self.rpq) } else { (&mut self.writes, &mut self.wpq) };
        queue.push(Entry::new(id, place, class, clock, now), open_row);
        let taken = domain.try_acquire(now, class);
        assert!(taken, "a queue with room has a credit");
        if !read {
            context.send(context.cha(), self.write_ack_ps, Payload::Accepted(id));
        }
    }

    /// Closes a row that nobody used for long. It was closed then, at no cost to anybody, so it is enough to
    /// look when the bank is wanted again.
    fn close_idle_row(&mut self, bank: usize, clock: u64) {
        let closes = self.timing.used(bank) + u64::from(self.params.idle_close);
        let wanted = (self.reads.banks | self.writes.banks) >> bank & 1 == 1;
        if self.timing.open >> bank & 1 == 1 && closes < clock && !wanted {
            let at = closes.max(self.timing.earliest_precharge(bank));
            self.close_row(at, bank);
        }
    }

    fn close_row(&mut self, clock: u64, bank: usize) {
        self.timing.precharge(clock, bank);
        self.counters.precharges += 1;
        self.reads.row_changed(bank, None);
        self.writes.row_changed(bank, None);
    }

    /// Issues the planned command and plans the next.
    fn on_wake(&mut self, context: &mut Context) {
        let Plan { clock, command, .. } = self.plan;
        self.next_clock = clock + 1;
        self.issue(clock, command, context);
        self.choose_mode(context.now());
        self.plan = self.plan(clock + 1);
        self.wake(context);
    }

    fn refresh(&mut self, clock: u64, rank: usize) {
        let mut banks = self.timing.banks_of_rank(rank);
        self.counters.precharges += u64::from(self.timing.refresh(clock, rank));
        self.counters.refreshes += 1;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            self.reads.row_changed(bank, None);
            self.writes.row_changed(bank, None);
        }
    }

    fn issue(&mut self, clock: u64, command: Command, context: &mut Context) {
        match command {
            Command::Cas { bank, write } => self.issue_cas(clock, usize::from(bank), write, context),
            Command::Activate { bank, write } => self.open_row(clock, usize::from(bank), write),
            Command::Precharge { bank, write } => {
                self.close_row(clock, usize::from(bank));
                let count = if write { &mut self.counters.write_conflicts } else { &mut self.counters.read_conflicts };
                *count += 1;
            }
            Command::Refresh => {
                if let Some(rank) = self.timing.rank_due(clock) {
                    self.refresh(clock, rank);
                }
            }
        }
    }

    fn open_row(&mut self, clock: u64, bank: usize, write: bool) {
        let row = if write { self.writes.oldest_row(bank) } else { self.reads.oldest_row(bank) };
        self.timing.activate(clock, bank, row);
        self.reads.row_changed(bank, Some(row));
        self.writes.row_changed(bank, Some(row));
        let count = if write { &mut self.counters.write_activations } else { &mut self.counters.read_activations };
        *count += 1;
    }

    fn issue_cas(&mut self, clock: u64, bank: usize, write: bool, context: &mut Context) {
        let now = context.now();
        self.timing.cas(clock, bank, write);
        self.counters.switches += u64::from(write != self.last_was_write);
        self.last_was_write = write;
        self.served += u32::from(write == (self.mode == Mode::Write));
        let queue = if write { &mut self.writes } else { &mut self.reads };
        let entry = queue.remove_hit(bank);
        if write {
            self.wpq.release(now, entry.class, entry.queued);
            self.counters.writes[usize::from(entry.class)] += 1;
            if self.params.write_auto_precharge && (self.writes.hits | self.reads.hits) >> bank & 1 == 0 {
                self.close_row(self.timing.earliest_precharge(bank), bank);
            }
            self.admit_waiting(clock, false, context);
        } else {
            self.rpq.release(now, entry.class, entry.queued);
            self.counters.reads[usize::from(entry.class)] += 1;
            let clocks = u64::from(self.dram.timing.cl + self.dram.timing.burst);
            let done = self.clock.edge(clock + clocks).since(now) + self.from_mc_ps;
            context.send(context.cha(), done, Payload::Read(entry.request));
            self.admit_waiting(clock, true, context);
        }
    }

    fn admit_waiting(&mut self, clock: u64, read: bool, context: &mut Context) {
        let list = if read { &mut self.waiting_reads } else { &mut self.waiting_writes };
        if let Some(id) = list.pop(context.requests) {
            self.accept(id, clock, context);
        }
    }

    /// Sees to it that the channel wakes up for its plan. A refresh is planned again whenever nothing else is to be done, so
    /// its wake-up is kept apart from the others and asked for once.
    fn wake(&mut self, context: &mut Context) {
        let Plan { clock, command, .. } = self.plan;
        let refresh = command == Command::Refresh;
        let asked = if refresh { &mut self.refresh_woken_at } else { &mut self.woken_at };
        if clock == u64::MAX || *asked == clock {
            return;
        }
        *asked = clock;
        let delay = self.clock.edge(clock).ps().saturating_sub(context.now().ps()).max(1);
        context.send(context.id, delay, Payload::Wake { clock });
    }
}
