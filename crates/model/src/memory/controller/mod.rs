//! Memory controller of one subchannel: queues, scheduler and refresh. It is independent of the other parts of a
//! server.
//!
//! The controller does not tick. It always has a plan: the next command and its clock. The caller hands over requests
//! as they arrive ([`Controller::offer`]) and lets the controller issue at the planned clock ([`Controller::issue`],
//! then [`Controller::decide`]). Clocks are counted from the start of the run.

mod candidates;
mod counters;
mod direction;
mod foreign_commands;
mod idle;
mod issue;
mod loads;
mod plan;
mod queue;
mod refresh;
mod scheduler;
mod wanted;

pub use counters::Counters;
pub use loads::BankLoads;

use super::timing::bits;
use super::{CommandRecord, DramAddress};
use crate::params::{DramParams, MemoryControllerParams};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use plan::{CommandPlan, PlannedAction};
use queue::QueueEntry;
use scheduler::CommandScheduler;
use serde::{Deserialize, Serialize};

/// Request that arrives at a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncomingRequest {
    /// Identifier chosen by the caller.
    pub tag: u32,
    /// DRAM address of the requested line.
    pub place: DramAddress,
    /// Workload that caused the request.
    pub class: u8,
    /// True for a read, false for a write.
    pub read: bool,
}

/// Result of offering a request to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferResult {
    /// The request has an entry.
    Queued,
    /// A read found its line among the queued writes. Its data is ready one clock later.
    Forwarded,
    /// A write replaced a queued write to its line.
    Merged,
    /// No entry was free. Nothing has changed.
    Refused,
}

/// Request that a column access has just served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// Identifier chosen by the caller.
    pub tag: u32,
    /// True for a read, false for a write.
    pub read: bool,
    /// Clock after the last beat of its data.
    pub done: u64,
}

/// Result of issuing a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Request that the command served, if any.
    pub served: Option<ServedRequest>,
    /// True if the command freed a queue entry of a read, false if one of a write; `None` if it freed none.
    pub freed: Option<bool>,
}

/// Memory controller and the state of its DRAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Controller {
    scheduler: CommandScheduler,
    plan: CommandPlan,
    /// Requests that have arrived so far.
    next_order: u64,
    last_was_write: bool,
    /// First clock at which a row may have been idle for long enough.
    idle_check: u64,
    empty_since: Time,
    rpq: Domain,
    wpq: Domain,
    counters: Counters,
    loads: BankLoads,
    channel: u32,
    recording: bool,
    #[serde(skip)]
    records: Vec<CommandRecord>,
}

impl Controller {
    /// Creates an idle controller that counts `classes` workloads separately. `channel` is its number in the commands
    /// that it records.
    #[must_use]
    pub fn new(dram: &DramParams, params: &MemoryControllerParams, classes: usize, channel: u32) -> Self {
        // With a shared queue one direction may fill all entries.
        let write_entries = if params.shared_queue { params.rpq_entries } else { params.wpq_entries };
        let mut scheduler = CommandScheduler::new(dram, params, write_entries);
        Self {
            plan: scheduler.plan_from(0),
            scheduler,
            next_order: 0,
            last_was_write: false,
            idle_check: u64::MAX,
            empty_since: Time::ZERO,
            rpq: Domain::new(params.rpq_entries, params.rpq_full_threshold, classes),
            wpq: Domain::new(write_entries, params.wpq_full_threshold, classes),
            counters: Counters::new(classes),
            loads: BankLoads::default(),
            channel,
            recording: false,
            records: Vec::new(),
        }
    }

    /// Starts recording the issued commands for [`Controller::take_commands`], or stops if `on` is false.
    pub fn record_commands(&mut self, on: bool) {
        self.recording = on;
    }

