//! Commands of any number of controllers.

use hostnet_model::memory::CommandRecord;
use hostnet_model::params::DramParams;

use crate::channel::{Channel, RuleBook};
use crate::organisation::Outside;
use crate::rules::ORGANISATION;
use crate::violation::{Fault, Violation};

/// Controllers of a stream at most. Guards memory against nonsense.
pub const CONTROLLERS_MAX: u32 = 1024;

/// Checks a stream of commands against the rules of a device. Every controller is on its own, and its commands come in
/// the order of their clocks. At the start all rows are closed. Memory does not depend on the length of the stream.
#[derive(Clone)]
pub struct Checker {
    dram: DramParams,
    book: RuleBook,
    watch_refresh: bool,
    channels: Vec<Option<Box<Channel>>>,
}

impl Checker {
    /// A checker for controllers with this device. Refreshes are missed from the first command of a controller on,
    /// unless the device has none (`rfc` is 0).
    pub fn new(dram: &DramParams) -> Self {
        Checker { dram: dram.clone(), book: RuleBook::new(dram), watch_refresh: true, channels: Vec::new() }
    }

    /// Does not miss refreshes: for streams of a controller whose refresh is turned off. Call it before the first
    /// command.
    pub fn without_refresh(mut self) -> Self {
        self.watch_refresh = false;
        self
    }

    /// Takes a command as issued, whether or not it breaks rules.
    ///
    /// # Errors
    ///
    /// The rule it breaks. Of several: a number outside the device, then clocks out of order, then the state of the
    /// row, then the distance that lacks most clocks (a command that waits for it breaks no other distance), the upper
    /// one in [`rule_names`](crate::rule_names) of equals, then a refresh that stays away.
    pub fn check(&mut self, record: &CommandRecord) -> Result<(), Box<Violation>> {
        let mut worst = None;
        self.check_all(record, &mut |violation| keep_worst(&mut worst, violation));
        worst.map_or(Ok(()), |violation| Err(Box::new(violation)))
    }

    /// Takes a command as issued and reports every rule it breaks. A command with a number outside the device is
    /// reported as such and otherwise ignored.
    pub fn check_all(&mut self, record: &CommandRecord, report: &mut dyn FnMut(Violation)) {
        if let Some(outside) = self.outside(record) {
            report(Violation::state(ORGANISATION, Fault::Outside(outside), *record, *record));
            return;
        }
        let index = record.channel as usize;
        if index >= self.channels.len() {
            self.channels.resize_with(index + 1, || None);
        }
        let Checker { dram, book, watch_refresh, channels } = self;
        channels[index]
            .get_or_insert_with(|| Box::new(Channel::new(dram, book, *watch_refresh, *record)))
            .check(book, record, report);
    }

    /// Ends the stream at a clock, or with the last command if that is later. A later call looks further.
    ///
    /// # Errors
    ///
    /// The refresh that is latest of those that should have come by then; of equals that of the first controller.
    pub fn finish(&mut self, end_clock: u64) -> Result<(), Box<Violation>> {
        let mut worst = None;
        self.finish_all(end_clock, &mut |violation| keep_worst(&mut worst, violation));
        worst.map_or(Ok(()), |violation| Err(Box::new(violation)))
    }

    /// As [`Checker::finish`], and reports every rank that should have been refreshed.
    pub fn finish_all(&mut self, end_clock: u64, report: &mut dyn FnMut(Violation)) {
        self.channels.iter_mut().flatten().for_each(|channel| channel.finish(end_clock, report));
    }

    fn outside(&self, record: &CommandRecord) -> Option<Outside> {
        if record.channel >= CONTROLLERS_MAX {
            let (value, count) = (record.channel.into(), CONTROLLERS_MAX.into());
            return Some(Outside { field: "channel", value, count });
        }
        let organisation = self.book.organisation();
        organisation.outside(record).or_else(|| organisation.lacks(record.kind))
    }
}

/// Keeps what is told first; see [`Checker::check`].
pub(crate) fn keep_worst(worst: &mut Option<Violation>, violation: Violation) {
    if worst.is_none_or(|worst| worst.weight() < violation.weight()) {
        *worst = Some(violation);
    }
}
