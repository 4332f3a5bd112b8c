//! A test bench that controls a memory controller step by step.

use crate::memory::setup::request;
use hostnet_kernel::Time;
use hostnet_model::memory::{CommandKind, CommandRecord, Controller, IncomingRequest, OfferResult, ServedRequest};
use hostnet_model::params::{DramParams, MemoryControllerParams};

/// A controller with its commands and served requests. Times are in clocks.
pub(crate) struct Bench {
    pub(crate) controller: Controller,
    pub(crate) commands: Vec<CommandRecord>,
    pub(crate) served: Vec<ServedRequest>,
    tag: u32,
}

impl Bench {
    pub(crate) fn new(dram: &DramParams, params: &MemoryControllerParams) -> Self {
        let mut controller = Controller::new(dram, params, 1, 0);
        controller.record_commands(true);
        Self { controller, commands: Vec::new(), served: Vec::new(), tag: 0 }
    }

    /// Offers a request for column `tag` (the number of the request) of a row.
    pub(crate) fn offer(&mut self, clock: u64, read: bool, bank: u8, row: u32) -> OfferResult {
        self.offer_line(clock, read, bank, row, self.tag as u16)
    }

    pub(crate) fn offer_line(&mut self, clock: u64, read: bool, bank: u8, row: u32, column: u16) -> OfferResult {
        let place = request(clock, read, bank, row, column).place;
        let incoming = IncomingRequest { tag: self.tag, place, class: 0, read };
        self.tag += 1;
        let offered = self.controller.offer(Time::from_ps(clock), clock, &incoming);
        self.commands.extend(self.controller.take_commands());
        offered
    }

    /// Issues the commands planned up to and including clock `end`.
    pub(crate) fn run(&mut self, end: u64) {
        while self.controller.next_clock() <= end {
            let now = Time::from_ps(self.controller.next_clock());
            self.served.extend(self.controller.issue(now).served);
            self.commands.extend(self.controller.take_commands());
            self.controller.decide(now);
        }
    }

    /// Returns the clocks of the commands of a kind.
    pub(crate) fn clocks(&self, kind: CommandKind) -> Vec<u64> {
        self.commands.iter().filter(|command| command.kind == kind).map(|command| command.clock).collect()
    }

    /// Returns the kinds of the commands so far.
    pub(crate) fn kinds(&self) -> Vec<CommandKind> {
        self.commands.iter().map(|command| command.kind).collect()
    }

    /// Returns the tags of the requests in the order in which they were served.
    pub(crate) fn order(&self) -> Vec<u32> {
        self.served.iter().map(|served| served.tag).collect()
    }
}