    /// Takes the commands recorded since the last call, in the order of their clocks.
    pub fn take_commands(&mut self) -> std::vec::Drain<'_, CommandRecord> {
        self.records.drain(..)
    }

    /// Returns the clocks for which a line occupies the data bus.
    pub(super) fn line_clocks(&self) -> u64 {
        u64::from(self.scheduler.dram.timing.burst * self.scheduler.dram.accesses_per_line)
    }

    /// Returns the read pending queue.
    #[must_use]
    pub fn rpq(&self) -> &Domain {
        &self.rpq
    }

    /// Returns the write pending queue.
    #[must_use]
    pub fn wpq(&self) -> &Domain {
        &self.wpq
    }

    /// Returns the domains, to settle or to reset them.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.rpq, &mut self.wpq]
    }

    /// Returns true if no request is queued or owns a bank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scheduler.queued() == 0 && self.scheduler.owners.banks == [0; 2]
    }

    /// Returns true if a request will be served even if no other arrives. Writes may wait for further writes.
    #[must_use]
    #[inline]
    pub fn is_working(&self) -> bool {
        let writing = self.scheduler.direction.writes() || self.scheduler.params.idle_flush != u32::MAX;
        self.scheduler.reads.len() > 0
            || writing && self.scheduler.writes.len() > 0
            || self.scheduler.owners.banks != [0; 2]
    }

    /// Returns true if reads and writes share their entries.
    #[must_use]
    pub fn shares_entries(&self) -> bool {
        self.scheduler.params.shared_queue
    }

    /// Returns true if there is no free entry for a read if `read`, else for a write.
    #[must_use]
    #[inline]
    pub fn is_full(&self, read: bool) -> bool {
        if self.scheduler.params.shared_queue {
            return self.scheduler.queued() >= self.scheduler.params.rpq_entries;
        }
        if read {
            self.scheduler.reads.is_full()
        } else {
            self.scheduler.writes.is_full()
        }
    }

    /// Returns true if a request to `place` would be refused now.
    #[must_use]
    #[inline]
    pub fn refuses(&self, read: bool, place: DramAddress) -> bool {
        self.is_full(read) && !self.is_answered(read, place)
    }

    /// Returns the clock of the next command as planned now, `u64::MAX` for never.
    #[must_use]
    #[inline]
    pub fn next_clock(&self) -> u64 {
        self.plan.clock
    }

    /// Takes a request in clock `clock`, at time `now`, if there is room, and plans anew if the request may change the
    /// plan.
    #[inline]
    pub fn offer(&mut self, now: Time, clock: u64, incoming: &IncomingRequest) -> OfferResult {
        let (offered, pending_changed) = self.take_request(now, clock, incoming);
        if offered == OfferResult::Queued {
            if self.choose_direction(now, clock) {
                self.plan = self.scheduler.plan_from(clock);
            } else if pending_changed || self.scheduler.at_a_threshold(incoming.read) {
                self.plan = self.scheduler.replan(self.plan, incoming, clock);
            }
        }
        offered
    }

    /// Takes a request, if there is room, between [`Controller::issue`] and [`Controller::decide`].
    #[inline]
    pub fn admit(&mut self, now: Time, clock: u64, incoming: &IncomingRequest) -> OfferResult {
        self.take_request(now, clock, incoming).0
    }

    /// Takes a request if there is room. The second result is true if the next command of its bank may have changed.
    #[inline]
    fn take_request(&mut self, now: Time, clock: u64, incoming: &IncomingRequest) -> (OfferResult, bool) {
        // The request must find a row closed whose timeout is over.
        if self.close_idle_rows(clock) {
            self.plan = self.scheduler.plan_from(clock);
        }
        // A forwarded read or a merged write needs no entry, so a full queue does not refuse it.
        if let Some(answer) = self.find_write(incoming) {
            return (answer, false);
        }
        if self.is_full(incoming.read) {
            return (OfferResult::Refused, false);
        }
        if self.scheduler.queued() == 0 {
            self.counters.idle_ps += now.since(self.empty_since);
        }
        let CommandScheduler { dram, timing, reads, writes, direction, .. } = &mut self.scheduler;
        direction.note_arrival(incoming.read, reads, clock);
        let open_row = timing.open_row(usize::from(incoming.place.bank));
        let (queue, domain) = if incoming.read { (reads, &mut self.rpq) } else { (writes, &mut self.wpq) };
        let accesses = dram.accesses_per_line as u8;
        let something_new = queue.push(QueueEntry::new(incoming, accesses, self.next_order, clock, now), open_row);
        if something_new {
            self.scheduler.request_added(usize::from(incoming.place.bank), incoming.place.row, open_row);
        }
        self.next_order += 1;
        let taken = domain.try_acquire(now, incoming.class);
        assert!(taken, "a queue with room has a credit");
        (OfferResult::Queued, something_new)
    }

    #[inline(always)]
    fn find_write(&mut self, incoming: &IncomingRequest) -> Option<OfferResult> {
        if !self.is_answered(incoming.read, incoming.place) {
            return None;
        }
        let class = usize::from(incoming.class);
        Some(if incoming.read {
            self.counters.forwarded += 1;
            self.counters.reads[class] += 1;
            OfferResult::Forwarded
        } else {
            self.counters.merged += 1;
            self.counters.writes[class] += 1;
            OfferResult::Merged
        })
    }

    /// Returns true if a write that waits for `place` can serve a read of it, or merge with a write to it. A write
    /// that owns its row may be half done, so that no other merges with it.
    #[inline]
    fn is_answered(&self, read: bool, place: DramAddress) -> bool {
        let CommandScheduler { params, writes, owners, .. } = &self.scheduler;
        let queued = || writes.len() > 0 && writes.holds(place);
        if !read {
            return params.merging && queued();
        }
        let owned = || {
            let owner = &owners.entries[usize::from(place.bank)];
            owners.banks[1] >> place.bank & 1 == 1 && (owner.row, owner.column) == (place.row, place.column)
        };
        params.forwarding && (owned() || queued())
    }

    /// Issues the planned command in its clock, which begins at `now`. The caller must call [`Controller::decide`]
    /// before anything but [`Controller::admit`].
    #[inline]
    pub fn issue(&mut self, now: Time) -> Issued {
        let clock = self.plan.clock;
        // An idle row that had to be closed earlier changes the state that the plan was made for.
        if self.close_idle_rows(clock) {
            return Issued::default();
        }
        match self.plan.action() {
            PlannedAction::Cas { bank, write } => return self.issue_column(now, clock, bank, write),
            PlannedAction::Active { bank, write } => return self.issue_active(clock, bank, write),
            PlannedAction::Activate { bank, write } => return self.issue_activate(now, clock, bank, write),
            PlannedAction::Precharge { bank, write } => self.issue_conflict(clock, bank, write),
            PlannedAction::Hold { rank } => self.scheduler.refresher.hold(rank, clock),
            PlannedAction::PrechargeFor { rank } => self.issue_precharge_for(clock, rank),
            PlannedAction::Refresh { rank } => self.issue_refresh(clock, rank),
            PlannedAction::None => {}
        }
        Issued::default()
    }

    /// Chooses the mode and the next command after a command at the planned clock, which begins at `now`.
    #[inline]
    pub fn decide(&mut self, now: Time) {
        // The mode comes first: the command is chosen among the requests of its direction.
        self.choose_direction(now, self.plan.clock);
        self.plan = self.scheduler.find_plan(self.plan.clock);
    }

    /// Enters or leaves write mode. Returns true if the direction has changed.
    #[inline]
    fn choose_direction(&mut self, now: Time, clock: u64) -> bool {
        let CommandScheduler { direction, reads, writes, params, .. } = &mut self.scheduler;
        direction.choose_mode(now, clock, [reads, writes], params, &mut self.counters)
    }

    /// Returns the counters since the last reset, up to `now`.
    #[must_use]
    pub fn counters(&self, now: Time) -> Counters {
        let writing = self.scheduler.direction.writing_ps(now);
        let idle = if self.scheduler.queued() == 0 { now.since(self.empty_since) } else { 0 };
        Counters {
            write_mode_ps: self.counters.write_mode_ps + writing,
            idle_ps: self.counters.idle_ps + idle,
            ..self.counters.clone()
        }
    }

    /// Returns the distribution of reads over banks since the last reset.
    #[must_use]
    pub fn bank_loads(&self) -> &BankLoads {
        &self.loads
    }

    /// Starts a new measurement window.
    pub fn reset_counters(&mut self, now: Time) {
        self.counters = Counters::new(self.counters.reads.len());
        self.loads = BankLoads::default();
        self.scheduler.direction.reset(now);
        self.empty_since = now;
    }
}
