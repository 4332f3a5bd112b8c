//! Violations of rules by commands.

use std::fmt;

use hostnet_model::memory::{CommandKind, CommandRecord};

use crate::file::mnemonic;
use crate::organisation::OutOfRange;

/// The way in which a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The second command is too few clocks after the first.
    TooEarly,
    /// No refresh followed the first command in time; the second command is the first one late enough to show it.
    TooLate {
        /// Rank whose refresh is missing; the second command may address another rank.
        rank: u8,
    },
    /// The second command needs a closed bank, but the first has opened it.
    RowOpen,
    /// The second command needs an open row, but the first has closed it. Without an earlier command both are the
    /// second.
    RowClosed,
    /// The second command has a lower clock than the first, which precedes it in the stream.
    OutOfOrder,
    /// The command has a number that the device does not have; both commands are the same.
    OutOfRange(OutOfRange),
}

/// A broken rule with the two commands involved. Distances are in DRAM clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the rule: `tRCD`, `tFAW`, `command bus`, `row state` and so on; see [`rule_names`](crate::rule_names).
    pub rule: &'static str,
    /// The way in which the rule is broken.
    pub fault: Fault,
    /// Number of the controller.
    pub channel: u32,
    /// The earlier command.
    pub first: CommandRecord,
    /// The command that breaks the rule. At the end of a stream, a REF that was due by then.
    pub second: CommandRecord,
    /// Minimum number of clocks between the two commands, or the maximum for `TooLate`; 0 for rules that are not about
    /// a distance.
    pub needed: u64,
    /// Number of clocks between the two commands.
    pub have: u64,
    /// Number of clocks by which the second command is too early or too late.
    pub off_by_clocks: u64,
}

impl Violation {
    /// Creates a violation of a distance: the second command is not allowed before the clock `allowed`.
    pub(crate) fn early(rule: &'static str, first: CommandRecord, second: CommandRecord, allowed: u64) -> Self {
        Violation {
            needed: allowed - first.clock,
            // 0 for a command that lies before the first one: the clocks are out of order then.
            have: second.clock.saturating_sub(first.clock),
            off_by_clocks: allowed - second.clock,
            ..Violation::state(rule, Fault::TooEarly, first, second)
        }
    }

    /// Creates a violation of a rule that is not about a distance.
    pub(crate) fn state(rule: &'static str, fault: Fault, first: CommandRecord, second: CommandRecord) -> Self {
        Violation { rule, fault, channel: second.channel, first, second, needed: 0, have: 0, off_by_clocks: 0 }
    }

    /// Ranks the rules that one command breaks; the greatest is reported first. Violations that no other clock would
    /// repair come first, then the distance that is short by most clocks, because a command that keeps it keeps the
    /// others; refresh is last.
    pub(crate) fn weight(&self) -> (u8, u64) {
        match self.fault {
            // No other clock would repair the first three; refresh is last, because it concerns another time.
            Fault::OutOfRange(_) => (4, 0),
            Fault::OutOfOrder => (3, 0),
            Fault::RowOpen | Fault::RowClosed => (2, 0),
            Fault::TooEarly => (1, self.off_by_clocks),
            Fault::TooLate { .. } => (0, self.off_by_clocks),
        }
    }
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, channel, first, second, .. } = self;
        let name = mnemonic(second.kind);
        let here = format!("{name} at clock {} (channel {channel}, {})", second.clock, Where(second));
        let there = match (Where(first).to_string(), Where(second).to_string()) {
            (first_place, second_place) if first_place == second_place => Command(first).to_string(),
            (first_place, _) => format!("{} ({first_place})", Command(first)),
        };
        match self.fault {
            Fault::TooEarly => write!(
                f,
                "{rule}: {here} comes {} too early: {there} needs {}, {} passed",
                Clocks(self.off_by_clocks),
                Clocks(self.needed),
                self.have
            ),
            Fault::TooLate { rank } => write!(
                f,
                "{rule}: rank {rank} of channel {channel} is without refresh at clock {}, {} after {} ({}); at most \
                {} are allowed",
                second.clock,
                Clocks(self.have),
                Command(first),
                Where(first),
                self.needed
            ),
            Fault::RowOpen => write!(f, "{rule}: {here} needs a closed bank, but {there} opened a row"),
            Fault::RowClosed if first == second => write!(f, "{rule}: {here} needs an open row, but none was opened"),
            Fault::RowClosed => write!(f, "{rule}: {here} needs an open row, but {there} closed it"),
            Fault::OutOfOrder => write!(f, "{rule}: {here} comes after {there}"),
            Fault::OutOfRange(outside) => write!(f, "{rule}: {name} at clock {}: {outside}", second.clock),
        }
    }
}

struct Clocks(u64);

impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} clock{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

struct Command<'a>(&'a CommandRecord);

impl fmt::Display for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at clock {}", mnemonic(self.0.kind), self.0.clock)
    }
}

struct Where<'a>(&'a CommandRecord);

impl fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CommandRecord { kind, rank, bank_group, bank, .. } = *self.0;
        write!(f, "rank {rank}")?;
        match kind {
            CommandKind::PrechargeAll | CommandKind::Refresh => Ok(()),
            CommandKind::RefreshSameBank if bank_group == 0 => write!(f, ", bank {bank}"),
            _ => write!(f, ", group {bank_group}, bank {bank}"),
        }
    }
}
