//! The memory controller of one subchannel: queues, scheduler, refresh. It knows nothing of what is around it.
//!
//! The controller never ticks. It always has a plan, the next command and its clock; whoever drives it hands it
//! requests as they come ([`Controller::offer`]) and lets it issue at the planned clock ([`Controller::issue`], then
//! [`Controller::decide`]). Clocks are counted from the start of the run.

mod beside;
mod candidates;
mod counters;
mod idle;
mod issue;
mod loads;
mod mode;
mod plan;
mod queue;
mod refresh;
mod wanted;

pub use counters::Counters;
pub use loads::BankLoads;

use super::table::Table;
use super::timing::{bits, Timing};
use super::{CommandRecord, Place};
use crate::params::{ControllerParams, DramParams};
use candidates::Candidates;
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use mode::Mode;
use plan::{Action, Plan};
use queue::{Entry, Queue};
use refresh::Refresher;
use serde::{Deserialize, Serialize};

/// A request that comes to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incoming {
    /// The owner's name for it.
    pub tag: u32,
    /// Where its line lies.
    pub place: Place,
    /// The workload that caused it.
    pub class: u8,
    /// Whether it is a read.
    pub read: bool,
}

/// What became of a request that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It has an entry.
    Queued,
    /// A read found its line among the queued writes; it has its data one clock later.
    Forwarded,
    /// A write took the place of a queued write to its line.
    Merged,
    /// There was no room; nothing changed.
    Refused,
}

/// A request that a column access has just served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The owner's name for it.
    pub tag: u32,
    /// Whether it is a read.
    pub read: bool,
    /// The clock after its last data beat.
    pub done: u64,
}

/// What came of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// The request that it served, if any.
    pub served: Option<Served>,
    /// Whether a queue entry came free, and then whether it was that of a read.
    pub freed: Option<bool>,
}

