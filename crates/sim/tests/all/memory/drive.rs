//! Drives a controller as its owner would, under observation of a [`Watch`].

use crate::memory::setup::Case;
use crate::memory::watch::Watch;
use hostnet_kernel::Time;
use hostnet_model::memory::{CommandRecord, Controller, IncomingRequest, OfferResult};

/// Number of workloads that are counted separately.
pub(crate) const CLASSES: usize = 2;
/// Clocks without a served request after which no more are expected.
const PATIENCE: u64 = 60_000;

/// A controller under test. Times are in clocks.
pub(crate) struct Drive<'a> {
    case: &'a Case,
    pub(crate) controller: Controller,
    pub(crate) watch: Watch<'a>,
    pub(crate) commands: Vec<CommandRecord>,
    pub(crate) now: u64,
    head: usize,
    /// Clock of the next attempt to offer the request at the head; `u64::MAX` while it waits for an entry.
    next_try: u64,
    served_at: u64,
}

/// Result of a run.
pub(crate) struct Outcome<'a> {
    pub(crate) controller: Controller,
    pub(crate) watch: Watch<'a>,
    pub(crate) commands: Vec<CommandRecord>,
    pub(crate) end: u64,
}

impl<'a> Drive<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        let mut controller = Controller::new(&case.dram, &case.params, CLASSES, 0);
        controller.record_commands(true);
        Self {
            case,
            controller,
            watch: Watch::new(case),
            commands: Vec::new(),
            now: 0,
            head: 0,
            next_try: case.requests.first().map_or(u64::MAX, |request| request.clock),
            served_at: 0,
        }
    }

    /// Runs until everything is served, or no more requests will be.
    pub(crate) fn run(mut self) -> Outcome<'a> {
        while self.step() {}
        self.settle()
    }

    /// Replaces the controller after `steps` steps by its serialized copy, and runs to the end.
    pub(crate) fn run_interrupted(mut self, steps: usize) -> Outcome<'a> {
        for _ in 0..steps {
            self.step();
        }
        let written = serde_json::to_string(&self.controller).expect("a controller can be written");
        self.controller = serde_json::from_str(&written).expect("what was written can be read");
        self.run()
    }

    /// Executes the next clock with activity. Returns false if there is none.
    fn step(&mut self) -> bool {
        let done = self.head == self.case.requests.len() && self.watch.is_empty();
        let next = self.next_try.min(self.controller.next_clock());
        let waits = self.next_try < u64::MAX || next <= self.served_at + PATIENCE;
        if done || next == u64::MAX || !waits {
            return false;
        }
        assert!(next >= self.now, "the controller plans in the past: clock {next} at {}", self.now);
        self.now = next;
        if self.next_try <= next {
            self.hand_over(Controller::offer);
        }
        self.issue();
        true
    }

    fn hand_over(&mut self, give: fn(&mut Controller, Time, u64, &IncomingRequest) -> OfferResult) {
        while let Some(request) = self.case.requests.get(self.head) {
            if request.clock > self.now {
                self.next_try = request.clock;
                return;
            }
            let incoming = IncomingRequest {
                tag: self.head as u32,
                place: request.place,
                class: (self.head % CLASSES) as u8,
                read: request.read,
            };
            let offered = give(&mut self.controller, Time::from_ps(self.now), self.now, &incoming);
            self.take_commands();
            self.watch.on_offer(self.head, self.now, offered);
            if offered == OfferResult::Refused {
                break;
            }
            self.served_at = self.now;
            self.head += 1;
        }
        self.next_try = u64::MAX;
    }

    fn issue(&mut self) {
        while self.controller.next_clock() == self.now {
            let now = Time::from_ps(self.now);
            let before = self.controller.counters(now);
            let issued = self.controller.issue(now);
            let first = self.commands.len();
            self.commands.extend(self.controller.take_commands());
            let after = self.controller.counters(now);
            self.watch.on_issue(self.now, &self.commands[first..], &issued, [&before, &after]);
            if issued.served.is_some() {
                self.served_at = self.now;
            }
            let waiting = self.next_try == u64::MAX && self.head < self.case.requests.len();
            if issued.freed.is_some() && waiting && self.case.at_once {
                self.hand_over(Controller::admit);
            } else if issued.freed.is_some() && waiting {
                self.next_try = self.now + 1;
            }
            self.controller.decide(now);
        }
    }

    /// Takes the commands issued so far. Rows that were idle for long are closed lazily, when the next request
    /// arrives.
    fn take_commands(&mut self) {
        let first = self.commands.len();
        self.commands.extend(self.controller.take_commands());
        self.watch.on_idle_rows(self.now, &self.commands[first..]);
    }

    /// Runs refreshes alone for a while, and settles the statistics.
    fn settle(mut self) -> Outcome<'a> {
        let end = self.now + 3 * u64::from(self.case.dram.timing.refi);
        while self.controller.next_clock() <= end {
            self.now = self.controller.next_clock();
            self.issue();
        }
        self.controller.domains_mut().into_iter().for_each(|domain| domain.settle_all(Time::from_ps(end)));
        Outcome { controller: self.controller, watch: self.watch, commands: self.commands, end }
    }
}
