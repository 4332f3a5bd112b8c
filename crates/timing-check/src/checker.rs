//! Checks the commands of any number of controllers.

use hostnet_model::memory::CommandRecord;
use hostnet_params::DramParams;

use crate::channel::{Channel, RuleBook};
use crate::organisation::OutOfRange;
use crate::rules::ORGANISATION;
use crate::violation::{Fault, Violation};

/// Largest number of controllers of a stream. It bounds memory if the input is malformed.
pub const CONTROLLERS_MAX: u32 = 1024;

/// Checks a stream of commands against the rules of a device.
///
/// Controllers are independent, and the commands of each must come in the order of their clocks. All rows are closed
/// at the start. The memory used does not depend on the length of the stream.
#[derive(Clone)]
pub struct Checker {
    dram: DramParams,
    book: RuleBook,
    watch_refresh: bool,
    channels: Vec<Option<Box<Channel>>>,
}

impl Checker {
    /// Creates a checker for controllers with this device.
    ///
    /// Missing refreshes are reported from the first command of a controller on, unless the device needs none (`rfc`
    /// is 0).
    pub fn new(dram: &DramParams) -> Self {
        Checker { dram: dram.clone(), book: RuleBook::new(dram), watch_refresh: true, channels: Vec::new() }
    }

    /// Disables reports of missing refreshes, for controllers that do not refresh. It must be called before the first
    /// command.
    pub fn without_refresh(mut self) -> Self {
        self.watch_refresh = false;
        self
    }

    /// Checks a command and counts it as issued, even if it breaks rules.
    ///
    /// # Errors
    ///
    /// Returns the rule that the command breaks. If it breaks several, the order is: a number outside the device,
    /// clocks out of order, the state of the row, the distance that is too short by most clocks (a command that waits
    /// for it breaks no other distance; of equals the first in [`rule_names`](crate::rule_names)), and a missing
    /// refresh.
    pub fn check(&mut self, record: &CommandRecord) -> Result<(), Box<Violation>> {
        let mut worst = None;
        self.check_all(record, &mut |violation| keep_worst(&mut worst, violation));
        worst.map_or(Ok(()), |violation| Err(Box::new(violation)))
    }

    /// Checks a command, counts it as issued and reports every rule that it breaks.
    ///
    /// A command whose channel, rank, bank group, bank, row or column does not exist, or whose kind the device does not
    /// support, is reported as out of range and otherwise ignored.
    pub fn check_all(&mut self, record: &CommandRecord, report: &mut dyn FnMut(Violation)) {
        // First of all: numbers beyond those of the device would index nothing.
        if let Some(outside) = self.outside(record) {
            report(Violation::state(ORGANISATION, Fault::OutOfRange(outside), *record, *record));
            return;
        }
        let index = record.channel as usize;
        if index >= self.channels.len() {
            self.channels.resize_with(index + 1, || None);
        }
        let Checker { dram, book, watch_refresh, channels } = self;
        // Created with its first command, from which missing refreshes are counted.
        channels[index]
            .get_or_insert_with(|| Box::new(Channel::new(dram, book, *watch_refresh, *record)))
            .check(book, record, report);
    }

    /// Ends the stream at a clock, or with the last command if that is later. A further call may extend the stream.
    ///
    /// # Errors
    ///
    /// Returns the refresh that is most overdue at the end; of equals that of the first controller.
    pub fn finish(&mut self, end_clock: u64) -> Result<(), Box<Violation>> {
        let mut worst = None;
        self.finish_all(end_clock, &mut |violation| keep_worst(&mut worst, violation));
        worst.map_or(Ok(()), |violation| Err(Box::new(violation)))
    }

    /// Like [`Checker::finish`], but reports every rank whose refresh is overdue.
    pub fn finish_all(&mut self, end_clock: u64, report: &mut dyn FnMut(Violation)) {
        self.channels.iter_mut().flatten().for_each(|channel| channel.finish(end_clock, report));
    }

    fn outside(&self, record: &CommandRecord) -> Option<OutOfRange> {
        if record.channel >= CONTROLLERS_MAX {
            let (value, count) = (record.channel.into(), CONTROLLERS_MAX.into());
            return Some(OutOfRange { field: "channel", value, count });
        }
        let organisation = self.book.organisation();
        organisation.outside(record).or_else(|| organisation.lacks(record.kind))
    }
}

/// Keeps the violation that [`Checker::check`] returns first.
pub(crate) fn keep_worst(worst: &mut Option<Violation>, violation: Violation) {
    // `<`: of equal violations the first one, the upper one of the table, is kept.
    if worst.is_none_or(|worst| worst.weight() < violation.weight()) {
        *worst = Some(violation);
    }
}