/// A memory controller and the state of its DRAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Controller {
    dram: DramParams,
    params: ControllerParams,
    timing: Timing,
    refresher: Refresher,
    reads: Queue,
    writes: Queue,
    /// Requests that own an opened bank, by bank, and their banks: reads, then writes.
    active: Table<Entry>,
    active_keys: Table<u64>,
    active_banks: [u64; 2],
    mode: Mode,
    mode_since: Time,
    /// Lines served since the last change of mode.
    served: u32,
    /// True while an empty RPQ lets writes pass.
    idle_drain: bool,
    /// The clock at which the first read came to an empty RPQ: while it lets writes pass, the oldest that waits.
    reads_since: u64,
    /// The clock at which the last write came.
    last_write: u64,
    last_was_write: bool,
    plan: Plan,
    candidates: Candidates,
    /// Requests that came so far.
    next_order: u64,
    /// The first clocks that row and column commands may use.
    row_bus: u64,
    column_bus: u64,
    /// The first clock at which a row may have been idle for long enough.
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
    /// An idle controller that tells `classes` workloads apart. `channel` is its number in the commands that it
    /// records.
    #[must_use]
    pub fn new(dram: &DramParams, params: &ControllerParams, classes: usize, channel: u32) -> Self {
        let write_entries = if params.shared_queue { params.rpq_entries } else { params.wpq_entries };
        let searched = params.forwarding || params.merging;
        let mut controller = Self {
            timing: Timing::new(dram),
            refresher: Refresher::new(dram, params),
            reads: Queue::new(params.rpq_entries, false),
            writes: Queue::new(write_entries, searched),
            active: Table::of(|_| Entry::NONE),
            active_keys: Table::of(|_| 0),
            active_banks: [0; 2],
            mode: Mode::Read,
            mode_since: Time::ZERO,
            served: 0,
            idle_drain: false,
            reads_since: 0,
            last_write: 0,
            last_was_write: false,
            plan: Plan::NEVER,
            candidates: Candidates::new(params),
            next_order: 0,
            row_bus: 0,
            column_bus: 0,
            idle_check: u64::MAX,
            empty_since: Time::ZERO,
            rpq: Domain::new(params.rpq_entries, params.rpq_full_threshold, classes),
            wpq: Domain::new(write_entries, params.wpq_full_threshold, classes),
            counters: Counters::new(classes),
            loads: BankLoads::default(),
            channel,
            recording: false,
            records: Vec::new(),
            dram: dram.clone(),
            params: params.clone(),
        };
        controller.plan = controller.plan_from(0);
        controller
    }

    /// Keeps the commands that are issued from now on for [`Controller::take_commands`], or stops doing so.
    pub fn record_commands(&mut self, on: bool) {
        self.recording = on;
    }

    /// The commands issued since the last call, in the order of their clocks.
    pub fn take_commands(&mut self) -> std::vec::Drain<'_, CommandRecord> {
        self.records.drain(..)
    }

    /// Clocks that a line has the bus.
    pub(super) fn line_clocks(&self) -> u64 {
        u64::from(self.dram.timing.burst * self.dram.accesses_per_line)
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

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 2] {
        [&mut self.rpq, &mut self.wpq]
    }

    /// Whether it holds no request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reads.len() + self.writes.len() == 0 && self.active_banks == [0; 2]
    }

    /// Whether it will serve a request even if no other comes; writes may wait for more of them.
    #[must_use]
    #[inline]
    pub fn is_working(&self) -> bool {
        let writing = self.mode == Mode::Write || self.idle_drain || self.params.idle_flush != u32::MAX;
        self.reads.len() > 0 || writing && self.writes.len() > 0 || self.active_banks != [0; 2]
    }

    /// Whether reads and writes share their entries.
    #[must_use]
    pub fn shares_entries(&self) -> bool {
        self.params.shared_queue
    }

    /// Whether it has no entry for a read, or else for a write.
    #[must_use]
    #[inline]
    pub fn is_full(&self, read: bool) -> bool {
        if self.params.shared_queue {
            return self.reads.len() + self.writes.len() >= self.params.rpq_entries;
        }
        if read {
            self.reads.is_full()
        } else {
            self.writes.is_full()
        }
    }

    /// Whether it would refuse a request to `place`.
    #[must_use]
    #[inline]
    pub fn refuses(&self, read: bool, place: Place) -> bool {
        self.is_full(read) && !self.is_answered(read, place)
    }

    /// The clock of the next command as things stand; `u64::MAX` for never.
    #[must_use]
    #[inline]
    pub fn next_clock(&self) -> u64 {
        self.plan.clock
    }

    /// Takes a request in clock `clock`, at time `now`, if there is room, and plans anew where it matters.
    #[inline]
    pub fn offer(&mut self, now: Time, clock: u64, incoming: &Incoming) -> Offered {
        let (offered, pending_changed) = self.take_in(now, clock, incoming);
        if offered == Offered::Queued {
            if self.choose_mode(now, clock) {
                self.plan = self.plan_from(clock);
            } else if pending_changed || self.at_a_threshold(incoming.read) {
                self.plan = self.replan(incoming, clock);
            }
        }
        offered
    }

    /// Takes a request between [`Controller::issue`] and [`Controller::decide`].
    #[inline]
    pub fn admit(&mut self, now: Time, clock: u64, incoming: &Incoming) -> Offered {
        self.take_in(now, clock, incoming).0
    }

    /// Takes a request if there is room; also says whether its bank has something new to do.
    #[inline]
    fn take_in(&mut self, now: Time, clock: u64, incoming: &Incoming) -> (Offered, bool) {
        if self.close_idle_rows(clock) {
            self.plan = self.plan_from(clock);
        }
        if let Some(answer) = self.find_write(incoming) {
            return (answer, false);
        }
        if self.is_full(incoming.read) {
            return (Offered::Refused, false);
        }
        if self.reads.len() + self.writes.len() == 0 {
            self.counters.idle_ps += now.since(self.empty_since);
        }
        if !incoming.read {
            self.last_write = clock;
        } else if self.reads.len() == 0 {
            self.reads_since = clock;
        }
        let open_row = self.timing.open_row(usize::from(incoming.place.bank));
        let (queue, domain) =
            if incoming.read { (&mut self.reads, &mut self.rpq) } else { (&mut self.writes, &mut self.wpq) };
        let accesses = self.dram.accesses_per_line as u8;
        let something_new = queue.push(Entry::new(incoming, accesses, self.next_order, clock, now), open_row);
        if something_new {
            self.candidates.pending_changed(usize::from(incoming.place.bank));
        }
        self.next_order += 1;
        let taken = domain.try_acquire(now, incoming.class);
        assert!(taken, "a queue with room has a credit");
        (Offered::Queued, something_new)
    }

    fn find_write(&mut self, incoming: &Incoming) -> Option<Offered> {
        if !self.is_answered(incoming.read, incoming.place) {
            return None;
        }
        let class = usize::from(incoming.class);
        Some(if incoming.read {
            self.counters.forwarded += 1;
            self.counters.reads[class] += 1;
            Offered::Forwarded
        } else {
            self.counters.merged += 1;
            self.counters.writes[class] += 1;
            Offered::Merged
        })
    }

    /// Whether a write that waits for `place` answers a read of it or takes in a write to it. One that owns its row may
    /// be half done, so it takes in none.
    #[inline]
    fn is_answered(&self, read: bool, place: Place) -> bool {
        if !read {
            return self.params.merging && self.writes.holds(place);
        }
        let owner = &self.active[usize::from(place.bank)];
        let owned =
            self.active_banks[1] >> place.bank & 1 == 1 && (owner.row, owner.column) == (place.row, place.column);
        self.params.forwarding && (owned || self.writes.holds(place))
    }

    /// Issues the planned command in its clock, which begins at `now`. Call [`Controller::decide`] before anything but
    /// [`Controller::admit`].
    #[inline]
    pub fn issue(&mut self, now: Time) -> Issued {
        let clock = self.plan.clock;
        if self.close_idle_rows(clock) {
            return Issued::default();
        }
        match self.plan.action() {
            Action::Cas { bank, write } => return self.issue_column(now, clock, bank, write),
            Action::Active { bank, write } => return self.issue_active(clock, bank, write),
            Action::Activate { bank, write } => return self.issue_activate(now, clock, bank, write),
            Action::Precharge { bank, write } => self.issue_conflict(clock, bank, write),
            Action::Hold { rank } => self.refresher.hold(rank, clock),
            Action::PrechargeFor { rank } => self.issue_precharge_for(clock, rank),
            Action::Refresh { rank } => self.issue_refresh(clock, rank),
            Action::None => {}
        }
        Issued::default()
    }

    /// Chooses the mode of work and the next command after a command at the planned clock, which begins at `now`.
    #[inline]
    pub fn decide(&mut self, now: Time) {
        self.choose_mode(now, self.plan.clock);
        self.plan = self.plan_from(self.plan.clock);
    }
}
